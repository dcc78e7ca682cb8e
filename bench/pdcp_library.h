/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_PDCP_LIBRARY_H
#define AIRPATH_BENCH_PDCP_LIBRARY_H

/**
 * The multi-buffer library without PDCP: the same algorithms over messages as long as the
 * PDUs, in buffers of their own, by the calls that PDCP uses. A message costs its job being
 * filled and run; IVs, prefixes and everything else are there before. Main lcore.
 */

#include <stdint.h>

#include "modules/pdcp/pdcp_security.h"

#define PDCP_LIBRARY_MESSAGES 64

struct pdcp_library;

#ifdef AIRPATH_IPSEC_MB
/** @param bytes of the SDU. @return NULL when out of memory. */
struct pdcp_library *pdcp_library_make(const struct pdcp_security_cfg *cfg, unsigned bytes);

/** All messages once. @return TSC cycles. */
uint64_t pdcp_library_run(struct pdcp_library *l);

void pdcp_library_free(struct pdcp_library *l);
#else
/* Nothing to compare with. */
static inline struct pdcp_library *
pdcp_library_make(const struct pdcp_security_cfg *cfg, unsigned bytes)
{
	(void)cfg;
	(void)bytes;
	return NULL;
}

static inline uint64_t
pdcp_library_run(struct pdcp_library *l)
{
	(void)l;
	return 0;
}

static inline void
pdcp_library_free(struct pdcp_library *l)
{
	(void)l;
}
#endif

#endif
