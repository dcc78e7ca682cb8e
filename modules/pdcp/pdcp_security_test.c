/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithms of every engine and device by published test sets; keys; entities. */
#include "modules/pdcp/pdcp_security_rig.h"

static const struct vector {
	const char *algorithm;
	unsigned set;
	const char *key;
	uint32_t count;
	uint8_t bearer, direction;
	unsigned bits;
	const char *message, *result;
} vectors[] = {
#include "tests/vectors/nea_nia.inc"
};

/** Compares as many bits as there are. */
static void
assert_bits(const uint8_t *got, const uint8_t *want, unsigned bits)
{
	assert_memory_equal(got, want, bits / 8);
	if (bits % 8)
		assert_int_equal(got[bits / 8] >> (8 - bits % 8), want[bits / 8] >> (8 - bits % 8));
}

static void
cipher_vector(const struct vector *v, const uint8_t *message, const uint8_t *result)
{
	const uint16_t len = (uint16_t)((v->bits + 7) / 8);
	struct pdcp_security sec = {
		.keys = key_of((enum pdcp_nea)(v->algorithm[3] - '0'), PDCP_NIA0, v->key),
		.bearer = v->bearer,
		.direction = v->direction};
	struct pdcp_secured p = {.m = make(pool, message, len), .sec = &sec, .count = v->count};

	engine->protect(&p, 1);
	assert_bits(rte_pktmbuf_mtod(p.m, uint8_t *), result, v->bits);
	engine->verify(&p, 1);
	assert_memory_equal(rte_pktmbuf_mtod(p.m, uint8_t *), message, len);
	assert_int_equal(p.failed, PDCP_SECURITY_OK);
	rte_pktmbuf_free(p.m);
	pdcp_security_key_destroy(sec.keys);
}

#ifdef AIRPATH_IPSEC_MB
/** PDUs are whole octets; what is not goes to the library as the engine's jobs do. */
static void
odd_mac_vector(const struct vector *v, const uint8_t *message, const uint8_t *result)
{
	struct pdcp_mb_key *key = (struct pdcp_mb_key *)key_of(PDCP_NEA0, PDCP_NIA3, v->key);
	uint8_t iv[16] __rte_aligned(16);
	uint32_t mac;

	assert_string_equal(v->algorithm, "NIA3");
	zuc_eia3_iv_gen(v->count, v->bearer, v->direction, iv);
	IMB_ZUC_EIA3_1_BUFFER(pdcp_mbs[rte_lcore_id()]->mgr, key->zuc_int, iv, message, v->bits,
			      &mac);
	assert_memory_equal(&mac, result, sizeof(mac));
	pdcp_security_key_destroy(&key->base);
}
#endif

static void
mac_vector(const struct vector *v, const uint8_t *message, const uint8_t *result)
{
	const uint16_t len = (uint16_t)(v->bits / 8);
	struct pdcp_security sec = {
		.keys = key_of(PDCP_NEA0, (enum pdcp_nia)(v->algorithm[3] - '0'), v->key),
		.bearer = v->bearer,
		.direction = v->direction,
		.mac_i_len = PDCP_MAC_I_LEN};
	struct pdcp_secured p = {.m = make(pool, message, len), .sec = &sec, .count = v->count};

	rte_pktmbuf_append(p.m, PDCP_MAC_I_LEN);
	engine->protect(&p, 1);
	assert_memory_equal(rte_pktmbuf_mtod(p.m, uint8_t *), message, len);
	assert_memory_equal(rte_pktmbuf_mtod_offset(p.m, uint8_t *, len), result, PDCP_MAC_I_LEN);
	engine->verify(&p, 1);
	assert_int_equal(p.failed, PDCP_SECURITY_OK);
	rte_pktmbuf_free(p.m);
	pdcp_security_key_destroy(sec.keys);
}

static void
published_test_sets(void **state)
{
	uint8_t message[256], result[256];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(vectors); i++) {
		const struct vector *v = &vectors[i];

		if (!subject->offers[v->algorithm[3] - '0'])
			continue;
		unhex(v->message, message);
		unhex(v->result, result);
		if (v->algorithm[1] == 'E')
			cipher_vector(v, message, result);
#ifdef AIRPATH_IPSEC_MB
		else if (v->bits % 8 && engine == &pdcp_multi_buffer)
			odd_mac_vector(v, message, result);
#endif
		else if (v->bits % 8 == 0)
			mac_vector(v, message, result);
	}
	assert_pool_full(pool);
}

static unsigned delivered;

static void
deliver(void *arg, struct rte_mbuf **sdus, uint16_t nb)
{
	uint8_t bytes[9216];

	(void)arg;
	for (uint16_t i = 0; i < nb; i++, delivered++) {
		assert_int_equal(sdus[i]->pkt_len, 100 + delivered);
		bytes_of(sdus[i], bytes);
		assert_memory_equal(bytes, payload + delivered, 100 + delivered);
		rte_pktmbuf_free(sdus[i]);
	}
}

/** @param direction that the receiver believes in */
static void
through_the_entities(unsigned nea, unsigned nia, enum l2_direction direction, uint64_t *drops)
{
	static struct pdcp_batch batch;
	struct rte_mbuf *pkts[40], *out[PDCP_CRYPTO_BATCH];
	uint64_t tx_drops[PDCP_TX_DROPS] = {0}, used = 0;
	struct pdcp_rx_sink sink = {.deliver = deliver, .drops = drops, .used = &used};
	struct pdcp_tx_cfg tx_cfg = {.pdcp_SN_Size = 12,
				     .integrityProtection = nia != 0,
				     .rb_identity = 4,
				     .direction = L2_UPLINK,
				     .crypto = engine,
				     .hdr = hdr};
	struct pdcp_rx_cfg rx_cfg = {.pdcp_SN_Size = 12,
				     .integrityProtection = nia != 0,
				     .rb_identity = 4,
				     .direction = direction,
				     .crypto = engine};
	struct pdcp_tx tx;
	struct pdcp_rx rx;
	uint32_t count;

	tx_cfg.keys = rx_cfg.keys = key_of(nea, nia, "96180e46891f86578eebe90ef7a1202e");
	assert_int_equal(pdcp_tx_init(&tx, &tx_cfg), 0);
	assert_int_equal(pdcp_rx_init(&rx, &rx_cfg), 0);
	tx.TX_NEXT = rx.RX_DELIV = rx.RX_NEXT = 4090; /* the SN wraps, COUNT does not */
	for (unsigned i = 0; i < 40; i++)
		pkts[i] = make(pool, payload + i, (uint16_t)(100 + i));
	assert_int_equal(pdcp_tx_pre_process(&tx, pkts, 40, tx_drops), 40);
	for (unsigned i = 0; i < 40; i++)
		pdcp_batch_add(&batch, pkts[i], &tx, &tx.sec, 4090 + i);
	assert_int_equal(pdcp_tx_protect(&batch, out, tx_drops), 40);
	delivered = 0;
	for (unsigned i = 0; i < 40; i++) {
		if (nea != 0)
			assert_memory_not_equal(rte_pktmbuf_mtod_offset(out[i], void *, 2),
						payload + i, 100);
		assert_true(pdcp_rx_pre_process(&rx, out[i], &count, &sink));
		assert_int_equal(count, 4090 + i);
		pdcp_batch_add(&batch, out[i], &rx, &rx.sec, count);
	}
	pdcp_rx_verify(&batch, 0, &sink);
	pdcp_rx_fini(&rx);
	pdcp_security_key_destroy(tx_cfg.keys);
	assert_pool_full(pool);
}

static void
entities_understand_each_other(void **state)
{
	(void)state;
	for (unsigned i = 1; i < 16; i++) {
		uint64_t drops[PDCP_RX_DROPS] = {0};

		if (!offered(i / 4, i % 4))
			continue;
		through_the_entities(i / 4, i % 4, L2_UPLINK, drops);
		assert_int_equal(delivered, 40);
		assert_int_equal(drops[PDCP_RX_INTEGRITY], 0);
	}
}

static void
wrong_direction_fails_integrity(void **state)
{
	(void)state;
	for (unsigned nia = 1; nia < 4; nia++) {
		uint64_t drops[PDCP_RX_DROPS] = {0};

		if (!offered(PDCP_NEA0, nia))
			continue;
		through_the_entities(PDCP_NEA0, nia, L2_DOWNLINK, drops);
		assert_int_equal(delivered, 0);
		assert_int_equal(drops[PDCP_RX_INTEGRITY], 40);
	}
}

static void
impossible_keys(void **state)
{
	struct pdcp_security_key *key;
	struct pdcp_security_cfg bad[] = {
		{.nea = 4, .pool = pool}, {.nia = 4, .pool = pool}, {.nea = 1}};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(bad); i++) {
		bad[i].engine = engine;
		bad[i].device = subject->device;
		assert_int_equal(pdcp_security_key_create(&bad[i], &key, NULL), -EINVAL);
	}
	pdcp_security_key_destroy(NULL);
}

#ifdef AIRPATH_IPSEC_MB
static void
eia3_beyond_the_library(void **state)
{
	static uint8_t message[EIA3_MAX];
	uint8_t iv[16] __rte_aligned(16);
	struct pdcp_mb_key *key;
	uint32_t want;

	(void)state;
	key = (struct pdcp_mb_key *)key_of(PDCP_NEA3, PDCP_NIA3,
					   "c9e6cec4607c72db000aefa88385ab0a");
	zuc_eia3_iv_gen(0x12345678, 7, 1, iv);
	for (uint32_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 41 + i / 256);
	for (uint32_t len = 1; len <= EIA3_MAX; len += len < 70 ? 1 : 811) {
		struct pdcp_mb *e = pdcp_mbs[rte_lcore_id()];

		IMB_ZUC_EIA3_1_BUFFER(e->mgr, key->zuc_int, iv, message, len * 8, &want);
		assert_int_equal(pdcp_eia3_long(e, key->zuc_int, iv, message, len), want);
	}
	pdcp_security_key_destroy(&key->base);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_test_sets),
		cmocka_unit_test(entities_understand_each_other),
		cmocka_unit_test(wrong_direction_fails_integrity),
		cmocka_unit_test(impossible_keys),
	};
#ifdef AIRPATH_IPSEC_MB
	const struct CMUnitTest library[] = {cmocka_unit_test(eia3_beyond_the_library)};
#endif
	int bad = on_every_subject(tests, RTE_DIM(tests));

#ifdef AIRPATH_IPSEC_MB
	subject = subjects;
	engine = &pdcp_multi_buffer;
	bad |= cmocka_run_group_tests(library, NULL, NULL);
#endif
	return bad != 0;
}
