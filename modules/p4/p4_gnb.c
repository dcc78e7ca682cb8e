/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "core/pkt.h"
#include "modules/p4/p4_impl.h"

#define INTRINSIC_BYTES 4
/** Before a packet: what we tell the parser, and at most a shim or seven octets of headers. */
#define HEADROOM (INTRINSIC_BYTES + P4_SHIM_FRAME_BYTES + 8)
#define TURN 64 /**< instructions between looks whether all packets are through */

/* --- ports: arrays of mbufs ------------------------------------------------------------------- */

static void
result_put(struct p4_gnb *g, unsigned out, struct rte_mbuf *m)
{
	struct p4_result *r = g->result;

	r->pkts[r->nb] = m;
	r->out[r->nb++] = (uint8_t)out;
}

/** @return a packet alone in its buffer with room before it, in one piece; NULL: no mbuf. */
static struct rte_mbuf *
copied(struct p4_gnb *g, struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, g->cfg.pool, 0, UINT32_MAX);

	if (copy && (copy->nb_segs > 1 || copy->data_off < HEADROOM)) {
		rte_pktmbuf_free(copy);
		copy = NULL;
	}
	if (copy == NULL)
		return NULL;
	rte_pktmbuf_free(m);
	return copy;
}

static int
port_rx(void *port, struct rte_swx_pkt *pkt)
{
	struct p4_gnb *g = port;

	while (g->at < g->nb) {
		struct rte_mbuf *m = g->pkts[g->at++], *to = m;
		uint8_t *p;

		if (g->at < g->nb)
			rte_prefetch0(rte_pktmbuf_mtod(g->pkts[g->at], void *));
		if (unlikely(!ap_seg_writable(m) || m->data_off < HEADROOM))
			to = copied(g, m);
		if (unlikely(to == NULL)) {
			result_put(g, P4_OUT_NO_MBUF, m);
			continue;
		}
		p = rte_pktmbuf_mtod(to, uint8_t *) - INTRINSIC_BYTES;
		be16_put(p, to->data_len);
		p[2] = (uint8_t)g->side;
		p[3] = to->nb_segs > 1 ||
		       (to->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD ||
		       (to->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD;
		pkt->handle = to;
		pkt->pkt = to->buf_addr;
		pkt->offset = (uint32_t)to->data_off - INTRINSIC_BYTES;
		pkt->length = (uint32_t)to->data_len + INTRINSIC_BYTES;
		return 1;
	}
	return 0;
}

static void
port_tx(void *port, struct rte_swx_pkt *pkt)
{
	struct p4_port *o = port;
	struct rte_mbuf *m = pkt->handle;

	m->pkt_len += pkt->length - m->data_len;
	m->data_off = (uint16_t)pkt->offset;
	m->data_len = (uint16_t)pkt->length;
	result_put(o->g, o->out, m);
}

static void *
port_create(void *args)
{
	return args;
}

static void
port_free(void *port)
{
	(void)port;
}

static void
port_clone(void *port, struct rte_swx_pkt *pkt, uint32_t bytes)
{
	(void)port;
	(void)pkt;
	(void)bytes; /* the program mirrors nothing */
}

static void
port_in_stats(void *port, struct rte_swx_port_in_stats *s)
{
	(void)port;
	memset(s, 0, sizeof(*s)); /* the node's books have them */
}

static void
port_out_stats(void *port, struct rte_swx_port_out_stats *s)
{
	(void)port;
	memset(s, 0, sizeof(*s));
}

int
p4_ports_config(struct p4_gnb *g)
{
	struct rte_swx_port_in_ops in = {port_create, port_free, port_rx, port_in_stats};
	struct rte_swx_port_out_ops out = {
		.create = port_create,
		.free = port_free,
		.pkt_tx = port_tx,
		.pkt_fast_clone_tx = port_tx,
		.pkt_clone_tx = port_clone,
		.stats_read = port_out_stats,
	};
	int rc = rte_swx_pipeline_port_in_type_register(g->pipeline, "mbufs", &in);

	if (rc == 0)
		rc = rte_swx_pipeline_port_out_type_register(g->pipeline, "mbufs", &out);
	if (rc == 0)
		rc = rte_swx_pipeline_port_in_config(g->pipeline, 0, "mbufs", g);
	for (unsigned i = 0; rc == 0 && i < P4_OUT_VF + g->cfg.nb_vfs; i++) {
		g->ports[i] = (struct p4_port){g, i};
		rc = rte_swx_pipeline_port_out_config(g->pipeline, i, "mbufs", &g->ports[i]);
	}
	return rc;
}

void
p4_gnb_run(struct p4_gnb *g, enum p4_side side, struct rte_mbuf **pkts, uint16_t nb,
	   struct p4_result *r)
{
	g->side = side;
	g->pkts = pkts;
	g->nb = nb;
	g->at = 0;
	g->result = r;
	r->nb = 0;
	while (r->nb < nb)
		rte_swx_pipeline_run(g->pipeline, TURN);
}

/* --- tables ----------------------------------------------------------------------------------- */

/*
 * Entries are added by the tables' own operations: rte_swx_ctl looks each new one up in a list of
 * all, which takes a minute for 65536, and swaps whole tables. Here the thread that runs the
 * pipeline changes them between two runs.
 */
static int
entry_set(struct p4_gnb *g, enum p4_table table, enum p4_action action, uint32_t key, void *data)
{
	uint8_t bytes[8] = {0};
	struct rte_swx_table_entry e = {
		.key = bytes, .action_id = g->actions[action], .action_data = data};

	memcpy(bytes, &key, sizeof(key));
	return g->ops.add(g->tables[table].obj, &e);
}

static void
entry_clear(struct p4_gnb *g, enum p4_table table, uint32_t key)
{
	uint8_t bytes[8] = {0};
	struct rte_swx_table_entry e = {.key = bytes};

	memcpy(bytes, &key, sizeof(key));
	g->ops.del(g->tables[table].obj, &e);
}

/** Sixteen bits that say which bearers a share takes: spread, and not as over the VFs. */
static uint32_t
share_hash(uint32_t index)
{
	uint32_t h = (uint16_t)(index * 40503U);

	h = (h & 0x5555) << 1 | (h >> 1 & 0x5555);
	h = (h & 0x3333) << 2 | (h >> 2 & 0x3333);
	h = (h & 0x0F0F) << 4 | (h >> 4 & 0x0F0F);
	return (h & 0x00FF) << 8 | h >> 8;
}

int
p4_session_set(struct p4_gnb *g, const struct p4_session *s)
{
	struct p4_session_data d = {.out = P4_OUT_VF + s->vf, .hash = share_hash(s->index)};

	memcpy(d.map, s->slot_of, sizeof(d.map));
	return entry_set(g, P4_TABLE_SESSION, P4_ACTION_SESSION, rte_cpu_to_be_32(s->teid), &d);
}

void
p4_session_clear(struct p4_gnb *g, uint32_t teid)
{
	entry_clear(g, P4_TABLE_SESSION, rte_cpu_to_be_32(teid));
}

static void
state_set(struct p4_gnb *g, uint32_t index, enum p4_reg reg, uint64_t value)
{
	rte_swx_ctl_pipeline_regarray_write(g->pipeline, "state", index * P4_REGS + reg, value);
}

int
p4_drb_set(struct p4_gnb *g, const struct p4_drb *d, bool anew)
{
	static const uint8_t rlc_bytes[] = {0, 1, 2, 3};
	struct p4_drb_data data = {
		.rlc_mode = d->rlc,
		.pdcp_sn_bits = d->pdcp_sn_bits,
		.sdap = d->sdap,
		.header = 20 + 8 + GTPU_HDR_BYTES + rlc_bytes[d->rlc] +
			  (d->pdcp_sn_bits == 12 ? 2U : 3U) + d->sdap,
		.peer = d->peer,
	};
	struct p4_uplink_data up = {.out = P4_OUT_VF + d->vf};
	int rc;

	for (unsigned i = 0; i < RTE_DIM(data.regs); i++)
		data.regs[i] = d->index * P4_REGS + i;
	gtpu_gpdu_put(data.gtpu, d->du_teid, 0);
	if (anew) {
		for (unsigned i = 0; i < P4_REGS; i++)
			state_set(g, d->index, (enum p4_reg)i, 0);
		state_set(g, d->index, P4_REG_OWNER, P4_OWNER_HOST);
	}
	rc = entry_set(g, P4_TABLE_DRB, P4_ACTION_DRB, d->teid, &data);
	if (rc == 0)
		rc = entry_set(g, P4_TABLE_SESSION, P4_ACTION_UPLINK, rte_cpu_to_be_32(d->teid),
			       &up);
	return rc;
}

void
p4_drb_clear(struct p4_gnb *g, uint32_t teid)
{
	entry_clear(g, P4_TABLE_DRB, teid);
	entry_clear(g, P4_TABLE_SESSION, rte_cpu_to_be_32(teid));
}

int
p4_peer_set(struct p4_gnb *g, const struct p4_peer *p)
{
	struct p4_peer_data d = {.mtu = p->mtu};

	memcpy(d.eth, p->dst_mac, 6);
	memcpy(d.eth + 6, p->src_mac, 6);
	be16_put(d.eth + 12, 0x0800);
	memcpy(d.ip_udp, p->ip_udp, sizeof(d.ip_udp));
	return entry_set(g, P4_TABLE_PEER, P4_ACTION_PEER, p->index, &d);
}

void
p4_peer_clear(struct p4_gnb *g, uint16_t index)
{
	entry_clear(g, P4_TABLE_PEER, index);
}

void
p4_share_set(struct p4_gnb *g, uint32_t share)
{
	rte_swx_ctl_pipeline_regarray_write(g->pipeline, "share", 0, share);
}

uint64_t
p4_register(const struct p4_gnb *g, uint32_t index, enum p4_reg reg)
{
	uint64_t value = 0;

	rte_swx_ctl_pipeline_regarray_read(g->pipeline, "state", index * P4_REGS + reg, &value);
	return value;
}
