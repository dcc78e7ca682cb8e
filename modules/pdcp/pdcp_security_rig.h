/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_PDCP_SECURITY_RIG_H
#define AIRPATH_PDCP_SECURITY_RIG_H

/** Engines and crypto devices that tests run on in turn, with keys and PDUs for them. */

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

static inline void
unhex(const char *text, uint8_t *to)
{
	for (unsigned byte; sscanf(text, "%2x", &byte) == 1; text += 2)
		*to++ = (uint8_t)byte;
}

static inline bool
offered(unsigned nea, unsigned nia)
{
	return subject->offers[nea] && subject->offers[nia];
}

static inline struct pdcp_security_key *
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

static inline struct rte_mbuf *
make(struct rte_mempool *mp, const void *data, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, len), data, len);
	*ap_meta(m) = (struct ap_meta){.bearer = 3, .qfi = 9};
	ap_ext(m)->enter_ns = 77;
	return m;
}

#define CLEAR 3

static uint8_t payload[9100];

static inline uint16_t
bytes_of(struct rte_mbuf *m, uint8_t *to)
{
	const void *p = rte_pktmbuf_read(m, 0, m->pkt_len, to);

	if (p != to)
		memcpy(to, p, m->pkt_len);
	return (uint16_t)m->pkt_len;
}

static inline unsigned
any_nea(void)
{
	unsigned nea = PDCP_NEA2;

	while (!subject->offers[nea])
		nea = nea % 3 + 1;
	return nea;
}

static inline int
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

/** What the engines and devices have in common. @return 0, or not when a test failed */
static inline int
on_every_subject(const struct CMUnitTest *tests, size_t nb)
{
	int bad = 0;

	if (setup() < 0)
		return 1;
	for (subject = subjects; subject < subjects + RTE_DIM(subjects); subject++) {
		engine = pdcp_security_engine(subject->engine);
		print_message("--- %s %s\n", subject->engine,
			      subject->device ? subject->device : "");
		bad |= _cmocka_run_group_tests("tests", tests, nb, NULL, NULL);
	}
	return bad;
}

#endif
