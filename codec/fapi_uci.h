/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_FAPI_UCI_H
#define AIRPATH_CODEC_FAPI_UCI_H

/**
 * UCI.indication, SCF 222.10.02 table 3-63, with PUCCH PDUs of format 2, 3 or 4 (table 3-66) that
 * carry CSI part 1 (table 3-71). Of CSI, the wideband CQI of one layer is all there is: 4 bits (TS
 * 38.212 §6.3.1.1.2), here the low ones of the payload's octet.
 */

#include "codec/fapi.h"

#define FAPI_UCI_PUCCH_2_3_4 2 /**< PDU type */
#define FAPI_UCI_LEN 21        /**< PDU with a CQI alone, as encoded here, B */
#define FAPI_UCI_INDICATION_LEN(ucis) (6 + (ucis)*FAPI_UCI_LEN)
#define FAPI_UCIS_MAX 64

/** What a UE says of its downlink channel. */
struct fapi_cqi {
	uint32_t handle;
	uint16_t rnti;
	uint8_t cqi; /**< 0..15, TS 38.214 table 5.2.2.1-2; 0: out of range */
};

/** @return bytes written, -CODEC_SHORT when `room` is too little, -CODEC_UNSUPPORTED. */
int fapi_uci_indication_encode(uint8_t *p, size_t room, struct fapi_slot at,
			       const struct fapi_cqi *c, unsigned nb);

/**
 * Reads every CQI; what else a UCI.indication may say is passed over, and so is CSI that did not
 * decode.
 * @param nb in: room in `c`; out: CQIs found
 * @return bytes read, -CODEC_SHORT, -CODEC_RESERVED (SFN or slot out of range),
 *         -CODEC_CONTRADICTION (a PDU size too small for the PDU), -CODEC_UNSUPPORTED (more CQIs
 *         than room).
 */
int fapi_uci_indication_decode(const uint8_t *p, size_t len, struct fapi_slot *at,
			       struct fapi_cqi *c, unsigned *nb);

#endif
