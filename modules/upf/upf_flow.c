/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "core/clock.h"
#include "core/huge.h"
#include "modules/upf/upf_flow.h"

#define SWEEP_NS (60 * AP_NS_PER_S) /* once through the table */
#define PAGE_BYTES 4096
#define TCP 6

struct upf_flows *
upf_flows_create(uint32_t flows)
{
	struct upf_flows *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->nb_buckets = (flows + UPF_FLOW_WAYS - 1) / UPF_FLOW_WAYS;
	t->bytes = (size_t)t->nb_buckets * UPF_FLOW_WAYS * sizeof(struct upf_flow);
	/* Whose hash is known can have all his flows in one bucket. */
	if (getrandom(t->secret, sizeof(t->secret), 0) == sizeof(t->secret))
		t->flows = ap_huge_alloc(t->bytes);
	if (t->flows == NULL) {
		free(t);
		return NULL;
	}
	return t;
}

void
upf_flows_destroy(struct upf_flows *t)
{
	if (t == NULL)
		return;
	ap_huge_free(t->flows, t->bytes);
	free(t);
}

void
upf_flows_touch(struct upf_flows *t)
{
	volatile uint8_t *p = (volatile uint8_t *)t->flows;

	for (size_t at = 0; at < t->bytes && !t->touched; at += PAGE_BYTES)
		p[at] = 0;
	t->touched = true;
}

uint32_t
upf_flow_find(const struct upf_flows *t, const struct upf_flow_key *key, uint64_t hash)
{
	const uint32_t home = upf_flow_home(t, hash), bucket = home - home % UPF_FLOW_WAYS;

	for (uint32_t kin = t->flows[home].kin; kin != 0; kin &= kin - 1) {
		const uint32_t at = bucket + (uint32_t)__builtin_ctz(kin);

		if (upf_flow_is(&t->flows[at], key))
			return at;
	}
	return UPF_FLOW_NONE;
}

/* The line at home if it is free, or its neighbour, else any free one of the bucket, else that of
 * the flow seen longest ago. @param most ticks it idled; 0: it is free, or all are busy */
static uint32_t
place_of(const struct upf_flows *t, uint32_t home, uint16_t tick, uint16_t *most)
{
	const uint32_t bucket = home - home % UPF_FLOW_WAYS;
	uint32_t oldest = home;

	*most = 0;
	if (t->flows[home].key.handle == 0)
		return home;
	if (t->flows[home ^ 1].key.handle == 0)
		return home ^ 1;
	for (uint32_t w = 0; w < UPF_FLOW_WAYS; w++)
		rte_prefetch0(&t->flows[bucket + w]);
	for (uint32_t w = 0; w < UPF_FLOW_WAYS; w++) {
		const struct upf_flow *f = &t->flows[bucket + w];
		const uint16_t idle = (uint16_t)(tick - f->seen);

		if (f->key.handle == 0) {
			*most = 0;
			return bucket + w;
		}
		if (idle > *most) {
			*most = idle;
			oldest = bucket + w;
		}
	}
	return oldest;
}

static uint32_t
home_of(const struct upf_flows *t, const struct upf_flow *f)
{
	struct upf_flow_key key = f->key;

	memset(key.zero, 0, sizeof(key.zero));
	if (!(key.what & UPF_FLOW_IP6))
		memset(key.ends[0] + sizeof(f->end4), 0, sizeof(f->first));
	return upf_flow_home(t, upf_flow_hash(t, &key));
}

/* The line is free from now on: its home does not know of it. */
static void
leave(struct upf_flows *t, uint32_t at)
{
	struct upf_flow *f = &t->flows[at];

	t->flows[home_of(t, f)].kin &= (uint8_t) ~(1U << at % UPF_FLOW_WAYS);
	f->key.handle = 0;
	f->state = 0;
}

/* A flow takes another line; what that one says of its kin stays. */
static void
move_in(struct upf_flows *t, const struct upf_flow *f, uint32_t at, uint32_t home)
{
	struct upf_flow *to = &t->flows[at];
	const uint8_t kin = to->kin;

	*to = *f;
	to->kin = kin;
	t->flows[home].kin |= (uint8_t)(1U << at % UPF_FLOW_WAYS);
}

uint32_t
upf_flow_bring_home(struct upf_flows *t, uint32_t at, uint64_t hash, uint16_t tick)
{
	const uint32_t home = upf_flow_home(t, hash);
	const struct upf_flow f = t->flows[at], other = t->flows[home];

	if (at == home || (f.state | other.state) & UPF_FLOW_SCANNING ||
	    (other.key.handle != 0 && (uint16_t)(tick - other.seen) < UPF_FLOW_IDLE))
		return at;
	leave(t, at);
	if (other.key.handle != 0) {
		leave(t, home);
		move_in(t, &other, at, home_of(t, &other));
	}
	move_in(t, &f, home, home);
	return home;
}

uint32_t
upf_flow_add(struct upf_flows *t, const struct upf_flow_key *key, uint64_t hash, uint16_t tick,
	     struct upf_flow *gone)
{
	const uint32_t home = upf_flow_home(t, hash);
	uint16_t idle;
	const uint32_t at = place_of(t, home, tick, &idle);
	struct upf_flow *f = &t->flows[at];
	uint8_t kin;

	gone->key.handle = 0;
	if (f->key.handle != 0) {
		if (idle == 0) {
			t->stats.crowded++;
			return UPF_FLOW_NONE;
		}
		*gone = *f;
		leave(t, at);
		t->stats.evicted++;
		t->stats.live--;
	}
	kin = f->kin;
	*f = (struct upf_flow){.key = *key};
	f->seen = tick;
	f->kin = kin;
	t->flows[home].kin |= (uint8_t)(1U << at % UPF_FLOW_WAYS);
	t->stats.made++;
	t->stats.live++;
	return at;
}

static bool
is_over(const struct upf_flow *f, uint16_t idle)
{
	if (idle < UPF_FLOW_CLOSED)
		return false;
	if (f->state & UPF_FLOW_CLOSING)
		return true;
	return idle >= (f->key.proto == TCP ? UPF_FLOW_TCP : UPF_FLOW_OTHER);
}

static unsigned
sweep_bucket(struct upf_flows *t, uint32_t b, uint16_t tick, struct upf_flow *gone)
{
	unsigned nb = 0;

	for (unsigned w = 0; w < UPF_FLOW_WAYS; w++) {
		const uint32_t at = b * UPF_FLOW_WAYS + w;
		const struct upf_flow *f = &t->flows[at];

		if (f->key.handle == 0 || !is_over(f, (uint16_t)(tick - f->seen)))
			continue;
		gone[nb++] = *f;
		leave(t, at);
	}
	t->stats.expired += nb;
	t->stats.live -= nb;
	return nb;
}

unsigned
upf_flows_sweep(struct upf_flows *t, unsigned max, uint64_t now_ns, struct upf_flow *gone)
{
	const uint64_t every_ns = SWEEP_NS / t->nb_buckets + 1;
	const uint16_t tick = upf_flow_tick(now_ns);
	unsigned nb = 0;

	for (unsigned i = 0; i < max && now_ns - t->sweep_ns >= every_ns; i++) {
		nb += sweep_bucket(t, t->sweep, tick, gone + nb);
		t->sweep = t->sweep + 1 == t->nb_buckets ? 0 : t->sweep + 1;
		t->sweep_ns += every_ns;
	}
	/* After a rest the pace is the same: what is late stays late. */
	if (now_ns - t->sweep_ns >= every_ns + 4 * AP_NS_PER_S)
		t->sweep_ns = now_ns;
	return nb;
}
