/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_FAPI_RX_H
#define AIRPATH_MODULES_FAPI_RX_H

/**
 * Frames from the PHY: segments of data messages to transport blocks, grants and slot
 * indications to the slot box.
 *
 * The grants of a slot (UL_TTI.request, for a gNB DL_TTI.request) come before its
 * SLOT.indication, one message a carrier, and are kept until then.
 *
 * Owner: the fapi_rx node.
 */

#include "modules/fapi/fapi_reassembly.h"
#include "modules/l2/l2.h"
#include "modules/mac/mac_ul.h"
#include "modules/mac/mac_tb_box.h"

/** Default time a message may take to arrive whole; under traffic FAPI_OVERTAKEN ends it sooner. */
#define FAPI_REASSEMBLY_NS 50000000ULL

struct ap_copier;

struct fapi_rx_cfg {
	uint8_t carriers;       /**< 1..L2_CARRIERS_MAX */
	uint8_t numerology;     /**< 0..4: a frame has 10 << numerology slots */
	uint16_t rnti;          /**< whose grants are taken; 0: anyone's, for UE 0 */
	uint32_t nb_ues;        /**< UEs with this RNTI and those that follow it; 0: 1 */
	bool checksum;          /**< verify CRC-32C where a segment carries one */
	uint16_t ethertype;     /**< 0: NFAPI_ETHERTYPE */
	uint64_t reassembly_ns; /**< 0: FAPI_REASSEMBLY_NS */
	struct slot_box *slots;
	struct mac_ul *ul;      /**< [nb_ues] a gNB's: who asks to be scheduled; NULL: a UE */
	struct mac_tb_box *box; /**< a gNB's: what became of TBs; NULL: nobody asks */
	uint8_t k1; /**< a gNB's: slots from downlink TBs to their HARQ feedback; 0: no HARQ */
	struct rte_mempool *proto; /**< copies where one frame holds several TBs */
	struct ap_copier *copier; /**< frames are copied before anything else; NULL: they are not */
};

struct fapi_rx {
	/* worker: rw, control: ro */
	struct slot_grant grants[SLOT_UES_MAX]; /**< of the slot whose indication is awaited */
	uint32_t nb_granted;                    /**< UEs with one, in `grants` */
	bool indicated;                         /**< `last` is valid */
	struct fapi_slot last;                  /**< last slot indicated */
	uint64_t slots_in;                      /**< SLOT.indications */
	uint64_t slots_lost;                    /**< indications missing between two that came */
	uint64_t grants_in;                     /**< TBs granted */
	uint64_t grants_lost;   /**< grants without an indication, or second to one in their slot */
	uint64_t grants_other;  /**< TBs granted to other RNTIs */
	uint64_t srs_in;        /**< SR.indications */
	uint64_t srs_other;     /**< those of other RNTIs */
	uint64_t crcs_in;       /**< TBs in CRC.indications */
	uint64_t crcs_other;    /**< those of other RNTIs */
	uint64_t answers_in;    /**< HARQ feedback in UCI.indications */
	uint64_t answers_other; /**< that of other RNTIs */
	uint64_t cqis_in;       /**< CQIs in UCI.indications */
	uint64_t cqis_other;    /**< those of other RNTIs */
	uint64_t errors_in;     /**< ERROR.indications */
	struct fapi_error error; /**< the last of them */
	/* constant */
	uint16_t ethertype; /**< network order */
	uint16_t slots_per_frame;
	uint16_t rnti;
	uint8_t carriers;
	bool checksum;
	uint8_t k1;
	uint32_t nb_ues;
	uint64_t reassembly_ns;
	struct slot_box *slots;
	struct mac_ul *ul;
	struct mac_tb_box *box;
	struct ap_copier *copier;

	uint16_t place[L2_UES_MAX]; /**< of a UE in `grants`, if it is there. worker: rw */
	struct fapi_reassembly carrier[L2_CARRIERS_MAX];
};

/** @return 0, or -EINVAL for a count of carriers or UEs or a numerology out of range. */
int fapi_rx_init(struct fapi_rx *f, const struct fapi_rx_cfg *cfg);

/** Frees what is kept. */
void fapi_rx_fini(struct fapi_rx *f);

/**
 * Takes `nb` frames. Stops early when the next one could overflow `out->tb`.
 * @return frames taken
 */
uint16_t fapi_rx_burst(struct fapi_rx *f, struct rte_mbuf **frames, uint16_t nb, uint64_t now_ns,
		       struct fapi_rx_out *out);

/** Gives up messages that took too long. @return when to come again, ns, 0 for never. */
uint64_t fapi_rx_expire(struct fapi_rx *f, uint64_t now_ns, struct fapi_rx_out *out);

/** @return frames kept. */
uint64_t fapi_rx_held(const struct fapi_rx *f);

/** @return true while a message is incomplete. */
static inline bool
fapi_rx_waiting(const struct fapi_rx *f)
{
	for (unsigned i = 0; i < f->carriers; i++)
		if (f->carrier[i].partial > 0)
			return true;
	return false;
}

#endif
