/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Frames through a gNB's header processing, on both sides: the fast path must agree with the
 * general one, nothing may leak, and every node's books must balance.
 *
 * Each frame begins with a mode octet and two of length. With MODE_SOUND the octets change those of
 * a sound G-PDU.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void
check(bool ok)
{
	if (!ok)
		abort();
}

#define assert_true(x) check(x)
#define assert_non_null(x) check((x) != NULL)
#define assert_int_equal(x, y) check((x) == (y))
#define assert_memory_equal(x, y, n) check(memcmp(x, y, n) == 0)
#define fail_msg(...) abort()

#include "modules/gnb/gnb_rig.h"

#define FRAME_MAX 2300
#define SEGMENT 50

enum { MODE_F1 = 1, MODE_FIX = 2, MODE_SEGMENTS = 4, MODE_SOUND = 8, MODE_6 = 16, MODE_SLOT = 32 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
const char *__asan_default_options(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What DPDK's memory points to is not seen; the pool is counted below. */
const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct gnb_session_spec spec;

	(void)argc;
	(void)argv;
	check(test_eal_init() == 0);
	rig.pool = test_pool("frames", 1024, 2560);
	rig.ind = test_pool("indirect", 1024, 0);
	check(rig.pool && rig.ind && rig_up(NULL) == 0);
	/* Two DRBs of different formats. */
	spec = rig_spec(RIG_4, RIG_6);
	spec.nb_drbs = 2;
	spec.drbs[1] = spec.drbs[0];
	spec.drbs[1].id = 2;
	spec.drbs[1].slot = 1;
	spec.drbs[1].is_default = false;
	spec.drbs[1].qfis = 0x5550;
	spec.drbs[1].rlc_mode = GNB_RLC_AM;
	spec.drbs[1].rlc_sn_bits = 18;
	spec.drbs[1].pdcp_sn_bits = 12;
	spec.drbs[1].du = rig_du(RIG_4);
	rig_set(&spec);
	return 0;
}

/** IPv4 header checksums are hard to guess. */
static void
fix(struct rig_frame *f)
{
	uint8_t *ip = f->b + 14;
	uint16_t sum;

	if (f->at < 34 || ip[0] != 0x45)
		return;
	memset(ip + 10, 0, 2);
	sum = ip_checksum(ip, 20);
	memcpy(ip + 10, &sum, 2);
}

static struct rte_mbuf *
mbuf(const struct rig_frame *f, size_t seg)
{
	struct rte_mbuf *head = NULL;

	for (size_t at = 0; at < f->at; at += seg) {
		struct rig_frame part = {.at = RTE_MIN(seg, f->at - at)};
		struct rte_mbuf *m;

		memcpy(part.b, f->b + at, part.at);
		m = rig_mbuf(&part);
		if (head)
			check(rte_pktmbuf_chain(head, m) == 0);
		else
			head = m;
	}
	return head;
}

static void
agree(struct gnb_in *in, const struct rig_frame *f)
{
	struct rte_mbuf *a = rig_mbuf(f), *b = rig_mbuf(f);

	if (gnb_in_fast(in, a))
		check(gnb_in_any(in, b) == UPF_IN_PASS && a->pkt_len == b->pkt_len &&
		      a->data_off == b->data_off &&
		      memcmp(upf_arrival(a), upf_arrival(b), 8) == 0 &&
		      upf_outer_bytes(a) == upf_outer_bytes(b));
	rte_pktmbuf_free(a);
	rte_pktmbuf_free(b);
}

/** What came out is sane, and goes. */
static void
empty(struct test_node *t)
{
	for (unsigned e = 0; e < t->n.type->nb_edges; e++) {
		struct rte_mbuf **out;
		uint16_t nb = test_node_take(t, e, &out);

		for (uint16_t i = 0; i < nb; i++)
			rte_mbuf_sanity_check(out[i], 1);
		rte_pktmbuf_free_bulk(out, nb);
	}
	test_node_balance(t);
}

static void
one(struct rig_frame *f, uint8_t mode)
{
	struct test_node *in = mode & MODE_F1 ? rig.in_f1 : rig.in;
	struct test_node *all[] = {in, rig.drb, rig.tx, rig.rx};

	if (mode & MODE_FIX)
		fix(f);
	if (f->at == 0)
		return;
	agree(in->n.priv, f);
	rig_send(in, mbuf(f, mode & MODE_SEGMENTS ? SEGMENT : FRAME_MAX));
	for (unsigned i = 0; i < RTE_DIM(all); i++)
		empty(all[i]);
	assert_pool_full(rig.pool);
}

static void
sound(struct rig_frame *f, uint8_t mode, const uint8_t *data, size_t n)
{
	const enum rig_way way = mode & MODE_6 ? RIG_6 : RIG_4;

	if (mode & MODE_F1)
		rig_f1_frame(f, way, gnb_teid_with_slot(rig.teid, mode & MODE_SLOT ? 1 : 0),
			     (const uint8_t[]){0x80, 0, 5, 0x80, 1, 0x87}, 6, 40, 9);
	else
		rig_n3_frame(f, way, rig.teid, mode & MODE_SLOT ? 4 : 9, false, 40, 9);
	for (size_t i = 0; i < RTE_MIN(n, f->at); i++)
		f->b[i] ^= data[i];
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rig_frame f;

	while (size > 3) {
		const uint8_t mode = data[0];
		size_t n = (size_t)(data[1] << 8 | data[2]) % FRAME_MAX;

		data += 3;
		size -= 3;
		n = RTE_MIN(n, size);
		f.at = n;
		if (mode & MODE_SOUND)
			sound(&f, mode, data, n);
		else
			memcpy(f.b, data, n);
		one(&f, mode);
		data += n;
		size -= n;
	}
	return 0;
}
