/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "modules/p4/p4_hand.h"

#define ETH_TYPE_AT 12
#define TEID_AT 46 /* of the frames the program counts: Ethernet, IPv4, UDP, 4 of GTP-U */

void
p4_hand_init(struct p4_hand *h, const struct gnb_table *table, uint64_t aside)
{
	memset(h, 0, offsetof(struct p4_hand, hold));
	h->takes = h->gives = h->refused = 0;
	h->table = table;
	h->aside = aside;
}

void
p4_hand_fini(struct p4_hand *h)
{
	while (h->tail != h->head)
		rte_pktmbuf_free(h->hold[h->tail++ % P4_HAND_HOLD]);
}

void
p4_hand_step(struct p4_hand *h, uint64_t walk)
{
	if (h->walk == walk)
		return;
	h->walk = walk;
	h->nb_due = h->nb_releases;
	memset(h->passed, 0, sizeof(h->passed));
}

static inline bool
has_shim(const struct rte_mbuf *m)
{
	return m->data_len >= P4_SHIM_FRAME_BYTES &&
	       be16_get(rte_pktmbuf_mtod(m, const uint8_t *) + ETH_TYPE_AT) == P4_SHIM_TYPE;
}

bool
p4_hand_plain(const struct p4_hand *h, struct rte_mbuf *const *pkts, uint16_t nb)
{
	if (h->head != h->tail || h->nb_releases > 0)
		return false;
	for (uint16_t i = 0; i < nb; i++)
		if (has_shim(pkts[i]))
			return false;
	return true;
}

static inline bool
is_marked(const uint64_t *set, uint32_t teid)
{
	const uint32_t bit = gnb_teid_index(teid) & 255;

	return set[bit >> 6] >> (bit & 63) & 1;
}

static inline void
mark(uint64_t *set, uint32_t teid)
{
	const uint32_t bit = gnb_teid_index(teid) & 255;

	set[bit >> 6] |= 1ULL << (bit & 63);
}

static void
strip(struct rte_mbuf *m)
{
	m->data_off += P4_SHIM_FRAME_BYTES;
	m->data_len -= P4_SHIM_FRAME_BYTES;
	m->pkt_len -= P4_SHIM_FRAME_BYTES;
}

/** @return the DRB that a TEID of ours names, or NULL. */
static struct gnb_drb *
drb_of(const struct gnb_table *t, uint32_t bearer)
{
	const struct gnb_session *s = gnb_session_at(t, bearer);
	const unsigned slot = gnb_teid_slot(bearer);
	struct gnb_drb *d;

	if (!gnb_session_is(s, bearer) || slot >= gnb_drbs_per_session(t))
		return NULL;
	d = gnb_drb_at(t, bearer, slot);
	return d->config.id != 0 ? d : NULL;
}

static void
take_over(struct p4_hand *h, const struct p4_shim *s)
{
	struct gnb_drb *d = drb_of(h->table, s->bearer);

	if (d == NULL)
		return;
	d->owner = GNB_OWNER_HOST;
	d->tx_next = s->tx_next;
	d->rlc_tx_next = s->rlc_tx_next;
	h->takes++;
}

/** @return whether a packet with a shim may go on now; then it has none any more. */
static bool
with_shim(struct p4_hand *h, struct rte_mbuf *m)
{
	const struct p4_shim s = p4_shim_get(rte_pktmbuf_mtod(m, const uint8_t *) + 14);

	if (s.flags == P4_SHIM_ASIDE) {
		m->ol_flags |= h->aside;
	} else if (is_marked(h->closing, s.bearer)) {
		return false;
	} else if (s.flags == P4_SHIM_TAKE) {
		if (is_marked(h->passed, s.bearer))
			return false;
		take_over(h, &s);
		mark(h->passed, s.bearer);
	} else if (s.flags == P4_SHIM_RELEASE) {
		if (h->nb_releases == P4_HAND_RELEASES)
			return false;
		h->releases[h->nb_releases++] = s.bearer;
		mark(h->closing, s.bearer);
		mark(h->passed, s.bearer);
	}
	strip(m);
	return true;
}

struct rte_mbuf *
p4_hand_next(struct p4_hand *h)
{
	struct rte_mbuf *m;
	uint32_t teid;

	if (h->head == h->tail)
		return NULL;
	m = h->hold[h->tail % P4_HAND_HOLD];
	if (has_shim(m)) {
		if (!with_shim(h, m))
			return NULL;
	} else if (m->data_len >= TEID_AT + 4) {
		teid = be32_get(rte_pktmbuf_mtod(m, const uint8_t *) + TEID_AT);
		if (is_marked(h->closing, teid))
			return NULL;
		mark(h->passed, teid);
	}
	h->tail++;
	return m;
}

bool
p4_hand_release(struct p4_hand *h, uint8_t frame[P4_SHIM_FRAME_BYTES])
{
	while (h->nb_due > 0) {
		struct gnb_drb *d = drb_of(h->table, h->releases[--h->nb_due]);
		struct p4_shim s = {P4_SHIM_RELEASE, h->releases[h->nb_due], 0, 0};

		h->releases[h->nb_due] = h->releases[--h->nb_releases];
		if (h->nb_releases == 0)
			memset(h->closing, 0, sizeof(h->closing));
		/* Near the end of the numbers the host stays: it has to report, and to stop. */
		if (d == NULL || d->tx_next >= GNB_COUNT_NOTIFY) {
			h->refused++;
			continue;
		}
		d->owner = GNB_OWNER_NIC;
		h->gives++;
		s.tx_next = d->tx_next;
		s.rlc_tx_next = d->rlc_tx_next;
		memset(frame, 0, P4_SHIM_FRAME_BYTES);
		be16_put(frame + ETH_TYPE_AT, P4_SHIM_TYPE);
		p4_shim_put(frame + 14, &s);
		return true;
	}
	return false;
}
