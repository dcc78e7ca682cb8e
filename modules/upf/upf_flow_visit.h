/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_FLOW_VISIT_H
#define AIRPATH_UPF_FLOW_VISIT_H

/**
 * What upf_flow has to think about: packets of new flows, of flows whose application is not known
 * yet, and of those whose session has other rules. For upf_flow.
 *
 * Packets are decided in their order, but those that bring their flow's name: these wait for the
 * others of the vector that do, as names are looked up together, and the flow's next packet ends
 * their waiting. Worker.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "modules/dpi/dpi_set.h"
#include "modules/upf/upf_flow.h"
#include "modules/upf/upf_flow_packet.h"
#include "modules/upf/upf_scans.h"
#include "modules/upf/upf_tables.h"

#define UPF_FLOW_CHUNK 64 /**< packets that are worked on together */
_Static_assert(UPF_FLOW_CHUNK <= DPI_FLOWS_MAX && UPF_FLOW_CHUNK <= DPI_NAMES_MAX, "they fit");

enum upf_flow_drop {
	UPF_FLOW_DROP_NO_PDR,
	UPF_FLOW_DROP_SPOOFED,
	UPF_FLOW_DROP_WRONG_QFI,
	UPF_FLOW_DROP_MALFORMED,
	UPF_FLOW_DROP_DPI_BAD,
};

struct upf_flow_visit {
	struct upf_tables *tables;
	struct upf_flows *flows;
	struct upf_scans *scans;
	uint32_t session_flows; /**< most of a session */
	uint16_t tick;
	bool close_bad; /**< dpi: on_bad: closed */
	bool replaced;  /**< flows found before may be others by now */
	struct rte_mbuf **pkts;
	struct upf_flow_packet at[UPF_FLOW_CHUNK];
	uint16_t app[UPF_FLOW_CHUNK]; /**< by the headers, of packets whose flow is new */
	int16_t lane[UPF_FLOW_CHUNK]; /**< or -1 - enum upf_flow_drop */
	/** Of names: which packet, and its flow. */
	uint8_t named[UPF_FLOW_CHUNK];
	struct upf_scan_names names;
};

/**
 * Decides v->lane[] of these packets.
 * @param asked 1 << index of packet
 * @param fresh those of them whose flow was not found
 */
void upf_flow_decide(struct upf_flow_visit *v, uint64_t asked, uint64_t fresh);

/** A flow is gone from the table: what else there is of it goes, too. */
void upf_flow_forget(struct upf_flow_visit *v, const struct upf_flow *gone);

#endif
