/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_TESTS_TEST_EAL_H
#define AIRPATH_TESTS_TEST_EAL_H

/** EAL for unit tests: no hugepages, no devices, nothing left on disk. cmocka must be included
 * first. */

#include <stdlib.h>

#include <rte_eal.h>
#include <rte_mbuf.h>

#include "core/clock.h"
#include "core/meta.h"

static inline int
test_eal_init(void)
{
	char *argv[] = {"test", "--no-huge", "--no-shconf", "--no-pci",    "--no-telemetry", "-m",
			"256",  "-l",        "0",           "--log-level", "error",          NULL};

	if (rte_eal_init(11, argv) < 0)
		return -1;
	ap_clock_init();
	return ap_meta_register();
}

/** Pool with `room` bytes of data behind the usual headroom. */
static inline struct rte_mempool *
test_pool(const char *name, unsigned mbufs, uint16_t room)
{
	return rte_pktmbuf_pool_create(name, mbufs, 0, 0, RTE_PKTMBUF_HEADROOM + room, 0);
}

/** All mbufs of `pool` are back: the leak check at the end of every test. */
#define assert_pool_full(pool) assert_int_equal(rte_mempool_in_use_count(pool), 0)

#endif
