/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_FAPI_H
#define AIRPATH_CODEC_FAPI_H

/**
 * P7 message bodies of the 5G FAPI PHY API, SCF 222.10.02, as nFAPI packs them: big-endian,
 * without gaps. Table numbers below are those of SCF 222.10.02.
 *
 * Two length fields are taken 32 bits wide, as SCF 222.10.04 made them, because a TB of one
 * slot may exceed 64 kB: the TLV length of TX_Data.request and the PDU length of
 * RX_Data.indication. With that the PDU headers of both are 16 B, and a PHY turns one into
 * the other in place.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/be.h"
#include "codec/err.h"

/** Message IDs, Table 3-4. */
enum fapi_message {
	FAPI_ERROR_INDICATION = 0x07,
	FAPI_DL_TTI_REQUEST = 0x80,
	FAPI_UL_TTI_REQUEST = 0x81,
	FAPI_SLOT_INDICATION = 0x82,
	FAPI_TX_DATA_REQUEST = 0x84,
	FAPI_RX_DATA_INDICATION = 0x85,
	FAPI_CRC_INDICATION = 0x86,
	FAPI_UCI_INDICATION = 0x87,
	FAPI_SR_REQUEST = 0x300, /**< of our own, first of nFAPI's vendor extensions */
	FAPI_SR_INDICATION,      /**< of our own */
};

#define FAPI_SFN_MAX 1023
#define FAPI_SLOT_MAX 159
#define FAPI_PDUS_MAX 16     /**< TBs in a data message that decoders here take */
#define FAPI_TTI_PDUS_MAX 64 /**< PDUs in a UL_TTI.request or DL_TTI.request: 6.4 kB at most */

/** SFN and slot, the first fields of every body here. */
struct fapi_slot {
	uint16_t sfn;  /**< 0..1023 */
	uint16_t slot; /**< 0..159 */
};

/* --- SLOT.indication, Table 3-34 -------------------------------------------------------------- */

#define FAPI_SLOT_INDICATION_LEN 4

static inline void
fapi_slot_put(uint8_t *p, struct fapi_slot s)
{
	be16_put(p, s.sfn);
	be16_put(p + 2, s.slot);
}

/** @return 4, -CODEC_SHORT, or -CODEC_RESERVED for a number out of range. */
static inline int
fapi_slot_decode(const uint8_t *p, size_t len, struct fapi_slot *s)
{
	if (len < FAPI_SLOT_INDICATION_LEN)
		return -CODEC_SHORT;
	s->sfn = be16_get(p);
	s->slot = be16_get(p + 2);
	if (s->sfn > FAPI_SFN_MAX || s->slot > FAPI_SLOT_MAX)
		return -CODEC_RESERVED;
	return FAPI_SLOT_INDICATION_LEN;
}

/* --- SR.request, SR.indication ---------------------------------------------------------------- */

/**
 * A UE's MAC has its PHY signal a scheduling request (TS 38.321 §5.4.4). SCF 222 is spoken in the
 * network, where SRs arrive, and has no message for it. SR.indication is the same to a gNB, in
 * place of the PUCCH PDU of a UCI.indication.
 */
#define FAPI_SR_REQUEST_LEN 6

struct fapi_sr {
	struct fapi_slot at; /**< the occasion */
	uint16_t rnti;
};

/** Writes FAPI_SR_REQUEST_LEN bytes. */
static inline void
fapi_sr_put(uint8_t *p, const struct fapi_sr *s)
{
	fapi_slot_put(p, s->at);
	be16_put(p + 4, s->rnti);
}

/** @return 6, -CODEC_SHORT or -CODEC_RESERVED (SFN or slot out of range). */
static inline int
fapi_sr_decode(const uint8_t *p, size_t len, struct fapi_sr *s)
{
	if (len < FAPI_SR_REQUEST_LEN)
		return -CODEC_SHORT;
	s->rnti = be16_get(p + 4);
	return fapi_slot_decode(p, len, &s->at) < 0 ? -CODEC_RESERVED : FAPI_SR_REQUEST_LEN;
}

/* --- ERROR.indication, Table 3-30 ------------------------------------------------------------- */

#define FAPI_ERROR_INDICATION_LEN 6

struct fapi_error {
	struct fapi_slot at;
	uint8_t message_id; /**< message that had the error */
	uint8_t code;       /**< Table 3-31 */
};

/** Writes FAPI_ERROR_INDICATION_LEN bytes. */
void fapi_error_put(uint8_t *p, const struct fapi_error *e);

/** @return 6 or -(enum codec_err). */
int fapi_error_decode(const uint8_t *p, size_t len, struct fapi_error *e);

/* --- UL_TTI.request, Table 3-44, with PUSCH PDUs, Tables 3-46, 3-47 and 3-53 ------------------ */
/* --- DL_TTI.request, Table 3-35, with PDSCH PDUs, Tables 3-38 and 3-43 ------------------------ */

#define FAPI_PDU_PUSCH 1   /**< PDU type in UL_TTI.request */
#define FAPI_PDU_PDSCH 1   /**< PDU type in DL_TTI.request */
#define FAPI_PUSCH_LEN 100 /**< PUSCH PDU with puschData and no beam, B */
#define FAPI_PDSCH_LEN 92  /**< PDSCH PDU with one codeword and no beam, B */
#define FAPI_UL_TTI_LEN(pdus) (9 + (pdus)*FAPI_PUSCH_LEN) /**< message as encoded here, B */
#define FAPI_DL_TTI_LEN(pdus) (6 + (pdus)*FAPI_PDSCH_LEN) /**< the same, without DCIs, B */

/**
 * What a PUSCH or PDSCH PDU says of one transport block. Encoders add one layer and resource
 * allocation type 1; everything else is 0.
 */
struct fapi_grant {
	uint16_t rnti;
	uint32_t handle;            /**< PUSCH: opaque handle; PDSCH: PDU index, 16 bits */
	uint16_t bwp_size;          /**< RBs, 1..275 */
	uint16_t bwp_start;         /**< RB, 0..274 */
	uint8_t subcarrier_spacing; /**< numerology, 0..4 */
	uint16_t rb_start;
	uint16_t rb_size;      /**< RBs */
	uint8_t nr_of_symbols; /**< 1..14 */
	uint8_t qam_mod_order; /**< 2, 4, 6, 8 */
	uint8_t mcs_index;     /**< 0..31 */
	uint8_t rv_index;      /**< redundancy version, 0..3 */
	uint8_t harq_process;  /**< 0..31, PDSCH 0..15; of a PDSCH in its DCI */
	/**
	 * New data indicator; of a PDSCH in its DCI. As there, it is toggled for a new TB: UEs here
	 * get the PUSCH PDU itself. SCF 222 would have 1 for new data, 0 for a retransmission.
	 */
	bool new_data;
	/** PDSCH: slots until its HARQ feedback, 1..8, in its DCI; 0: there is no DCI */
	uint8_t k1;
	uint32_t tb_bytes; /**< TB size, B */
};

/** @return bytes of a DL_TTI.request with these grants, DCIs included. */
size_t fapi_dl_tti_len(const struct fapi_grant *g, unsigned nb);

/**
 * Writes a whole message with `nb` grants. PDSCHs with a k1 have a DCI in a PDCCH PDU before them.
 * @return bytes written, -CODEC_SHORT when `room` is too little, -CODEC_UNSUPPORTED for
 *         more than FAPI_TTI_PDUS_MAX grants, or what a DCI cannot tell (fapi_dci.h).
 */
int fapi_ul_tti_encode(uint8_t *p, size_t room, struct fapi_slot at, const struct fapi_grant *g,
		       unsigned nb);
int fapi_dl_tti_encode(uint8_t *p, size_t room, struct fapi_slot at, const struct fapi_grant *g,
		       unsigned nb);

/**
 * Reads every PUSCH (PDSCH) PDU of a message, and the DCIs of PDSCHs; other PDU types are skipped.
 * @param nb in: room in `g`; out: grants found
 * @return bytes read, -CODEC_SHORT, -CODEC_RESERVED (SFN or slot out of range),
 *         -CODEC_CONTRADICTION (a PDU size too small for the PDU),
 *         -CODEC_UNSUPPORTED (more grants than room, or DCIs than
 *         FAPI_TTI_PDUS_MAX, PDSCH of two codewords).
 */
int fapi_ul_tti_decode(const uint8_t *p, size_t len, struct fapi_slot *at, struct fapi_grant *g,
		       unsigned *nb);
int fapi_dl_tti_decode(const uint8_t *p, size_t len, struct fapi_slot *at, struct fapi_grant *g,
		       unsigned *nb);

/* --- TX_Data.request, Table 3-58, and RX_Data.indication, Table 3-61 -------------------------- */

#define FAPI_DATA_LEN 6      /**< SFN, slot, number of PDUs */
#define FAPI_DATA_PDU_LEN 16 /**< description before the TB, in both messages */
#define FAPI_DATA_PAD 4      /**< TLV values of TX_Data.request take multiples of this */

#define FAPI_CQI_INVALID 255
#define FAPI_TIMING_ADVANCE_INVALID 0xFFFF
#define FAPI_RSSI_INVALID 0xFFFF

/** Start of both bodies. */
struct fapi_data {
	struct fapi_slot at;
	uint16_t pdus; /**< number of PDUs that follow */
};

/** One PDU of TX_Data.request with its TB in a single TLV (tag 0: payload in the message). */
struct fapi_tx_pdu {
	uint16_t index; /**< PDU index of the DL_TTI.request */
	uint32_t tb_bytes;
};

/** One PDU of RX_Data.indication. */
struct fapi_rx_pdu {
	uint32_t handle;
	uint16_t rnti;
	uint8_t harq_id;
	uint32_t tb_bytes;
	uint8_t ul_cqi;          /**< 255: invalid */
	uint16_t timing_advance; /**< 0xFFFF: invalid */
	uint16_t rssi;           /**< 0xFFFF: invalid */
};

static inline void
fapi_data_put(uint8_t *p, const struct fapi_data *d)
{
	fapi_slot_put(p, d->at);
	be16_put(p + 4, d->pdus);
}

/** @return FAPI_DATA_LEN, -CODEC_SHORT or -CODEC_RESERVED (SFN or slot out of range). */
static inline int
fapi_data_decode(const uint8_t *p, size_t len, struct fapi_data *d)
{
	if (len < FAPI_DATA_LEN)
		return -CODEC_SHORT;
	d->pdus = be16_get(p + 4);
	return fapi_slot_decode(p, len, &d->at) < 0 ? -CODEC_RESERVED : FAPI_DATA_LEN;
}

/**
 * Writes FAPI_DATA_PDU_LEN bytes: PDU length (description and data, no padding), PDU index,
 * numTLV 1, tag 0, TLV length.
 */
static inline void
fapi_tx_pdu_put(uint8_t *p, const struct fapi_tx_pdu *t)
{
	be32_put(p, FAPI_DATA_PDU_LEN + t->tb_bytes);
	be16_put(p + 4, t->index);
	be32_put(p + 6, 1);
	be16_put(p + 10, 0);
	be32_put(p + 12, t->tb_bytes);
}

/**
 * @return FAPI_DATA_PDU_LEN, -CODEC_SHORT, -CODEC_UNSUPPORTED (several TLVs, or a tag that
 *         points out of the message), -CODEC_CONTRADICTION (PDU and TLV length disagree).
 */
static inline int
fapi_tx_pdu_decode(const uint8_t *p, size_t len, struct fapi_tx_pdu *t)
{
	if (len < FAPI_DATA_PDU_LEN)
		return -CODEC_SHORT;
	t->index = be16_get(p + 4);
	t->tb_bytes = be32_get(p + 12);
	if (be32_get(p + 6) != 1 || be16_get(p + 10) != 0)
		return -CODEC_UNSUPPORTED;
	if (be32_get(p) != (uint64_t)t->tb_bytes + FAPI_DATA_PDU_LEN)
		return -CODEC_CONTRADICTION;
	return FAPI_DATA_PDU_LEN;
}

/** Writes FAPI_DATA_PDU_LEN bytes. */
static inline void
fapi_rx_pdu_put(uint8_t *p, const struct fapi_rx_pdu *r)
{
	be32_put(p, r->handle);
	be16_put(p + 4, r->rnti);
	p[6] = r->harq_id;
	be32_put(p + 7, r->tb_bytes);
	p[11] = r->ul_cqi;
	be16_put(p + 12, r->timing_advance);
	be16_put(p + 14, r->rssi);
}

/** @return FAPI_DATA_PDU_LEN or -CODEC_SHORT. */
static inline int
fapi_rx_pdu_decode(const uint8_t *p, size_t len, struct fapi_rx_pdu *r)
{
	if (len < FAPI_DATA_PDU_LEN)
		return -CODEC_SHORT;
	r->handle = be32_get(p);
	r->rnti = be16_get(p + 4);
	r->harq_id = p[6];
	r->tb_bytes = be32_get(p + 7);
	r->ul_cqi = p[11];
	r->timing_advance = be16_get(p + 12);
	r->rssi = be16_get(p + 14);
	return FAPI_DATA_PDU_LEN;
}

/* --- CRC.indication, Table 3-62 --------------------------------------------------------------- */

#define FAPI_CRC_LEN 15 /**< of a TB without code blocks, B */
#define FAPI_CRC_INDICATION_LEN(crcs) (6 + (crcs)*FAPI_CRC_LEN) /**< as encoded here, B */
#define FAPI_CRCS_MAX FAPI_TTI_PDUS_MAX /**< in a message: one a PUSCH PDU of a slot */

/** What became of the TB of a PUSCH PDU. Encoders say nothing of code blocks. */
struct fapi_crc {
	uint32_t handle; /**< of the PUSCH PDU */
	uint16_t rnti;
	uint8_t harq_id;
	bool failed;             /**< TbCrcStatus */
	uint8_t ul_cqi;          /**< SNR, -64 dB and on in steps of 0.5 dB; 255: invalid */
	uint16_t timing_advance; /**< 0xFFFF: invalid */
	uint16_t rssi;           /**< 0xFFFF: invalid */
};

/** @return bytes written, -CODEC_SHORT when `room` is too little, -CODEC_UNSUPPORTED. */
int fapi_crc_indication_encode(uint8_t *p, size_t room, struct fapi_slot at,
			       const struct fapi_crc *c, unsigned nb);

/**
 * @param nb in: room in `c`; out: TBs found
 * @return bytes read, -CODEC_SHORT, -CODEC_RESERVED (SFN, slot or a CRC status out of range),
 *         -CODEC_UNSUPPORTED (more TBs than room).
 */
int fapi_crc_indication_decode(const uint8_t *p, size_t len, struct fapi_slot *at,
			       struct fapi_crc *c, unsigned *nb);

#endif
