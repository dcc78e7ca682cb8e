/* SPDX-License-Identifier: BSD-3-Clause */
/* Crypto devices: what they do not offer, what is too long, and one that is stuck. */
#include "modules/pdcp/pdcp_security_rig.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refusal_names_device_and_algorithm),
		cmocka_unit_test(a_device_takes_no_longer_nia3),
		cmocka_unit_test(a_stuck_device_fails_by_name),
	};

	return on_every_subject(tests, RTE_DIM(tests)) != 0;
}
