/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_FAPI_RX_IMPL_H
#define AIRPATH_MODULES_FAPI_RX_IMPL_H

/** Between fapi_rx.c, which takes frames, and fapi_rx_control.c, which takes what is not data. */

#include "core/pkt.h"
#include "modules/fapi/fapi_rx.h"

#define FAPI_RX_HDR_LEN (NFAPI_ETHER_LEN + NFAPI_P7_LEN)

/** Drops a frame. @return -1, for the caller to pass on. */
static inline int
fapi_rx_lose(struct rte_mbuf *m, enum fapi_rx_drop reason, struct fapi_rx_out *out)
{
	out->drops[reason]++;
	rte_pktmbuf_free(m);
	return -1;
}

/** A message that is not data: whole in one contiguous segment. */
void fapi_rx_control(struct fapi_rx *f, const struct nfapi_p7 *h, struct rte_mbuf *m,
		     uint64_t now_ns, struct fapi_rx_out *out);

#endif
