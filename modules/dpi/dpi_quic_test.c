/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>

#include <cmocka.h>

#include "modules/dpi/dpi_quic.h"
#include "tests/support/test_dpi.h"
#include "tests/vectors/dpi.inc"

static const uint8_t cid[] = {0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08};
static const uint8_t *const hello = rfc9001_crypto + 4;
#define HELLO_LEN ((uint16_t)(sizeof(rfc9001_crypto) - 4))

static struct dpi_scan *scan;

static void
begin(void)
{
	dpi_scan_begin(scan, IPPROTO_UDP, 443, 0, 0);
}

static enum dpi_verdict
datagram(const uint8_t *data, uint32_t len, struct dpi_name *out)
{
	uint8_t *copy = malloc(len);
	enum dpi_verdict v;

	memcpy(copy, data, len);
	v = dpi_look(scan, &(struct dpi_segment){.data = copy, .len = len, .from_ue = true}, out);
	free(copy); /* the name is in the scan */
	return v;
}

static void
names_example(enum dpi_verdict v, const struct dpi_name *n)
{
	assert_int_equal(v, DPI_FOUND);
	assert_int_equal(n->proto, DPI_QUIC);
	assert_int_equal(n->host_len, 11);
	assert_memory_equal(n->host, "example.com", 11);
}

static int
setup(void **state)
{
	(void)state;
	scan = malloc(dpi_scan_bytes());
	if (scan == NULL)
		return -1;
	memset(scan, 0xa5, dpi_scan_bytes());
	return dpi_look_init();
}

static int
teardown(void **state)
{
	(void)state;
	free(scan);
	return 0;
}

/** RFC 9001 A.1 and RFC 9369 A.1. */
static void
published_keys(void **state)
{
	static const uint8_t v1[] = {0x1f, 0x36, 0x96, 0x13, 0xdd, 0x76, 0xd5, 0x46,
				     0x77, 0x30, 0xef, 0xcb, 0xe3, 0xb1, 0xa2, 0x2d};
	static const uint8_t v2[] = {0x8b, 0x1a, 0x0b, 0xc1, 0x21, 0x28, 0x42, 0x90,
				     0xa2, 0x9e, 0x09, 0x71, 0xb5, 0xcd, 0x04, 0x5d};
	static const uint8_t iv[] = {0xfa, 0x04, 0x4b, 0x2f, 0x42, 0xa3,
				     0xfd, 0x3b, 0x46, 0xfb, 0x25, 0x5c};
	static const uint8_t hp[] = {0x9f, 0x50, 0x44, 0x9e, 0x04, 0xa0, 0xe8, 0x10,
				     0x28, 0x3a, 0x1e, 0x99, 0x33, 0xad, 0xed, 0xd2};
	struct dpi_quic_keys k;

	(void)state;
	assert_int_equal(dpi_quic_keys_make(cid, sizeof(cid), DPI_QUIC_V1, &k), 0);
	assert_memory_equal(k.key, v1, sizeof(v1));
	assert_memory_equal(k.iv, iv, sizeof(iv));
	assert_memory_equal(k.hp, hp, sizeof(hp));
	assert_int_equal(dpi_quic_keys_make(cid, sizeof(cid), DPI_QUIC_V2, &k), 0);
	assert_memory_equal(k.key, v2, sizeof(v2));
}

/** RFC 9001 A.2 and RFC 9369 A.2. */
static void
published_initials(void **state)
{
	uint8_t payload[DPI_QUIC_INITIAL_MAX];
	struct dpi_quic_keys k;
	struct dpi_name n;

	(void)state;
	dpi_quic_keys_make(cid, sizeof(cid), DPI_QUIC_V1, &k);
	assert_int_equal(dpi_quic_open(&k, rfc9001_initial, sizeof(rfc9001_initial), 18, payload),
			 1162);
	assert_memory_equal(payload, rfc9001_crypto, sizeof(rfc9001_crypto));
	begin();
	names_example(datagram(rfc9001_initial, sizeof(rfc9001_initial), &n), &n);
	begin();
	names_example(datagram(rfc9369_initial, sizeof(rfc9369_initial), &n), &n);
}

/** An octet that is not as it was sent is noticed; the client sends again. */
static void
forged(void **state)
{
	uint8_t d[sizeof(rfc9001_initial)];
	struct dpi_name n;

	(void)state;
	for (unsigned i = 18; i < sizeof(d); i += 7) {
		memcpy(d, rfc9001_initial, sizeof(d));
		d[i] ^= 0x10;
		begin();
		assert_int_equal(datagram(d, sizeof(d), &n), DPI_MORE);
		names_example(datagram(rfc9001_initial, sizeof(d), &n), &n);
	}
}

/** Every shorter datagram is refused by its header. */
static void
cut_short(void **state)
{
	struct dpi_name n;

	(void)state;
	for (uint32_t len = 1; len < sizeof(rfc9001_initial); len++) {
		begin();
		assert_int_equal(datagram(rfc9001_initial, len, &n), len < 7 ? DPI_NONE : DPI_BAD);
	}
}

/** The ClientHello in two Initials, cut at every octet, in both orders, of both versions. */
static void
two_initials(void **state)
{
	static const uint32_t versions[] = {DPI_QUIC_V1, DPI_QUIC_V2};
	static uint8_t payload[1200], d[2][1400];

	(void)state;
	for (uint32_t i = 0; i < 4u * (HELLO_LEN - 1u); i++) {
		uint16_t cut = (uint16_t)(i / 4 + 1);
		uint32_t version = versions[i & 1], first = i >> 1 & 1, len[2], f;
		struct dpi_name n;
		enum dpi_verdict v;

		memset(payload, 0, sizeof(payload));
		f = test_crypto_frame(0, hello, cut, payload);
		assert_true(f <= 1000);
		len[0] = test_initial(version, cid, cid, 8, 0, payload, 1000, d[0]);
		memset(payload, 0, sizeof(payload));
		payload[0] = 1; /* PING */
		test_crypto_frame(cut, hello + cut, HELLO_LEN - cut, payload + 1);
		len[1] = test_initial(version, cid, cid, 8, 1, payload, 1000, d[1]);
		begin();
		v = datagram(d[first], len[first], &n);
		/* The name may be all in the first. */
		if (v == DPI_MORE)
			v = datagram(d[1 - first], len[1 - first], &n);
		else
			assert_int_equal(first, 0);
		names_example(v, &n);
	}
}

/** Both in one datagram, RFC 9000 §12.2, with what no one reads behind them. */
static void
coalesced(void **state)
{
	uint8_t payload[600] = {0}, d[2000];
	struct dpi_name n;
	uint32_t len;

	(void)state;
	test_crypto_frame(40, hello + 40, HELLO_LEN - 40, payload);
	len = test_initial(DPI_QUIC_V1, cid, cid, 8, 0, payload, sizeof(payload), d);
	memset(payload, 0, sizeof(payload));
	test_crypto_frame(0, hello, 40, payload);
	len += test_initial(DPI_QUIC_V1, cid, cid, 8, 1, payload, sizeof(payload), d + len);
	memset(d + len, 0xc1, 60);
	begin();
	names_example(datagram(d, len + 60, &n), &n);
}

/** Octets of one frame each, from the last to the first. */
static void
frames_backward(void **state)
{
	struct dpi_stream s;
	uint8_t f[16];

	(void)state;
	dpi_stream_begin(&s);
	for (uint16_t i = HELLO_LEN; i-- > 0;) {
		assert_int_equal(s.have, 0);
		assert_int_equal(dpi_quic_frames(&s, f, test_crypto_frame(i, hello + i, 1, f)), 0);
	}
	assert_int_equal(s.have, HELLO_LEN);
	assert_memory_equal(s.data, hello, HELLO_LEN);
	/* The same place with another octet. */
	f[4] = 1;
	f[5] = (uint8_t)(hello[0] + 1);
	assert_int_equal(dpi_quic_frames(&s, f, 6), -EINVAL);
}

static void
other_frames(void **state)
{
	static const struct {
		uint8_t octets[12];
		uint32_t len;
		int ret;
	} t[] = {
		{{0, 0, 1, 0}, 4, 0},
		{{2, 1, 0, 0, 1}, 5, 0},
		{{2, 1, 0, 1, 1, 0, 0}, 7, 0},
		{{3, 1, 0, 0, 1, 4, 5, 6}, 8, 0},
		{{0x1c, 0x41, 0x00, 0x06, 2, 'n', 'o'}, 7, 0},
		{{3, 1, 0, 0, 1, 4, 5}, 7, -EINVAL},
		{{2, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 12, -EINVAL},
		{{0x1c, 0x41, 0x00, 0x06, 3, 'n', 'o'}, 7, -EINVAL},
		{{6, 0, 4, 1, 2, 3}, 6, -EINVAL},
		{{6, 0xff}, 2, -EINVAL},
		{{8, 0, 0}, 3, -EINVAL}, /* STREAM */
		/* far behind what is kept */
		{{6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 7}, 11, 0},
	};
	struct dpi_stream s;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint8_t *copy = malloc(t[i].len);

		memcpy(copy, t[i].octets, t[i].len);
		dpi_stream_begin(&s);
		assert_int_equal(dpi_quic_frames(&s, copy, t[i].len), t[i].ret);
		assert_int_equal(s.have, 0);
		free(copy);
	}
}

/** Authentic, and yet against the rules. */
static void
bad_frames(void **state)
{
	uint8_t payload[1000] = {8}, d[1200];
	struct dpi_name n;
	uint32_t len = test_initial(DPI_QUIC_V1, cid, cid, 8, 0, payload, sizeof(payload), d);

	(void)state;
	begin();
	assert_int_equal(datagram(d, len, &n), DPI_BAD);
	assert_int_equal(n.proto, DPI_QUIC);
}

/** The server's id in place of the client's: keys stay. After a Retry they are of that id. */
static void
other_ids(void **state)
{
	static const uint8_t server[] = {1, 2, 3, 4, 5, 6, 7, 8};
	uint8_t payload[1000], d[1200];
	const uint8_t *of[] = {cid, server};
	struct dpi_name n;
	uint32_t len;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		begin();
		memset(payload, 0, sizeof(payload));
		test_crypto_frame(0, hello, 30, payload);
		len = test_initial(DPI_QUIC_V1, cid, cid, 8, 0, payload, sizeof(payload), d);
		assert_int_equal(datagram(d, len, &n), DPI_MORE);
		memset(payload, 0, sizeof(payload));
		test_crypto_frame(30, hello + 30, HELLO_LEN - 30, payload);
		len = test_initial(DPI_QUIC_V1, of[i], server, 8, 1, payload, sizeof(payload), d);
		names_example(datagram(d, len, &n), &n);
	}
}

static void
not_quic(void **state)
{
	static const uint8_t rtp[] = {0x80, 0x60, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	uint8_t d[1200];
	struct dpi_name n;

	(void)state;
	begin();
	assert_int_equal(datagram(rtp, sizeof(rtp), &n), DPI_NONE);
	/* A version that a server may decline: the client comes again. */
	memcpy(d, rfc9001_initial, sizeof(d));
	d[1] = 0x1a;
	begin();
	assert_int_equal(datagram(d, sizeof(d), &n), DPI_MORE);
	names_example(datagram(rfc9001_initial, sizeof(rfc9001_initial), &n), &n);
	begin();
	assert_int_equal(datagram(d, 600, &n), DPI_NONE);
	begin();
	for (unsigned i = 0; i < DPI_SCAN_PACKETS; i++)
		assert_int_equal(datagram(d, sizeof(d), &n),
				 i + 1 < DPI_SCAN_PACKETS ? DPI_MORE : DPI_NONE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_keys),  cmocka_unit_test(published_initials),
		cmocka_unit_test(forged),          cmocka_unit_test(cut_short),
		cmocka_unit_test(two_initials),    cmocka_unit_test(coalesced),
		cmocka_unit_test(frames_backward), cmocka_unit_test(other_frames),
		cmocka_unit_test(bad_frames),      cmocka_unit_test(other_ids),
		cmocka_unit_test(not_quic),
	};

	return cmocka_run_group_tests_name("dpi_quic", tests, setup, teardown);
}
