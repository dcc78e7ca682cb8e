/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_SCANS_H
#define AIRPATH_UPF_SCANS_H

/**
 * Flows of a worker whose first packets are looked at for a name, and the applications that names
 * and headers are of (modules/dpi). Most need no more than a look at a packet where it lies; names
 * found so are looked up together. What takes several packets has a scan. The memory of a scan is
 * for one flow at a time; when all are in use the flow that began first gives its up and stays
 * nameless. Worker, but for what says otherwise.
 */

#include <stdbool.h>
#include <stdint.h>

#include "modules/dpi/dpi_look.h"
#include "modules/dpi/dpi_set.h"

#define UPF_SCANS_MAX 65535
#define UPF_SCAN_NONE UINT16_MAX
#define UPF_APPS 65536

struct upf_scan_stats {
	uint64_t scans;                  /**< flows looked at */
	uint64_t packets;                /**< looked at */
	uint64_t robbed;                 /**< scans that others took */
	uint64_t found[DPI_PROTO_COUNT]; /**< names, by protocol */
	uint64_t bad[DPI_PROTO_COUNT];   /**< flows that broke its rules */
	uint64_t nameless;               /**< flows without a name */
};

/** Which flow a scan is of. */
struct upf_scan_slot {
	uint32_t flow; /**< index in the flow table */
	uint16_t app;  /**< that the flow's headers say, until it has a name */
	uint16_t next, prev;
};

/** Names of packets that are worked on together. */
struct upf_scan_names {
	unsigned nb; /**< 0 to begin with */
	struct dpi_name name[DPI_NAMES_MAX];
	uint16_t app[DPI_NAMES_MAX]; /**< that upf_scan_names() found, 0: none */
	uint8_t hosts[DPI_NAMES_MAX][DPI_HOST_MAX + 1];
};

struct upf_scans {
	const struct dpi_set *set; /**< in force; NULL: none */
	struct dpi_scratch *scratch;
	struct upf_scan_slot *slots;
	uint8_t *memory;
	uint32_t *apps; /**< flows that got application i, UPF_APPS of them */
	size_t scan_bytes;
	uint16_t nb, used;
	uint16_t free;        /**< list by `next` */
	uint16_t first, last; /**< in use, in the order they began */
	struct upf_scan_stats stats;
	bool touched; /**< control thread's */
};

/** @param scans 1..UPF_SCANS_MAX. Control thread. @return NULL without memory. */
struct upf_scans *upf_scans_create(uint32_t scans);
/** After the worker stopped; the set and the scratch are the caller's. */
void upf_scans_destroy(struct upf_scans *t);
/** @return octets of memory. */
size_t upf_scans_bytes(const struct upf_scans *t);
/** As upf_flows_touch(). */
void upf_scans_touch(struct upf_scans *t);

/**
 * Looks at a packet of a flow that has no scan.
 * @param first what the flow remembers: 0 before its first packet; DPI_FIRST_BITS bits
 * @param names takes the name, which lives as long as the packet; not full
 * @return DPI_FOUND: names->nb grew, nothing else is left of the flow's scanning; DPI_NONE,
 *         DPI_BAD: likewise, without a name; DPI_MORE; DPI_KEEP: the flow needs a scan, and
 *         upf_scan_look() at the packet
 */
enum dpi_verdict upf_scan_first(struct upf_scans *t, uint32_t *first, uint8_t ip_proto,
				uint16_t port_of_server, const struct dpi_segment *segment,
				struct upf_scan_names *names);

/** Looks all of them up: names->app. */
void upf_scan_names(struct upf_scans *t, struct upf_scan_names *names);

/**
 * A scan for a flow.
 * @param first what upf_scan_first() remembers of it; 0: it looked at no packet
 * @param seq of the packet that comes next
 * @param robbed flow whose scan it was until now, or UPF_FLOW_NONE
 * @param robbed_app what that flow's headers said
 */
uint16_t upf_scan_begin(struct upf_scans *t, uint32_t flow, uint16_t app, uint8_t ip_proto,
			uint16_t port_of_server, uint32_t first, uint32_t seq, uint32_t *robbed,
			uint16_t *robbed_app);

/** A flow's scan is over. */
void upf_scan_end(struct upf_scans *t, uint16_t scan);

static inline struct dpi_scan *
upf_scan_memory(const struct upf_scans *t, uint16_t scan)
{
	return (struct dpi_scan *)(void *)(t->memory + scan * t->scan_bytes);
}

/**
 * Looks at a packet of the flow.
 * @param app with any verdict but DPI_MORE: of the flow from now on
 * @return DPI_MORE, or the scan is over
 */
enum dpi_verdict upf_scan_look(struct upf_scans *t, uint16_t scan,
			       const struct dpi_segment *segment, uint16_t *app);

#endif
