/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PDCP_RX_INTERNAL_H
#define AIRPATH_MODULES_PDCP_RX_INTERNAL_H

/** What the files of the receiving entity share. */

#include "modules/pdcp/pdcp_rx.h"

/** @return Window_Size of §7.2. */
static inline uint32_t
pdcp_rx_window(enum pdcp_format f)
{
	return 1U << (pdcp_sn_bits(f) - 1);
}

static inline void
pdcp_rx_lose(const struct pdcp_rx_sink *sink, enum pdcp_rx_drop reason, struct rte_mbuf *m)
{
	sink->drops[reason]++;
	rte_pktmbuf_free(m);
}

#endif
