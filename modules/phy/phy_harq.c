/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "modules/phy/phy_harq.h"

/*
 * Handle of a grant, 16 bits because the stack echoes it as a PDU index:
 * process (5) | transmission less 1 (3) | NDI (1) | grant of the carrier, modulo 128 (7).
 */
#define HANDLE_PROCESS(h) ((h)&0x1F)
#define HANDLE_TX(h) ((h) >> 5 & 7)
#define HANDLE_NDI(h) ((h) >> 8 & 1)
#define HANDLE_SEQUENCE(h) ((h) >> 9)
#define DECODED (1U << 31)

int
phy_harq_init(struct phy_harq *h, const struct phy_harq_cfg *cfg, uint8_t numerology)
{
	double odds = 1;

	if (!(cfg->soft_loss >= 0 && cfg->soft_loss <= 1))
		return -EINVAL;
	if (cfg->processes == 0)
		return cfg->soft_loss > 0 ? -EINVAL : 0;
	if (cfg->processes > PHY_HARQ_PROCESSES_MAX || cfg->max_tx < 1 ||
	    cfg->max_tx > PHY_HARQ_TX_MAX)
		return -EINVAL;
	h->processes = cfg->processes;
	h->max_tx = cfg->max_tx;
	h->dtx_slots = PHY_HARQ_DTX_MS << numerology;
	h->gone_slots = PHY_HARQ_GONE_MS << numerology;
	for (unsigned k = 0; k < PHY_HARQ_TX_MAX; k++) {
		odds *= cfg->soft_loss;
		h->odds[k] = phy_rng_odds(odds);
	}
	return 0;
}

/* No TB came for this grant: it is repeated, so that NDI never toggles for a TB not heard of. */
static void
not_sent(struct phy_harq *h, struct phy_harq_process *p, uint64_t now)
{
	h->dtx++;
	p->state = PHY_HARQ_PENDING;
	if (now - p->heard_at <= h->gone_slots)
		return;
	h->unheard++;
	p->state = PHY_HARQ_IDLE;
}

/** @return grants of the carrier from the process's last one to `sequence`, −64..63. */
static int
grants_since(const struct phy_harq_process *p, uint8_t sequence)
{
	const int d = (sequence - HANDLE_SEQUENCE(p->handle)) & 0x7F;

	return d < 64 ? d : d - 128;
}

static void
report(struct phy_harq *h, uint8_t carrier, uint16_t handle, bool decoded, uint64_t now)
{
	struct phy_harq_process *all = h->process[carrier];
	struct phy_harq_process *p = &all[HANDLE_PROCESS(handle)];

	/* The stack serves a carrier's grants in order: older ones brought nothing. */
	for (unsigned i = 0; i < h->processes; i++)
		if (all[i].state == PHY_HARQ_WAIT &&
		    grants_since(&all[i], HANDLE_SEQUENCE(handle)) > 0)
			not_sent(h, &all[i], now);
	if (p->state == PHY_HARQ_IDLE || HANDLE_NDI(handle) != p->new_data)
		return;
	if (decoded) {
		p->state = PHY_HARQ_IDLE;
		return;
	}
	p->heard_at = now;
	if (handle != p->handle)
		return; /* granted again since: that one counts */
	p->state = PHY_HARQ_PENDING;
	if (++p->tx < h->max_tx)
		return;
	p->state = PHY_HARQ_IDLE;
	h->lost++;
}

void
phy_harq_reports(struct phy_harq *h, uint64_t now)
{
	const uint32_t head = atomic_load_explicit(&h->head, memory_order_acquire);
	uint32_t tail = atomic_load_explicit(&h->tail, memory_order_relaxed);

	for (; tail != head; tail++) {
		const uint32_t r = h->box[tail % PHY_HARQ_BOX];

		report(h, r >> 16 & 7, (uint16_t)r, r & DECODED, now);
	}
	atomic_store_explicit(&h->tail, tail, memory_order_release);
	for (unsigned c = 0; c < PHY_HARQ_CARRIERS_MAX; c++)
		for (unsigned i = 0; i < h->processes; i++) {
			struct phy_harq_process *p = &h->process[c][i];

			if (p->state == PHY_HARQ_WAIT && now - p->granted_at > h->dtx_slots)
				not_sent(h, p, now);
		}
}

/* What failed to decode before what was never sent, then the older one. */
static bool
before(const struct phy_harq_process *a, const struct phy_harq_process *b)
{
	if ((a->tx > 0) != (b->tx > 0))
		return a->tx > 0;
	return a->granted_at < b->granted_at;
}

int
phy_harq_pick(struct phy_harq *h, uint8_t carrier, uint32_t tb_bytes)
{
	struct phy_harq_process *all = h->process[carrier];
	int idle = -1, first = -1;

	for (int i = 0; i < h->processes; i++) {
		if (all[i].state == PHY_HARQ_PENDING && (first < 0 || before(&all[i], &all[first])))
			first = i;
		if (all[i].state == PHY_HARQ_IDLE && idle < 0)
			idle = i;
	}
	if (first >= 0)
		return first;
	if (tb_bytes == 0)
		return -1;
	h->stalls += idle < 0;
	return idle;
}

void
phy_harq_grant(struct phy_harq *h, uint8_t carrier, int process, uint32_t tb_bytes, uint64_t now,
	       struct fapi_grant *g)
{
	static const uint8_t rv[4] = {0, 2, 3, 1};
	struct phy_harq_process *p = &h->process[carrier][process];

	if (p->state == PHY_HARQ_IDLE) {
		p->new_data = !p->new_data;
		p->tb_bytes = tb_bytes;
		p->tx = 0;
		p->heard_at = now;
	}
	h->retx += p->tx > 0;
	p->state = PHY_HARQ_WAIT;
	p->granted_at = now;
	p->handle = (uint16_t)(process | p->tx << 5 | p->new_data << 8 |
			       (h->sequence[carrier]++ & 0x7F) << 9);
	g->handle = p->handle;
	g->harq_process = (uint8_t)process;
	g->new_data = p->new_data;
	g->rv_index = rv[p->tx % 4];
	g->tb_bytes = p->tb_bytes;
}

static void
box_put(struct phy_harq *h, uint32_t r)
{
	const uint32_t head = atomic_load_explicit(&h->head, memory_order_relaxed);

	if (head - atomic_load_explicit(&h->tail, memory_order_acquire) >= PHY_HARQ_BOX) {
		h->box_full++;
		return;
	}
	h->box[head % PHY_HARQ_BOX] = r;
	atomic_store_explicit(&h->head, head + 1, memory_order_release);
}

enum phy_harq_verdict
phy_harq_receive(struct phy_harq *h, uint8_t carrier, uint16_t handle, struct phy_rng *rng)
{
	struct phy_harq_soft *s = &h->soft[carrier][HANDLE_PROCESS(handle)];
	const uint32_t r = (uint32_t)carrier << 16 | handle;
	const bool new_data = HANDLE_NDI(handle);

	if (!s->known || s->new_data != new_data)
		*s = (struct phy_harq_soft){true, new_data, false};
	if (s->decoded) {
		h->again++;
		box_put(h, r | DECODED);
		return PHY_HARQ_AGAIN;
	}
	if (phy_rng_hit(rng, h->odds[HANDLE_TX(handle)])) {
		h->soft_lost++;
		box_put(h, r);
		return PHY_HARQ_FAILED;
	}
	s->decoded = true;
	box_put(h, r | DECODED);
	return PHY_HARQ_DECODED;
}
