/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_MSG_H
#define AIRPATH_UPF_MSG_H

/**
 * What the control thread has a worker do. A message belongs to the worker from its ring to the
 * reply ring; the control thread makes it with all memory the worker may need, and frees it with
 * what the worker put out of use.
 */

#include <stdbool.h>
#include <stdint.h>

#include "modules/dpi/dpi_set.h"
#include "modules/upf/upf_apply.h"
#include "modules/upf/upf_report.h"

enum upf_msg_kind {
	UPF_MSG_SET,          /**< `rules` replace those of session `id`, or make it */
	UPF_MSG_DELETE,       /**< session `id` goes; its last usage is reported (TERMR) */
	UPF_MSG_QUERY,        /**< usage of `query` is reported (IMMER) */
	UPF_MSG_APPLICATIONS, /**< new flows are of applications of `set` */
};

enum upf_status { /* Status of api/upf.proto */
		  UPF_STATUS_OK = 0,
		  UPF_STATUS_UNKNOWN_SESSION = 1,
		  UPF_STATUS_RULE_FAILED = 2,
		  UPF_STATUS_NO_RESOURCES = 3,
		  UPF_STATUS_STALE = 4,
};

/** Sent where the old rules end, TS 29.281 §7.3.2. */
struct upf_end_marker {
	uint16_t peer; /**< of struct upf_peers; put back with the message */
	uint32_t teid;
};

struct upf_msg {
	/* control → worker */
	uint8_t kind;
	bool drop_buffered; /**< DROBU */
	bool query_all;     /**< QAURR, or a Query without ids */
	uint32_t handle;
	uint64_t id;
	struct upf_rules *rules; /**< SET: the worker's from now on, unless it fails */
	uint32_t *query;         /**< URR ids */
	struct upf_end_marker *end_markers;
	uint32_t nb_query, nb_end_markers;
	const struct dpi_set *set;   /**< APPLICATIONS */
	struct dpi_scratch *scratch; /**< the set's; comes back as that of the set before */

	/* worker → control */
	uint16_t status;            /**< enum upf_status */
	int error;                  /**< -errno behind it */
	struct upf_applied applied; /**< what is out of use */
	/** Room for twice the URRs of old and new rules: a report may be two, upf_urr_take(). */
	struct upf_usage_report *reports; /**< of Delete, Query, Query URR */
	struct upf_usage_report *removed; /**< of URRs that the new rules do not have */
	uint16_t nb_reports, nb_removed;

	/* control thread alone */
	void *request;
	uint32_t op;
};

#endif
