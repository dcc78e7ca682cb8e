/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_GEN_H
#define AIRPATH_BENCH_UPF_GEN_H

/**
 * Generator and verifier of `bench upf`: both ends of the forwarding unit's two ring ports, a
 * thread on a CPU of its own.
 *
 * A direction's packets go to sessions drawn at random, from a seed, and carry numbers that rise;
 * everything that comes out is compared with what must. With flows (upf_traffic.h) packets are
 * those of flows in turn, each in its own direction. No more than a window of packets is inside the
 * unit at once, so that rings never overflow: a unit that is too slow is offered less than it
 * should be, and that is seen.
 *
 * Commands and counters: the control thread; all else is the generator's own.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>
#include <rte_ring.h>

#include "bench/upf_traffic_wire.h"
#include "bench/upf_wire.h"
#include "core/hist.h"
#include "core/port.h"
#include "modules/gen/gen.h"
#include "modules/gen/gen_pace.h"
#include "modules/gen/gen_seq.h"

#define UPF_GEN_QUEUES_MAX 8

/** Counted since the beginning. Generator: rw, control: ro. */
struct upf_gen_counters {
	_Atomic uint64_t sent, sent_octets; /**< octets: of inner packets */
	_Atomic uint64_t good, good_octets; /**< each counted once */
	_Atomic uint64_t corrupted, duplicated, reordered;
	_Atomic uint64_t given_up; /**< never came out */
	_Atomic uint64_t refused;  /**< not sent: as many as fit were in the unit; see `refuse` */
};

/** The fixed loop of bench/harness.h on a CPU, and what its thread has had of it. */
struct upf_frame {
	uint64_t cycles;
	uint64_t cpu_ns, wall_ns;
};

/** Of the calling thread. */
void upf_frame_take(struct upf_frame *f);

/** @return share of the time between two frames of a thread that it had its CPU */
static inline double
upf_frame_share(const struct upf_frame *a, const struct upf_frame *b)
{
	return (double)(b->cpu_ns - a->cpu_ns) / (double)(b->wall_ns - a->wall_ns);
}

struct upf_gen_flow {
	struct rte_ring *to;                       /**< the unit's RX ring */
	struct rte_ring *from[UPF_GEN_QUEUES_MAX]; /**< its TX rings of the other port */
	unsigned turn;                             /**< of them, that is looked at next */
	struct gen_pace pace;
	uint64_t rate_seen;
	uint64_t random;
	uint64_t seq; /**< of the next packet */
	struct gen_seq seqs;
	uint64_t bitmap[1024];
	uint32_t next[64];     /**< sessions of the next packets, on their way to the cache */
	_Atomic uint64_t rate; /**< control: rw; see upf_gen_rate() */
	struct upf_gen_counters c __rte_cache_aligned;
	struct ap_hist delay; /**< of a packet in 16; with flows of each of UDP */
};

struct upf_gen {
	const struct upf_wire *wire; /**< changes while nothing is under way */
	/** Sent in place of the wire's packets, or NULL; changes while it stands, or is quiet. */
	const struct upf_traffic_wire *flow_wire;
	struct upf_traffic *flows; /**< those of the flow_wire; the generator's */
	struct upf_wire_session *sessions;
	const struct ap_port *port[UPF_WIRE_DIRECTIONS]; /**< our end of `to`: wakes a unit that
							    sleeps */
	_Atomic uint64_t slot_ns; /**< what is due in a slot leaves at its beginning; 0: evenly */
	_Atomic bool refuse;      /**< a packet that finds the window full is lost, as at a NIC */
	uint32_t nb_sessions;
	uint32_t active; /**< of the sessions, the first ones get packets */
	uint32_t window; /**< packets of a direction inside the unit at once */
	struct rte_mempool *pool;
	unsigned cpu;
	unsigned queues; /**< of each port that the unit sends on */
	struct upf_gen_flow flow[UPF_WIRE_DIRECTIONS];
	_Atomic uint64_t foreign;     /**< frames that were not ours */
	_Atomic uint64_t busy_cycles; /**< of turns that sent or received */
	_Atomic uint64_t all_cycles;
	_Atomic uint64_t turns, turns_busy; /**< busy: sent or received */

	pthread_t thread;
	_Atomic int started; /**< 1, or -errno */
	_Atomic bool stop;
	_Atomic bool give_up; /**< what is under way is lost */
	_Atomic bool pause, paused;
	_Atomic uint32_t frame_asked; /**< fixed loops of bench/harness.h to run ... */
	_Atomic uint32_t frame_done;  /**< ... and run */
	struct upf_frame frame;       /**< the last one, once `frame_done` says so */
};

/** Fields up to `queues`, and the rings, are filled in. @return 0 or -errno */
int upf_gen_start(struct upf_gen *g, uint64_t seed);
void upf_gen_stop(struct upf_gen *g);

/** Control thread. Takes effect within microseconds. With flows uplink has the rate of both. */
void upf_gen_rate(struct upf_gen *g, enum upf_wire_direction d, struct gen_rate rate);

/** Takes a frame on the generator's CPU and waits for it. */
void upf_gen_frame(struct upf_gen *g, struct upf_frame *f);

/** The control thread takes the generator's place, or gives it back. Rates are 0. */
void upf_gen_pause(struct upf_gen *g, bool pause);

/**
 * Sends `n` packets; with flows twice as many for both directions by the uplink's call, and none by
 * the other. Control thread, in the generator's place; likewise below.
 */
void upf_gen_fill(struct upf_gen *g, enum upf_wire_direction d, unsigned n);

/** Takes and judges all that has come out. */
void upf_gen_drain(struct upf_gen *g);

/** @return packets of a direction inside the unit, or lost there. */
static inline uint64_t
upf_gen_under_way(const struct upf_gen *g, enum upf_wire_direction d)
{
	const struct upf_gen_counters *c = &g->flow[d].c;
	uint64_t back = atomic_load_explicit(&c->good, memory_order_relaxed) +
			atomic_load_explicit(&c->corrupted, memory_order_relaxed) +
			atomic_load_explicit(&c->given_up, memory_order_relaxed);

	return atomic_load_explicit(&c->sent, memory_order_relaxed) - back;
}

/** @return packets of both directions inside the unit, or lost there. */
static inline uint64_t
upf_gen_inside(const struct upf_gen *g)
{
	return upf_gen_under_way(g, UPF_WIRE_UP) + upf_gen_under_way(g, UPF_WIRE_DOWN);
}

/** Stops both directions: nothing is sent after this has returned. */
void upf_gen_quiet(struct upf_gen *g);

/** What is under way is lost; the generator stands still. */
void upf_gen_give_up(struct upf_gen *g);

#endif
