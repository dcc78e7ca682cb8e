/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GTP-U and PDU session container decoders on any bytes. The fast path must agree with the
 * general one, and what decodes must encode to what decodes to the same.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/gtpu_msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t served[] = {GTPU_EXT_PDU_SESSION_CONTAINER, GTPU_EXT_UDP_PORT};

static void
check(bool ok)
{
	if (!ok)
		abort();
}

static void
fuzz_gpdu(const uint8_t *p, size_t n)
{
	struct gtpu_gpdu fast, any;
	int f = gtpu_gpdu_decode_fast(p, n, &fast);
	int a = gtpu_gpdu_decode_any(p, n, GTPU_ENDPOINT, served, 2, &any);

	if (f) {
		check(f == a && fast.teid == any.teid && fast.qfi == any.qfi &&
		      fast.rqi == any.rqi && fast.psc_type == any.psc_type &&
		      fast.hdr_bytes == any.hdr_bytes && fast.tpdu_bytes == any.tpdu_bytes &&
		      any.unknown == 0);
	}
	if (a > 0)
		check((size_t)a + any.tpdu_bytes <= n);
}

static void
fuzz_msg(const uint8_t *p, size_t n)
{
	static uint8_t out[70000], back[70000];
	struct gtpu_msg m, again;
	int got = gtpu_msg_decode(p, n, GTPU_INTERMEDIATE, served, 2, &m), len;

	if (got < 0 || m.chain.unknown)
		return;
	check((size_t)got <= n);
	len = gtpu_msg_encode(out, sizeof(out), &m);
	check(len > 0);
	check(gtpu_msg_decode(out, (size_t)len, GTPU_INTERMEDIATE, served, 2, &again) == len);
	check(again.ies.present == m.ies.present && again.chain.has_psc == m.chain.has_psc);
	check(gtpu_msg_encode(back, sizeof(back), &again) == len);
	check(memcmp(out, back, (size_t)len) == 0);
}

static void
fuzz_psc(const uint8_t *p, size_t n)
{
	uint8_t out[PSC_BYTES_MAX], back[PSC_BYTES_MAX];
	struct psc f, again;
	int got = psc_decode(p, n, &f), len;

	if (got < 0)
		return;
	check((size_t)got <= n);
	len = psc_encode(out, sizeof(out), &f);
	check(len > 0 && psc_decode(out, (size_t)len, &again) <= len);
	check(psc_encode(back, sizeof(back), &again) == len);
	check(memcmp(out, back, (size_t)len) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_gpdu(data, size);
	fuzz_msg(data, size);
	fuzz_psc(data, size);
	return 0;
}
