/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_FAPI_UCI_H
#define AIRPATH_CODEC_FAPI_UCI_H

/**
 * UCI.indication, SCF 222.10.02 table 3-63, with PUCCH PDUs of format 2, 3 or 4 (table 3-66) that
 * carry CSI part 1 (table 3-71). Of CSI, the wideband CQI of one layer is all there is: 4 bits (TS
 * 38.212 §6.3.1.1.2), here the low ones of the payload's octet.
 *
 * HARQ feedback: one bit a PDU. Written as PUCCH PDUs of format 0 (tables 3-65, 3-68); read from
 * these, from format 2, 3 or 4 and from PUSCH PDUs (tables 3-64, 3-70).
 */

#include "codec/fapi.h"

#define FAPI_UCI_PUSCH 0 /**< PDU types */
#define FAPI_UCI_PUCCH_0_1 1
#define FAPI_UCI_PUCCH_2_3_4 2
#define FAPI_UCI_LEN 21 /**< PDU with a CQI alone, as encoded here, B */
#define FAPI_UCI_INDICATION_LEN(ucis) (6 + (ucis)*FAPI_UCI_LEN)
#define FAPI_UCI_HARQ_LEN 20 /**< PDU with one bit of HARQ feedback, as encoded here, B */
#define FAPI_UCI_HARQ_INDICATION_LEN(ucis) (6 + (ucis)*FAPI_UCI_HARQ_LEN)
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

/** What became of HARQ feedback, table 3-68. */
enum fapi_harq_value {
	FAPI_HARQ_ACK = 0,
	FAPI_HARQ_NACK,
	FAPI_HARQ_DTX, /**< nothing was detected, or it did not decode */
};

/** A UE's answer to the PDSCH that its k1 says. */
struct fapi_harq {
	uint32_t handle;
	uint16_t rnti;
	uint8_t value; /**< enum fapi_harq_value */
};

/** @return bytes written, -CODEC_SHORT when `room` is too little, -CODEC_UNSUPPORTED. */
int fapi_uci_harq_encode(uint8_t *p, size_t room, struct fapi_slot at, const struct fapi_harq *h,
			 unsigned nb);

/**
 * Reads the first bit of all HARQ feedback; what else a UCI.indication may say is passed over.
 * @param nb in: room in `h`; out: how much was found
 * @return as fapi_uci_indication_decode(), and -CODEC_RESERVED for a value out of range
 */
int fapi_uci_harq_decode(const uint8_t *p, size_t len, struct fapi_slot *at, struct fapi_harq *h,
			 unsigned *nb);

#endif
