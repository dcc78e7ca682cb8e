/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/upf/upf_buffer.h"

#include <string.h>
#include <sys/queue.h>

#include <rte_malloc.h>

#include "core/clock.h"
#include "modules/upf/upf_encap.h"
#include "modules/upf/upf_report.h"
#include "modules/upf/upf_rules.h"

#define RETRY_NS (10 * AP_NS_PER_MS) /* for a report the ring had no room for */

/** A packet that waits. */
struct entry {
	struct rte_mbuf *m;
	uint32_t next; /**< index + 1, 0: none */
	uint16_t pdr;  /**< its id */
};

/** Packets of a session, or the memory that its CP function was told (no packet). */
struct queue {
	struct ap_timer timer; /**< the report is due */
	TAILQ_ENTRY(queue) link;
	struct upf_buffer *b;
	struct upf_session *s;
	uint32_t first, last; /**< entries, index + 1 */
	uint32_t packets;
	struct upf_downlink_report report; /**< of the period's first packet */
	bool ready;                        /**< in b->ready: something may go */
	bool told;                         /**< of this period, or about to be */
};

struct upf_buffer {
	struct upf_buffer_cfg cfg;
	struct entry *entries;
	struct queue *queues;
	uint32_t free_entry; /**< index + 1 */
	uint32_t packets;
	TAILQ_HEAD(, queue) free, ready;
	void (*wake)(void *arg, uint64_t now_ns);
	void *arg;
	uint64_t *discarded;
	uint64_t nobody; /**< what discarded points to until upf_buffer_bind() */
};

static void on_timer(struct ap_timer *t, uint64_t now_ns);

struct upf_buffer *
upf_buffer_create(const struct upf_buffer_cfg *cfg)
{
	struct upf_buffer *b = rte_zmalloc_socket("upf_buffer", sizeof(*b), 0, cfg->socket);

	if (b == NULL)
		return NULL;
	b->cfg = *cfg;
	b->discarded = &b->nobody;
	TAILQ_INIT(&b->free);
	TAILQ_INIT(&b->ready);
	b->entries = rte_zmalloc_socket("upf_buffer", cfg->packets * sizeof(*b->entries), 0,
					cfg->socket);
	b->queues =
		rte_zmalloc_socket("upf_buffer", cfg->packets * sizeof(*b->queues), 0, cfg->socket);
	if (b->entries == NULL || b->queues == NULL) {
		upf_buffer_destroy(b);
		return NULL;
	}
	for (uint32_t i = cfg->packets; i > 0; i--) {
		b->entries[i - 1].next = b->free_entry;
		b->free_entry = i;
		b->queues[i - 1].b = b;
		b->queues[i - 1].timer.fire = on_timer;
		TAILQ_INSERT_HEAD(&b->free, &b->queues[i - 1], link);
	}
	return b;
}

void
upf_buffer_destroy(struct upf_buffer *b)
{
	if (b == NULL)
		return;
	for (uint32_t i = 0; b->queues != NULL && b->entries != NULL && i < b->cfg.packets; i++) {
		for (uint32_t e = b->queues[i].first; e != 0; e = b->entries[e - 1].next)
			rte_pktmbuf_free(b->entries[e - 1].m);
		if (ap_timer_armed(&b->queues[i].timer))
			ap_timer_cancel(b->cfg.wheel, &b->queues[i].timer);
	}
	rte_free(b->queues);
	rte_free(b->entries);
	rte_free(b);
}

void
upf_buffer_bind(struct upf_buffer *b, void (*wake)(void *arg, uint64_t now_ns), void *arg,
		uint64_t *discarded)
{
	b->wake = wake;
	b->arg = arg;
	b->discarded = discarded;
}

static struct queue *
queue_of(struct upf_buffer *b, const struct upf_session *s)
{
	return s->queue != 0 ? &b->queues[s->queue - 1] : NULL;
}

static struct queue *
queue_make(struct upf_buffer *b, struct upf_session *s)
{
	struct queue *q = TAILQ_FIRST(&b->free);

	if (q == NULL)
		return NULL;
	TAILQ_REMOVE(&b->free, q, link);
	q->s = s;
	q->ready = q->told = false;
	s->queue = (uint32_t)(q - b->queues) + 1;
	return q;
}

static void
queue_end(struct upf_buffer *b, struct queue *q)
{
	if (ap_timer_armed(&q->timer))
		ap_timer_cancel(b->cfg.wheel, &q->timer);
	if (q->ready)
		TAILQ_REMOVE(&b->ready, q, link);
	q->s->queue = 0;
	q->s = NULL;
	TAILQ_INSERT_HEAD(&b->free, q, link);
}

/* Takes entry `e`, behind `before` (0: the first), out of its queue. */
static struct rte_mbuf *
entry_out(struct upf_buffer *b, struct queue *q, uint32_t before, uint32_t e)
{
	struct entry *x = &b->entries[e - 1];

	*(before != 0 ? &b->entries[before - 1].next : &q->first) = x->next;
	if (q->last == e)
		q->last = before;
	q->packets--;
	b->packets--;
	x->next = b->free_entry;
	b->free_entry = e;
	return x->m;
}

static void
discard_all(struct upf_buffer *b, struct queue *q)
{
	while (q->first != 0) {
		rte_pktmbuf_free(entry_out(b, q, 0, q->first));
		(*b->discarded)++;
	}
}

static void
tell(struct upf_buffer *b, struct queue *q, uint64_t now_ns)
{
	const struct upf_report r = {
		.id = q->s->id, .kind = UPF_REPORT_DOWNLINK, .downlink = q->report};

	if (!upf_report_put(b->cfg.reports, &r))
		ap_timer_set(b->cfg.wheel, &q->timer, now_ns + RETRY_NS);
}

static void
on_timer(struct ap_timer *t, uint64_t now_ns)
{
	struct queue *q = RTE_PTR_SUB(t, offsetof(struct queue, timer));

	tell(q->b, q, now_ns);
}

static const struct upf_bar *
bar_of(const struct upf_rules *r, unsigned lane)
{
	const struct upf_far *far = &r->fars[r->pdrs[lane].far];

	return far->bar != 0 ? &r->bars[far->bar - 1] : NULL;
}

/* The CP function is told of a period's first packet, after the BAR's delay (§8.2.28). */
static void
tell_soon(struct upf_buffer *b, struct queue *q, unsigned lane, uint64_t now_ns)
{
	const struct upf_bar *bar = bar_of(q->s->rules, lane);

	q->told = true;
	if (bar != NULL && bar->notify_delay_ms != 0)
		ap_timer_set(b->cfg.wheel, &q->timer, now_ns + bar->notify_delay_ms * AP_NS_PER_MS);
	else
		tell(b, q, now_ns);
}

static void
describe(struct queue *q, unsigned lane, const struct rte_mbuf *m)
{
	const struct upf_pdr *pdr = &q->s->rules->pdrs[lane];

	q->report = (struct upf_downlink_report){.pdr_id = pdr->id, .qfi = pdr->qfi, .ppi = 0xFF};
	if (q->report.qfi == 0xFF && upf_matched_rx(m) & UPF_RX_QFI)
		q->report.qfi = upf_matched_qfi(m);
	if (m->data_len >= 2 && q->s->rules->ethernet == NULL)
		q->report.ppi = upf_tos(rte_pktmbuf_mtod(m, const uint8_t *)) >> 2;
}

static uint32_t
bound(const struct upf_buffer *b, const struct upf_session *s, unsigned lane)
{
	const struct upf_bar *bar = bar_of(s->rules, lane);

	return bar != NULL && bar->packets != 0 ? RTE_MIN(bar->packets, b->cfg.session_packets)
						: b->cfg.session_packets;
}

enum upf_buffered
upf_buffer_put(struct upf_buffer *b, struct upf_session *s, uint16_t lane, struct rte_mbuf *m,
	       uint64_t now_ns)
{
	const uint32_t flags = s->lanes[lane].flags;
	struct queue *q = queue_of(b, s);
	uint32_t e;

	if (flags & UPF_LANE_FORWARD && (q == NULL || !q->ready))
		return UPF_BUFFERED_PASS;
	if (!(flags & (UPF_LANE_FORWARD | UPF_LANE_BUFFER | UPF_LANE_NOTIFY)))
		return UPF_BUFFERED_DROP;
	if (q == NULL && (q = queue_make(b, s)) == NULL)
		return UPF_BUFFERED_FULL;
	if (flags & UPF_LANE_NOTIFY && !q->told) {
		describe(q, lane, m);
		tell_soon(b, q, lane, now_ns);
	}
	if (!(flags & (UPF_LANE_FORWARD | UPF_LANE_BUFFER)))
		return UPF_BUFFERED_DROP;
	e = b->free_entry;
	if (e == 0 || q->packets >= bound(b, s, lane)) {
		if (q->packets == 0 && !q->told)
			queue_end(b, q);
		return UPF_BUFFERED_FULL;
	}
	if (q->packets == 0 && !q->told)
		describe(q, lane, m);
	b->free_entry = b->entries[e - 1].next;
	b->entries[e - 1] = (struct entry){.m = m, .pdr = s->rules->pdrs[lane].id};
	*(q->last != 0 ? &b->entries[q->last - 1].next : &q->first) = e;
	q->last = e;
	q->packets++;
	b->packets++;
	return UPF_BUFFERED_HELD;
}

/* What becomes of packets under the rules in force. */
struct fate {
	bool waits;  /**< a FAR buffers some of them */
	bool leaves; /**< some may go, or have no FAR that keeps them */
	int notify;  /**< a lane that buffers and wants the CP function told, or -1 */
};

static struct fate
fate_of(const struct upf_buffer *b, const struct queue *q)
{
	struct fate f = {.notify = -1};

	for (uint32_t e = q->first; e != 0; e = b->entries[e - 1].next) {
		int lane = upf_rules_find_pdr(q->s->rules, b->entries[e - 1].pdr);

		if (lane >= 0 && q->s->lanes[lane].flags & UPF_LANE_BUFFER) {
			f.waits = true;
			if (q->s->lanes[lane].flags & UPF_LANE_NOTIFY && f.notify < 0)
				f.notify = lane;
		} else {
			f.leaves = true;
		}
	}
	return f;
}

void
upf_buffer_changed(struct upf_buffer *b, struct upf_session *s, bool drop_buffered, uint64_t now_ns)
{
	struct queue *q = queue_of(b, s);
	struct fate f;

	if (q == NULL)
		return;
	if (drop_buffered)
		discard_all(b, q);
	f = fate_of(b, q);
	if (!f.waits) { /* the period is over */
		q->told = false;
		if (ap_timer_armed(&q->timer))
			ap_timer_cancel(b->cfg.wheel, &q->timer);
	}
	if (q->packets == 0) {
		queue_end(b, q);
		return;
	}
	if (f.notify >= 0 && !q->told)
		tell_soon(b, q, (unsigned)f.notify, now_ns);
	if (f.leaves && !q->ready) {
		q->ready = true;
		TAILQ_INSERT_TAIL(&b->ready, q, link);
		b->wake(b->arg, now_ns);
	}
}

void
upf_buffer_gone(struct upf_buffer *b, struct upf_session *s)
{
	struct queue *q = queue_of(b, s);

	if (q == NULL)
		return;
	discard_all(b, q);
	queue_end(b, q);
}

/* @return false: `max` was reached */
static bool
take_of(struct upf_buffer *b, struct queue *q, struct rte_mbuf **pkts, uint16_t max, uint16_t *nb)
{
	uint32_t before = 0, e = q->first;

	while (e != 0) {
		const uint32_t next = b->entries[e - 1].next;
		int lane = upf_rules_find_pdr(q->s->rules, b->entries[e - 1].pdr);
		const uint32_t flags = lane >= 0 ? q->s->lanes[lane].flags : 0;
		struct rte_mbuf *m;

		if (flags & UPF_LANE_BUFFER) {
			before = e;
		} else if (flags & UPF_LANE_FORWARD) {
			if (*nb == max)
				return false;
			m = entry_out(b, q, before, e);
			upf_matched_move(m, q->s, (uint16_t)lane);
			pkts[(*nb)++] = m;
		} else {
			rte_pktmbuf_free(entry_out(b, q, before, e));
			(*b->discarded)++;
		}
		e = next;
	}
	return true;
}

uint16_t
upf_buffer_take(struct upf_buffer *b, struct rte_mbuf **pkts, uint16_t max)
{
	struct queue *q;
	uint16_t nb = 0;

	while ((q = TAILQ_FIRST(&b->ready)) != NULL && take_of(b, q, pkts, max, &nb)) {
		TAILQ_REMOVE(&b->ready, q, link);
		q->ready = false;
		if (q->packets == 0)
			queue_end(b, q);
	}
	return nb;
}

uint32_t
upf_buffer_held(const struct upf_buffer *b)
{
	return b->packets;
}
