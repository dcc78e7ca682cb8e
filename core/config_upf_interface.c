/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of a upf's interfaces: ports, VLANs, addresses, gateways. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_check.h"

int
ap_config_prefix(const char *text, uint8_t address[16], uint8_t *bits)
{
	char host[INET6_ADDRSTRLEN], *end;
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	unsigned long n;
	int octets;

	if (len >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, len);
	host[len] = '\0';
	if (inet_pton(AF_INET, host, address) == 1)
		octets = 4;
	else if (inet_pton(AF_INET6, host, address) == 1)
		octets = 16;
	else
		return -EINVAL;
	n = (unsigned long)octets * 8;
	if (slash) {
		if (slash[1] < '0' || slash[1] > '9')
			return -EINVAL;
		n = strtoul(slash + 1, &end, 10);
		if (*end != '\0' || n > (unsigned long)octets * 8)
			return -EINVAL;
	}
	*bits = (uint8_t)n;
	return octets;
}

int
ap_config_mac(const char *text, uint8_t mac[6])
{
	char more;

	return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &mac[0], &mac[1], &mac[2],
		      &mac[3], &mac[4], &mac[5], &more) == 6
		       ? 0
		       : -EINVAL;
}

bool
config_prefix_holds(const uint8_t *prefix, uint8_t bits, const uint8_t *address)
{
	const unsigned whole = bits / 8, rest = bits % 8;

	return memcmp(prefix, address, whole) == 0 &&
	       (rest == 0 || ((prefix[whole] ^ address[whole]) & (0xFF00 >> rest) & 0xFF) == 0);
}

bool
config_prefix_is_network(const uint8_t *address, uint8_t bits, int octets)
{
	if (bits % 8 && address[bits / 8] & 0xFF >> bits % 8)
		return false;
	for (int i = (bits + 7) / 8; i < octets; i++)
		if (address[i] != 0)
			return false;
	return true;
}

bool
config_is_station(const char *text)
{
	uint8_t mac[6];

	return ap_config_mac(text, mac) == 0 && (mac[0] & 1) == 0 &&
	       memcmp(mac, (const uint8_t[6]){0}, sizeof(mac)) != 0;
}

bool
config_is_host(const uint8_t *address, int octets)
{
	static const uint8_t zero[16], loopback6[16] = {[15] = 1};

	if (octets == 4)
		return address[0] < 224 && address[0] != 0 && address[0] != 127;
	return memcmp(address, zero, sizeof(zero)) != 0 && address[0] != 0xFF &&
	       memcmp(address, loopback6, sizeof(loopback6)) != 0;
}

/** RFC 919 §7: all ones behind the prefix. IPv6 has none, nor have a /31 and a /32 (RFC 3021). */
static bool
is_broadcast(const uint8_t *address, uint8_t bits, int octets)
{
	uint32_t a = (uint32_t)address[0] << 24 | (uint32_t)address[1] << 16 |
		     (uint32_t)address[2] << 8 | address[3];

	return octets == 4 && bits < 31 && (~a & UINT32_MAX >> bits) == 0;
}

#define AT "%s %s: interface %s: "
#define WHERE upf->kind, upf->name, i->name

bool
config_on_link(const struct ap_cfg_upf_interface *i, const uint8_t *gateway, int octets)
{
	/* A link-local gateway is on every link (RFC 4861 §6.1.2). */
	bool near = octets == 16 && gateway[0] == 0xFE && (gateway[1] & 0xC0) == 0x80;
	uint8_t own[16], bits;

	for (unsigned a = 0; a < i->addresses_count; a++) {
		if (ap_config_prefix(i->addresses[a], own, &bits) != octets)
			continue;
		if (memcmp(own, gateway, (size_t)octets) == 0)
			return false;
		near |= config_prefix_holds(own, bits, gateway);
	}
	return near;
}

bool
config_is_ours(const struct ap_cfg_upf *upf, const struct ap_cfg_upf_interface *seen_by,
	       const uint8_t *address, int octets)
{
	uint8_t own[16], bits;

	for (unsigned i = 0; i < upf->interfaces_count; i++) {
		const struct ap_cfg_upf_interface *in = &upf->interfaces[i];

		if (seen_by != NULL && in != seen_by && seen_by->network_instances_count &&
		    in->network_instances_count)
			continue;
		for (unsigned a = 0; a < in->addresses_count; a++)
			if (ap_config_prefix(in->addresses[a], own, &bits) == octets &&
			    memcmp(own, address, (size_t)octets) == 0)
				return true;
	}
	return false;
}

bool
config_reaches(const struct ap_cfg_upf *upf, const uint8_t *address, int octets)
{
	uint8_t prefix[16], bits;

	for (unsigned i = 0; i < upf->interfaces_count; i++) {
		const struct ap_cfg_upf_interface *in = &upf->interfaces[i];

		if (config_on_link(in, address, octets))
			return true;
		for (unsigned g = 0; g < in->gateways_count; g++)
			if (ap_config_prefix(in->gateways[g], prefix, &bits) == octets)
				return true;
	}
	for (unsigned r = 0; r < upf->routes_count; r++)
		if (ap_config_prefix(upf->routes[r].prefix, prefix, &bits) == octets &&
		    config_prefix_holds(prefix, bits, address))
			return true;
	return false;
}

static int
gateways_finish(const struct ap_config *cfg, const struct ap_cfg_upf *upf,
		const struct ap_cfg_upf_interface *i, struct ap_error *err)
{
	uint8_t address[16], bits;
	int octets, first = 0;

	for (unsigned g = 0; g < i->gateways_count; g++) {
		octets = ap_config_prefix(i->gateways[g], address, &bits);
		if (octets < 0 || bits != octets * 8)
			BAD(&i->gateways[g], AT "gateways[%u]: '%s' is not an address", WHERE, g,
			    i->gateways[g]);
		if (octets == first)
			BAD(&i->gateways[g], AT "gateways: two of one family, there can be one",
			    WHERE);
		if (!config_on_link(i, address, octets))
			BAD(&i->gateways[g],
			    AT "gateways[%u]: %s is not another host on the link of `addresses`",
			    WHERE, g, i->gateways[g]);
		first = octets;
	}
	return 0;
}

static int
addresses_finish(const struct ap_config *cfg, const struct ap_cfg_upf *upf,
		 const struct ap_cfg_upf_interface *i, struct ap_error *err)
{
	uint8_t address[16], bits;

	if (i->addresses_count == 0)
		BAD(&i->addresses, AT "addresses: at least one is needed", WHERE);
	for (unsigned a = 0; a < i->addresses_count; a++) {
		int octets = ap_config_prefix(i->addresses[a], address, &bits);

		if (octets < 0 || strchr(i->addresses[a], '/') == NULL)
			BAD(&i->addresses[a], AT "addresses[%u]: '%s' is not address/bits", WHERE,
			    a, i->addresses[a]);
		/* RFC 3021: both addresses of a /31 are hosts'. */
		if (!config_is_host(address, octets) || is_broadcast(address, bits, octets) ||
		    (bits < octets * 8 - 1 && config_prefix_is_network(address, bits, octets)))
			BAD(&i->addresses[a], AT "addresses[%u]: %s is no host's address", WHERE, a,
			    i->addresses[a]);
		for (unsigned b = 0; b < a; b++) {
			uint8_t other[16], n;

			if (ap_config_prefix(i->addresses[b], other, &n) == octets &&
			    memcmp(other, address, (size_t)octets) == 0)
				BAD(&i->addresses[a], AT "addresses[%u]: %s is there twice", WHERE,
				    a, i->addresses[a]);
		}
	}
	return 0;
}

static int
interface_finish(const struct ap_config *cfg, const struct ap_cfg_upf *upf,
		 struct ap_cfg_upf_interface *i, struct ap_error *err)
{
	/* Without one frames come by virtual functions: config_gnb.c. */
	const struct ap_cfg_port *port = i->port ? ap_config_port(cfg, i->port) : NULL;

	DEFAULT(i->mtu, 1500);
	if (port == NULL && i->port)
		BAD(&i->port, AT "there is no port '%s'", WHERE, i->port);
	if (port && port->framing != AP_FRAMING_RAW)
		BAD(&i->port, AT "port %s: framing must be raw", WHERE, i->port);
	if (i->vlan > 4094)
		BAD(&i->vlan, AT "vlan %u must be 1..4094, or 0 for untagged frames", WHERE,
		    i->vlan);
	if (i->mtu < 576 || i->mtu > 9600)
		BAD(&i->mtu, AT "mtu %u must be 576..9600", WHERE, i->mtu);
	if (port && port->mtu && i->mtu > port->mtu)
		BAD(&i->mtu, AT "mtu %u, but port %s has %u", WHERE, i->mtu, i->port, port->mtu);
	if (i->lan && (i->addresses_count || i->gateways_count || i->types_count || i->proxy_neigh))
		BAD(&i->lan,
		    AT "lan: it carries frames: addresses, gateways, types and proxy_neigh are "
		       "not for it",
		    WHERE);
	if (i->lan)
		return 0;
	if (addresses_finish(cfg, upf, i, err) < 0)
		return -EINVAL;
	return gateways_finish(cfg, upf, i, err);
}

/** Interfaces of network instances may have the same address: these are networks apart. */
static bool
shares_address(const struct ap_cfg_upf_interface *a, const struct ap_cfg_upf_interface *b)
{
	uint8_t x[16], y[16], bits;

	if (a->network_instances_count && b->network_instances_count)
		return false;
	for (unsigned i = 0; i < a->addresses_count; i++) {
		int octets = ap_config_prefix(a->addresses[i], x, &bits);

		for (unsigned k = 0; k < b->addresses_count; k++)
			if (ap_config_prefix(b->addresses[k], y, &bits) == octets &&
			    memcmp(x, y, (size_t)octets) == 0)
				return true;
	}
	return false;
}

int
config_upf_interfaces_finish(const struct ap_config *cfg, const struct ap_cfg_upf *upf,
			     struct ap_error *err)
{
	for (unsigned a = 0; a < upf->interfaces_count; a++) {
		struct ap_cfg_upf_interface *i = &upf->interfaces[a];

		if (interface_finish(cfg, upf, i, err) < 0)
			return -EINVAL;
		for (unsigned b = 0; b < a; b++) {
			if (strcmp(upf->interfaces[b].name, i->name) == 0)
				BAD(&i->name, "%s %s: two interfaces are called '%s'", upf->kind,
				    upf->name, i->name);
			if (shares_address(i, &upf->interfaces[b]))
				BAD(&i->addresses, AT "has an address of interface %s too", WHERE,
				    upf->interfaces[b].name);
			if (i->port && upf->interfaces[b].port &&
			    strcmp(upf->interfaces[b].port, i->port) == 0 &&
			    upf->interfaces[b].vlan == i->vlan)
				BAD(&i->port,
				    AT "port %s with vlan %u belongs to interface %s already",
				    WHERE, i->port, i->vlan, upf->interfaces[b].name);
		}
	}
	return 0;
}
