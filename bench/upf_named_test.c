/* SPDX-License-Identifier: BSD-3-Clause */
/* DNS queries and QUIC Initials of the load model, read by who has to read them under load. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>

#include "bench/upf_dns.h"
#include "bench/upf_quic.h"
#include "codec/be.h"
#include "modules/dpi/dpi_look.h"

#define NAMES 500
#define MORE 32

static struct upf_load *load;

static void
assert_names(enum dpi_verdict v, const struct dpi_name *n, const struct upf_load_name *name,
	     enum dpi_proto proto)
{
	assert_int_equal(v, DPI_FOUND);
	assert_int_equal(n->proto, proto);
	assert_int_equal(n->host_len, name->host_len);
	assert_memory_equal(n->host, name->host, name->host_len);
}

/** All of a query, octet by octet where it counts: RFC 1035 §4.1, RFC 6891 §6.1. */
static void
check_query(const uint8_t *p, uint32_t len, const struct upf_load_name *name, uint16_t id)
{
	static const uint8_t counts[8] = {0, 1, 0, 0, 0, 0, 0, 1};
	char host[256] = "";
	uint32_t at = 12, end, options = 0;

	assert_int_equal(be16_get(p), id);
	assert_int_equal(be16_get(p + 2), 0x0100); /* a recursive query */
	assert_memory_equal(p + 4, counts, sizeof(counts));
	for (; p[at] != 0; at += 1U + p[at]) {
		strcat(host, *host ? "." : "");
		strncat(host, (const char *)p + at + 1, p[at]);
	}
	assert_string_equal(host, name->host);
	at++;
	assert_int_equal(be16_get(p + at), id & 1 ? 28 : 1);
	assert_int_equal(be16_get(p + at + 2), 1);
	at += 4;
	assert_int_equal(p[at], 0);
	assert_int_equal(be16_get(p + at + 1), 41);
	end = at + 11 + be16_get(p + at + 9);
	assert_int_equal(end, len);
	for (at += 11; at < end; at += 4U + be16_get(p + at + 2), options++)
		assert_int_equal(be16_get(p + at), options == 0 ? 12 : 65001);
	assert_int_equal(at, end);
	assert_int_equal(options, 2);
}

static void
queries(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NAMES + UPF_LOAD_UNLISTED; i++) {
		const struct upf_load_name *name = &load->names[i];
		const uint32_t len = upf_dns_least(name->host_len, MORE) + i % 3 * 300;
		uint8_t *p = malloc(len), host[DPI_HOST_MAX];
		uint32_t first = 0;
		struct dpi_name n;

		memset(p, 0xA5, len);
		upf_dns_put(p, len, name->host, name->host_len, (uint16_t)(i * 77), MORE);
		check_query(p, len, name, (uint16_t)(i * 77));
		for (unsigned k = 1; k <= MORE; k++)
			assert_int_equal(p[len - k], 0xA5);
		assert_names(dpi_look_first(&first, IPPROTO_UDP, UPF_LOAD_PORT_DNS,
					    &(struct dpi_segment){p, len, .from_ue = true}, host,
					    &n),
			     &n, name, DPI_DNS);
		free(p);
	}
}

/** Keys differ, and the ends of all are as they should be; cut ones tell nothing at first. */
static void
initials(void **state)
{
	struct upf_quic *q = upf_quic_make(load, 5), *same = upf_quic_make(load, 5);
	struct dpi_scan *scan = malloc(dpi_scan_bytes());
	unsigned split = 0;

	(void)state;
	assert_non_null(q);
	assert_non_null(same);
	for (uint32_t i = 0; i < NAMES + UPF_LOAD_UNLISTED; i++) {
		struct dpi_name n;
		enum dpi_verdict v = DPI_MORE;

		dpi_scan_begin(scan, IPPROTO_UDP, UPF_LOAD_PORT_QUIC, 0, 0);
		for (unsigned part = 0; part <= upf_quic_split(i); part++) {
			uint8_t d[UPF_QUIC_DATAGRAM] = {0};

			assert_int_equal(v, DPI_MORE);
			memcpy(d, upf_quic_datagram(q, i, part), UPF_QUIC_MADE);
			assert_memory_equal(d, upf_quic_datagram(same, i, part), UPF_QUIC_MADE);
			/* 0-RTT: the rest is all that its Length says. */
			assert_int_equal(d[UPF_QUIC_MADE - 17] & 0xF0, 0xD0);
			assert_memory_equal(d + UPF_QUIC_MADE - 11, d + 6, 8); /* one connection */
			assert_int_equal(be16_get(d + UPF_QUIC_MADE - 2), 0x4000 | UPF_QUIC_REST);
			v = dpi_look(scan, &(struct dpi_segment){d, sizeof(d), .from_ue = true},
				     &n);
			split += part;
		}
		assert_names(v, &n, &load->names[i], DPI_QUIC);
		if (i > 0)
			assert_memory_not_equal(upf_quic_datagram(q, i, 0) + 6,
						upf_quic_datagram(q, i - 1, 0) + 6, 8);
	}
	assert_int_equal(split, (NAMES + UPF_LOAD_UNLISTED + 15) / 16);
	free(scan);
	upf_quic_free(q);
	upf_quic_free(same);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(queries), cmocka_unit_test(initials)};
	unsigned nb = dpi_look_init() == 0 ? 2 : 1; /* without ciphers there is no QUIC */
	int rc;

	load = upf_load_make(NAMES, 10, 7);
	if (load == NULL)
		return 1;
	rc = _cmocka_run_group_tests("upf_named", tests, nb, NULL, NULL);
	upf_load_free(load);
	return rc;
}
