/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modules/dpi/dpi_nets_filter.h"

#define RULES 500
#define NB 64

static uint64_t seed = 1;

static unsigned
draw(unsigned below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(seed >> 33) % below;
}

static void
octets(uint8_t *to, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = (uint8_t)draw(256);
}

/** @param remote an address of the network, others as they come */
static struct flow
flow_of(const struct dpi_net *n, bool up)
{
	const bool ip6 = n->flags & DPI_NET_IP6;
	struct flow f = {.version = ip6 ? 6 : 4,
			 .proto = n->flags & DPI_NET_PROTO ? n->proto : (uint8_t)draw(256),
			 .has_ports = true};
	uint8_t *remote = up ? f.dst : f.src;

	octets(f.src, ip6 ? 16 : 4);
	octets(f.dst, ip6 ? 16 : 4);
	for (unsigned b = 0; b < n->src.bits; b++) {
		remote[b / 8] &= (uint8_t) ~(0x80 >> b % 8);
		remote[b / 8] |= n->src.address[b / 8] & 0x80 >> b % 8;
	}
	f.ports[up] =
		n->flags & DPI_NET_PORTS
			? (uint16_t)(n->src_ports[0] + draw(1U + n->src_ports[1] - n->src_ports[0]))
			: (uint16_t)draw(65536);
	f.ports[!up] = (uint16_t)draw(65536);
	return f;
}

/** How many of `NB` flows of rules, or of anything, are let through. */
static unsigned
passed(const struct dpi_nets_filter *filter, const struct dpi_rule *rules, unsigned nb, bool any)
{
	static const struct dpi_net all[2] = {{.flags = DPI_NET_IP4}, {.flags = DPI_NET_IP6}};
	const uint64_t uplink = (uint64_t)draw(1U << 31) << 33 | draw(1U << 31);
	const struct flow *list[NB];
	struct flow f[NB];

	for (unsigned i = 0; i < NB; i++) {
		const struct dpi_net *n = any ? &all[i & 1] : &rules[draw(nb)].flow;

		f[i] = flow_of(n, uplink >> i & 1);
		list[i] = &f[i];
	}
	return (unsigned)__builtin_popcountll(dpi_nets_filter_may(filter, list, uplink, NB));
}

/** @param least,most prefix bits */
static void
check(unsigned flags, unsigned least, unsigned most, unsigned strangers)
{
	struct dpi_rule rules[RULES];
	struct dpi_nets_filter *filter;

	for (unsigned i = 0; i < RULES; i++) {
		struct dpi_net *n = &rules[i].flow;

		rules[i] = (struct dpi_rule){.kind = DPI_RULE_FLOW, .app = 1};
		n->flags = (uint8_t)flags;
		n->src.bits = (uint8_t)(least + draw(most - least + 1));
		octets(n->src.address, 16);
		n->src_ports[0] = n->src_ports[1] = (uint16_t)(i % 4 * 1000);
		n->proto = (uint8_t)(100 + i % 2);
	}
	filter = dpi_nets_filter_make(rules, RULES);
	assert_non_null(filter);
	for (unsigned k = 0; k < 200; k++)
		assert_int_equal(passed(filter, rules, RULES, false), NB);
	for (unsigned k = 0; k < 20; k++)
		assert_in_range(passed(filter, rules, RULES, true), 0, strangers);
	assert_true(dpi_nets_filter_memory(filter) > 8192);
	dpi_nets_filter_free(filter);
}

static void
addresses(void **state)
{
	(void)state;
	for (unsigned bits = 8; bits <= 32; bits++)
		check(DPI_NET_IP4, bits, 32, bits < 18 ? NB : 20);
	check(DPI_NET_IP4, 18, 32, 20);
	for (unsigned bits = 24; bits <= 128; bits += 4)
		check(DPI_NET_IP6, bits, 128, 45);
	check(DPI_NET_IP6 | DPI_NET_PORTS, 40, 40, 10);
	/* too short to be written out */
	check(DPI_NET_IP4, 1, 7, NB);
	check(DPI_NET_IP6, 1, 23, NB);
}

static void
without_addresses(void **state)
{
	(void)state;
	check(DPI_NET_IP4 | DPI_NET_PORTS, 0, 0, 10);
	check(DPI_NET_IP4 | DPI_NET_PORTS | DPI_NET_PROTO, 0, 0, 10);
	check(DPI_NET_IP6 | DPI_NET_PROTO, 0, 0, 10);
	check(DPI_NET_IP6, 0, 0, NB);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(without_addresses),
	};

	return cmocka_run_group_tests_name("dpi_nets_filter", tests, NULL, NULL);
}
