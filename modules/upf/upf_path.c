/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "modules/upf/upf_path.h"

#define MS 1000000ULL
#define S 1000000000ULL
#define COUNTER_BITS 4 /* of the sequence number; the rest names the path */
_Static_assert(UPF_PEERS_MAX << COUNTER_BITS <= 65536, "a sequence number names a path");

int
upf_paths_init(struct upf_paths *w, struct upf_net *net)
{
	*w = (struct upf_paths){.net = net, .next = 1};
	w->path = rte_zmalloc("upf_path", UPF_PEERS_MAX * sizeof(*w->path), RTE_CACHE_LINE_SIZE);
	return w->path ? 0 : -ENOMEM;
}

void
upf_paths_fini(struct upf_paths *w)
{
	rte_free(w->path);
	w->path = NULL;
}

/** Sends a request for path `i`. @return whether it went. */
static bool
request(struct upf_paths *w, uint32_t i, uint64_t now_ns)
{
	struct upf_net_path *p = &w->net->paths[i];
	struct upf_path *s = &w->path[i];
	uint16_t seq = atomic_load_explicit(&p->echo_seq, memory_order_relaxed);

	seq = (uint16_t)(i << COUNTER_BITS | ((seq + 1U) & ((1U << COUNTER_BITS) - 1)));
	atomic_store(&p->echo_seq, seq);
	if (!w->send(w->arg, p, seq))
		return false;
	s->tries++;
	s->waiting = true;
	s->sent_ns = now_ns;
	s->due_ns = now_ns +
		    atomic_load_explicit(&w->net->live.echo_timeout_ms, memory_order_relaxed) * MS;
	return true;
}

/** One path. @return whether a request was sent. */
static bool
look(struct upf_paths *w, uint32_t i, uint64_t interval_ns, uint64_t now_ns)
{
	struct upf_net_path *p = &w->net->paths[i];
	struct upf_path *s = &w->path[i];

	/* A late answer shows too that the peer is there again. */
	if ((s->waiting || s->down) && atomic_load(&p->answered_ns) >= s->sent_ns) {
		if (s->down && !w->event(w->arg, p, true))
			return false;
		s->waiting = s->down = false;
		s->tries = 0;
		s->due_ns = s->sent_ns + interval_ns;
	}
	if (s->due_ns > now_ns)
		return false;
	if (s->waiting && s->tries >= atomic_load(&w->net->live.echo_tries)) {
		if (!s->down && !w->event(w->arg, p, false))
			return false;
		s->down = true;
		s->waiting = false;
		s->tries = 0;
		s->due_ns = now_ns + interval_ns;
		return false;
	}
	return request(w, i, now_ns);
}

void
upf_paths_tick(struct upf_paths *w, uint64_t now_ns)
{
	const uint64_t interval_ns = atomic_load(&w->net->live.echo_interval_s) * S;
	const uint32_t high = atomic_load_explicit(&w->net->paths_high, memory_order_acquire);
	uint32_t i = w->next < high ? w->next : 1, sent = 0;

	for (uint32_t n = 1; n < high && sent < UPF_PATH_SEND_MAX; n++) {
		struct upf_net_path *p = &w->net->paths[i];
		struct upf_path *s = &w->path[i];
		const uint32_t serial = atomic_load_explicit(&p->serial, memory_order_acquire);

		if (serial != s->serial || interval_ns == 0)
			*s = (struct upf_path){.serial = serial};
		if (interval_ns && atomic_load(&p->interface))
			sent += look(w, i, interval_ns, now_ns);
		i = i + 1 < high ? i + 1 : 1;
	}
	w->next = i;
}

bool
upf_path_answered(struct upf_net *net, bool v6, const uint8_t *from, uint16_t seq, uint64_t now_ns)
{
	struct upf_net_path *p = &net->paths[seq >> COUNTER_BITS];

	if (atomic_load_explicit(&p->interface, memory_order_acquire) == 0 || p->v6 != v6 ||
	    memcmp(p->address, from, v6 ? 16 : 4) != 0 || atomic_load(&p->echo_seq) != seq)
		return false;
	atomic_store(&p->answered_ns, now_ns);
	return true;
}
