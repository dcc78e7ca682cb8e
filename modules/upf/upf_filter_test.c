/* SPDX-License-Identifier: BSD-3-Clause */
/* Filter sets against a plain walk over their rules; those that ask for applications above all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <rte_common.h>

#include "codec/be.h"
#include "modules/upf/upf_filter.h"
#include "test_eal.h"

#define SETS 300
#define PACKETS 300
#define RULES 80

static uint64_t seed = 1;

static uint32_t
draw(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % below;
}

/* Applications that share a bucket, and others. */
static uint16_t
draw_app(void)
{
	static const uint16_t apps[] = {0, 1, 2, 65, 129, 63, 64, 40000, 65535};

	return apps[draw(RTE_DIM(apps))];
}

static struct upf_filter_rule
draw_rule(uint8_t order, bool header)
{
	struct upf_filter_rule r = {
		.order = order,
		.app = draw_app(),
		.ue = (uint8_t)draw(4),
		.flags = (uint8_t)((1 + draw(3)) * UPF_FILTER_IP4),
	};

	if (draw(4) == 0)
		r.qfis = 1ULL << draw(4) | 1ULL << draw(4);
	if (!header)
		return r;
	if (draw(2) == 0) {
		r.flags |= UPF_FILTER_PROTO;
		r.proto = draw(2) ? 6 : 17;
	}
	if (draw(2) == 0) {
		r.flags |= UPF_FILTER_PORTS;
		r.src_ports[1] = UINT16_MAX;
		r.dst_ports[0] = (uint16_t)draw(4);
		r.dst_ports[1] = (uint16_t)(r.dst_ports[0] + draw(4));
	}
	if (draw(3) == 0) {
		r.src[0] = draw(4) << 24;
		r.src_mask[0] = 0xFF000000;
	}
	if (draw(3) == 0) {
		r.tos_mask = 0xFC;
		r.tos = (uint8_t)(draw(3) << 2);
	}
	return r;
}

static struct upf_packet
draw_packet(void)
{
	struct upf_packet p = {.qfi = draw(3) ? (uint8_t)draw(4) : UPF_NO_QFI,
			       .ue = (uint8_t)draw(4),
			       .app = draw_app()};

	p.flow.version = draw(2) ? 4 : 6;
	p.flow.proto = draw(2) ? 6 : 17;
	p.flow.has_ports = true;
	p.flow.ports[0] = (uint16_t)draw(8);
	p.flow.ports[1] = (uint16_t)draw(8);
	p.flow.tos = (uint8_t)(draw(3) << 2);
	p.flow.src[0] = (uint8_t)draw(4);
	return p;
}

static int
first_that_matches(const struct upf_filter_rule *rules, unsigned nb, const struct upf_packet *p)
{
	for (unsigned i = 0; i < nb; i++)
		if (upf_filter_rule_match(&rules[i], p))
			return rules[i].order;
	return -1;
}

/** Every mixture of rules, gone through and compiled. */
static void
agrees_with_a_plain_walk(void **state)
{
	struct upf_filter_sets *sets = upf_filter_sets_create(0);
	unsigned compiled = 0, by_app = 0;

	(void)state;
	assert_non_null(sets);
	for (unsigned i = 0; i < SETS; i++) {
		struct upf_filter_rule rules[RULES];
		const unsigned nb = 1 + draw(RULES), headers = draw(5);
		struct upf_filter_set *set;
		uint8_t order = 0;

		for (unsigned k = 0; k < nb; k++) {
			rules[k] = draw_rule(order, draw(4) < headers);
			order = (uint8_t)(order + draw(3));
		}
		assert_int_equal(upf_filter_get(sets, rules, nb, &set), 0);
		compiled += upf_filter_is_compiled(set, false);
		for (unsigned k = 0; k < PACKETS; k++) {
			const struct upf_packet p = draw_packet();
			const int order_of = first_that_matches(rules, nb, &p);

			assert_int_equal(upf_filter_match(set, &p), order_of);
			by_app += order_of >= 0 && p.app != 0;
		}
		upf_filter_put(sets, set);
	}
	assert_int_equal(upf_filter_sets_count(sets), 0);
	assert_in_range(compiled, SETS / 10, SETS - SETS / 10);
	assert_true(by_app > SETS * PACKETS / 10);
	upf_filter_sets_destroy(sets);
}

/** Applications do not make a set one that has to be compiled, however many they are. */
static void
applications_need_no_compiling(void **state)
{
	struct upf_filter_sets *sets = upf_filter_sets_create(0);
	struct upf_filter_rule rules[200] = {0};
	struct upf_packet p = {.qfi = UPF_NO_QFI, .flow = {.version = 4}};
	struct upf_filter_set *set;

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(rules); i++)
		rules[i] = (struct upf_filter_rule){.app = (uint16_t)(1 + i),
						    .order = (uint8_t)i,
						    .flags = UPF_FILTER_IP4 | UPF_FILTER_IP6};
	assert_int_equal(upf_filter_get(sets, rules, RTE_DIM(rules), &set), 0);
	assert_false(upf_filter_is_compiled(set, false));
	assert_false(upf_filter_is_compiled(set, true));
	assert_int_equal(upf_filter_match(set, &p), -1);
	for (unsigned i = 0; i < RTE_DIM(rules); i++) {
		p.app = (uint16_t)(1 + i);
		assert_int_equal(upf_filter_match(set, &p), (int)i);
	}
	p.app = RTE_DIM(rules) + 1;
	assert_int_equal(upf_filter_match(set, &p), -1);
	upf_filter_put(sets, set);
	upf_filter_sets_destroy(sets);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_plain_walk),
		cmocka_unit_test(applications_need_no_compiling),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
