/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>

#include <cmocka.h>

#include "modules/dpi/dpi_look.h"
#include "tests/vectors/dpi.inc"

#define ISN 0xfffffff0u /* sequence numbers wrap in the midst of a request */

static const char http[] = "GET /a HTTP/1.1\r\nUser-Agent: x\r\nHost: www.Example.com:80\r\n\r\n";
static const uint8_t dns[] = "\x00\x1d\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07"
			     "example\x03"
			     "com\x00\x00\x01\x00\x01";

/** What begins a TCP stream, and what it names. */
static const struct golden {
	const void *data;
	uint32_t len;
	uint16_t port;
	enum dpi_proto proto;
	const char *host;
} goldens[] = {
	{http, sizeof(http) - 1, 80, DPI_HTTP, "www.example.com"},
	{rfc8448_hello, sizeof(rfc8448_hello), 443, DPI_TLS, "server"},
	{openssl_hello, sizeof(openssl_hello), 8443, DPI_TLS, "www.example.org"},
	{dns, sizeof(dns) - 1, 53, DPI_DNS, "example.com"},
};
#define EACH_GOLDEN(g)                                                                             \
	for (const struct golden *g = goldens; g < goldens + sizeof(goldens) / sizeof(goldens[0]); \
	     g++)

static struct dpi_scan *scan;
static struct dpi_name name;

/** The same flow without a scan for as long as it needs none. */
static struct {
	struct dpi_scan *scan;
	uint32_t first;
	uint16_t port;
	uint8_t ip_proto;
	bool kept;
} other;

/** Looks at a packet both ways, which must agree. */
static enum dpi_verdict
look_at(const struct dpi_segment *g)
{
	enum dpi_verdict v = dpi_look(scan, g, &name), w = DPI_KEEP;
	uint8_t host[DPI_HOST_MAX];
	struct dpi_name n;

	if (!other.kept)
		w = dpi_look_first(&other.first, other.ip_proto, other.port, g, host, &n);
	assert_int_equal(other.first >> DPI_FIRST_BITS, 0);
	if (w == DPI_KEEP && !other.kept)
		dpi_scan_begin(other.scan, other.ip_proto, other.port, other.first, g->seq);
	other.kept |= w == DPI_KEEP;
	if (w == DPI_KEEP)
		w = dpi_look(other.scan, g, &n);
	assert_int_equal(v, w);
	if (v == DPI_FOUND || v == DPI_BAD)
		assert_int_equal(name.proto, n.proto);
	if (v == DPI_FOUND) {
		assert_int_equal(name.host_len, n.host_len);
		assert_memory_equal(name.host, n.host, n.host_len);
		assert_int_equal(name.path_len, n.path_len);
		assert_ptr_equal(name.path == NULL, n.path == NULL);
	}
	return v;
}

/** Octets `from`..`to` of a stream that began with SYN ISN. */
static enum dpi_verdict
look(const struct golden *g, uint32_t from, uint32_t to)
{
	uint8_t *copy = malloc(to - from + 1);
	enum dpi_verdict v;

	memcpy(copy, (const uint8_t *)g->data + from, to - from);
	v = look_at(&(struct dpi_segment){
		.data = copy, .len = to - from, .seq = ISN + 1 + from, .from_ue = true});
	if (v == DPI_FOUND) {
		assert_int_equal(name.proto, g->proto);
		assert_int_equal(name.host_len, strlen(g->host));
		assert_memory_equal(name.host, g->host, name.host_len);
		if (g->proto == DPI_HTTP) {
			assert_int_equal(name.path_len, 2);
			assert_memory_equal(name.path, "/a", 2);
		}
	}
	free(copy);
	return v;
}

static enum dpi_verdict
syn(bool from_ue)
{
	return look_at(&(struct dpi_segment){.seq = ISN, .syn = true, .from_ue = from_ue});
}

static void
begin_of(uint8_t ip_proto, uint16_t port)
{
	memset(scan, 0xa5, dpi_scan_bytes());
	memset(other.scan, 0x5a, dpi_scan_bytes());
	dpi_scan_begin(scan, ip_proto, port, 0, 0);
	other.first = 0;
	other.port = port;
	other.ip_proto = ip_proto;
	other.kept = false;
}

static void
begin(const struct golden *g)
{
	begin_of(IPPROTO_TCP, g->port);
}

static int
setup(void **state)
{
	(void)state;
	scan = malloc(dpi_scan_bytes());
	other.scan = malloc(dpi_scan_bytes());
	return scan == NULL || other.scan == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(scan);
	free(other.scan);
	return 0;
}

static void
one_segment(void **state)
{
	(void)state;
	EACH_GOLDEN(g)
	{
		begin(g); /* without its SYN: it was there before us */
		assert_int_equal(look(g, 0, g->len), DPI_FOUND);
		begin(g);
		assert_int_equal(syn(true), DPI_MORE);
		assert_int_equal(syn(false), DPI_MORE);
		assert_int_equal(look(g, 0, 0), DPI_MORE);
		assert_int_equal(look(g, 0, g->len), DPI_FOUND);
		assert_false(other.kept);
	}
}

/** Cut at every octet, in order and the other way round, with and without SYN. */
static void
two_segments(void **state)
{
	(void)state;
	EACH_GOLDEN(g)
	{
		for (uint32_t cut = 1; cut < g->len; cut++) {
			enum dpi_verdict v;

			for (unsigned with_syn = 0; with_syn < 2; with_syn++) {
				begin(g);
				if (with_syn)
					assert_int_equal(syn(true), DPI_MORE);
				v = look(g, 0, cut);
				if (v == DPI_MORE)
					v = look(g, cut, g->len);
				assert_int_equal(v, DPI_FOUND);
			}
			begin(g);
			assert_int_equal(syn(true), DPI_MORE);
			assert_int_equal(look(g, cut, g->len), DPI_MORE);
			assert_int_equal(look(g, 0, cut), DPI_FOUND);
		}
	}
}

/** Cut at two octets, in the orders that leave gaps, with octets sent twice. */
static void
three_segments(void **state)
{
	(void)state;
	EACH_GOLDEN(g)
	{
		for (uint32_t a = 1; a < g->len - 1; a += 3) {
			for (uint32_t b = a + 1; b < g->len; b += 5) {
				begin(g);
				syn(true);
				assert_int_equal(look(g, b, g->len), DPI_MORE);
				assert_int_equal(look(g, a - 1, b), a == 1 ? DPI_FOUND : DPI_MORE);
				if (a > 1)
					assert_int_equal(look(g, 0, a), DPI_FOUND);
				begin(g);
				syn(true);
				assert_int_equal(look(g, a, b), DPI_MORE);
				if (a == 1) {
					assert_int_equal(look(g, 0, g->len), DPI_FOUND);
					continue;
				}
				assert_int_equal(look(g, a / 2, g->len), DPI_MORE);
				assert_int_equal(look(g, 0, b), DPI_FOUND);
			}
		}
	}
}

/** As many segments as a scan takes, in order. */
static void
many_segments(void **state)
{
	(void)state;
	EACH_GOLDEN(g)
	{
		uint32_t step = g->len / (DPI_SCAN_PACKETS - 1) + 1;
		enum dpi_verdict v = DPI_MORE;

		begin(g);
		for (uint32_t at = 0; at < g->len && v == DPI_MORE; at += step)
			v = look(g, at, at + step < g->len ? at + step : g->len);
		assert_int_equal(v, DPI_FOUND);
	}
}

static enum dpi_verdict
send_text(const char *text, uint32_t at)
{
	return look_at(&(struct dpi_segment){.data = (const uint8_t *)text,
					     .len = (uint32_t)strlen(text),
					     .seq = ISN + 1 + at,
					     .from_ue = true});
}

/** Receivers differ in which of two octets they take: whoever sends both hides something. */
static void
two_truths(void **state)
{
	(void)state;
	begin(goldens);
	syn(true);
	assert_int_equal(send_text("GET / HTTP/1.1\r\n", 0), DPI_MORE);
	assert_int_equal(send_text("POST", 0), DPI_BAD);
	begin(goldens);
	syn(true);
	assert_int_equal(send_text("Host: a", 16), DPI_MORE);
	assert_int_equal(send_text("GET / HTTP/1.1\r\nHost: b\r\n", 0), DPI_FOUND);
	assert_memory_equal(name.host, "b", 1);
	begin(goldens);
	syn(true);
	assert_int_equal(send_text("Host: a", 16), DPI_MORE);
	assert_int_equal(send_text("GET / HTTP/1.1\r\nHost: b", 0), DPI_BAD);
}

/** A keep-alive's octet and a segment sent again are before the stream or in it. */
static void
old_octets(void **state)
{
	(void)state;
	begin(goldens);
	syn(true);
	assert_int_equal(send_text("x", UINT32_MAX), DPI_MORE);
	assert_int_equal(send_text("GET / HTTP/1.1\r\n", 0), DPI_MORE);
	assert_int_equal(send_text("GET / HTTP/1.1\r\n", 0), DPI_MORE);
	assert_int_equal(send_text("\nHost: a\n", 15), DPI_FOUND);
}

/** RFC 7413: data that comes with the SYN. */
static void
fast_open(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\n";
	const struct dpi_segment g = {.data = (const uint8_t *)text,
				      .len = sizeof(text) - 1,
				      .seq = ISN,
				      .syn = true,
				      .from_ue = true};

	(void)state;
	begin(goldens);
	assert_int_equal(look_at(&g), DPI_FOUND);
	assert_memory_equal(name.host, "a", 1);
}

static void
bounds(void **state)
{
	static char text[2 * DPI_SCAN_OCTETS];

	(void)state;
	/* packets of the server count, too */
	begin(goldens);
	for (unsigned i = 1; i < DPI_SCAN_PACKETS; i++)
		assert_int_equal(syn(i & 1), DPI_MORE);
	assert_int_equal(syn(true), DPI_NONE);
	/* octets: what comes in one piece is read where it is, however long */
	memset(text, 'a', sizeof(text) - 1);
	memcpy(text, "GET /", 5);
	begin(goldens);
	assert_int_equal(send_text(text, 0), DPI_NONE);
	text[1000] = 0;
	begin(goldens);
	for (uint32_t at = 0; at < 3000; at += 1000) {
		assert_int_equal(send_text(text, at), DPI_MORE);
		memset(text, 'a', 1000);
	}
	assert_int_equal(send_text(text, 3000), DPI_NONE);
	begin(goldens);
	memset(text, 'a', sizeof(text) - 1);
	memcpy(text, "GET /", 5);
	strcpy(text + sizeof(text) - 100, " HTTP/1.1\r\nHost: a\r\n");
	assert_int_equal(send_text(text, 0), DPI_FOUND);
	/* far ahead of what is kept */
	begin(goldens);
	syn(true);
	assert_int_equal(send_text("x", DPI_SCAN_OCTETS), DPI_MORE);
	assert_int_equal(send_text("GET / HTTP/1.1\r\nHost: a\n", 0), DPI_FOUND);
}

static void
others(void **state)
{
	const struct dpi_segment g = {.data = dns + 2, .len = sizeof(dns) - 3, .from_ue = true};

	(void)state;
	begin_of(IPPROTO_UDP, 53);
	assert_int_equal(look_at(&g), DPI_FOUND);
	assert_int_equal(name.proto, DPI_DNS);
	begin_of(IPPROTO_UDP, 5000);
	assert_int_equal(look_at(&g), DPI_NONE);
	begin_of(IPPROTO_ICMP, 0);
	assert_int_equal(look_at(&g), DPI_NONE);
	begin(goldens);
	assert_int_equal(send_text("SSH-2.0-x\r\n", 0), DPI_NONE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_segment),    cmocka_unit_test(two_segments),
		cmocka_unit_test(three_segments), cmocka_unit_test(many_segments),
		cmocka_unit_test(two_truths),     cmocka_unit_test(old_octets),
		cmocka_unit_test(fast_open),      cmocka_unit_test(bounds),
		cmocka_unit_test(others),
	};

	return cmocka_run_group_tests_name("dpi_look", tests, setup, teardown);
}
