/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "modules/dpi/dpi_parse.h"
#include "tests/vectors/dpi.inc"

typedef enum dpi_verdict (*parser)(const uint8_t *, uint32_t, uint8_t *, struct dpi_name *);

/** Parses octets that end where memory does, for the sanitizer to see. */
static enum dpi_verdict
parse(parser p, const void *data, size_t len, char host[DPI_HOST_MAX + 1], char *path)
{
	uint8_t *copy = malloc(len + !len), store[DPI_HOST_MAX];
	struct dpi_name n = {0};
	enum dpi_verdict v;

	memcpy(copy, data, len);
	v = p(copy, (uint32_t)len, store, &n);
	host[0] = 0;
	if (v == DPI_FOUND) {
		assert_in_range(n.host_len, 1, DPI_HOST_MAX);
		memcpy(host, n.host, n.host_len);
		host[n.host_len] = 0;
		if (path != NULL) {
			if (n.path_len != 0)
				memcpy(path, n.path, n.path_len);
			path[n.path_len] = 0;
		}
	}
	free(copy);
	return v;
}

/** The verdict on the whole is that on every longer part, after DPI_MORE on shorter ones. */
static void
parts(parser p, const void *data, size_t len, enum dpi_verdict v, const char *name)
{
	char host[DPI_HOST_MAX + 1];
	bool done = false;

	for (size_t n = 0; n <= len; n++) {
		enum dpi_verdict w = parse(p, data, n, host, NULL);

		if (!done && w == DPI_MORE)
			continue;
		done = true;
		assert_int_equal(w, v);
		if (v == DPI_FOUND)
			assert_string_equal(host, name);
	}
	assert_true(done || v == DPI_MORE);
}

static void
http_requests(void **state)
{
	static const struct {
		const char *text;
		enum dpi_verdict verdict;
		const char *host;
		const char *path;
	} t[] = {
		{"GET / HTTP/1.1\r\nHost: example.com\r\n", DPI_FOUND, "example.com", "/"},
		{"GET /a/b?c=d HTTP/1.1\r\nAccept: */*\r\nhOST:\t WWW.Example.COM.:8080 \r\n\r\n",
		 DPI_FOUND, "www.example.com", "/a/b?c=d"},
		{"POST /x HTTP/1.0\nHost:a\n", DPI_FOUND, "a", "/x"},
		{"\r\nHEAD / HTTP/1.1\r\nHost: [2001:DB8::1]:80\r\n", DPI_FOUND, "[2001:db8::1]",
		 "/"},
		{"GET http://user@one.example:81/p?q HTTP/1.1\r\n", DPI_FOUND, "one.example",
		 "/p?q"},
		{"GET HTTP://one.example HTTP/1.1\r\n", DPI_FOUND, "one.example", ""},
		{"CONNECT two.example:443 HTTP/1.1\r\n", DPI_FOUND, "two.example", ""},
		{"OPTIONS * HTTP/1.1\r\nHost: h\r\n", DPI_FOUND, "h", "*"},
		{"M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\n", DPI_FOUND,
		 "239.255.255.250", "*"},
		{"GET / HTTP/1.1\r\nX: y\r\n folded: no\r\nHost: h\r\n", DPI_FOUND, "h", "/"},
		/* no name */
		{"GET / HTTP/1.0\r\nX: y\r\n\r\n", DPI_NONE, NULL, NULL},
		{"GET / HTTP/1.1\r\nHost:\r\n", DPI_NONE, NULL, NULL},
		/* others */
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", DPI_NONE, NULL, NULL},
		{"OPTIONS rtsp://h/ RTSP/1.0\r\n", DPI_NONE, NULL, NULL},
		{"EHLO mail.example\r\n", DPI_NONE, NULL, NULL},
		{"SSH-2.0-OpenSSH_9.2\r\n", DPI_NONE, NULL, NULL},
		{"GET /\r\n", DPI_NONE, NULL, NULL},
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZ", DPI_NONE, NULL, NULL},
		{"\r\rGET / HTTP/1.1\r\n", DPI_NONE, NULL, NULL},
		{"{}", DPI_NONE, NULL, NULL},
		/* rules broken */
		{"GET / HTTP/1.1\r\nX: y\r\n\r\n", DPI_BAD, NULL, NULL},
		{"GET /a b HTTP/1.1\r\n", DPI_BAD, NULL, NULL},
		{"GET a HTTP/1.1\r\n", DPI_BAD, NULL, NULL},
		{"GET / HTTP/1.1\r\nHost : h\r\n", DPI_BAD, NULL, NULL},
		{"GET / HTTP/1.1\r\nno colon\r\n", DPI_BAD, NULL, NULL},
		{"GET / HTTP/1.1\r\nHost: a b\r\n", DPI_BAD, NULL, NULL},
		{"GET / HTTP/1.1\r\nHost: a:b\r\n", DPI_BAD, NULL, NULL},
		{"GET / HTTP/1.1\r\nHost: u@h\r\n", DPI_BAD, NULL, NULL},
		/* not all there */
		{"", DPI_MORE, NULL, NULL},
		{"\r", DPI_MORE, NULL, NULL},
		{"GE", DPI_MORE, NULL, NULL},
		{"GET / HTTP/1.1\r\nHost: example.com", DPI_MORE, NULL, NULL},
	};
	char host[DPI_HOST_MAX + 1], path[256];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		enum dpi_verdict v = parse(dpi_http, t[i].text, strlen(t[i].text), host, path);

		if (v != t[i].verdict)
			print_error("%s", t[i].text);
		assert_int_equal(v, t[i].verdict);
		if (v == DPI_FOUND) {
			assert_string_equal(host, t[i].host);
			assert_string_equal(path, t[i].path);
		}
		parts(dpi_http, t[i].text, strlen(t[i].text), v, t[i].host);
	}
}

static void
http_long_host(void **state)
{
	char text[400] = "GET / HTTP/1.1\r\nHost: ", host[DPI_HOST_MAX + 1];
	size_t n = strlen(text);

	(void)state;
	memset(text + n, 'a', DPI_HOST_MAX);
	strcpy(text + n + DPI_HOST_MAX, "\n");
	assert_int_equal(parse(dpi_http, text, strlen(text), host, NULL), DPI_FOUND);
	assert_int_equal(strlen(host), DPI_HOST_MAX);
	strcpy(text + n + DPI_HOST_MAX, "a\n");
	assert_int_equal(parse(dpi_http, text, strlen(text), host, NULL), DPI_BAD);
}

static void
tls_hellos(void **state)
{
	(void)state;
	parts(dpi_tls, rfc8448_hello, sizeof(rfc8448_hello), DPI_FOUND, "server");
	parts(dpi_tls, openssl_hello, sizeof(openssl_hello), DPI_FOUND, "www.example.org");
	parts(dpi_tls_hello, rfc9001_crypto + 4, sizeof(rfc9001_crypto) - 4, DPI_FOUND,
	      "example.com");
}

/** RFC 8446 §5.1: a message over several records, cut at every octet. */
static void
tls_records(void **state)
{
	size_t len = sizeof(rfc8448_hello) - 5;
	uint8_t two[sizeof(rfc8448_hello) + 5];

	(void)state;
	for (size_t cut = 1; cut < len; cut++) {
		memcpy(two, rfc8448_hello, 5 + cut);
		two[3] = 0;
		two[4] = (uint8_t)cut;
		memcpy(two + 5 + cut, rfc8448_hello, 3);
		two[5 + cut + 3] = 0;
		two[5 + cut + 4] = (uint8_t)(len - cut);
		memcpy(two + 10 + cut, rfc8448_hello + 5 + cut, len - cut);
		parts(dpi_tls, two, sizeof(two), DPI_FOUND, "server");
		/* An alert between them. */
		if (cut < 50) {
			two[5 + cut] = 21;
			parts(dpi_tls, two, sizeof(two), DPI_BAD, NULL);
		}
	}
}

/** A ClientHello cut down to what is asked. @return its octets. */
static size_t
hello_make(uint8_t *out, const uint8_t *extensions, size_t len)
{
	size_t body = 2 + 32 + 1 + 4 + 2 + (extensions != NULL ? 2 + len : 0), n = 0;

	memset(out, 0, 4 + body);
	out[0] = 1;
	out[2] = (uint8_t)(body >> 8);
	out[3] = (uint8_t)body;
	n = 4 + 2 + 32 + 1;
	out[n + 1] = 2; /* one suite */
	out[n + 4] = 1; /* one compression method */
	n += 6;
	if (extensions != NULL) {
		out[n] = (uint8_t)(len >> 8);
		out[n + 1] = (uint8_t)len;
		memcpy(out + n + 2, extensions, len);
	}
	return 4 + body;
}

static void
tls_extensions(void **state)
{
	static const struct {
		uint8_t octets[16];
		size_t len;
		enum dpi_verdict verdict;
		const char *host;
	} t[] = {
		{{0, 0, 0, 6, 0, 4, 0, 0, 1, 'H'}, 10, DPI_FOUND, "h"},
		{{0, 0, 0, 7, 0, 5, 0, 0, 2, 'h', '.'}, 11, DPI_FOUND, "h"},
		{{0, 9, 0, 0, 0, 0, 0, 6, 0, 4, 0, 0, 1, 'h'}, 14, DPI_FOUND, "h"},
		{{0, 0, 0, 10, 0, 8, 5, 0, 1, 'x', 0, 0, 1, 'h'}, 14, DPI_FOUND, "h"},
		{{0, 9, 0, 0}, 4, DPI_NONE, NULL},
		{{0}, 0, DPI_NONE, NULL},
		{{0, 0, 0, 6, 0, 4, 5, 0, 1, 'h'}, 10, DPI_NONE, NULL}, /* a name of another type */
		{{0, 0, 0, 6, 0, 3, 0, 0, 1, 'h'}, 10, DPI_BAD, NULL},
		{{0, 0, 0, 6, 0, 4, 0, 0, 2, 'h'}, 10, DPI_BAD, NULL},
		{{0, 0, 0, 5, 0, 3, 0, 0, 0}, 9, DPI_BAD, NULL},
		{{0, 0, 0, 7, 0, 4, 0, 0, 1, 'h'}, 10, DPI_BAD, NULL},
		{{0, 0, 0, 6, 0, 4, 0, 0, 1, ' '}, 10, DPI_BAD, NULL},
		{{0, 0, 0, 6, 0, 4, 0, 0, 1, 0}, 10, DPI_BAD, NULL},
		{{0, 0, 0}, 3, DPI_BAD, NULL},
	};
	char host[DPI_HOST_MAX + 1];
	uint8_t hello[128];
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		n = hello_make(hello, t[i].octets, t[i].len);
		parts(dpi_tls_hello, hello, n, t[i].verdict, t[i].host);
	}
	n = hello_make(hello, NULL, 0);
	parts(dpi_tls_hello, hello, n, DPI_NONE, NULL);
	hello[0] = 2; /* ServerHello */
	assert_int_equal(parse(dpi_tls_hello, hello, n, host, NULL), DPI_NONE);
}

static void
tls_bad_records(void **state)
{
	uint8_t r[sizeof(rfc8448_hello)];

	(void)state;
	parts(dpi_tls, "\x17\x03\x03", 3, DPI_NONE, NULL); /* application data */
	parts(dpi_tls, "\x16\x02\x00", 3, DPI_NONE, NULL);
	parts(dpi_tls, "\x16\x03\x01\x00\x00", 5, DPI_BAD, NULL);
	parts(dpi_tls, "\x16\x03\x01\x40\x01", 5, DPI_BAD, NULL); /* above 2^14 octets */
	memcpy(r, rfc8448_hello, sizeof(r));
	r[5 + 1] = 2; /* longer than any */
	parts(dpi_tls, r, sizeof(r), DPI_BAD, NULL);
	memcpy(r, rfc8448_hello, sizeof(r));
	r[5 + 4 + 34] = 255; /* session id beyond the message */
	parts(dpi_tls, r, sizeof(r), DPI_BAD, NULL);
}

/** RFC 1035 §4.1: a header that asks one question. */
#define DNS_HEADER "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
#define DNS(name) DNS_HEADER name "\x00\x00\x01\x00\x01", sizeof(DNS_HEADER name) + 4

static void
dns_queries(void **state)
{
	static const struct {
		const char *octets;
		size_t len;
		enum dpi_verdict verdict;
		const char *host;
	} t[] = {
		/* the name of the example of RFC 1035 §4.1.4 */
		{DNS("\x01"
		     "F"
		     "\x03"
		     "ISI"
		     "\x04"
		     "ARPA"),
		 DPI_FOUND, "f.isi.arpa"},
		{DNS("\x05_sip_\x04_udp\x01x"), DPI_FOUND, "_sip_._udp.x"},
		{DNS(""), DPI_NONE, NULL}, /* the root */
		{DNS("\x03"
		     "a.b"),
		 DPI_NONE, NULL},
		{DNS("\x02\x00\xff"), DPI_NONE, NULL}, /* octets of no host */
		{DNS("\xc0\x0c"), DPI_BAD, NULL},      /* points at itself */
		{DNS("\x41"), DPI_BAD, NULL},
		{DNS_HEADER "\x03"
			    "abc",
		 16, DPI_BAD, NULL},
		{DNS_HEADER "\x03"
			    "abc\x00\x00\x01\x00",
		 20, DPI_BAD, NULL},
		{"\x12\x34\x81\x80\x00\x01\x00\x00\x00\x00\x00\x00", 12, DPI_NONE,
		 NULL}, /* a response */
		{"\x12\x34\x29\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12, DPI_NONE,
		 NULL}, /* an update */
		{"\x12\x34\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00", 12, DPI_NONE, NULL},
		{"\x12\x34\x01", 3, DPI_BAD, NULL},
	};
	char host[DPI_HOST_MAX + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint8_t tcp[64] = {0, (uint8_t)t[i].len};

		assert_int_equal(parse(dpi_dns, t[i].octets, t[i].len, host, NULL), t[i].verdict);
		if (t[i].verdict == DPI_FOUND)
			assert_string_equal(host, t[i].host);
		memcpy(tcp + 2, t[i].octets, t[i].len);
		parts(dpi_dns_tcp, tcp, 2 + t[i].len, t[i].verdict, t[i].host);
	}
}

/** Names of 255 octets on the wire are the longest, RFC 1035 §2.3.4. */
static void
dns_long_name(void **state)
{
	uint8_t q[12 + 400] = {0, 0, 1, 0, 0, 1};
	char host[DPI_HOST_MAX + 1];
	size_t at = 12;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		q[at] = i < 3 ? 63 : 61;
		memset(q + at + 1, 'a', q[at]);
		at += 1u + q[at];
	}
	assert_int_equal(parse(dpi_dns, q, at + 5, host, NULL), DPI_FOUND);
	assert_int_equal(strlen(host), 253);
	q[at - 62] = 62;
	q[at] = 'a';
	assert_int_equal(parse(dpi_dns, q, at + 6, host, NULL), DPI_BAD);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(http_requests),  cmocka_unit_test(http_long_host),
		cmocka_unit_test(tls_hellos),     cmocka_unit_test(tls_records),
		cmocka_unit_test(tls_extensions), cmocka_unit_test(tls_bad_records),
		cmocka_unit_test(dns_queries),    cmocka_unit_test(dns_long_name),
	};

	return cmocka_run_group_tests_name("dpi_parse", tests, NULL, NULL);
}
