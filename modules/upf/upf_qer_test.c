/* SPDX-License-Identifier: BSD-3-Clause */
/* QERs: bit rates over the whole range, bursts, GBR colours, several QERs of a PDR. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/clock.h"
#include "modules/upf/upf_qer.h"

/* What passes of a flow of `bytes` packets at `load` times the rate, in octets a second. */
static double
passes(const struct rte_meter_srtcm_profile *p, uint64_t kbps, uint32_t bytes, double load,
       double seconds)
{
	const double gap_ns = bytes * 8e6 / (double)kbps / load;
	struct rte_meter_srtcm m;
	struct rte_meter_srtcm_profile profile = *p;
	const uint64_t start = 5 * AP_NS_PER_S;
	uint64_t passed = 0, n = (uint64_t)(seconds * 1e9 / gap_ns);

	upf_meter_fill(&m, p, start);
	for (uint64_t i = 0; i < n; i++)
		if (rte_meter_srtcm_color_blind_check(&m, &profile,
						      start + (uint64_t)((double)i * gap_ns),
						      bytes) != RTE_COLOR_RED)
			passed += bytes;
	return ((double)passed - (double)p->cbs) / seconds;
}

/* 64 kbit/s to 100 Gbit/s, even numbers and odd ones, within 0.5 %; the burst comes once. */
static void
rates_from_64_kbps_to_100_gbps(void **state)
{
	static const uint64_t kbps[] = {64,      65,       100,       127,      999,
					1000,    9999,     50000,     123457,   1000000,
					7654321, 10000000, 100000000, 99999989, 33333333};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(kbps); i++) {
		struct rte_meter_srtcm_profile p;
		const double want = (double)kbps[i] * 125;
		uint64_t burst = RTE_MAX(kbps[i] * 125 / 50, 16384UL); /* 20 ms */
		double seconds = kbps[i] < 1000 ? 200 : kbps[i] < 100000 ? 20 : 0.5, got;

		assert_int_equal(upf_mbr_profile(&p, kbps[i], burst), 0);
		got = passes(&p, kbps[i], 1400, 2, seconds);
		if (!(got > want * 0.995 && got < want * 1.005))
			fail_msg("%lu kbit/s: %.0f octets/s in place of %.0f", kbps[i], got, want);
		/* Under the rate nothing is lost. */
		got = passes(&p, kbps[i], 1400, 0.99, seconds) + (double)p.cbs / seconds;
		assert_true(got > want * 0.985);
	}
}

static void
bursts_are_as_configured(void **state)
{
	struct rte_meter_srtcm_profile p;
	struct rte_meter_srtcm m;
	unsigned passed = 0;

	(void)state;
	assert_int_equal(upf_mbr_profile(&p, 1000, 10000), 0);
	upf_meter_fill(&m, &p, AP_NS_PER_S);
	while (rte_meter_srtcm_color_blind_check(&m, &p, AP_NS_PER_S, 1000) != RTE_COLOR_RED)
		passed++;
	assert_int_equal(passed, 10);
	assert_int_equal(upf_mbr_profile(&p, 1000, 1), 0);
	assert_int_equal(p.cbs, UPF_BURST_BYTES_MIN);
	assert_int_equal(upf_mbr_profile(&p, 0, 1), -EINVAL);
	assert_int_equal(upf_mbr_profile(&p, UPF_KBPS_MAX + 1, 1), -EINVAL);
}

static uint64_t
flow(struct upf_qer *qers, const struct upf_pdr *pdr, enum upf_direction d, uint64_t kbps,
     uint64_t seconds)
{
	const uint64_t gap = 8000000000 / kbps;
	uint64_t passed = 0, now = AP_NS_PER_S;
	bool gate;

	for (; now < (seconds + 1) * AP_NS_PER_S; now += gap)
		if (upf_qers_pass(qers, pdr, d, 1000, now, &gate))
			passed += 1000;
	return passed * 8 / 1000 / seconds;
}

static void
gbr_colours(void **state)
{
	struct rte_meter_trtcm_profile up;
	struct upf_gbr gbr = {.profile = {&up}};
	struct upf_qer qer = {.gbr = &gbr};
	const struct upf_pdr pdr = {.nb_qers = 1};
	uint64_t kbps;
	bool gate;

	(void)state;
	assert_int_equal(upf_gbr_profile(&up, 1000, 4000, 4000), 0);
	upf_gbr_fill(&gbr.meter[UPF_UL], &up, AP_NS_PER_S);
	kbps = flow(&qer, &pdr, UPF_UL, 8000, 10);
	assert_in_range(kbps, 3950, 4050);
	assert_in_range(gbr.yellow[UPF_UL] * 8 / 10000, 2950, 3050);
	assert_int_equal(flow(&qer, &pdr, UPF_DL, 8000, 1), 8000);
	assert_int_equal(upf_gbr_profile(&up, 1000, 999, 4000), -EINVAL);
	/* Without MBR nothing is red, whatever comes at once. */
	assert_int_equal(upf_gbr_profile(&up, 1000, 0, 4000), 0);
	upf_gbr_fill(&gbr.meter[UPF_UL], &up, AP_NS_PER_S);
	gbr.yellow[UPF_UL] = 0;
	for (unsigned i = 0; i < 1000; i++)
		assert_true(upf_qers_pass(&qer, &pdr, UPF_UL, 1000, AP_NS_PER_S, &gate));
	assert_int_equal(gbr.yellow[UPF_UL], 996 * 1000);
}

/* A flow's own MBR and the session's AMBR: the narrower one holds, the wider one is shared. */
static void
several_qers_of_a_pdr(void **state)
{
	struct rte_meter_srtcm_profile own, ambr;
	struct rte_meter_srtcm meters[2][2] = {0};
	struct upf_qer qers[3] = {{.profile = {[UPF_DL] = &own}, .meter = meters[0]},
				  {.profile = {[UPF_DL] = &ambr}, .meter = meters[1]}};
	const struct upf_pdr narrow = {.nb_qers = 2, .qers = {0, 1}};
	const struct upf_pdr wide = {.nb_qers = 1, .qers = {1}};
	const struct upf_pdr shut = {.nb_qers = 2, .qers = {1, 2}};
	uint64_t a = 0, b = 0;
	bool gate;

	(void)state;
	upf_mbr_profile(&own, 1000, 4000);
	upf_mbr_profile(&ambr, 3000, 4000);
	upf_meter_fill(&qers[0].meter[UPF_DL], &own, AP_NS_PER_S);
	upf_meter_fill(&qers[1].meter[UPF_DL], &ambr, AP_NS_PER_S);
	for (uint64_t now = AP_NS_PER_S; now < 11 * AP_NS_PER_S; now += AP_NS_PER_MS) {
		a += upf_qers_pass(qers, &narrow, UPF_DL, 1000, now, &gate);
		b += upf_qers_pass(qers, &wide, UPF_DL, 1000, now, &gate);
		assert_false(gate);
	}
	assert_in_range(a * 8 / 10, 900, 1010);
	assert_in_range((a + b) * 8 / 10, 2970, 3030);
	qers[2].closed[UPF_DL] = true;
	assert_false(upf_qers_pass(qers, &shut, UPF_DL, 1, 20 * AP_NS_PER_S, &gate));
	assert_true(gate);
	assert_true(upf_qers_pass(qers, &shut, UPF_UL, 1, 20 * AP_NS_PER_S, &gate));
}

/* In whatever order: what its own MBR or GBR's peak stops takes nothing of a shared bucket. */
static void
stopped_packets_take_no_tokens(void **state)
{
	struct rte_meter_srtcm_profile own, ambr;
	struct rte_meter_trtcm_profile gbr;
	struct rte_meter_srtcm meters[2][2] = {0};
	struct upf_gbr shared = {.profile = {[UPF_DL] = &gbr}};
	struct upf_qer qers[] = {{.profile = {[UPF_DL] = &ambr}, .meter = meters[0]},
				 {.profile = {[UPF_DL] = &own}, .meter = meters[1]},
				 {.gbr = &shared}};
	const struct upf_pdr greedy = {.nb_qers = 3, .qers = {0, 2, 1}};
	uint64_t through = 0;
	bool gate;

	(void)state;
	upf_mbr_profile(&own, 1000, 4000);
	upf_mbr_profile(&ambr, 3000, 4000);
	upf_gbr_profile(&gbr, 500, 4000, 4000);
	upf_meter_fill(&qers[0].meter[UPF_DL], &ambr, AP_NS_PER_S);
	upf_meter_fill(&qers[1].meter[UPF_DL], &own, AP_NS_PER_S);
	upf_gbr_fill(&shared.meter[UPF_DL], &gbr, AP_NS_PER_S);
	for (unsigned i = 0; i < 100; i++)
		through += upf_qers_pass(qers, &greedy, UPF_DL, 1000, AP_NS_PER_S, &gate);
	assert_int_equal(through, 4);
	assert_int_equal(qers[0].meter[UPF_DL].tc, 0);
	assert_int_equal(shared.yellow[UPF_DL], 0);
	/* 8 ms later own has 1000 octets, the AMBR 3000: one passes, 2000 are left to others. */
	for (unsigned i = 0; i < 100; i++)
		through += upf_qers_pass(qers, &greedy, UPF_DL, 1000,
					 AP_NS_PER_S + 8 * AP_NS_PER_MS, &gate);
	assert_int_equal(through, 5);
	assert_int_equal(qers[0].meter[UPF_DL].tc, 2000);
	assert_int_equal(shared.meter[UPF_DL].tp, 3000);
	assert_int_equal(shared.yellow[UPF_DL], 1000);
	qers[1].closed[UPF_DL] = true;
	assert_false(
		upf_qers_pass(qers, &greedy, UPF_DL, 1000, AP_NS_PER_S + 8 * AP_NS_PER_MS, &gate));
	assert_true(gate);
	assert_int_equal(qers[0].meter[UPF_DL].tc, 2000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_from_64_kbps_to_100_gbps),
		cmocka_unit_test(bursts_are_as_configured),
		cmocka_unit_test(gbr_colours),
		cmocka_unit_test(several_qers_of_a_pdr),
		cmocka_unit_test(stopped_packets_take_no_tokens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
