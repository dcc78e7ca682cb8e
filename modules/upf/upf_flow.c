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
	t->bytes = t->nb_buckets *
		   (sizeof(struct upf_flow_bucket) + UPF_FLOW_WAYS * sizeof(struct upf_flow));
	/* Whose hash is known can have all his flows in one bucket. */
	if (getrandom(t->secret, sizeof(t->secret), 0) == sizeof(t->secret))
		t->flows = ap_huge_alloc(t->bytes);
	if (t->flows == NULL) {
		free(t);
		return NULL;
	}
	t->buckets = (void *)(t->flows + (size_t)t->nb_buckets * UPF_FLOW_WAYS);
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
	const uint32_t b = upf_flow_bucket_of(t, hash);
	const uint16_t tag = upf_flow_tag(hash);
	const struct upf_flow_bucket *bucket = &t->buckets[b];

	for (uint32_t w = 0; w < UPF_FLOW_WAYS; w++)
		if (bucket->tag[w] == tag && upf_flow_is(&t->flows[b * UPF_FLOW_WAYS + w], key))
			return b * UPF_FLOW_WAYS + w;
	return UPF_FLOW_NONE;
}

/* A free place of the bucket, else that of the flow seen longest ago. @param most ticks it idled */
static unsigned
place_of(const struct upf_flow_bucket *b, uint16_t tick, uint16_t *most)
{
	unsigned oldest = 0;

	*most = 0;
	for (unsigned w = 0; w < UPF_FLOW_WAYS; w++) {
		const uint16_t idle = (uint16_t)(tick - b->seen[w]);

		if (b->tag[w] == 0)
			return w;
		if (idle > *most) {
			*most = idle;
			oldest = w;
		}
	}
	return oldest;
}

uint32_t
upf_flow_add(struct upf_flows *t, const struct upf_flow_key *key, uint64_t hash, uint16_t tick,
	     struct upf_flow *gone)
{
	const uint32_t b = upf_flow_bucket_of(t, hash);
	struct upf_flow_bucket *bucket = &t->buckets[b];
	uint16_t idle;
	const unsigned w = place_of(bucket, tick, &idle);
	struct upf_flow *f = &t->flows[b * UPF_FLOW_WAYS + w];

	gone->key.handle = 0;
	if (bucket->tag[w] != 0) {
		if (idle == 0) {
			t->stats.crowded++;
			return UPF_FLOW_NONE;
		}
		*gone = *f;
		t->stats.evicted++;
		t->stats.live--;
	}
	*f = (struct upf_flow){.key = *key};
	bucket->tag[w] = upf_flow_tag(hash);
	bucket->seen[w] = tick;
	t->stats.made++;
	t->stats.live++;
	return b * UPF_FLOW_WAYS + w;
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
	struct upf_flow_bucket *bucket = &t->buckets[b];
	unsigned nb = 0;

	for (unsigned w = 0; w < UPF_FLOW_WAYS; w++) {
		const struct upf_flow *f = &t->flows[b * UPF_FLOW_WAYS + w];
		const uint16_t idle = (uint16_t)(tick - bucket->seen[w]);

		if (bucket->tag[w] == 0 || idle < UPF_FLOW_CLOSED || !is_over(f, idle))
			continue;
		gone[nb++] = *f;
		bucket->tag[w] = 0;
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
