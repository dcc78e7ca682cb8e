/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/fapi/fapi_reassembly.h"

void
fapi_reassembly_init(struct fapi_reassembly *r, uint8_t carrier, struct rte_mempool *proto)
{
	r->carrier = carrier;
	r->proto = proto;
}

static uint32_t
frames_of(const struct fapi_message_rx *msg)
{
	return msg->state == FAPI_MSG_PARTIAL ? (uint32_t)msg->next + msg->stashed : 0;
}

static void
message_free(struct fapi_message_rx *msg)
{
	rte_pktmbuf_free(msg->head);
	for (unsigned i = msg->next; msg->stashed > 0; i++) {
		if (msg->stash[i] == NULL)
			continue;
		rte_pktmbuf_free(msg->stash[i]);
		msg->stash[i] = NULL;
		msg->stashed--;
	}
	msg->head = NULL;
}

static void
message_drop(struct fapi_reassembly *r, struct fapi_message_rx *msg, enum fapi_rx_drop reason,
	     struct fapi_rx_out *out)
{
	out->drops[reason] += frames_of(msg);
	message_free(msg);
	msg->state = FAPI_MSG_LOST;
	r->partial--;
}

static void
restart(struct fapi_reassembly *r, struct fapi_rx_out *out)
{
	for (unsigned i = 0; i < FAPI_WINDOW; i++) {
		if (r->msg[i].state == FAPI_MSG_PARTIAL)
			message_drop(r, &r->msg[i], FAPI_RX_INCOMPLETE, out);
		r->msg[i].state = FAPI_MSG_FREE;
	}
	r->any = false;
}

/** The entry for a sequence number that has none yet. @return NULL when it is too old. */
static struct fapi_message_rx *
message_open(struct fapi_reassembly *r, const struct nfapi_p7 *h, uint64_t now_ns,
	     struct fapi_rx_out *out)
{
	struct fapi_message_rx *msg = &r->msg[h->sequence % FAPI_WINDOW];
	const int8_t ahead = (int8_t)(h->sequence - r->newest);

	if (r->any && ahead <= -FAPI_WINDOW)
		return NULL;
	if (!r->any || ahead > 0)
		r->newest = h->sequence;
	r->any = true;
	if (msg->state == FAPI_MSG_PARTIAL)
		message_drop(r, msg, FAPI_RX_INCOMPLETE, out);
	msg->state = FAPI_MSG_PARTIAL;
	msg->message_id = h->message_id;
	msg->sequence = h->sequence;
	msg->next = 0;
	msg->last = -1;
	msg->highest = 0;
	msg->bytes = 0;
	msg->nb_segs = 0;
	msg->head = NULL;
	msg->tail = NULL;
	msg->first_ns = now_ns;
	r->partial++;
	return msg;
}

static inline void
segment_link(struct fapi_message_rx *msg, struct rte_mbuf *m)
{
	msg->bytes += m->pkt_len;
	msg->nb_segs += m->nb_segs;
	if (msg->head == NULL)
		msg->head = m;
	else
		msg->tail->next = m;
	msg->tail = likely(m->nb_segs == 1) ? m : rte_pktmbuf_lastseg(m);
	msg->next++;
}

/** @return true when the segment's number and M bit fit what is known of its message. */
static bool
segment_fits(const struct fapi_message_rx *msg, const struct nfapi_p7 *h)
{
	if (h->message_id != msg->message_id)
		return false;
	if (msg->last >= 0 && (h->segment > msg->last || (h->segment == msg->last) == h->more))
		return false;
	return h->more || h->segment >= msg->highest;
}

static inline bool
segment_came(const struct fapi_message_rx *msg, uint8_t segment)
{
	return msg->state == FAPI_MSG_DONE || segment < msg->next || msg->stash[segment] != NULL;
}

static void
overtaken(struct fapi_reassembly *r, uint8_t sequence, struct fapi_rx_out *out)
{
	for (unsigned i = 0; i < FAPI_WINDOW; i++) {
		struct fapi_message_rx *old = &r->msg[i];

		if (old->state == FAPI_MSG_PARTIAL &&
		    (int8_t)(sequence - old->sequence) >= FAPI_OVERTAKEN)
			message_drop(r, old, FAPI_RX_INCOMPLETE, out);
	}
}

static void
message_complete(struct fapi_reassembly *r, struct fapi_message_rx *msg, struct fapi_rx_out *out)
{
	const uint32_t frames = frames_of(msg);

	if (unlikely(fapi_tb_take(r, msg, out) < 0)) {
		message_drop(r, msg, FAPI_RX_BAD_BODY, out);
		return;
	}
	out->used += frames;
	msg->state = FAPI_MSG_DONE;
	msg->head = NULL;
	r->partial--;
	r->messages++;
	if (unlikely(r->partial > 0))
		overtaken(r, msg->sequence, out);
}

static inline void
segment_drop(struct rte_mbuf *m, enum fapi_rx_drop reason, struct fapi_rx_out *out)
{
	out->drops[reason]++;
	rte_pktmbuf_free(m);
}

void
fapi_reassembly_add(struct fapi_reassembly *r, const struct nfapi_p7 *h, struct rte_mbuf *m,
		    uint64_t now_ns, struct fapi_rx_out *out)
{
	struct fapi_message_rx *msg = &r->msg[h->sequence % FAPI_WINDOW];

	if (unlikely(r->any && now_ns - r->last_ns > FAPI_RESTART_NS))
		restart(r, out);
	if (msg->state == FAPI_MSG_FREE || msg->sequence != h->sequence)
		msg = message_open(r, h, now_ns, out);
	if (unlikely(msg == NULL || msg->state == FAPI_MSG_LOST)) {
		segment_drop(m, FAPI_RX_STALE, out);
		return;
	}
	if (unlikely(segment_came(msg, h->segment))) {
		segment_drop(m, FAPI_RX_DUPLICATE, out);
		return;
	}
	if (unlikely(!segment_fits(msg, h))) {
		segment_drop(m, FAPI_RX_BAD_SEGMENT, out);
		return;
	}
	r->last_ns = now_ns;
	if (!h->more)
		msg->last = h->segment;
	msg->highest = RTE_MAX(msg->highest, h->segment);
	if (unlikely(h->segment != msg->next)) {
		msg->stash[h->segment] = m;
		msg->stashed++;
		return;
	}
	segment_link(msg, m);
	while (unlikely(msg->stashed > 0) && msg->stash[msg->next] != NULL) {
		struct rte_mbuf *waiting = msg->stash[msg->next];

		msg->stash[msg->next] = NULL;
		msg->stashed--;
		segment_link(msg, waiting);
	}
	if (msg->last >= 0 && msg->next == msg->last + 1)
		message_complete(r, msg, out);
}

uint64_t
fapi_reassembly_expire(struct fapi_reassembly *r, uint64_t now_ns, uint64_t timeout_ns,
		       struct fapi_rx_out *out)
{
	uint64_t due = 0;

	for (unsigned i = 0; i < FAPI_WINDOW && r->partial > 0; i++) {
		struct fapi_message_rx *msg = &r->msg[i];

		if (msg->state != FAPI_MSG_PARTIAL)
			continue;
		if (now_ns - msg->first_ns >= timeout_ns)
			message_drop(r, msg, FAPI_RX_INCOMPLETE, out);
		else if (due == 0 || msg->first_ns + timeout_ns < due)
			due = msg->first_ns + timeout_ns;
	}
	return due;
}

uint64_t
fapi_reassembly_held(const struct fapi_reassembly *r)
{
	uint64_t held = 0;

	for (unsigned i = 0; i < FAPI_WINDOW; i++)
		held += frames_of(&r->msg[i]);
	return held;
}

void
fapi_reassembly_fini(struct fapi_reassembly *r)
{
	for (unsigned i = 0; i < FAPI_WINDOW; i++) {
		if (r->msg[i].state == FAPI_MSG_PARTIAL)
			message_free(&r->msg[i]);
		r->msg[i].state = FAPI_MSG_FREE;
	}
	r->partial = 0;
}
