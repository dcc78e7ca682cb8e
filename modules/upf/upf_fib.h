/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_FIB_H
#define AIRPATH_UPF_FIB_H

/**
 * Routes of one interface: longest prefix match by binary search.
 *
 * Prefixes are cut into ranges that do not overlap, each with its answer. An interface has few
 * routes (connected prefixes, a gateway, some static ones), so a range table is a cache line or
 * two where a trie of DPDK's lpm would be 64 MB. Built by the control thread, constant after.
 */

#include <stdbool.h>
#include <stdint.h>

#define UPF_FIB_ROUTES_MAX 4096
#define UPF_NO_ROUTE 0xFFFF

struct upf_net_prefix {
	uint8_t address[16]; /**< IPv4 in the first four */
	uint8_t bits;        /**< 0..32 or 0..128; host bits are ignored by routes */
	bool v6;
};

struct upf_fib_route {
	struct upf_net_prefix prefix;
	uint16_t hop; /**< what upf_fib_find*() answers, not UPF_NO_ROUTE */
};

struct upf_fib {
	uint32_t nb4, nb6;
	uint32_t *first4; /**< lowest address of each range, host order, rising; first4[0] = 0 */
	uint16_t *hop4;
	unsigned __int128 *first6;
	uint16_t *hop6;
};

/**
 * Builds the tables; of equal prefixes the last counts.
 * @return 0; -EINVAL for a prefix that is none or more than UPF_FIB_ROUTES_MAX; -ENOMEM. After a
 *         failure the object is empty: it finds nothing.
 */
int upf_fib_build(struct upf_fib *r, const struct upf_fib_route *routes, unsigned nb);
void upf_fib_free(struct upf_fib *r);

/** @param address host order. @return the hop of the longest prefix, or UPF_NO_ROUTE. */
static inline uint16_t
upf_fib_find4(const struct upf_fib *r, uint32_t address)
{
	uint32_t at = 0;

	if (r->nb4 == 0)
		return UPF_NO_ROUTE;
	for (uint32_t n = r->nb4; n > 1;) {
		uint32_t half = n / 2;

		at += r->first4[at + half] <= address ? half : 0;
		n -= half;
	}
	return r->hop4[at];
}

/** @param address 16 octets. */
uint16_t upf_fib_find6(const struct upf_fib *r, const uint8_t *address);

/** @return whether the address, of the prefix's family, lies in it. */
bool upf_prefix_has(const struct upf_net_prefix *p, const uint8_t *address);

#endif
