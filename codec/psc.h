/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_PSC_H
#define AIRPATH_CODEC_PSC_H

/**
 * PDU session user plane frames, TS 38.415 (release 17) §5.5.2, as a GTP-U extension header
 * of type PDU Session Container carries them.
 *
 * The first octet holds the PDU type and flags, the second the QFI and flags; every flag
 * brings an IE. What follows the IEs known here (padding, IEs of later releases, §A.1) is
 * skipped. Pure functions: any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/err.h"

#define PSC_QFI_MAX 63
#define PSC_PPI_MAX 7
#define PSC_SN_MAX 0xFFFFFFU /**< QFI sequence numbers have 24 bits */
#define PSC_BYTES_MAX 46     /**< UL frame with every IE, padded to 4n - 2 */

/** PDU type, §5.5.3.1. */
enum psc_type {
	PSC_DL = 0, /**< DL PDU SESSION INFORMATION */
	PSC_UL = 1, /**< UL PDU SESSION INFORMATION */
};

/** A frame of either type; a field of the other type is left out. Time stamps: NTP, RFC 5905. */
struct psc {
	enum psc_type type;
	uint8_t qfi;            /**< 0..63 */
	bool qmp;               /**< QoS monitoring packet: time stamps are present */
	bool snp;               /**< `sn` is present */
	uint32_t sn;            /**< DL or UL QFI Sequence Number, 24 bits */
	uint64_t dl_sending_ts; /**< with qmp; in a UL frame the one repeated */
	/* DL */
	bool rqi;        /**< Reflective QoS Indicator */
	bool ppp;        /**< Paging Policy Presence: `ppi` is present */
	uint8_t ppi;     /**< Paging Policy Indicator, 0..7 */
	bool msnp;       /**< `mbs_sn` is present */
	uint32_t mbs_sn; /**< DL MBS QFI Sequence Number */
	/* UL */
	uint64_t dl_received_ts; /**< with qmp */
	uint64_t ul_sending_ts;  /**< with qmp */
	bool has_dl_delay, has_ul_delay, has_n3_n9_delay;
	uint32_t dl_delay, ul_delay, n3_n9_delay; /**< delay results, ms */
	bool has_d1;                              /**< New IE Flag 0: `d1` is present */
	bool d1; /**< D1 UL PDCP Delay Result Ind: ul_delay includes the UE's D1 */
};

/**
 * Writes a frame and pads it with zeros to 4n - 2 octets, so that an extension header's length
 * and next type make it whole (§5.5.3.5, TS 29.281 §5.2.1).
 * @return octets written; -CODEC_SHORT (room), -CODEC_CONTRADICTION (a value out of range).
 */
int psc_encode(uint8_t *p, size_t room, const struct psc *f);

/**
 * Reads a frame of `n` octets, padding included.
 * @return octets of the IEs understood; -CODEC_SHORT when flags announce more than there is,
 *         -CODEC_RESERVED for a PDU type not known.
 */
int psc_decode(const uint8_t *p, size_t n, struct psc *f);

#endif
