/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_TRAFFIC_H
#define AIRPATH_BENCH_UPF_TRAFFIC_H

/**
 * Flows of S2's load model: HTTP over TCP, and UDP, of sessions that each have a few at a time.
 *
 * A *place* of a session holds one flow after another. Places have their turn in a fixed order that
 * jumps between sessions, a packet each, or a train of them behind the request: so what tells whose
 * a flow is leaves the unit before the next packet enters it, as long as fewer packets are inside
 * than there are places. With that it is known which policy each packet is charged to. A flow
 * begins with TCP's handshake and a request, in one segment or (one in 16) in two, of which the
 * first ends within the first line, and goes on with segments both ways; its last has FIN. Of UDP
 * flows there are DNS, a query and a response; QUIC, that begins with an Initial or (one in 16)
 * two, of which the first ends within the host's name; and others, of which nothing is known.
 *
 * A flow follows from the seed, its place and its number there alone: whoever checks a packet
 * computes it anew. Owner: the generator; control thread while that stands.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bench/upf_load.h"
#include "bench/upf_quic.h"
#include "bench/upf_wire.h"

#define UPF_TRAFFIC_PACKETS_MIN 5
#define UPF_TRAFFIC_PACKETS_MAX 30000
#define UPF_TRAFFIC_TEST 32 /**< test header */
#define UPF_TRAFFIC_TCP_HEAD                                                                       \
	(20 + 4 + UPF_TRAFFIC_TEST)                   /**< which is an option of TCP's header      \
						       */
#define UPF_TRAFFIC_SHORT (20 + UPF_TRAFFIC_TCP_HEAD) /**< a TCP packet without data */
#define UPF_TRAFFIC_BYTES_MIN 480                     /**< mean: a request fits in a segment */
#define UPF_TRAFFIC_INITIAL_BYTES (20 + 8 + UPF_QUIC_DATAGRAM)
#define UPF_TRAFFIC_DNS_PACKETS 2
#define UPF_TRAFFIC_CUT 24 /**< octets of a request that stand alone, within its first line */

struct upf_traffic_cfg {
	uint32_t first; /**< session, and those that follow */
	uint32_t sessions;
	uint32_t per_session; /**< flows at a time, 1..64 */
	uint32_t packets;     /**< of a flow but DNS' on average; between half and one and a half */
	uint32_t bytes;       /**< mean inner packet, which very short flows do not reach */
	uint32_t udp_percent;
	uint32_t dns_percent, quic_percent; /**< of those; others are neither */
	uint32_t train; /**< packets of a flow in a row once it is known whose they are; 0: 1 */
	bool policies;  /**< the sessions have those of the load model; else all is policy 0 */
	uint64_t seed;
};

enum upf_traffic_kind {
	UPF_TRAFFIC_HTTP,
	UPF_TRAFFIC_OTHER,
	UPF_TRAFFIC_DNS,
	UPF_TRAFFIC_QUIC,
};

/** A flow. */
struct upf_traffic_flow {
	uint32_t session;
	uint32_t server; /**< network order */
	uint16_t ue_port, server_port;
	uint16_t packets;
	bool udp;
	bool split;            /**< the request takes two segments, or datagrams */
	uint8_t before, after; /**< policies: until its name is known, and from then on */
	uint8_t kind;          /**< enum upf_traffic_kind */
	uint32_t name;         /**< its request, of the rules' names */
	uint32_t isn[UPF_WIRE_DIRECTIONS]; /**< initial sequence numbers */
};

enum upf_traffic_part {
	UPF_TRAFFIC_SYN,
	UPF_TRAFFIC_SYN_ACK,
	UPF_TRAFFIC_ACK,
	UPF_TRAFFIC_REQUEST,
	UPF_TRAFFIC_REST, /**< of the request */
	UPF_TRAFFIC_DATA,
	UPF_TRAFFIC_DATAGRAM,
	UPF_TRAFFIC_QUERY,
	UPF_TRAFFIC_INITIAL,
	UPF_TRAFFIC_INITIAL_REST, /**< of the ClientHello */
};

/** A packet of a flow, and all its headers say. */
struct upf_traffic_packet {
	enum upf_wire_direction direction;
	enum upf_traffic_part part;
	uint8_t policy; /**< it is charged to */
	bool fin;
	uint16_t bytes; /**< inner packet */
	uint32_t seq, ack;
};

struct upf_traffic_usage {
	uint64_t octets[UPF_WIRE_DIRECTIONS]; /**< inner ones */
	uint64_t packets[UPF_WIRE_DIRECTIONS];
};

/** Where one flow follows another. */
struct upf_traffic_place {
	struct upf_traffic_flow flow;
	uint32_t number; /**< of the flow, here */
	uint16_t at;     /**< its next packet */
} __rte_aligned(64);

struct upf_traffic {
	struct upf_traffic_cfg cfg;
	const struct upf_load *load;
	uint16_t segment;  /**< inner octets of a TCP packet with data */
	uint16_t datagram; /**< likewise of QUIC, behind Initials */
	uint32_t nb_places;
	uint32_t next, step; /**< place that has its turn; from one to the one after */
	uint32_t left;       /**< packets of this turn; 0: it begins */
	struct upf_traffic_place *places;
	/** [session * UPF_LOAD_RATING_GROUPS + group - 1] of what was sent. */
	struct upf_traffic_usage *usage;
	uint64_t begun; /**< flows */
	uint64_t taken; /**< turns */
};

/** @return 0, -EINVAL for a contradicting `cfg`, or -ENOMEM. Free with upf_traffic_free(). */
int upf_traffic_init(struct upf_traffic *f, const struct upf_traffic_cfg *cfg,
		     const struct upf_load *load);
void upf_traffic_free(struct upf_traffic *f);

/** @return the flow of that number at a place. */
struct upf_traffic_flow upf_traffic_derive(const struct upf_traffic *f, uint32_t place,
					   uint32_t number);

/** @return packet `at` of a flow. */
struct upf_traffic_packet upf_traffic_packet(const struct upf_traffic *f,
					     const struct upf_traffic_flow *flow, unsigned at);

/** One turn, to be named in the packet. */
struct upf_traffic_turn {
	uint32_t place, number;
	uint16_t at;
	struct upf_traffic_flow flow;
	struct upf_traffic_packet packet;
};

/** Takes the next packet and accounts for it. */
void upf_traffic_take(struct upf_traffic *f, struct upf_traffic_turn *t);

/** @return which way packet `at` of a flow goes. */
enum upf_wire_direction upf_traffic_direction(const struct upf_traffic_flow *flow, unsigned at);

/** What a session's rating group 1.. was charged. */
static inline const struct upf_traffic_usage *
upf_traffic_used(const struct upf_traffic *f, uint32_t session, unsigned group)
{
	return &f->usage[(session - f->cfg.first) * UPF_LOAD_RATING_GROUPS + group - 1];
}

#endif
