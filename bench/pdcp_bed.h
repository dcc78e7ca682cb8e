/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_PDCP_BED_H
#define AIRPATH_BENCH_PDCP_BED_H

/** A transmitting and a receiving PDCP entity, SDUs for them, and what is timed of them. */

#include <stdbool.h>
#include <stdint.h>

#include "bench/harness.h"
#include "bench/pdcp_library.h"
#include "modules/pdcp/pdcp_rx.h"
#include "modules/pdcp/pdcp_tx.h"

enum pdcp_bed_part {
	PDCP_BED_TX,
	PDCP_BED_RX,
	PDCP_BED_RX_TB,
	PDCP_BED_LIBRARY,
	PDCP_BED_PARTS,
};

struct pdcp_bed {
	unsigned bytes, batch;
	struct rte_mempool *pool, *fresh, *ind, *hdr;
	struct pdcp_security_key *key; /**< the caller's, NULL: none */
	struct pdcp_tx tx;
	struct pdcp_rx rx;
	struct pdcp_batch secured;
	struct pdcp_library *library; /**< the caller's, NULL: not measured */
	struct rte_mbuf *sdus[PDCP_LIBRARY_MESSAGES];
	struct rte_mbuf *tbs[PDCP_LIBRARY_MESSAGES]; /**< as many as are needed */
	struct rte_mbuf *out[PDCP_CRYPTO_BATCH];
	struct rte_mbuf *delivered[PDCP_LIBRARY_MESSAGES];
	unsigned nb_delivered;
	bool wrong; /**< an SDU did not come back as it was */
	struct harness_window windows[PDCP_BED_PARTS][HARNESS_WINDOWS_MAX];
};

/** Pools and mbufs. @return 0 or -errno; pdcp_bed_free() frees what there is either way. */
int pdcp_bed_make(struct pdcp_bed *b);
void pdcp_bed_free(struct pdcp_bed *b);

/** Entities for `b->key`, and SDUs of `b->bytes` for them. @return 0 or -errno. */
int pdcp_bed_entities(struct pdcp_bed *b, const struct pdcp_security_cfg *sec);

/** All parts in turn, until window `n`'s time is over: what disturbs one disturbs the others. */
void pdcp_bed_window(struct pdcp_bed *b, unsigned n);

#endif
