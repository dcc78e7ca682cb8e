/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "codec/pdcp.h"
#include "core/pkt.h"
#include "core/config.h"
#include "modules/pdcp/pdcp_cryptodev.h"
#include "modules/pdcp/pdcp_rx.h"
#include "modules/pdcp/pdcp_tx.h"
#include "test_eal.h"
#ifdef AIRPATH_IPSEC_MB
#include "modules/pdcp/pdcp_mb.h"
#endif

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

static struct rte_mempool *pool, *fresh, *indirect, *hdr;

/** What the tests run on, one after the other. */
static const struct subject {
	const char *engine, *device;
	bool offers[4]; /**< by number: NEA and NIA */
} subjects[] = {
#ifdef AIRPATH_IPSEC_MB
	{"multi_buffer", NULL, {true, true, true, true}},
	{"cryptodev", "crypto_aesni_mb", {true, true, true, true}},
	{"cryptodev", "crypto_snow3g", {true, true, false, false}},
	{"cryptodev", "crypto_zuc", {true, false, false, true}},
#endif
	{"cryptodev", NULL, {true, false, true, false}},
};
static const struct subject *subject;
static const struct pdcp_crypto *engine;

static void
unhex(const char *text, uint8_t *to)
{
	for (unsigned byte; sscanf(text, "%2x", &byte) == 1; text += 2)
		*to++ = (uint8_t)byte;
}

static bool
offered(unsigned nea, unsigned nia)
{
	return subject->offers[nea] && subject->offers[nia];
}

static struct pdcp_security_key *
key_of(enum pdcp_nea nea, enum pdcp_nia nia, const char *hex)
{
	struct pdcp_security_cfg cfg = {
		.nea = nea, .nia = nia, .pool = fresh, .engine = engine, .device = subject->device};
	struct pdcp_security_key *key;

	unhex(hex, cfg.key_enc);
	unhex(hex, cfg.key_int);
	assert_int_equal(pdcp_security_key_create(&cfg, &key, NULL), 0);
	assert_ptr_equal(pdcp_security_crypto(key), engine);
	return key;
}

static struct rte_mbuf *
make(struct rte_mempool *mp, const void *data, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, len), data, len);
	*ap_meta(m) = (struct ap_meta){.bearer = 3, .qfi = 9};
	ap_ext(m)->enter_ns = 77;
	return m;
}

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

/* --- batches ---------------------------------------------------------------------------------- */

#define CLEAR 3

enum shape { OWN, SHARED, CHAINED, NO_HEADROOM, SHAPES };

static uint8_t payload[9100];

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

static uint16_t
bytes_of(struct rte_mbuf *m, uint8_t *to)
{
	const void *p = rte_pktmbuf_read(m, 0, m->pkt_len, to);

	if (p != to)
		memcpy(to, p, m->pkt_len);
	return (uint16_t)m->pkt_len;
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

static unsigned
any_nea(void)
{
	unsigned nea = PDCP_NEA2;

	while (!subject->offers[nea])
		nea = nea % 3 + 1;
	return nea;
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

/* --- entities --------------------------------------------------------------------------------- */

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

/* --- crypto devices --------------------------------------------------------------------------- */

static void
assert_refused(struct pdcp_security_cfg cfg, int rc, const char *what, unsigned number)
{
	struct pdcp_security_key *key;
	struct ap_error err = {0};
	char algorithm[8];

	cfg.pool = fresh;
	cfg.engine = engine;
	assert_int_equal(pdcp_security_key_create(&cfg, &key, &err), rc);
	assert_non_null(strstr(err.text, cfg.device));
	snprintf(algorithm, sizeof(algorithm), what, number);
	assert_non_null(strstr(err.text, algorithm));
}

static void
a_refusal_names_device_and_algorithm(void **state)
{
	const char *device = subject->device ? subject->device : PDCP_SECURITY_DEVICE_DEFAULT;

	(void)state;
	if (engine != &pdcp_cryptodev)
		return;
	for (unsigned n = 1; n < 4; n++) {
		if (subject->offers[n])
			continue;
		assert_refused((struct pdcp_security_cfg){.nea = n, .device = device}, -ENOTSUP,
			       "NEA%u", n);
		assert_refused((struct pdcp_security_cfg){.nia = n, .device = device}, -ENOTSUP,
			       "NIA%u", n);
	}
	assert_refused((struct pdcp_security_cfg){.nea = 2, .device = "crypto_nonsense"}, -ENODEV,
		       "no such", 0);
	assert_refused((struct pdcp_security_cfg){.nea = 2, .device = "net_null0"}, -ENODEV,
		       "no such", 0);
	assert_refused((struct pdcp_security_cfg){.nea = 2, .device = "0000:ff:1f.7"}, -ENODEV,
		       "no such", 0);
	assert_int_equal(rte_cryptodev_count(), 0);
}

static void
a_device_takes_no_longer_nia3(void **state)
{
	struct pdcp_security sec = {.clear_len = CLEAR, .mac_i_len = PDCP_MAC_I_LEN};
	struct pdcp_secured p[2];

	(void)state;
	if (engine != &pdcp_cryptodev || !offered(PDCP_NEA0, PDCP_NIA3))
		return;
	sec.keys = key_of(PDCP_NEA0, PDCP_NIA3, "0a8b6bd8d9b08b08d64e32d1817777fb");
	for (unsigned i = 0; i < 2; i++)
		p[i] = (struct pdcp_secured){
			.m = make(pool, payload, (uint16_t)(EIA3_MAX + PDCP_MAC_I_LEN + i)),
			.sec = &sec};
	engine->protect(p, 2);
	assert_int_equal(p[0].failed, PDCP_SECURITY_OK);
	assert_int_equal(p[1].failed, PDCP_SECURITY_TOO_LONG);
	rte_pktmbuf_free(p[0].m);
	rte_pktmbuf_free(p[1].m);
	pdcp_security_key_destroy(sec.keys);
	assert_pool_full(pool);
}

static struct {
	bool stuck;
	uint16_t nb;
	struct rte_crypto_op *ops[CRYPTODEV_PDUS];
} jam;

/** A device that keeps what it has, until it works again. */
static uint16_t
keep_back(uint16_t dev, uint16_t qp, struct rte_crypto_op **ops, uint16_t nb, void *arg)
{
	(void)dev;
	(void)qp;
	(void)arg;
	if (jam.stuck) {
		memcpy(jam.ops + jam.nb, ops, nb * sizeof(*ops));
		jam.nb += nb;
		return 0;
	}
	memcpy(ops + nb, jam.ops, jam.nb * sizeof(*ops));
	nb += jam.nb;
	jam.nb = 0;
	return nb;
}

static void
a_stuck_device_fails_by_name(void **state)
{
	struct pdcp_security sec = {.clear_len = CLEAR};
	struct rte_cryptodev_cb *cb;
	struct pdcp_secured p[5];
	uint8_t dev;

	(void)state;
	if (engine != &pdcp_cryptodev)
		return;
	sec.keys = key_of(any_nea(), PDCP_NIA0, "0a8b6bd8d9b08b08d64e32d1817777fb");
	dev = ((struct pdcp_cryptodev_key *)sec.keys)->device->id;
	cb = rte_cryptodev_add_deq_callback(dev, 0, keep_back, NULL);
	assert_non_null(cb);
	jam.stuck = true;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 5; i++)
			p[i] = (struct pdcp_secured){.m = make(pool, payload, 99), .sec = &sec};
		jam.stuck = round < 2;
		engine->protect(p, 5);
		for (unsigned i = 0; i < 5; i++) {
			assert_int_equal(p[i].failed,
					 round < 2 ? PDCP_SECURITY_DEVICE : PDCP_SECURITY_OK);
			rte_pktmbuf_free(p[i].m);
		}
		/* What the device may still write to does not go back to the pool. */
		assert_int_equal(rte_mempool_in_use_count(pool), round < 2 ? 5 : 0);
	}
	assert_int_equal(rte_cryptodev_remove_deq_callback(dev, 0, cb), 0);
	pdcp_security_key_destroy(sec.keys);
	assert_int_equal(rte_cryptodev_count(), 0);
}

static int
setup(void)
{
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("pool", 2047, PDCP_SECURITY_ROOM);
	fresh = test_pool("fresh", 511, PDCP_SECURITY_ROOM);
	indirect = test_pool("indirect", 511, 0);
	hdr = test_pool("hdr", 63, 128);
	for (unsigned i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 73 + i / 256 * 11);
	return pool && fresh && indirect && hdr ? 0 : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_test_sets),
		cmocka_unit_test(any_mix_in_one_batch),
		cmocka_unit_test(a_shared_buffer_is_only_read),
		cmocka_unit_test(headroom_is_put_back),
		cmocka_unit_test(no_buffer_has_a_name),
		cmocka_unit_test(entities_understand_each_other),
		cmocka_unit_test(wrong_direction_fails_integrity),
		cmocka_unit_test(impossible_keys),
		cmocka_unit_test(a_refusal_names_device_and_algorithm),
		cmocka_unit_test(a_device_takes_no_longer_nia3),
		cmocka_unit_test(a_stuck_device_fails_by_name),
	};
#ifdef AIRPATH_IPSEC_MB
	const struct CMUnitTest library[] = {cmocka_unit_test(eia3_beyond_the_library)};
#endif
	int bad = 0;

	if (setup() < 0)
		return 1;
	for (subject = subjects; subject < subjects + RTE_DIM(subjects); subject++) {
		engine = pdcp_security_engine(subject->engine);
		print_message("--- %s %s\n", subject->engine,
			      subject->device ? subject->device : "");
		bad |= cmocka_run_group_tests(tests, NULL, NULL);
	}
#ifdef AIRPATH_IPSEC_MB
	subject = subjects;
	engine = &pdcp_multi_buffer;
	bad |= cmocka_run_group_tests(library, NULL, NULL);
#endif
	return bad != 0;
}
