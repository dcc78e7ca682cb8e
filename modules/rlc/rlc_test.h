/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_RLC_TEST_H
#define AIRPATH_MODULES_RLC_TEST_H

/** What the tests of this folder share: pools, packets with known bytes, random numbers. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modules/l2/l2.h"
#include "test_eal.h"

static struct l2_pools pools;

static inline int
rlc_test_setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pools.user = test_pool("user", 8191, 2048);
	pools.hdr = test_pool("hdr", 4095, 128);
	pools.ind = rte_pktmbuf_pool_create("ind", 4095, 0, 0, 0, 0);
	return pools.user && pools.hdr && pools.ind ? 0 : -1;
}

static inline void
assert_no_leak(void)
{
	assert_pool_full(pools.user);
	assert_pool_full(pools.hdr);
	assert_pool_full(pools.ind);
}

/** A packet of given bytes. */
static inline struct rte_mbuf *
packet(const void *bytes, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pools.user);

	assert_non_null(m);
	*ap_meta(m) = (struct ap_meta){0};
	*ap_ext(m) = (struct ap_ext){0};
	if (len)
		memcpy(rte_pktmbuf_append(m, len), bytes, len);
	return m;
}

/** Byte `i` of SDU number `id`. */
static inline uint8_t
sdu_byte(uint32_t id, uint32_t i)
{
	return i < 4 ? (uint8_t)(id >> (8 * i)) : (uint8_t)(id * 31 + i * 7 + (i >> 8));
}

/** SDU number `id`; from 4 bytes on it says which. `parts` segments of nearly equal size. */
static inline struct rte_mbuf *
sdu_make(uint32_t id, uint32_t len, uint16_t parts)
{
	struct rte_mbuf *head = packet(NULL, 0), *tail = head;
	uint32_t done = 0;

	for (uint16_t p = 0; p < parts; p++) {
		uint32_t end = len * (p + 1) / parts;

		if (p > 0) {
			tail->next = packet(NULL, 0);
			tail = tail->next;
			head->nb_segs++;
		}
		for (; done < end; done++, tail->data_len++)
			*rte_pktmbuf_mtod_offset(tail, uint8_t *, tail->data_len) =
				sdu_byte(id, done);
	}
	head->pkt_len = len;
	return head;
}

/** Bytes of a packet, flat; `buf` holds 65536. Checks the chain's own lengths. */
static inline uint32_t
flatten(const struct rte_mbuf *m, uint8_t *buf)
{
	uint32_t len = 0;
	uint16_t segs = 0;

	assert_int_equal(rte_mbuf_check(m, 1, &(const char *){NULL}), 0);
	for (const struct rte_mbuf *s = m; s; s = s->next, segs++) {
		memcpy(buf + len, rte_pktmbuf_mtod(s, uint8_t *), s->data_len);
		len += s->data_len;
	}
	assert_int_equal(len, m->pkt_len);
	assert_int_equal(segs, m->nb_segs);
	return len;
}

static inline void
assert_packet(const struct rte_mbuf *m, const void *bytes, uint32_t len)
{
	static uint8_t buf[65536];

	assert_int_equal(flatten(m, buf), len);
	assert_memory_equal(buf, bytes, len);
}

/** xorshift64*: the same numbers for the same seed everywhere. */
static inline uint32_t
rnd(uint64_t *s, uint32_t below)
{
	*s ^= *s >> 12;
	*s ^= *s << 25;
	*s ^= *s >> 27;
	return (uint32_t)((*s * 0x2545f4914f6cdd1dULL) >> 33) % below;
}

#endif
