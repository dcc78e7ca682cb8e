/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PDCP_CONTROL_H
#define AIRPATH_MODULES_PDCP_CONTROL_H

/**
 * What RRC asks of a DRB's PDCP entity beside configuration: re-establishment (TS 38.323
 * §5.1.2), data recovery (§5.5) and status reports (§5.4.1).
 *
 * PDUs that PDCP has numbered wait in RLC, so RLC is re-established with it, and gives back what
 * it holds. Everything here is rare, and runs where the bearer's lcores stand or on the one named.
 */

#include <stdbool.h>
#include <stdint.h>

#include "modules/pdcp/pdcp_crypto.h"
#include "modules/pdcp/pdcp_rx.h"
#include "modules/pdcp/pdcp_tx.h"

struct ap_node;
struct rlc_tx;

/** What §5.1.2 and §5.5 tell apart. */
enum pdcp_drb_mode {
	PDCP_DRB_UM,
	PDCP_DRB_AM,
};

/** Keys of one direction from now on. */
struct pdcp_keys {
	const struct pdcp_crypto *crypto; /**< NULL: NEA0 and NIA0 */
	void *keys;                       /**< of `crypto` */
};

/** What became of the PDUs that were in RLC; the caller zeroes it, calls add. */
struct pdcp_resubmitted {
	uint64_t taken; /**< out of RLC */
	uint64_t again; /**< queued in RLC again; the others were freed */
};

/**
 * Re-establishes the transmitting entity with its RLC entity. UM: COUNT starts anew, and SDUs of
 * which nothing was sent are taken as new ones; AM: PDUs not confirmed are sent again under
 * their COUNT. discardTimers run on. Lcore of pdcp_tx, those of rlc_tx and mac_slot held, nothing
 * on the way between; also repairs `submitted`.
 * @return 0, or -ENOMEM; then nothing has changed.
 */
int pdcp_tx_reestablish(struct pdcp_tx *e, struct rlc_tx *rlc, enum pdcp_drb_mode mode,
			const struct pdcp_keys *keys, struct pdcp_resubmitted *r);

/** Data recovery of an AM DRB: unconfirmed PDUs are sent again as they are. Otherwise as above. */
int pdcp_tx_recover(struct pdcp_tx *e, struct rlc_tx *rlc, struct pdcp_resubmitted *r);

/**
 * The DRB is released and set up anew (TS 38.323 §5.1.3, §5.1.1): what RLC holds is freed, COUNT
 * begins at `count`. As pdcp_tx_reestablish(), without memory.
 */
void pdcp_tx_renew(struct pdcp_tx *e, struct rlc_tx *rlc, const struct pdcp_keys *keys,
		   uint32_t count, struct pdcp_resubmitted *r);

/**
 * Re-establishes the receiving entity. UM: t-Reordering stops, what is stored is delivered, COUNT
 * starts anew; AM: state and reception buffer stay. Lcore of pdcp_rx, with nothing on the way
 * from RLC.
 */
void pdcp_rx_reestablish(struct pdcp_rx *e, enum pdcp_drb_mode mode, const struct pdcp_keys *keys,
			 const struct pdcp_rx_sink *sink);

/** pdcp_rx_reestablish() of a bearer of the pdcp_rx node `n`. Its lcore. */
void pdcp_rx_node_reestablish(struct ap_node *n, uint32_t bearer, enum pdcp_drb_mode mode,
			      const struct pdcp_keys *keys);

/** Sends a status report of `bearer` by the transmitting entity. Lcore of `n`, a pdcp_rx node.
 * @return 0 or -ENOMEM. */
int pdcp_rx_node_status(struct ap_node *n, uint32_t bearer);

#endif
