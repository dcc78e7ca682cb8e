/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/meta.h"
#include "modules/fapi/fapi_tx.h"
#include "modules/phy/phy_job.h"
#include "modules/phy/phy.h"

static uint32_t
new_id(struct phy_path *path)
{
	if (++path->last_id == 0)
		path->last_id = 1;
	return path->last_id;
}

struct phy_tb *
phy_tb_open(struct phy_path *path, struct phy_path_carrier *c, uint8_t sequence, int8_t drop,
	    uint64_t now_ns)
{
	struct phy_tb *tb = &c->tb[sequence % PHY_TBS];
	uint64_t delay_ns = 0;

	*tb = (struct phy_tb){.valid = true, .in_sequence = sequence, .drop = drop};
	path->stats.tb_in++;
	if (drop >= 0)
		return tb;
	if (phy_rng_hit(&path->rng, path->odds_tb_loss)) {
		tb->drop = PHY_TB_LOSS;
		path->stats.tb_lost++;
		return tb;
	}
	path->stats.tb_out++;
	tb->id = new_id(path);
	if (phy_rng_hit(&path->rng, path->odds_duplicate)) {
		tb->twin = new_id(path);
		path->stats.tb_duplicated++;
		path->stats.tb_out++;
	}
	if (path->delay_ns | path->jitter_ns) {
		delay_ns = path->delay_ns + phy_rng_below(&path->rng, path->jitter_ns + 1);
		tb->due_ns = now_ns + delay_ns;
		path->stats.tb_delayed++;
	}
	if (phy_rng_hit(&path->rng, path->odds_reorder) && !c->holding) {
		c->holding = true;
		c->held_sequence = sequence;
		c->held_delay_ns = delay_ns;
		c->held_until_ns = now_ns + PHY_SWAP_NS;
		path->stats.tb_reordered++;
	}
	return tb;
}

/** The frame leaves: its TB gets the next sequence number when it is the first to. */
static inline void
frame_exit(struct phy_path *path, struct rte_mbuf *m, uint32_t id)
{
	struct phy_path_carrier *c = &path->carrier[ap_meta(m)->carrier];
	struct phy_exit *e = &c->exit[id % PHY_EXITS];
	uint8_t *p7 = rte_pktmbuf_mtod_offset(m, uint8_t *, NFAPI_ETHER_LEN);

	if (e->id != id)
		*e = (struct phy_exit){id, c->out_sequence++};
	p7[9] = e->sequence;
	/* Errors of the air are in the bytes already; what follows protects the fronthaul. */
	if (unlikely(be32_get(p7 + 10) != 0)) {
		uint32_t crc = nfapi_p7_crc32c(p7);

		crc = nfapi_crc32c(crc, p7 + NFAPI_P7_LEN, m->data_len - FAPI_HDR_LEN);
		be32_put(p7 + 10, nfapi_checksum(crc));
	}
	path->out[path->nb_out++] = m;
}

/** @param due_ns when it leaves, 0: now */
static inline void
frame_send(struct phy_path *path, struct rte_mbuf *m, uint32_t id, uint64_t due_ns, uint64_t *drops)
{
	if (likely(due_ns == 0)) {
		frame_exit(path, m, id);
		return;
	}
	ap_ext(m)->spare = id;
	if (!phy_delay_put(&path->delay, m, due_ns)) {
		drops[PHY_HOLD_FULL]++;
		rte_pktmbuf_free(m);
	}
}

static void
swap_send(struct phy_path *path, struct phy_path_carrier *c, uint64_t due_ns, uint64_t *drops)
{
	for (uint16_t i = 0; i < c->nb_swap; i++)
		frame_send(path, c->swap[i], ap_ext(c->swap[i])->spare, due_ns, drops);
	c->nb_swap = 0;
}

uint64_t
phy_hold_end(struct phy_path_carrier *c, uint64_t now_ns)
{
	const uint64_t due_ns = c->held_delay_ns ? now_ns + c->held_delay_ns : 0;
	struct phy_tb *tb = &c->tb[c->held_sequence % PHY_TBS];

	if (tb->in_sequence == c->held_sequence)
		tb->due_ns = due_ns;
	c->holding = false;
	return due_ns;
}

void
phy_job_send(struct phy_path *path, const struct phy_job *j, uint64_t *drops)
{
	struct phy_path_carrier *c = &path->carrier[j->h.phy_id];

	if (likely(j->dst != NULL)) {
		if (unlikely(j->hold && c->nb_swap < RTE_DIM(c->swap))) {
			ap_ext(j->dst)->spare = j->id;
			c->swap[c->nb_swap++] = j->dst;
		} else {
			frame_send(path, j->dst, j->id, j->due_ns, drops);
		}
	}
	if (unlikely(j->release))
		swap_send(path, c, j->release_due_ns, drops);
}

uint64_t
phy_path_held(const struct phy_path *path)
{
	uint64_t held = path->delay.nb;

	for (unsigned i = 0; i < RTE_DIM(path->carrier); i++)
		held += path->carrier[i].nb_swap;
	return held;
}

uint64_t
phy_path_due(const struct phy_path *path)
{
	uint64_t due = phy_delay_due(&path->delay);

	for (unsigned i = 0; i < RTE_DIM(path->carrier); i++) {
		const struct phy_path_carrier *c = &path->carrier[i];

		if (c->holding && (due == 0 || c->held_until_ns < due))
			due = c->held_until_ns;
	}
	return due;
}

bool
phy_path_expire(struct phy *p, uint32_t side, uint64_t now_ns, uint64_t *drops)
{
	struct phy_path *path = &p->path[side];
	struct rte_mbuf *m;

	path->nb_out = 0;
	path->used = 0;
	path->made = 0;
	for (unsigned i = 0; i < RTE_DIM(path->carrier); i++) {
		struct phy_path_carrier *c = &path->carrier[i];

		if (c->holding && c->held_until_ns <= now_ns)
			swap_send(path, c, phy_hold_end(c, now_ns), drops);
	}
	while (path->nb_out < PHY_OUT_MAX && (m = phy_delay_get(&path->delay, now_ns)) != NULL)
		frame_exit(path, m, ap_ext(m)->spare);
	return path->nb_out == PHY_OUT_MAX;
}
