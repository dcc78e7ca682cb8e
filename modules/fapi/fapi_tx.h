/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_FAPI_TX_H
#define AIRPATH_MODULES_FAPI_TX_H

/**
 * TB fragments of one carrier become nFAPI segments of TX_Data.request in Ethernet frames.
 *
 * One message a TB, one fragment a segment. The first segment's frame holds, in front of
 * the fragment: Ethernet 14 B, P7 header 18 B, SFN/slot/number of PDUs 6 B, PDU 16 B; the
 * others only the first two. RX_Data.indication has the same sizes, so a PHY can send a
 * frame back without it growing.
 *
 * Owner: the fapi_tx node of the carrier.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "codec/fapi.h"
#include "codec/fapi_dci.h"
#include "codec/nfapi.h"

#define FAPI_FRAME_BYTES 9000 /**< default frame, Ethernet header counted, FCS not */
#define FAPI_HDR_LEN (NFAPI_ETHER_LEN + NFAPI_P7_LEN) /**< before every fragment, B */
/** Before a first fragment, B. */
#define FAPI_HDR_FIRST_LEN (FAPI_HDR_LEN + FAPI_DATA_LEN + FAPI_DATA_PDU_LEN)

/** @return TB bytes that fit any frame of `frame_bytes`, 0 when the headers do not. */
static inline uint32_t
fapi_frag_payload(uint32_t frame_bytes)
{
	return frame_bytes > FAPI_HDR_FIRST_LEN ? frame_bytes - FAPI_HDR_FIRST_LEN : 0;
}

/** @return the largest TB whose fragments of fapi_frag_payload() a segment number can count. */
static inline uint32_t
fapi_tb_max(uint32_t frame_bytes)
{
	return fapi_frag_payload(frame_bytes) * NFAPI_SEGMENTS_MAX;
}

enum fapi_tx_drop {
	FAPI_TX_NO_FIRST,          /**< fragment of a TB whose first fragment never came */
	FAPI_TX_TOO_MANY_SEGMENTS, /**< beyond the 128th fragment of a TB */
	FAPI_TX_TOO_LONG,          /**< the frame would exceed its size */
	FAPI_TX_NO_HDR_MBUF,       /**< pool of header segments exhausted */
	FAPI_TX_DROPS,
};

struct fapi_tx_cfg {
	uint8_t carrier;    /**< PHY ID on the wire */
	bool checksum;      /**< CRC-32C over every segment, else 0 */
	uint16_t ethertype; /**< 0: NFAPI_ETHERTYPE */
	uint8_t src[6];     /**< MAC addresses */
	uint8_t dst[6];
	uint32_t frame_bytes;    /**< largest frame, 0: FAPI_FRAME_BYTES */
	struct rte_mempool *hdr; /**< segments for headers that fit nowhere else */
};

struct fapi_tx {
	/* worker: rw, control: ro */
	uint8_t sequence; /**< of the TB being sent */
	bool open;        /**< between a first and a last fragment */
	uint16_t segment; /**< number of the next one */
	uint64_t tbs;     /**< TBs finished */
	/* constant */
	bool checksum;
	uint32_t frame_bytes;
	struct rte_mempool *hdr;
	uint8_t head[FAPI_HDR_FIRST_LEN]; /**< headers with what does not change filled in */
};

/** @return 0, or -EINVAL when a frame cannot hold the headers or exceeds 64 kB. */
int fapi_tx_init(struct fapi_tx *f, const struct fapi_tx_cfg *cfg);

/**
 * Puts headers in front of `nb` fragments: packets with AP_M_FRAG_FIRST and AP_M_FRAG_LAST
 * in their meta flags and, on the first, ap_ext.tb_bytes, sfn, slot and, in spare, the
 * grant's handle, which becomes the PDU index. Whole frames with AP_M_CONTROL among them pass as
 * they are. Writable first segments take them in their headroom, others get a segment from `hdr`.
 * @param frags in: fragments; out: frames, in order, from the front
 * @param drops counted by enum fapi_tx_drop; what was dropped is freed
 * @return frames
 */
uint16_t fapi_tx_burst(struct fapi_tx *f, struct rte_mbuf **frags, uint16_t nb, uint64_t now_ns,
		       uint64_t *drops);

/** @return PDUs of a TTI request that fit a frame, FAPI_TTI_PDUS_MAX at most. */
static inline uint32_t
fapi_tti_pdus(uint32_t frame_bytes)
{
	const uint32_t head = FAPI_HDR_LEN + FAPI_UL_TTI_LEN(0);
	const uint32_t pdus = frame_bytes > head ? (frame_bytes - head) / FAPI_PUSCH_LEN : 0;

	return pdus < FAPI_TTI_PDUS_MAX ? pdus : FAPI_TTI_PDUS_MAX;
}

/** @return the same of a DL_TTI.request whose PDSCHs have DCIs. */
static inline uint32_t
fapi_dci_pdus(uint32_t frame_bytes)
{
	const uint32_t head = FAPI_HDR_LEN + FAPI_DL_TTI_LEN(0) + FAPI_PDCCH_LEN;
	const uint32_t one = FAPI_PDSCH_LEN + FAPI_DCI_LEN_MAX;
	const uint32_t pdus = frame_bytes > head ? (frame_bytes - head) / one : 0;

	return pdus < FAPI_TTI_PDUS_MAX ? pdus : FAPI_TTI_PDUS_MAX;
}

/**
 * Makes an empty mbuf, with room for a frame, a DL_TTI.request or UL_TTI.request of the carrier.
 * Reads nothing of `f` that changes: any thread.
 * @param message FAPI_DL_TTI_REQUEST or FAPI_UL_TTI_REQUEST
 * @param nb at most fapi_tti_pdus(), of a DL_TTI.request with DCIs fapi_dci_pdus()
 */
void fapi_tx_tti(const struct fapi_tx *f, struct rte_mbuf *m, uint16_t message, struct fapi_slot at,
		 const struct fapi_grant *g, uint32_t nb, uint8_t sequence, uint64_t now_ns);

/**
 * Makes an empty mbuf the SR.request frame of the carrier. Reads nothing of `f` that changes: any
 * thread.
 */
void fapi_tx_sr(const struct fapi_tx *f, struct rte_mbuf *m, const struct fapi_sr *sr,
		uint8_t sequence, uint64_t now_ns);

#endif
