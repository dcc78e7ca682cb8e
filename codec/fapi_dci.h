/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_FAPI_DCI_H
#define AIRPATH_CODEC_FAPI_DCI_H

/**
 * PDCCH PDU of DL_TTI.request, SCF 222.10.02 tables 3-36 and 3-37, with DCIs of format 1_0 under a
 * C-RNTI (TS 38.212 §7.3.1.2.1): where a UE is told HARQ process, NDI, RV and when to answer, which
 * a PDSCH PDU does not say. One CORESET of the whole BWP, no beam.
 */

#include "codec/fapi.h"

#define FAPI_PDU_PDCCH 0      /**< PDU type in DL_TTI.request */
#define FAPI_PDCCH_LEN 27     /**< without DCIs, B */
#define FAPI_DCI_LEN_MAX 23   /**< a DCI in it, B */
#define FAPI_DCI_PROCESSES 16 /**< that 4 bits of HARQ process number tell apart */
#define FAPI_DCI_K1_MAX 8     /**< slots from PDSCH to its feedback, TS 38.213 §9.2.3 */
#define FAPI_BWP_SIZE_MAX 275 /**< RBs */

/** What a DCI says that a PDSCH PDU does not. */
struct fapi_dci {
	uint16_t rnti;
	uint16_t bwp_size; /**< of its CORESET, RBs */
	uint8_t harq_process;
	bool new_data;
	uint8_t k1; /**< 1..8 */
};

/** @return bytes that the PDCCH PDUs of these grants take: of those with a k1. */
size_t fapi_pdcch_len(const struct fapi_grant *g, unsigned nb);

/**
 * Writes a PDCCH PDU for each run of grants of one BWP that have a k1.
 * @param p room for fapi_pdcch_len()
 * @return PDUs written, -CODEC_UNSUPPORTED for a process, k1 or BWP that a DCI cannot tell.
 */
int fapi_pdcch_put(uint8_t *p, const struct fapi_grant *g, unsigned nb);

/**
 * Reads the DCIs of format 1_0 of a PDCCH PDU, from its BWP size on; others are passed over.
 * @param nb in: those in `d`; out: and these
 * @return 0, -CODEC_CONTRADICTION (ends before the DCIs it announces), -CODEC_UNSUPPORTED (more
 * than `room`)
 */
int fapi_pdcch_get(const uint8_t *p, size_t len, struct fapi_dci *d, unsigned *nb, unsigned room);

#endif
