/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Protects and verifies PDUs given as lines, in batches, so that another implementation
 * can be compared with ours. A line is
 *     protect|verify NEA NIA KEY_ENC KEY_INT COUNT BEARER DIRECTION CLEAR_LEN SHAPE PDU
 * with keys and PDU in hexadecimal. SHAPE: own, shared (an indirect mbuf), or the bytes of
 * a chain's segments. For each line a PDU comes out, or `failed` and the reason.
 * Arguments: engine, and its device; without them the default one.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "codec/pdcp.h"
#include "core/pkt.h"
#include "modules/pdcp/pdcp_security.h"
#include "test_eal.h"

#define TEXT_MAX (2 * 9300 + 300)

struct line {
	struct pdcp_security sec;
	uint32_t count;
};

static struct rte_mempool *pool, *indirect;
static struct line lines[PDCP_CRYPTO_BATCH];
static struct pdcp_secured batch[PDCP_CRYPTO_BATCH];
static unsigned nb;
static bool verifies;
static const struct pdcp_crypto *engine;
static const char *device;

static size_t
unhex(const char *text, uint8_t *to)
{
	size_t n = 0;
	unsigned byte;

	for (; sscanf(text + 2 * n, "%2x", &byte) == 1; n++)
		to[n] = (uint8_t)byte;
	return n;
}

static struct rte_mbuf *
chain(const uint8_t *pdu, size_t len, size_t segment)
{
	struct rte_mbuf *first = NULL;

	for (size_t at = 0, n; at < len; at += n) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		n = RTE_MIN(segment, len - at);
		memcpy(rte_pktmbuf_append(m, (uint16_t)n), pdu + at, n);
		if (first == NULL)
			first = m;
		else
			rte_pktmbuf_chain(first, m);
	}
	return first;
}

static struct rte_mbuf *
make(const char *shape, const uint8_t *pdu, size_t len)
{
	struct rte_mbuf *m, *i;

	if (shape[0] >= '0' && shape[0] <= '9')
		return chain(pdu, len, (size_t)atoi(shape));
	m = chain(pdu, len, len);
	if (strcmp(shape, "shared") != 0)
		return m;
	i = rte_pktmbuf_alloc(indirect);
	rte_pktmbuf_attach(i, m);
	rte_pktmbuf_free(m);
	return i;
}

static void
print_pdu(const struct pdcp_secured *p)
{
	static uint8_t copy[9300];
	const uint8_t *pdu = rte_pktmbuf_read(p->m, 0, p->m->pkt_len, copy);

	if (p->failed) {
		printf("failed %u\n", p->failed);
		return;
	}
	for (uint32_t i = 0; i < p->m->pkt_len; i++)
		printf("%02x", pdu[i]);
	putchar(10);
}

static void
flush(void)
{
	if (verifies)
		engine->verify(batch, (uint16_t)nb);
	else
		engine->protect(batch, (uint16_t)nb);
	for (unsigned i = 0; i < nb; i++) {
		print_pdu(&batch[i]);
		rte_pktmbuf_free(batch[i].m);
		pdcp_security_key_destroy(batch[i].sec->keys);
	}
	nb = 0;
}

static bool
take(const char *text)
{
	static char pdu_hex[TEXT_MAX];
	static uint8_t pdu[9300];
	struct pdcp_security_cfg cfg = {.pool = pool, .engine = engine, .device = device};
	struct line *l = &lines[nb];
	struct pdcp_security_key *key;
	char op[16], enc[40], mac[40], shape[16];
	unsigned nea, nia, bearer, direction, clear;

	if (sscanf(text, "%15s %u %u %39s %39s %u %u %u %u %15s %18800s", op, &nea, &nia, enc, mac,
		   &l->count, &bearer, &direction, &clear, shape, pdu_hex) != 11)
		return false;
	if (nb > 0 && verifies != (op[0] == 'v')) {
		flush();
		return take(text);
	}
	verifies = op[0] == 'v';
	cfg.nea = nea;
	cfg.nia = nia;
	unhex(enc, cfg.key_enc);
	unhex(mac, cfg.key_int);
	if (pdcp_security_key_create(&cfg, &key, NULL) < 0)
		return false;
	l->sec = (struct pdcp_security){.crypto = engine,
					.keys = key,
					.bearer = (uint8_t)bearer,
					.direction = (uint8_t)direction,
					.clear_len = (uint8_t)clear,
					.mac_i_len = nia ? PDCP_MAC_I_LEN : 0};
	batch[nb] = (struct pdcp_secured){
		.m = make(shape, pdu, unhex(pdu_hex, pdu)), .sec = &l->sec, .count = l->count};
	if (++nb == PDCP_CRYPTO_BATCH)
		flush();
	return true;
}

int
main(int argc, char **argv)
{
	static char text[TEXT_MAX];

	engine = pdcp_security_engine(argc > 1 ? argv[1] : NULL);
	device = argc > 2 ? argv[2] : NULL;
	if (engine == NULL || test_eal_init() < 0)
		return 1;
	pool = test_pool("lines", 8191, PDCP_SECURITY_ROOM);
	indirect = test_pool("lines_ind", 1023, 0);
	while (fgets(text, sizeof(text), stdin) != NULL)
		if (!take(text)) {
			fprintf(stderr, "not understood: %.60s\n", text);
			return 1;
		}
	flush();
	assert_pool_full(pool);
	return 0;
}
