/* SPDX-License-Identifier: BSD-3-Clause */
/** Interfaces, routes and neighbours of a upf's configuration, as struct upf_net wants them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modules/upf/upf_net.h"
#include "modules/upf/upf_role.h"

static struct upf_net_prefix
prefix_of(const char *text)
{
	struct upf_net_prefix p = {0};

	p.v6 = ap_config_prefix(text, p.address, &p.bits) == 16;
	return p;
}

static uint8_t
interface_of(const struct ap_cfg_upf *cfg, const char *name)
{
	unsigned i = 0;

	while (strcmp(cfg->interfaces[i].name, name) != 0)
		i++;
	return (uint8_t)(i + 1);
}

static void
interface_fill(struct upf_net_interface *to, struct ap_port *const *ports, uint8_t i,
	       const struct ap_cfg_upf_interface *cfg)
{
	to->name = cfg->name;
	if (cfg->port) {
		while (strcmp(ports[to->port]->name, cfg->port) != 0)
			to->port++;
		memcpy(to->mac, &ports[to->port]->mac, sizeof(to->mac));
	} else {
		to->port = i;
		ap_config_mac(cfg->mac, to->mac);
	}
	to->types = 1 << UPF_ACCESS | 1 << UPF_CORE | 1 << UPF_SGI_N6_LAN;
	if (cfg->types_count)
		to->types = 0;
	for (unsigned t = 0; t < cfg->types_count; t++)
		to->types |= (uint8_t)(1 << cfg->types[t]);
	to->lan = cfg->lan;
	to->proxy = cfg->proxy_neigh;
	to->vlan = (uint16_t)cfg->vlan;
	to->mtu = (uint16_t)cfg->mtu;
	for (unsigned a = 0; a < cfg->addresses_count; a++)
		to->addresses[to->nb_addresses++] = prefix_of(cfg->addresses[a]);
}

static struct upf_net_route
route_of(uint8_t interface, const char *prefix, const char *via)
{
	struct upf_net_route r = {.interface = interface, .prefix = prefix_of(prefix)};

	if (via) {
		struct upf_net_prefix hop = prefix_of(via);

		memcpy(r.via, hop.address, sizeof(r.via));
	}
	return r;
}

static unsigned
routes_fill(struct upf_net_route *routes, const struct ap_cfg_upf *cfg)
{
	unsigned nb = 0;

	for (unsigned i = 0; i < cfg->interfaces_count; i++) {
		const struct ap_cfg_upf_interface *c = &cfg->interfaces[i];

		for (unsigned g = 0; g < c->gateways_count; g++)
			routes[nb++] = route_of((uint8_t)(i + 1),
						strchr(c->gateways[g], ':') ? "::/0" : "0.0.0.0/0",
						c->gateways[g]);
	}
	for (unsigned r = 0; r < cfg->routes_count; r++)
		routes[nb++] = route_of(interface_of(cfg, cfg->routes[r].interface),
					cfg->routes[r].prefix, cfg->routes[r].via);
	return nb;
}

static unsigned
neighbours_fill(struct upf_net_neighbour *to, const struct ap_cfg_upf *cfg)
{
	for (unsigned i = 0; i < cfg->neighbours_count; i++) {
		const struct ap_cfg_upf_neighbour *n = &cfg->neighbours[i];
		struct upf_net_prefix p = prefix_of(n->address);

		to[i].key.interface = interface_of(cfg, n->interface);
		to[i].key.v6 = p.v6;
		memcpy(to[i].key.address, p.address, sizeof(p.address));
		ap_config_mac(n->mac, to[i].mac);
	}
	return cfg->neighbours_count;
}

struct upf_net *
upf_interfaces_net(const struct ap_cfg_upf *cfg, struct ap_port *const *ports,
		   struct upf_net_cfg *net, struct ap_error *err)
{
	struct upf_net_interface *interfaces =
		calloc(cfg->interfaces_count, sizeof(struct upf_net_interface));
	struct upf_net_route *routes =
		calloc(cfg->routes_count + 2 * UPF_INTERFACES_MAX, sizeof(struct upf_net_route));
	struct upf_net_neighbour *neighbours =
		calloc(cfg->neighbours_count + 1, sizeof(struct upf_net_neighbour));
	struct upf_net *made = NULL;

	if (interfaces && routes && neighbours) {
		for (unsigned i = 0; i < cfg->interfaces_count; i++)
			interface_fill(&interfaces[i], ports, (uint8_t)i, &cfg->interfaces[i]);
		net->nb_interfaces = cfg->interfaces_count;
		net->interfaces = interfaces;
		net->nb_routes = routes_fill(routes, cfg);
		net->routes = routes;
		net->nb_neighbours = neighbours_fill(neighbours, cfg);
		net->neighbours = neighbours;
		made = upf_net_create(net, err);
	} else {
		ap_error_set(err, "out of memory");
	}
	free(interfaces);
	free(routes);
	free(neighbours);
	return made;
}

int
upf_interfaces_init(struct ap_run *run, struct upf *upf, struct upf_net_cfg *net,
		    struct ap_error *err)
{
	const char *names[UPF_INTERFACES_MAX];

	upf->nb_ports = upf_ports(upf->cfg, names);
	for (unsigned p = 0; p < upf->nb_ports; p++)
		upf->ports[p] = ap_run_port(run, names[p]);
	upf->net = upf_interfaces_net(upf->cfg, upf->ports, net, err);
	return upf->net ? 0 : -EINVAL;
}
