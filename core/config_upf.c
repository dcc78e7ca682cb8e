/* SPDX-License-Identifier: BSD-3-Clause */
/* Defaults and checks of a upf: workers, routes, neighbours. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "core/config_check.h"

#define WORKERS_MAX 32

static const struct ap_cfg_upf_interface *
has_interface(const struct ap_cfg_upf *upf, const char *name)
{
	for (unsigned i = 0; i < upf->interfaces_count; i++)
		if (strcmp(upf->interfaces[i].name, name) == 0)
			return &upf->interfaces[i];
	return NULL;
}

static int
routes_finish(const struct ap_config *cfg, const struct ap_cfg_upf *upf, struct ap_error *err)
{
	uint8_t address[16], bits;

	for (unsigned r = 0; r < upf->routes_count; r++) {
		const struct ap_cfg_upf_route *route = &upf->routes[r];
		int octets = ap_config_prefix(route->prefix, address, &bits);

		if (!has_interface(upf, route->interface))
			BAD(&route->interface, "%s %s: routes[%u]: there is no interface '%s'",
			    upf->kind, upf->name, r, route->interface);
		if (octets < 0 || strchr(route->prefix, '/') == NULL)
			BAD(&route->prefix, "%s %s: routes[%u]: prefix '%s' is not address/bits",
			    upf->kind, upf->name, r, route->prefix);
		if (!config_prefix_is_network(address, bits, octets))
			BAD(&route->prefix,
			    "%s %s: routes[%u]: prefix %s has bits set behind its %u", upf->kind,
			    upf->name, r, route->prefix, bits);
		if (route->via &&
		    (ap_config_prefix(route->via, address, &bits) != octets || bits != octets * 8))
			BAD(&route->via,
			    "%s %s: routes[%u]: via '%s' is not an address of the prefix's "
			    "family",
			    upf->kind, upf->name, r, route->via);
		if (route->via &&
		    !config_on_link(has_interface(upf, route->interface), address, octets))
			BAD(&route->via,
			    "%s %s: routes[%u]: via %s is not another host on the link of "
			    "interface %s",
			    upf->kind, upf->name, r, route->via, route->interface);
	}
	return 0;
}

/** @return the link address of the interface where the deployment says it, or NULL. */
static const char *
own_mac(const struct ap_config *cfg, const struct ap_cfg_upf_interface *in)
{
	const struct ap_cfg_port *port = in->port ? ap_config_port(cfg, in->port) : NULL;

	return in->mac ? in->mac : port ? port->mac : NULL;
}

static bool
same_mac(const char *a, const char *b)
{
	uint8_t x[6], y[6];

	return ap_config_mac(a, x) == 0 && ap_config_mac(b, y) == 0 && memcmp(x, y, sizeof(x)) == 0;
}

static bool
same_neighbour(const struct ap_cfg_upf_neighbour *a, const struct ap_cfg_upf_neighbour *b)
{
	uint8_t x[16], y[16], bits;
	int octets = ap_config_prefix(a->address, x, &bits);

	return strcmp(a->interface, b->interface) == 0 && octets > 0 &&
	       ap_config_prefix(b->address, y, &bits) == octets &&
	       memcmp(x, y, (size_t)octets) == 0;
}

static int
neighbours_finish(const struct ap_config *cfg, const struct ap_cfg_upf *upf, struct ap_error *err)
{
	uint8_t address[16], bits;

	for (unsigned i = 0; i < upf->neighbours_count; i++) {
		const struct ap_cfg_upf_neighbour *n = &upf->neighbours[i];
		const struct ap_cfg_upf_interface *in = has_interface(upf, n->interface);
		int octets = ap_config_prefix(n->address, address, &bits);

		if (in == NULL)
			BAD(&n->interface, "%s %s: neighbours[%u]: there is no interface '%s'",
			    upf->kind, upf->name, i, n->interface);
		if (octets < 0 || bits != octets * 8)
			BAD(&n->address, "%s %s: neighbours[%u]: '%s' is not an address", upf->kind,
			    upf->name, i, n->address);
		if (!config_is_station(n->mac))
			BAD(&n->mac,
			    "%s %s: neighbours[%u]: mac '%s' is no unicast Ethernet address",
			    upf->kind, upf->name, i, n->mac);
		if (octets > 0 && config_is_ours(upf, in, address, octets))
			BAD(&n->address, "%s %s: neighbours[%u]: %s is an address of our own",
			    upf->kind, upf->name, i, n->address);
		if (own_mac(cfg, in) && same_mac(own_mac(cfg, in), n->mac))
			BAD(&n->mac, "%s %s: neighbours[%u]: mac %s is our own on interface %s",
			    upf->kind, upf->name, i, n->mac, in->name);
		for (unsigned k = 0; k < i; k++)
			if (same_neighbour(n, &upf->neighbours[k]))
				BAD(&n->address,
				    "%s %s: neighbours[%u]: %s is neighbours[%u] already",
				    upf->kind, upf->name, i, n->address, k);
	}
	return 0;
}

int
config_edge_finish(const struct ap_config *cfg, const struct ap_cfg_upf *upf, struct ap_error *err)
{
	if (config_upf_interfaces_finish(cfg, upf, err) < 0 || routes_finish(cfg, upf, err) < 0)
		return -EINVAL;
	return neighbours_finish(cfg, upf, err);
}

static uint32_t
queues_wanted(const struct ap_cfg_upf *upf)
{
	uint32_t workers = upf->workers ? upf->workers : 1;
	uint32_t dispatchers = upf->dispatchers ? upf->dispatchers : 1;

	if (upf->steering != AP_STEERING_SOFTWARE)
		return workers;
	return workers > dispatchers ? workers : dispatchers;
}

uint32_t
config_upf_queues(const struct ap_config *cfg, const char *port)
{
	for (unsigned u = 0; u < cfg->upf_count; u++)
		for (unsigned i = 0; i < cfg->upf[u].interfaces_count; i++)
			if (strcmp(cfg->upf[u].interfaces[i].port, port) == 0)
				return queues_wanted(&cfg->upf[u]);
	return 0;
}

/** Every worker sends on a queue of its own. */
static int
queues_finish(const struct ap_config *cfg, const struct ap_cfg_upf *upf, struct ap_error *err)
{
	for (unsigned i = 0; i < upf->interfaces_count; i++) {
		const struct ap_cfg_port *port = ap_config_port(cfg, upf->interfaces[i].port);

		if (port->queues < queues_wanted(upf))
			BAD(&port->queues,
			    "upf %s: port %s: queues %u, but each worker and each dispatcher "
			    "needs one: %u",
			    upf->name, port->name, port->queues, queues_wanted(upf));
	}
	return 0;
}

int
config_upf_finish(const struct ap_config *cfg, struct ap_cfg_upf *upf, struct ap_error *err)
{
	upf->kind = "upf";
	DEFAULT(upf->workers, 1);
	DEFAULT(upf->sessions, 1U << 20);
	DEFAULT(upf->buffer_packets, 8192);
	DEFAULT(upf->buffer_session_packets, 64);
	DEFAULT(upf->reassembly_packets, 1024);
	DEFAULT(upf->reassembly_ms, 1000);
	DEFAULT(upf->error_indications_s, 100);
	DEFAULT(upf->flows, 1U << 20);
	DEFAULT(upf->session_flows, 4096);
	DEFAULT(upf->dpi.scans, 4096);
	if (strlen(upf->socket) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		BAD(&upf->socket, "upf %s: socket: a path has at most %zu characters", upf->name,
		    sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
	if (upf->workers > WORKERS_MAX)
		BAD(&upf->workers, "upf %s: workers %u must be 1..%d", upf->name, upf->workers,
		    WORKERS_MAX);
	if (upf->dispatchers && upf->steering != AP_STEERING_SOFTWARE)
		BAD(&upf->dispatchers, "upf %s: dispatchers are for steering software", upf->name);
	if (upf->steering == AP_STEERING_SOFTWARE)
		DEFAULT(upf->dispatchers, 1);
	if (upf->dispatchers > WORKERS_MAX)
		BAD(&upf->dispatchers, "upf %s: dispatchers %u must be 1..%d", upf->name,
		    upf->dispatchers, WORKERS_MAX);
	if (upf->sessions > (1U << 24))
		BAD(&upf->sessions, "upf %s: sessions %u must be 1..%u", upf->name, upf->sessions,
		    1U << 24);
	if (upf->buffer_packets > (1U << 20) || upf->buffer_session_packets > upf->buffer_packets)
		BAD(&upf->buffer_packets,
		    "upf %s: buffer_packets must be 1..1048576, and not less than "
		    "buffer_session_packets",
		    upf->name);
	if (upf->reassembly_packets > 65536 || upf->reassembly_ms > 60000)
		BAD(upf->reassembly_ms > 60000 ? &upf->reassembly_ms : &upf->reassembly_packets,
		    "upf %s: reassembly_packets must be 1..65536 and reassembly_ms 1..60000",
		    upf->name);
	if (upf->flows > (1U << 26) || upf->session_flows > upf->flows || upf->dpi.scans > 65535)
		BAD(upf->dpi.scans > 65535    ? &upf->dpi.scans
		    : upf->flows > (1U << 26) ? &upf->flows
					      : &upf->session_flows,
		    "upf %s: flows must be 1..67108864, session_flows not more, and dpi: scans "
		    "1..65535",
		    upf->name);
	if (config_edge_finish(cfg, upf, err) < 0)
		return -EINVAL;
	return queues_finish(cfg, upf, err);
}
