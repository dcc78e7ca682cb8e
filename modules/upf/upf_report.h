/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_REPORT_H
#define AIRPATH_UPF_REPORT_H

/**
 * What a worker has to tell the management unit: elements of one SPSC ring (rte_ring of elements,
 * by value) from each worker to the control thread, which makes Events and Checkpoints of
 * api/upf.proto of them. Numbers are those of the proto; times are Unix milliseconds.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>
#include <rte_ring_elem.h>

enum upf_report_kind {
	UPF_REPORT_USAGE,      /**< `usage`: a URR's report */
	UPF_REPORT_CHECKPOINT, /**< `usage`: a URR's counters up to now */
	UPF_REPORT_DOWNLINK,   /**< `downlink` */
	UPF_REPORT_INACTIVITY, /**< of the session: nothing more to say */
	UPF_REPORT_ERROR,      /**< `error`: an Error Indication came; id is 0: see upf_remote.h */
	UPF_REPORT_MAC,        /**< `mac`: frames come from the address */
	UPF_REPORT_PATH,       /**< `path`: a GTP-U path failed or came back; id is 0 */
	UPF_REPORT_DETECTED,   /**< `detected`: of the usage report behind it */
};

/** A URR's usage, message Usage of the proto. Index of arrays: enum upf_direction. */
struct upf_usage_report {
	uint32_t urr_id;
	uint32_t triggers; /**< Σ Trigger; of a part before the Monitoring Time: MONIT alone */
	uint64_t bytes[2];
	uint64_t packets[2];
	uint64_t duration_ms;
	uint64_t start_ms, end_ms;
	uint64_t first_ms, last_ms; /**< 0: no packet */
	uint64_t events;
	uint64_t quota_bytes[2];
	uint64_t quota_duration_ms;
	uint64_t quota_events;
};

struct upf_downlink_report {
	uint16_t pdr_id;
	uint8_t qfi; /**< 0xFF: none */
	uint8_t ppi; /**< of the packet's DSCP, 0xFF: none */
};

struct upf_error_report {
	uint8_t peer[16]; /**< IPv4-mapped when it is an IPv4 address */
	uint32_t teid;    /**< of the peer */
};

struct upf_path_report {
	uint8_t ip[16];
	uint8_t octets;    /**< of ip, 4 or 16 */
	uint8_t interface; /**< 1.. */
	bool up;
};

struct upf_mac_report {
	uint64_t key; /**< upf_mac_key() */
};

/** Application Detection Information, TS 29.244 §8.2.47. */
struct upf_detected {
	uint16_t app;    /**< application, 0: none */
	uint8_t version; /**< of the flow, as a downlink packet has it: 4, 6; 0: not one flow's */
	uint8_t proto;
	uint16_t ports[2]; /**< source, destination; host order */
	uint8_t src[16], dst[16];
	bool has_ports;
};

struct upf_report {
	uint64_t id;  /**< of the session */
	uint8_t kind; /**< enum upf_report_kind */
	bool more;    /**< the next element belongs to the same session's event */
	union {
		struct upf_usage_report usage;
		struct upf_downlink_report downlink;
		struct upf_error_report error;
		struct upf_path_report path;
		struct upf_mac_report mac;
		struct upf_detected detected;
	};
};
_Static_assert(sizeof(struct upf_report) % 4 == 0, "element of an rte_ring");

/** @return a ring for `n` reports, or NULL with rte_errno. Control thread. */
static inline struct rte_ring *
upf_report_ring(const char *name, unsigned n, int socket)
{
	return rte_ring_create_elem(name, sizeof(struct upf_report), rte_align32pow2(n + 1), socket,
				    RING_F_SP_ENQ | RING_F_SC_DEQ);
}

/** Worker. @return whether it fitted. */
static inline bool
upf_report_put(struct rte_ring *r, const struct upf_report *e)
{
	return rte_ring_sp_enqueue_elem(r, (void *)(uintptr_t)e, sizeof(*e)) == 0;
}

/** Control thread. @return whether there was one. */
static inline bool
upf_report_get(struct rte_ring *r, struct upf_report *e)
{
	return rte_ring_sc_dequeue_elem(r, e, sizeof(*e)) == 0;
}

#endif
