/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "modules/p4/p4_test.h"

#define BURST 64
#define ROUNDS 300000 /**< of up to BURST packets */

static struct rte_mempool *pool;
static struct p4_gnb *nic;
static struct p4_model model;
static uint64_t seed = 0x5eed;

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("p4", 1023, 2048);
	return 0;
}

static int
begin(void **state)
{
	(void)state;
	nic = p4_test_nic(pool, &model);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	p4_gnb_destroy(nic);
	assert_pool_full(pool);
	return 0;
}

static uint32_t
any(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

/** One frame through. @return where it came out; `f` is then what it is. */
static unsigned
through(enum p4_side side, struct p4_frame *f)
{
	struct rte_mbuf *m = p4_test_mbuf(pool, f);
	struct p4_result r;

	p4_gnb_run(nic, side, &m, 1, &r);
	assert_int_equal(r.nb, 1);
	assert_int_equal(r.pkts[0]->pkt_len, r.pkts[0]->data_len);
	f->bytes = r.pkts[0]->data_len;
	memcpy(f->b, rte_pktmbuf_mtod(r.pkts[0], void *), f->bytes);
	rte_pktmbuf_free(r.pkts[0]);
	return r.out[0];
}

static void
release(uint32_t bearer, uint32_t tx_next, uint32_t rlc_tx_next)
{
	struct p4_frame f = {.bytes = P4_SHIM_FRAME_BYTES};

	be16_put(f.b + 12, P4_SHIM_TYPE);
	p4_shim_put(f.b + 14, &(struct p4_shim){P4_SHIM_RELEASE, bearer, tx_next, rlc_tx_next});
	assert_int_equal(through(P4_SIDE_VF, &f), P4_OUT_USED);
}

/** By hand, from TS 29.281 §5, TS 38.415 §5.5, TS 38.322 §6.2.2.4, TS 38.323 §6.2.2.3. */
static void
golden(void **state)
{
	static const uint8_t in[] = {
		0x02, 0, 0, 0, 0, 0x01, 0x02, 0, 0, 0, 0, 0x77, 0x08, 0x00, /* Ethernet */
									    /* clang-format off */
		0x45, 0, 0, 0x48, 0, 0, 0x40, 0, 0x40, 0x11, 0x26, 0x9c, 10, 0, 0, 9, 10, 0, 0, 1,
		0x08, 0x68, 0x08, 0x68, 0, 0x34, 0, 0,          /* UDP, 52 */
		0x34, 0xff, 0, 0x24, 0x02, 0, 0x01, 0x6f,       /* G-PDU, 36, TEID of session 22 */
		0, 0, 0, 0x85, 0x01, 0x00, 0x49, 0x00,          /* container: RQI, QFI 9 */
		0x45, 0xb9, 0, 0x1c, 0, 0, 0, 0, 0x40, 0x11, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
		1, 2, 3, 4, 0, 8, 0, 0};
	static const uint8_t want[] = {
		0x02, 0, 0, 0, 1, 0x03, 0x02, 0, 0, 0, 0, 0x02, 0x08, 0x00,
		0x45, 0, 0, 0x47, 0, 5, 0, 0, 0x40, 0x11, 0x64, 0x9e, 10, 0, 1, 1, 10, 0, 1, 3,
		0x08, 0x68, 0x08, 0x68, 0, 0x33, 0, 0,
		0x30, 0xff, 0, 0x23, 0xaa, 0, 0x16, 0,
		0x83, 0x00, 0x07,       /* RLC AM, SN of 18 bits: 0x30007 */
		0x80, 0x00, 0x05,       /* PDCP, SN of 18 bits */
		0x49,                   /* SDAP: RQI, QFI 9 */
		0x45, 0xb9, 0, 0x1c, 0, 0, 0, 0, 0x40, 0x11, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
		1, 2, 3, 4, 0, 8, 0, 0};
	/* clang-format on */
	struct p4_frame f = {.bytes = sizeof(in)};

	(void)state;
	memcpy(f.b, in, sizeof(in));
	assert_int_equal(through(P4_SIDE_WIRE, &f), P4_OUT_VF + 2);
	assert_int_equal(f.bytes, sizeof(in) + P4_SHIM_FRAME_BYTES);
	assert_int_equal(f.b[14], P4_SHIM_RELEASE);
	assert_memory_equal(f.b + P4_SHIM_FRAME_BYTES, in, sizeof(in));
	release(0x02000160, 5, 0x30007);
	f.bytes = sizeof(in);
	memcpy(f.b, in, sizeof(in));
	assert_int_equal(through(P4_SIDE_WIRE, &f), P4_OUT_WIRE);
	assert_int_equal(f.bytes, sizeof(want));
	assert_memory_equal(f.b, want, sizeof(want));
	assert_int_equal(p4_register(nic, 44, P4_REG_TX_NEXT), 6);
	assert_int_equal(p4_register(nic, 44, P4_REG_BYTES), 28);
	assert_int_equal(p4_register(nic, 44, P4_REG_PACKETS), 1);
}

/** Octets of a good frame changed, cut off or added, each field of the headers among them. */
static void
spoil(struct p4_frame *f)
{
	switch (any(6)) {
	case 0:
		f->b[any(RTE_MIN(f->bytes, 80))] ^= (uint8_t)(1 << any(8));
		break;
	case 1: /* in spite of it the checksum is right */
		f->b[14 + any(20)] = (uint8_t)any(256);
		p4_test_sum(f->b + 14);
		break;
	case 2:
		f->bytes = (uint16_t)any(f->bytes + 1);
		break;
	case 3:
		f->bytes = (uint16_t)(f->bytes + 1 + any(20));
		break;
	case 4:
		f->b[42 + any(18)] = (uint8_t)any(256);
		break;
	default:
		be32_put(f->b + 26 + any(2) * 4, any(2) ? any(UINT32_MAX) : P4_TEST_F1);
		p4_test_sum(f->b + 14);
	}
}

/** From a host: mostly an answer to a release. */
static void
frame_of_host(struct p4_frame *f)
{
	struct p4_shim s = {P4_SHIM_RELEASE, p4_test_teid(any(P4_TEST_SESSIONS), any(3)),
			    any(UINT32_MAX), any(UINT32_MAX)};
	const struct p4_bearer *b = &model.bearer[any(RTE_DIM(model.bearer))];

	if (any(4) == 0) {
		if (any(2))
			f->b[0] = 6; /* what the host sends to others */
		return;
	}
	if (any(8))
		s.bearer = b->drb.teid;
	else
		s.flags = (uint8_t)any(8);
	if (any(64) == 0)
		s.tx_next = 0xFEFFFFFF + any(3);
	f->bytes = (uint16_t)(P4_SHIM_FRAME_BYTES - (any(16) == 0) * any(16));
	be16_put(f->b + 12, P4_SHIM_TYPE);
	p4_shim_put(f->b + 14, &s);
}

static void
frame_any(struct p4_frame *f, enum p4_side side)
{
	const uint32_t index = any(P4_TEST_SESSIONS + 1);

	memset(f, 0, sizeof(*f));
	p4_test_gpdu(f, index, (uint8_t)(any(2) << 6 | any(61)), any(8) == 0,
		     any(16) ? 60 + any(40) : 520 + any(60), any(4) == 0);
	if (side == P4_SIDE_VF)
		frame_of_host(f);
	if (any(16) == 0)
		spoil(f);
	if (any(16) == 0) { /* uplink */
		f->b[5] = (uint8_t)(1 + any(2));
		be32_put(f->b + 30, P4_TEST_F1);
		p4_test_sum(f->b + 14);
		f->b[42] = 0x30;
		be32_put(f->b + 46, p4_test_teid(index, any(3)));
	}
}

/** What came out for frame `i`, which may have overtaken those of other bearers. */
static void
check(const struct p4_result *r, const struct rte_mbuf *m, const struct p4_frame *f, unsigned want)
{
	unsigned k = 0;

	while (k < r->nb && r->pkts[k] != m)
		k++;
	assert_int_equal(r->out[k], want);
	if (want != P4_OUT_WIRE && want < P4_OUT_VF)
		return;
	assert_int_equal(m->data_len, f->bytes);
	assert_int_equal(m->pkt_len, f->bytes);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), f->b, f->bytes);
}

/** Over a million random packets in bursts, good and bad: octet by octet what they should be. */
static void
any_packets(void **state)
{
	static struct p4_frame frames[BURST];
	unsigned long out[P4_OUT_VF + P4_TEST_VFS] = {0}, packets = 0;
	struct rte_mbuf *pkts[BURST];
	struct p4_result r;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		const enum p4_side side = any(8) == 0 ? P4_SIDE_WIRE : P4_SIDE_VF;
		/* A release may overtake a packet that was handed in: one at a time. */
		const unsigned nb = side == P4_SIDE_VF ? 1 : 1 + any(BURST);
		unsigned want[BURST];

		if (any(16) == 0)
			p4_share_set(nic, model.share = any(4)   ? P4_SHARE_BY_MARK
							: any(2) ? P4_SHARE_ALL
								 : 0);
		for (unsigned i = 0; i < nb; i++) {
			frame_any(&frames[i], side);
			pkts[i] = p4_test_mbuf(pool, &frames[i]);
			want[i] = p4_want(&model, side, &frames[i]);
			out[want[i]]++;
		}
		p4_gnb_run(nic, side, pkts, (uint16_t)nb, &r);
		assert_int_equal(r.nb, nb);
		for (unsigned i = 0; i < nb; i++)
			check(&r, pkts[i], &frames[i], want[i]);
		rte_pktmbuf_free_bulk(r.pkts, nb);
		packets += nb;
	}
	print_message("%lu packets: wire %lu, host", packets, out[P4_OUT_WIRE]);
	for (unsigned v = 0; v < P4_TEST_VFS; v++)
		print_message(" %lu", out[P4_OUT_VF + v]);
	print_message(", used %lu, refused %lu, short %lu\n", out[P4_OUT_USED], out[P4_OUT_REFUSED],
		      out[P4_OUT_SHORT]);
	assert_true(packets > 1000000);
	for (unsigned i = 0; i < RTE_DIM(out); i++)
		assert_true(out[i] > 0 || i == P4_OUT_NO_MBUF);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(golden, begin, end),
		cmocka_unit_test_setup_teardown(any_packets, begin, end),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
