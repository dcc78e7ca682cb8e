/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of every engine and device: PDUs of any shape and key beside each other. */
#include "modules/pdcp/pdcp_security_rig.h"

enum shape { OWN, SHARED, CHAINED, NO_HEADROOM, SHAPES };

/** A PDU that is bytes of `payload`; its MAC-I not filled. */
static struct rte_mbuf *
shaped(enum shape shape, const uint8_t *pdu, uint16_t len)
{
	const uint16_t cut = len / 3;
	struct rte_mbuf *m, *i;

	if (shape == CHAINED && cut > 0) {
		m = make(pool, pdu, cut);
		i = make(pool, pdu + cut, (uint16_t)(len - cut));
		assert_int_equal(rte_pktmbuf_chain(m, i), 0);
		return m;
	}
	m = make(pool, pdu, len);
	if (shape == NO_HEADROOM) {
		memmove(m->buf_addr, rte_pktmbuf_mtod(m, void *), len);
		m->data_off = 0;
	}
	if (shape != SHARED)
		return m;
	i = rte_pktmbuf_alloc(indirect);
	rte_pktmbuf_attach(i, m);
	*ap_meta(i) = *ap_meta(m);
	*ap_ext(i) = *ap_ext(m);
	rte_pktmbuf_free(m);
	return i;
}

/** @return what the engine takes, without MAC-I. */
static uint16_t
longest(const struct pdcp_security *s)
{
	const struct pdcp_security_key *k = s->keys;

	return engine == &pdcp_cryptodev && k->nia == PDCP_NIA3 ? EIA3_MAX : UINT16_MAX;
}

static void
any_mix_in_one_batch(void **state)
{
	static struct pdcp_secured batch[PDCP_CRYPTO_BATCH], back[PDCP_CRYPTO_BATCH];
	static struct pdcp_security sec[16];
	static const uint16_t lengths[] = {CLEAR, CLEAR + 1, 40, 129, 1024, 1500, 8000, 9000};
	uint8_t bytes[9216];
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		if (!offered(i / 4, i % 4))
			continue;
		sec[n++] = (struct pdcp_security){
			.keys = key_of(i / 4, i % 4, "83fd23a244a74cf358da3019f1722635"),
			.bearer = (uint8_t)(2 * i),
			.direction = i & 1,
			.clear_len = CLEAR,
			.mac_i_len = i % 3 ? PDCP_MAC_I_LEN : 0};
	}
	for (unsigned i = 0; i < PDCP_CRYPTO_BATCH; i++) {
		struct pdcp_security *s = &sec[i * 7 % n];
		uint16_t len = (uint16_t)(RTE_MIN(lengths[i / 3 % 8], longest(s)) + s->mac_i_len);

		batch[i] = (struct pdcp_secured){
			.m = shaped(i % SHAPES, payload + i % 64, len), .sec = s, .count = i};
	}
	engine->protect(batch, PDCP_CRYPTO_BATCH);
	for (unsigned i = 0; i < PDCP_CRYPTO_BATCH; i++) {
		uint16_t len = bytes_of(batch[i].m, bytes);

		assert_int_equal(batch[i].failed, PDCP_SECURITY_OK);
		assert_int_equal(ap_meta(batch[i].m)->qfi, 9);
		assert_int_equal(ap_ext(batch[i].m)->enter_ns, 77);
		assert_memory_equal(bytes, payload + i % 64, CLEAR);
		back[i] = batch[i];
		back[i].m = shaped((i + 1) % SHAPES, bytes, len);
		rte_pktmbuf_free(batch[i].m);
	}
	engine->verify(back, PDCP_CRYPTO_BATCH);
	for (unsigned i = 0; i < PDCP_CRYPTO_BATCH; i++) {
		uint16_t len = bytes_of(back[i].m, bytes) - back[i].sec->mac_i_len;

		assert_int_equal(back[i].failed, PDCP_SECURITY_OK);
		assert_int_equal(ap_meta(back[i].m)->bearer, 3);
		assert_memory_equal(bytes, payload + i % 64, len);
		rte_pktmbuf_free(back[i].m);
	}
	for (unsigned i = 0; i < n; i++)
		pdcp_security_key_destroy(sec[i].keys);
	assert_pool_full(pool);
	assert_pool_full(fresh);
}

static void
a_shared_buffer_is_only_read(void **state)
{
	struct pdcp_security sec = {.clear_len = CLEAR, .mac_i_len = PDCP_MAC_I_LEN};
	struct pdcp_secured p;
	struct rte_mbuf *m;

	(void)state;
	for (unsigned i = 1; i < 16; i++) {
		uint8_t before[300];

		if (!offered(i / 4, i % 4))
			continue;
		sec.keys = key_of(i / 4, i % 4, "0a8b6bd8d9b08b08d64e32d1817777fb");
		m = make(pool, payload, 250);
		memcpy(before, m->buf_addr, 300);
		rte_mbuf_refcnt_set(m, 3);
		p = (struct pdcp_secured){.m = m, .sec = &sec, .count = i};
		engine->protect(&p, 1);
		assert_ptr_not_equal(p.m, m);
		rte_pktmbuf_free(p.m);
		p = (struct pdcp_secured){.m = m, .sec = &sec, .count = i};
		engine->verify(&p, 1);
		assert_ptr_not_equal(p.m, m);
		rte_pktmbuf_free(p.m);
		assert_int_equal(rte_mbuf_refcnt_read(m), 1);
		assert_memory_equal(before, m->buf_addr, 300);
		assert_memory_equal(rte_pktmbuf_mtod(m, void *), payload, 250);
		rte_pktmbuf_free(m);
		pdcp_security_key_destroy(sec.keys);
	}
	assert_pool_full(pool);
	assert_pool_full(fresh);
}

static void
headroom_is_put_back(void **state)
{
	struct pdcp_security sec = {.clear_len = CLEAR, .mac_i_len = PDCP_MAC_I_LEN};
	struct pdcp_secured p = {.sec = &sec};
	uint8_t *before;

	(void)state;
	if (!offered(PDCP_NEA2, PDCP_NIA2))
		return;
	sec.keys = key_of(PDCP_NEA2, PDCP_NIA2, "0a8b6bd8d9b08b08d64e32d1817777fb");
	p.m = make(pool, payload, 100);
	before = rte_pktmbuf_mtod_offset(p.m, uint8_t *, -8);
	memcpy(before, "headroom", 8);
	engine->protect(&p, 1);
	assert_memory_equal(before, "headroom", 8);
	engine->verify(&p, 1);
	assert_memory_equal(before, "headroom", 8);
	assert_int_equal(p.failed, PDCP_SECURITY_OK);
	rte_pktmbuf_free(p.m);
	pdcp_security_key_destroy(sec.keys);
}

static void
no_buffer_has_a_name(void **state)
{
	struct rte_mempool *small = test_pool("small", 1, 200);
	struct pdcp_security_cfg cfg = {
		.nea = any_nea(), .pool = small, .engine = engine, .device = subject->device};
	struct pdcp_security_key *key;
	struct pdcp_security sec = {.clear_len = CLEAR};
	struct pdcp_secured p[3];

	(void)state;
	assert_int_equal(pdcp_security_key_create(&cfg, &key, NULL), 0);
	sec.keys = key;
	for (unsigned i = 0; i < 3; i++)
		p[i] = (struct pdcp_secured){.m = shaped(SHARED, payload, i == 0 ? 201 : 200),
					     .sec = &sec};
	engine->verify(p, 3);
	assert_int_equal(p[0].failed, PDCP_SECURITY_TOO_LONG);
	assert_int_equal(p[1].failed, PDCP_SECURITY_OK);
	assert_int_equal(p[2].failed, PDCP_SECURITY_NO_MBUF);
	for (unsigned i = 0; i < 3; i++)
		rte_pktmbuf_free(p[i].m);
	pdcp_security_key_destroy(key);
	assert_pool_full(small);
	assert_pool_full(pool);
	rte_mempool_free(small);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_mix_in_one_batch),
		cmocka_unit_test(a_shared_buffer_is_only_read),
		cmocka_unit_test(headroom_is_put_back),
		cmocka_unit_test(no_buffer_has_a_name),
	};

	return on_every_subject(tests, RTE_DIM(tests)) != 0;
}
