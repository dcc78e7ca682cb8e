/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "codec/ip.h"
#include "modules/p4/p4_nic.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_peer.h"

#define AT_ONCE 16 /**< changes of a worker in one walk */

/* --- workers ---------------------------------------------------------------------------------- */

static int
change_put(struct p4_feed *f, const struct p4_change *c)
{
	if (rte_ring_sp_enqueue_elem(f->changes, (void *)(uintptr_t)c, sizeof(*c)) == 0)
		return 0;
	atomic_store_explicit(&f->nic->behind, true, memory_order_relaxed);
	return -ENOSPC;
}

static void
change_of(struct p4_change *c, const struct p4_nic *nic, const struct gnb_session *s,
	  const struct gnb_drb *drbs)
{
	*c = (struct p4_change){.teid = s->teid, .nb_drbs = (uint8_t)(1U << nic->drb_shift)};
	memcpy(c->slot_of, s->slot_of, sizeof(c->slot_of));
	for (unsigned i = 0; i < c->nb_drbs; i++)
		c->drbs[i] = (struct p4_change_drb){
			.du_teid = drbs[i].config.du_teid,
			.du = drbs[i].config.du,
			.format = drbs[i].config.format,
			.id = drbs[i].config.id,
		};
}

void
p4_nic_changed(void *arg, const struct gnb_msg *m)
{
	struct p4_feed *f = arg;
	struct p4_change c = {.teid = m->teid};

	if (m->kind == GNB_MSG_SET) {
		change_of(&c, f->nic, &m->image->session, m->image->drbs);
		c.anew = m->image->set_count;
	}
	change_put(f, &c);
}

int
p4_nic_feed(struct p4_nic *nic, const struct gnb_table *t, uint32_t teid)
{
	const unsigned worker = gnb_worker_of(gnb_teid_index(teid), nic->nb_workers);
	struct p4_change c;

	change_of(&c, nic, gnb_session_at(t, teid), gnb_drb_at(t, teid, 0));
	return change_put(&nic->feeds[worker], &c);
}

/* --- control thread --------------------------------------------------------------------------- */

/** @return whether the program can send to the peer; then `p` says how. */
static bool
peer_way(const struct upf_net *net, const struct upf_peer *peer, unsigned index, struct p4_peer *p)
{
	const struct upf_net_peer *way = &net->peers[index];
	const uint8_t interface = atomic_load_explicit(&way->interface, memory_order_acquire);
	const struct upf_link *link = &net->links[interface];
	uint64_t word;

	if (interface == 0 || !peer->gtpu || peer->udp != IP4_HDR_BYTES ||
	    way->neighbour == UPF_NO_NEIGHBOUR || link->l2_bytes != ETH_HDR_BYTES)
		return false;
	word = atomic_load_explicit(&net->neighs.entry[way->neighbour].word, memory_order_relaxed);
	if (!upf_neigh_usable(word))
		return false;
	upf_neigh_mac(word, p->dst_mac);
	memcpy(p->src_mac, link->source, 6);
	memcpy(p->ip_udp, peer->header, sizeof(p->ip_udp));
	/* The program sums the whole header. */
	p->ip_udp[10] = p->ip_udp[11] = 0;
	p->mtu = link->mtu;
	return true;
}

void
p4_nic_peers(struct p4_nic *nic, const struct upf_net *net, const struct upf_peers *peers)
{
	for (unsigned i = 1; i < UPF_PEERS_MAX; i++) {
		struct p4_peer p;

		memset(&p, 0, sizeof(p)); /* compared whole */
		p.index = (uint16_t)i;
		if (!peer_way(net, &peers->peer[i], i, &p)) {
			memset(&p, 0, sizeof(p));
			p.index = (uint16_t)i;
		}
		if (memcmp(&p, &nic->known[i], sizeof(p)) == 0)
			continue;
		if (rte_ring_sp_enqueue_elem(nic->peer_changes, &p, sizeof(p)) < 0)
			return; /* the rest next time */
		nic->known[i] = p;
	}
}

int
p4_nic_offload(struct p4_nic *nic, unsigned percent)
{
	if (percent > 100)
		return -EINVAL;
	if (nic->by_mark)
		return -ENOTSUP;
	atomic_store_explicit(&nic->share, P4_SHARE_ALL * percent / 100, memory_order_relaxed);
	return 0;
}

/* --- NIC -------------------------------------------------------------------------------------- */

static void
drb_apply(struct p4_nic *nic, const struct p4_change *c, unsigned slot, bool fresh)
{
	static const enum p4_rlc rlc[] = {P4_RLC_NONE, P4_RLC_UM, P4_RLC_AM12, P4_RLC_AM18};
	const uint32_t index = gnb_teid_index(c->teid), row = (index << nic->drb_shift) + slot;
	const struct p4_change_drb *d = &c->drbs[slot];
	const struct gnb_format *f = &gnb_formats[d->format];
	const struct p4_drb to = {
		.teid = gnb_teid_with_slot(c->teid, slot),
		.index = row,
		.du_teid = d->du_teid,
		.peer = d->du,
		.vf = (uint8_t)gnb_worker_of(index, nic->nb_workers),
		.rlc = (uint8_t)rlc[f->rlc_bytes & 3],
		.pdcp_sn_bits = f->pdcp_bytes == 2 ? 12 : 18,
		.sdap = f->sdap_mask != 0,
	};

	if (d->id == 0) {
		if (nic->ids[row])
			p4_drb_clear(nic->program, to.teid);
	} else if (p4_drb_set(nic->program, &to,
			      fresh || nic->ids[row] != d->id || c->anew >> slot & 1) < 0) {
		nic->no_space++; /* its packets are the host's */
	}
	nic->ids[row] = d->id;
}

static void
session_clear(struct p4_nic *nic, uint32_t index)
{
	const uint32_t teid = nic->teids[index];

	if (teid == 0)
		return;
	p4_session_clear(nic->program, teid);
	for (unsigned i = 0; i < 1U << nic->drb_shift; i++) {
		uint8_t *id = &nic->ids[(index << nic->drb_shift) + i];

		if (*id)
			p4_drb_clear(nic->program, gnb_teid_with_slot(teid, i));
		*id = 0;
	}
	nic->teids[index] = 0;
}

static void
apply(struct p4_nic *nic, const struct p4_change *c)
{
	struct p4_session s = {.teid = c->teid, .index = gnb_teid_index(c->teid)};
	const bool fresh = nic->teids[s.index] != c->teid;

	nic->changes++;
	if (c->nb_drbs == 0 || fresh)
		session_clear(nic, s.index);
	if (c->nb_drbs == 0)
		return;
	for (unsigned i = 0; i < c->nb_drbs; i++)
		drb_apply(nic, c, i, fresh);
	s.vf = (uint8_t)gnb_worker_of(s.index, nic->nb_workers);
	memcpy(s.slot_of, c->slot_of, sizeof(s.slot_of));
	if (p4_session_set(nic->program, &s) < 0)
		nic->no_space++;
	nic->teids[s.index] = c->teid;
}

unsigned
p4_nic_poll(struct p4_nic *nic)
{
	uint32_t share = atomic_load_explicit(&nic->share, memory_order_relaxed);
	unsigned nb = 0;
	struct p4_change c;
	struct p4_peer p;

	if (unlikely(atomic_load_explicit(&nic->behind, memory_order_relaxed)))
		share = P4_SHARE_ALL;
	if (share != nic->share_now) {
		p4_share_set(nic->program, share);
		nic->share_now = share;
	}
	for (unsigned k = 0; k < nic->nb_workers; k++)
		for (unsigned i = 0; i < AT_ONCE && rte_ring_sc_dequeue_elem(nic->feeds[k].changes,
									     &c, sizeof(c)) == 0;
		     i++, nb++)
			apply(nic, &c);
	while (nb < AT_ONCE && rte_ring_sc_dequeue_elem(nic->peer_changes, &p, sizeof(p)) == 0) {
		if (p.mtu == 0)
			p4_peer_clear(nic->program, p.index);
		else if (p4_peer_set(nic->program, &p) < 0)
			nic->no_space++;
		nb++;
	}
	return nb;
}

/* --- life ------------------------------------------------------------------------------------- */

static struct rte_ring *
ring_make(const char *what, unsigned serial, unsigned k, unsigned size, unsigned nb)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "p4_%s%u.%u", what, serial, k);
	return rte_ring_create_elem(name, size, nb, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static bool
memory_make(struct p4_nic *nic, const struct p4_nic_cfg *cfg)
{
	bool ok;

	nic->known = rte_zmalloc("p4_peers", UPF_PEERS_MAX * sizeof(*nic->known), 0);
	nic->teids = rte_zmalloc("p4_teids", cfg->program.sessions * sizeof(uint32_t), 0);
	nic->ids = rte_zmalloc("p4_ids", (size_t)cfg->program.sessions << nic->drb_shift, 0);
	nic->peer_changes =
		ring_make("peers", cfg->serial, 0, sizeof(struct p4_peer), UPF_PEERS_MAX);
	ok = nic->known && nic->teids && nic->ids && nic->peer_changes;
	for (unsigned k = 0; k < nic->nb_workers; k++) {
		struct rte_ring *r =
			ring_make("feed", cfg->serial, k, sizeof(struct p4_change), P4_CHANGES);

		nic->feeds[k] = (struct p4_feed){nic, k, r};
		ok = ok && r;
	}
	for (unsigned i = 0; ok && i < UPF_PEERS_MAX; i++)
		nic->known[i].index = (uint16_t)i;
	return ok;
}

struct p4_nic *
p4_nic_create(const struct p4_nic_cfg *cfg, struct ap_error *err)
{
	struct p4_nic *nic = rte_zmalloc("p4_nic", sizeof(*nic), RTE_CACHE_LINE_SIZE);

	if (nic) {
		nic->nb_workers = cfg->program.nb_vfs;
		nic->drb_shift = cfg->program.drb_shift;
		nic->by_mark = cfg->by_mark;
		nic->share =
			cfg->by_mark ? P4_SHARE_BY_MARK : P4_SHARE_ALL * cfg->offload_percent / 100;
		nic->share_now = UINT32_MAX;
		if (memory_make(nic, cfg))
			nic->program = p4_gnb_create(&cfg->program, err);
	}
	if (nic && nic->program)
		return nic;
	ap_error_set(err, "smartnic %s: out of memory", cfg->program.name);
	p4_nic_destroy(nic);
	return NULL;
}

void
p4_nic_destroy(struct p4_nic *nic)
{
	if (nic == NULL)
		return;
	p4_gnb_destroy(nic->program);
	for (unsigned k = 0; k < nic->nb_workers; k++)
		rte_ring_free(nic->feeds[k].changes);
	rte_ring_free(nic->peer_changes);
	rte_free(nic->known);
	rte_free(nic->teids);
	rte_free(nic->ids);
	rte_free(nic);
}
