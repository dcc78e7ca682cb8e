/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_TB_H
#define AIRPATH_MODULES_MAC_TB_H

/**
 * The TB ↔ SDU mapping between mac_slot and mac_build.
 *
 * On a carrier's edge a TB is: a mark with AP_M_TB_START, the RLC PDUs in TB order, a
 * mark with AP_M_TB_END. A mark is an mbuf of pools.hdr whose data is struct mac_tb_mark.
 * A TB that HARQ sends again is one mark with AP_M_TB_RETX. Such a mark of 0 B names TBs that need
 * not be kept any more: struct mac_tb_release in place of CEs. Between TBs a mbuf with AP_M_CONTROL
 * is a whole frame for the PHY, which only keeps its place.
 */

#include <stddef.h>
#include <stdint.h>

#define MAC_TB_CE_MAX 96 /**< CE subPDU bytes a mark can carry */

struct mac_tb_mark {
	uint32_t tb_bytes; /**< TB size, B */
	uint16_t sfn;      /**< 0..1023 */
	uint16_t slot;     /**< 0..159 */
	uint16_t rnti;
	uint16_t ue;     /**< whose it is, index in the role */
	uint16_t handle; /**< of the grant, for the PHY to know the TB by */
	uint8_t harq_process;
	uint8_t carrier;
	uint8_t ce_bytes;          /**< whole CE subPDUs in `ce` */
	uint8_t ce[MAC_TB_CE_MAX]; /**< start mark: before the SDUs (DL); end mark: after them (UL)
				    */
};

/** A HARQ buffer to be flushed. */
struct mac_tb_release {
	uint16_t ue;
	uint8_t process;
	uint8_t unused;
};

#define MAC_TB_RELEASES (MAC_TB_CE_MAX / sizeof(struct mac_tb_release)) /**< in a mark */

/** Data bytes of a mark mbuf. */
static inline uint16_t
mac_tb_mark_bytes(uint8_t ce_bytes)
{
	return (uint16_t)(offsetof(struct mac_tb_mark, ce) + ce_bytes);
}

#endif
