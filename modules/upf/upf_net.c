/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "codec/be.h"
#include "codec/ip.h"
#include "modules/upf/upf_net.h"

#define VLANS 4096
#define ETH_TYPE_VLAN 0x8100

static const uint8_t unspecified[16];

/* --- configuration ---------------------------------------------------------------------------- */

/** An address a host may have: RFC 1122 §3.2.1.3, RFC 4291 §2.5. */
static bool
is_unicast(const struct upf_net_prefix *p)
{
	if (p->v6)
		return p->address[0] != 0xff && memcmp(p->address, unspecified, 15) != 0;
	return p->address[0] != 0 && p->address[0] != 127 && p->address[0] < 224;
}

static int
check_interface(const struct upf_net_cfg *cfg, unsigned i, struct ap_error *err)
{
	const struct upf_net_interface *c = &cfg->interfaces[i];
	bool v6 = false;

	if (c->port >= UPF_NET_PORTS_MAX)
		return ap_error_set(err, "upf: interface %s: more than %u ports", c->name,
				    UPF_NET_PORTS_MAX);
	if (c->vlan > 4094)
		return ap_error_set(err, "upf: interface %s: vlan %u is not 0..4094", c->name,
				    c->vlan);
	if (c->nb_addresses > UPF_NET_ADDRESSES_MAX)
		return ap_error_set(err, "upf: interface %s: more than %u addresses", c->name,
				    UPF_NET_ADDRESSES_MAX);
	for (unsigned k = 0; k < c->nb_addresses; k++) {
		v6 |= c->addresses[k].v6;
		if (c->addresses[k].bits > (c->addresses[k].v6 ? 128 : 32))
			return ap_error_set(err, "upf: interface %s: address %u has a prefix of %u",
					    c->name, k + 1, c->addresses[k].bits);
		if (!is_unicast(&c->addresses[k]))
			return ap_error_set(err, "upf: interface %s: address %u is no host's",
					    c->name, k + 1);
	}
	if (c->mtu && (c->mtu < (v6 ? 1280 : UPF_NET_MTU_MIN) || c->mtu > UPF_NET_MTU_MAX))
		return ap_error_set(err, "upf: interface %s: mtu %u is not %u..%u", c->name, c->mtu,
				    v6 ? 1280 : UPF_NET_MTU_MIN, UPF_NET_MTU_MAX);
	for (unsigned k = 0; k < i; k++)
		if (cfg->interfaces[k].port == c->port && cfg->interfaces[k].vlan == c->vlan)
			return ap_error_set(err, "upf: interfaces %s and %s: one port, one vlan",
					    cfg->interfaces[k].name, c->name);
	return 0;
}

static int
check(const struct upf_net_cfg *cfg, struct ap_error *err)
{
	if (cfg->nb_interfaces == 0 || cfg->nb_interfaces > UPF_INTERFACES_MAX)
		return ap_error_set(err, "upf: %u interfaces, not 1..%u", cfg->nb_interfaces,
				    UPF_INTERFACES_MAX);
	for (unsigned i = 0; i < cfg->nb_interfaces; i++)
		if (check_interface(cfg, i, err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < cfg->nb_routes; i++)
		if (cfg->routes[i].interface == 0 || cfg->routes[i].interface > cfg->nb_interfaces)
			return ap_error_set(err, "upf: route %u: no such interface", i + 1);
	for (unsigned i = 0; i < cfg->nb_neighbours; i++)
		if (cfg->neighbours[i].key.interface == 0 ||
		    cfg->neighbours[i].key.interface > cfg->nb_interfaces)
			return ap_error_set(err, "upf: neighbour %u: no such interface", i + 1);
	return 0;
}

/* --- interfaces ------------------------------------------------------------------------------- */

/** RFC 4291 §2.5.6 and appendix A. */
static void
link_local(uint8_t to[16], const uint8_t mac[6])
{
	const uint8_t ll[16] = {0xfe,       0x80,   0,      0,    0,    0,      0,      0,
				mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};

	memcpy(to, ll, 16);
}

static int
add_link(struct upf_net *net, const struct upf_net_interface *c, uint8_t index)
{
	struct upf_link *link = &net->links[index];

	link->name = c->name;
	link->index = index;
	link->port = c->port;
	link->types = net->cfg.opaque ? UPF_LINK_OPAQUE : c->lan ? UPF_LINK_LAN : c->types;
	link->proxy = c->proxy;
	link->vlan = c->vlan;
	link->mtu = c->mtu ? c->mtu : 1500;
	link->l2_bytes = c->vlan ? ETH_HDR_BYTES + 4 : ETH_HDR_BYTES;
	memcpy(link->source, c->mac, 6);
	be16_put(link->source + 6, ETH_TYPE_VLAN);
	for (unsigned i = 0; i < c->nb_addresses; i++) {
		const struct upf_net_prefix *a = &c->addresses[i];

		if (a->v6) {
			memcpy(link->ip6[link->nb_ip6++], a->address, 16);
			continue;
		}
		memcpy(&link->ip4[link->nb_ip4++], a->address, 4);
		net->own4_bits[a->address[3] >> 6] |= 1ULL << (a->address[3] & 63);
	}
	if (!c->lan)
		link_local(link->ip6[link->nb_ip6++], c->mac);
	for (unsigned i = 0; i < link->nb_ip6; i++)
		net->own6_bits[link->ip6[i][15] >> 6] |= 1ULL << (link->ip6[i][15] & 63);
	if (net->by_vlan[c->port] == NULL) {
		net->by_vlan[c->port] = rte_zmalloc("upf_vlan", VLANS, RTE_CACHE_LINE_SIZE);
		if (net->by_vlan[c->port] == NULL)
			return -ENOMEM;
	}
	net->by_vlan[c->port][c->vlan] = index;
	return 0;
}

/* --- routes ----------------------------------------------------------------------------------- */

static struct upf_neigh_key
neigh_key(uint8_t interface, bool v6, const uint8_t *address)
{
	struct upf_neigh_key key = {.interface = interface, .v6 = v6};

	memcpy(key.address, address, v6 ? 16 : 4);
	return key;
}

/** Routes of one interface: what is on its link, then what was configured. */
static int
add_routes(struct upf_net *net, const struct upf_net_cfg *cfg, struct upf_link *link,
	   struct upf_fib_route *routes, uint16_t *nb_hops)
{
	const struct upf_net_interface *c = &cfg->interfaces[link->index - 1];
	unsigned n = 0;

	for (unsigned i = 0; i < c->nb_addresses; i++)
		routes[n++] = (struct upf_fib_route){c->addresses[i], 0};
	routes[n++] = (struct upf_fib_route){{.address = {0xfe, 0x80}, .bits = 10, .v6 = true},
					     0}; /* RFC 4291 §2.5.6 */
	for (unsigned i = 0; i < cfg->nb_routes; i++) {
		const struct upf_net_route *r = &cfg->routes[i];
		struct upf_neigh_key key = neigh_key(r->interface, r->prefix.v6, r->via);
		uint16_t hop = 0;
		int index;

		if (r->interface != link->index)
			continue;
		if (memcmp(r->via, unspecified, r->prefix.v6 ? 16 : 4) != 0) {
			index = upf_neigh_get(&net->neighs, &key, true, 0);
			if (index < 0)
				return index;
			hop = (*nb_hops)++;
			net->hops[hop] = (struct upf_hop){.neighbour = (uint32_t)index};
		}
		routes[n++] = (struct upf_fib_route){r->prefix, hop};
	}
	return upf_fib_build(&link->routes, routes, n);
}

static int
fill(struct upf_net *net, const struct upf_net_cfg *cfg)
{
	const unsigned most = cfg->nb_routes + UPF_NET_ADDRESSES_MAX + 2;
	struct upf_fib_route *routes = calloc(most, sizeof(*routes));
	uint16_t nb_hops = 1; /* hops[0]: on the link */
	int rc = -ENOMEM;

	net->hops = calloc(most, sizeof(*net->hops));
	net->peers =
		rte_zmalloc("upf_peers", UPF_PEERS_MAX * sizeof(*net->peers), RTE_CACHE_LINE_SIZE);
	net->paths =
		rte_zmalloc("upf_paths", UPF_PEERS_MAX * sizeof(*net->paths), RTE_CACHE_LINE_SIZE);
	if (routes && net->hops && net->peers && net->paths)
		rc = upf_neighs_init(&net->neighs, cfg->neighbours_max);
	if (rc == 0)
		net->hops[0].on_link = true;
	for (unsigned i = 0; rc == 0 && i < cfg->nb_interfaces; i++)
		rc = add_link(net, &cfg->interfaces[i], (uint8_t)(i + 1));
	for (unsigned i = 1; rc == 0 && i <= cfg->nb_interfaces; i++)
		rc = add_routes(net, cfg, &net->links[i], routes, &nb_hops);
	for (unsigned i = 0; rc == 0 && i < cfg->nb_neighbours; i++)
		rc = upf_neigh_set_static(&net->neighs, &cfg->neighbours[i].key,
					  cfg->neighbours[i].mac);
	free(routes);
	return rc;
}

struct upf_net *
upf_net_create(const struct upf_net_cfg *cfg, struct ap_error *err)
{
	struct upf_net *net;
	int rc;

	if (check(cfg, err) < 0)
		return NULL;
	net = rte_zmalloc("upf_net", sizeof(*net), RTE_CACHE_LINE_SIZE);
	if (net == NULL) {
		ap_error_set(err, "upf: no memory for its networks");
		return NULL;
	}
	net->cfg = *cfg;
	net->cfg.neighbours_max = cfg->neighbours_max ? cfg->neighbours_max : 4096;
	net->cfg.icmp_per_s = cfg->icmp_per_s ? cfg->icmp_per_s : 100;
	net->cfg.error_indications_per_s =
		cfg->error_indications_per_s ? cfg->error_indications_per_s : 100;
	net->cfg.reassembly_packets = cfg->reassembly_packets ? cfg->reassembly_packets : 1024;
	net->cfg.reassembly_ms = cfg->reassembly_ms ? cfg->reassembly_ms : 1000;
	net->nb_links = cfg->nb_interfaces;
	atomic_store(&net->live.echo_timeout_ms, 2000);
	atomic_store(&net->live.echo_tries, 3);
	atomic_store(&net->paths_high, 1);
	rc = fill(net, &net->cfg);
	net->cfg.interfaces = NULL;
	net->cfg.routes = NULL;
	net->cfg.neighbours = NULL;
	if (rc < 0) {
		ap_error_set(err, "upf: networks: %s",
			     rc == -EINVAL   ? "a route that is none, or too many"
			     : rc == -ENOSPC ? "more gateways and neighbours than neighbours_max"
					     : "no memory");
		upf_net_destroy(net);
		return NULL;
	}
	return net;
}

void
upf_net_destroy(struct upf_net *net)
{
	if (net == NULL)
		return;
	for (unsigned i = 1; i <= net->nb_links; i++)
		upf_fib_free(&net->links[i].routes);
	for (unsigned i = 0; i < UPF_NET_PORTS_MAX; i++)
		rte_free(net->by_vlan[i]);
	upf_neighs_fini(&net->neighs);
	rte_free(net->peers);
	rte_free(net->paths);
	free(net->hops);
	rte_free(net);
}

/* --- peers ------------------------------------------------------------------------------------ */

/** @return the path to an address, whose use is counted; 0 when all are in use. */
static uint16_t
path_get(struct upf_net *net, uint8_t interface, bool v6, const uint8_t *address)
{
	const uint32_t high = atomic_load(&net->paths_high);
	uint32_t fresh = high;
	struct upf_net_path *p;

	for (uint32_t i = 1; i < high; i++) {
		p = &net->paths[i];
		if (p->refs == 0)
			fresh = RTE_MIN(fresh, i);
		else if (p->interface == interface && p->v6 == v6 &&
			 memcmp(p->address, address, v6 ? 16 : 4) == 0) {
			p->refs++;
			return (uint16_t)i;
		}
	}
	if (fresh == UPF_PEERS_MAX)
		return 0;
	p = &net->paths[fresh];
	p->refs = 1;
	p->v6 = v6;
	memset(p->address, 0, sizeof(p->address));
	memcpy(p->address, address, v6 ? 16 : 4);
	atomic_store(&p->answered_ns, 0);
	atomic_fetch_add(&p->serial, 1);
	atomic_store_explicit(&p->interface, interface, memory_order_release);
	if (fresh == high)
		atomic_store_explicit(&net->paths_high, high + 1, memory_order_release);
	return (uint16_t)fresh;
}

int
upf_net_peer_set(struct upf_net *net, uint32_t peer, uint8_t interface, bool v6,
		 const uint8_t *address, bool gtpu)
{
	struct upf_neigh_key key;
	struct upf_net_peer *p;
	int hop;

	if (peer == 0 || peer >= UPF_PEERS_MAX || interface == 0 || interface > net->nb_links)
		return -EINVAL;
	p = &net->peers[peer];
	hop = upf_net_next_hop(net, interface, v6, address, &key);
	if (hop == -EAGAIN)
		hop = upf_neigh_get(&net->neighs, &key, true, 0);
	if (hop == -ENOSPC)
		return hop;
	p->neighbour = hop < 0 ? UPF_NO_NEIGHBOUR : (uint32_t)hop;
	p->path = gtpu ? path_get(net, interface, v6, address) : 0;
	atomic_store_explicit(&p->interface, interface, memory_order_release);
	return 0;
}

void
upf_net_peer_clear(struct upf_net *net, uint32_t peer)
{
	struct upf_net_peer *p;

	if (peer >= UPF_PEERS_MAX || net->peers[peer].interface == 0)
		return;
	p = &net->peers[peer];
	atomic_store(&p->interface, 0);
	if (p->path && --net->paths[p->path].refs == 0)
		atomic_store(&net->paths[p->path].interface, 0);
}

/* --- questions -------------------------------------------------------------------------------- */

bool
upf_net_own4_slow(const struct upf_net *net, uint32_t ip4)
{
	for (unsigned i = 1; i <= net->nb_links; i++)
		for (unsigned k = 0; k < net->links[i].nb_ip4; k++)
			if (net->links[i].ip4[k] == ip4)
				return true;
	return false;
}

bool
upf_net_own6_slow(const struct upf_net *net, const uint8_t *ip6)
{
	for (unsigned i = 1; i <= net->nb_links; i++)
		for (unsigned k = 0; k < net->links[i].nb_ip6; k++)
			if (memcmp(net->links[i].ip6[k], ip6, 16) == 0)
				return true;
	return false;
}

bool
upf_link_has(const struct upf_link *link, bool v6, const uint8_t *address)
{
	for (unsigned i = 0; !v6 && i < link->nb_ip4; i++)
		if (memcmp(&link->ip4[i], address, 4) == 0)
			return true;
	for (unsigned i = 0; v6 && i < link->nb_ip6; i++)
		if (memcmp(link->ip6[i], address, 16) == 0)
			return true;
	return false;
}

const uint8_t *
upf_link_source(const struct upf_link *link, bool v6, const uint8_t *to)
{
	if (!v6)
		return link->nb_ip4 ? (const uint8_t *)&link->ip4[0] : NULL;
	/* RFC 6724 §5 rule 2: of the destination's scope. */
	if (to[0] == 0xfe && (to[1] & 0xc0) == 0x80)
		return link->ip6[link->nb_ip6 - 1];
	return link->nb_ip6 > 1 ? link->ip6[0] : NULL;
}

int
upf_net_next_hop(const struct upf_net *net, uint8_t interface, bool v6, const uint8_t *to,
		 struct upf_neigh_key *key)
{
	const struct upf_link *link = &net->links[interface];
	uint16_t hop =
		v6 ? upf_fib_find6(&link->routes, to) : upf_fib_find4(&link->routes, be32_get(to));

	if (hop == UPF_NO_ROUTE)
		return -ENETUNREACH;
	if (!net->hops[hop].on_link)
		return (int)net->hops[hop].neighbour;
	*key = neigh_key(interface, v6, to);
	return -EAGAIN;
}
