/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_IN_IMPL_H
#define AIRPATH_UPF_IN_IMPL_H

/** What upf_in.c, for frames, and upf_in_ip.c, for the packets in them, share. */

#include "core/pkt.h"
#include "modules/upf/upf_in.h"

#define UPF_IN_JOIN 256 /**< octets of headers that are one piece, if there are so many */

static inline unsigned
upf_in_dropped(enum upf_in_drop reason)
{
	return UPF_IN_DROPPED + reason;
}

static inline unsigned
upf_in_own(struct rte_mbuf *m, uint16_t type, enum upf_local_why why, uint8_t interface)
{
	upf_in_mark(m, type, (uint8_t)why, UPF_RX_LOCAL, interface);
	return UPF_IN_OWN;
}

/** The packet ends where its header says: what pads the frame goes. */
static inline void
upf_in_cut(struct rte_mbuf *m, unsigned bytes)
{
	if (m->pkt_len > bytes)
		ap_pkt_trim(m, (uint16_t)(m->pkt_len - bytes));
}

#endif
