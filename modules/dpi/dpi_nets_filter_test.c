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

static uint16_t
walk(const struct dpi_rule *rules, const struct flow *f, bool up)
{
	const uint8_t *remote = up ? f->dst : f->src;

	for (unsigned i = 0; i < RULES; i++) {
		const struct dpi_net *n = &rules[i].flow;
		unsigned b = 0;

		while (b < n->src.bits &&
		       ((remote[b / 8] ^ n->src.address[b / 8]) & 0x80 >> b % 8) == 0)
			b++;
		if (b < n->src.bits ||
		    !(n->flags & (f->version == 4 ? DPI_NET_IP4 : DPI_NET_IP6)) ||
		    (n->flags & DPI_NET_PORTS && f->ports[up] != n->src_ports[0]) ||
		    (n->flags & DPI_NET_PROTO && f->proto != n->proto))
			continue;
		return rules[i].app;
	}
	return 0;
}

/** What is said of `NB` flows of rules, or of any, is right. @return of how many it is not known */
static unsigned
unknown(const struct dpi_nets_filter *filter, const struct dpi_rule *rules, bool any)
{
	static const struct dpi_net all[2] = {{.flags = DPI_NET_IP4}, {.flags = DPI_NET_IP6}};
	const uint64_t uplink = (uint64_t)draw(1U << 31) << 33 | draw(1U << 31);
	const struct flow *list[NB];
	struct flow f[NB];
	uint16_t apps[NB];
	uint64_t not ;

	for (unsigned i = 0; i < NB; i++) {
		const struct dpi_net *n = any ? &all[i & 1] : &rules[draw(RULES)].flow;

		f[i] = flow_of(n, uplink >> i & 1);
		list[i] = &f[i];
	}
	not = dpi_nets_filter_find(filter, list, uplink, NB, apps);
	for (unsigned i = 0; i < NB; i++)
		if (!(not >> i & 1))
			assert_int_equal(apps[i], walk(rules, &f[i], uplink >> i & 1));
	return (unsigned)__builtin_popcountll(not );
}

/**
 * @param least,most prefix bits
 * @param own,others flows that may stay unknown, of rules and of any others
 */
static void
check(unsigned flags, unsigned least, unsigned most, unsigned own, unsigned others)
{
	struct dpi_rule rules[RULES];
	struct dpi_nets_filter *filter;

	for (unsigned i = 0; i < RULES; i++) {
		struct dpi_net *n = &rules[i].flow;

		rules[i] = (struct dpi_rule){.kind = DPI_RULE_FLOW, .app = (uint16_t)(i + 1)};
		n->flags = (uint8_t)flags;
		n->src.bits = (uint8_t)(least + draw(most - least + 1));
		octets(n->src.address, 16);
		n->src_ports[0] = n->src_ports[1] = (uint16_t)(i % 4 * 1000);
		n->dst_ports[1] = UINT16_MAX;
		n->proto = (uint8_t)(100 + i % 2);
		/* some in the networks of others */
		if (i > 0 && draw(4) == 0)
			memcpy(n->src.address, rules[draw(i)].flow.src.address, 16);
	}
	filter = dpi_nets_filter_make(rules, RULES);
	assert_non_null(filter);
	for (unsigned k = 0; k < 100; k++)
		assert_in_range(unknown(filter, rules, false), 0, own);
	for (unsigned k = 0; k < 20; k++)
		assert_in_range(unknown(filter, rules, true), 0, others);
	assert_true(dpi_nets_filter_memory(filter) > 8192);
	dpi_nets_filter_free(filter);
}

static void
addresses(void **state)
{
	(void)state;
	for (unsigned bits = 16; bits <= 32; bits++)
		check(DPI_NET_IP4, bits, 32, 8, 4);
	for (unsigned bits = 40; bits <= 128; bits += 4)
		check(DPI_NET_IP6, bits, 128, 8, 4);
	check(DPI_NET_IP6 | DPI_NET_PORTS, 40, 40, 8, 4);
	/* not written out */
	check(DPI_NET_IP4 | DPI_NET_PROTO, 8, 24, NB, NB);
	check(DPI_NET_IP6 | DPI_NET_PORTS, 24, 48, NB, 30);
	check(DPI_NET_IP4, 1, 7, NB, NB);
	check(DPI_NET_IP6, 1, 23, NB, NB);
	check(DPI_NET_IP4, 1, 32, NB, NB);
}

static void
without_addresses(void **state)
{
	(void)state;
	check(DPI_NET_IP4 | DPI_NET_PORTS, 0, 0, NB, 4);
	check(DPI_NET_IP4 | DPI_NET_PORTS | DPI_NET_PROTO, 0, 0, NB, 4);
	check(DPI_NET_IP6 | DPI_NET_PROTO, 0, 0, NB, 4);
	check(DPI_NET_IP6, 0, 0, NB, NB);
	check(DPI_NET_IP4 | DPI_NET_PORTS, 0, 32, NB, NB);
}

/** Of more rules of a network than are kept, the rest is not known. */
static void
same_network(void **state)
{
	struct dpi_nets_filter *filter;
	struct dpi_rule rules[RULES];
	struct flow f = {.version = 4, .proto = 6, .has_ports = true, .src = {192, 0, 2, 1}};
	const struct flow *list = &f;
	uint16_t app;

	(void)state;
	for (unsigned i = 0; i < RULES; i++)
		rules[i] =
			(struct dpi_rule){.kind = DPI_RULE_FLOW,
					  .app = (uint16_t)(i + 1),
					  .flow = {.src = {.address = {192, 0, 2, 0}, .bits = 24},
						   .src_ports = {(uint16_t)i, (uint16_t)i},
						   .dst_ports = {0, UINT16_MAX},
						   .flags = DPI_NET_IP4 | DPI_NET_PORTS}};
	filter = dpi_nets_filter_make(rules, RULES);
	assert_non_null(filter);
	for (unsigned port = 0; port < RULES; port++) {
		uint64_t not ;

		f.ports[0] = (uint16_t)port;
		not = dpi_nets_filter_find(filter, &list, 0, 1, &app);
		assert_int_equal(not, port >= 8);
		assert_int_equal(app, port < 8 ? port + 1 : 0);
	}
	f.src[2] = 3;
	assert_int_equal(dpi_nets_filter_find(filter, &list, 0, 1, &app), 0);
	assert_int_equal(app, 0);
	dpi_nets_filter_free(filter);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(without_addresses),
		cmocka_unit_test(same_network),
	};

	return cmocka_run_group_tests_name("dpi_nets_filter", tests, NULL, NULL);
}
