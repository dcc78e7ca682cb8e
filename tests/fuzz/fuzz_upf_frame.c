/* SPDX-License-Identifier: BSD-3-Clause */
/** Frames of Ethernet sessions: what they are, which PDR they match, whose addresses they have. */
#include <stdlib.h>

#include "modules/upf/upf_ethernet.h"
#include "modules/upf/upf_pdi.h"
#include "modules/upf/upf_report.h"
#include "modules/upf/upf_rules.h"
#include "tests/support/test_eal.h"

#define TEID 1
#define RULES 3

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rte_ring *reports;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (test_eal_init() != 0 || (reports = upf_report_ring("frames", 64, 0)) == NULL)
		abort();
	return 0;
}

/** Lanes 0 and 1 ask for something, lane 2 takes what is left. */
static const struct upf_ethernet_rule rules[RULES] = {
	{.src = {0x020000000000, 0x02FFFFFFFFFF},
	 .dst = {0, 0xFFFFFFFFFFFF},
	 .type = 0x0800,
	 .flags = UPF_ETHERNET_TYPE | UPF_ETHERNET_IP,
	 .ip = {.flags = UPF_FILTER_IP4 | UPF_FILTER_PROTO, .proto = 17}},
	{.src = {0, 0xFFFFFFFFFFFF},
	 .dst = {0, 0xFFFFFFFFFFFF},
	 .c_tag = 5,
	 .c_mask = 0xFFF,
	 .flags = UPF_ETHERNET_C_TAG},
	{.src = {0, 0xFFFFFFFFFFFF},
	 .dst = {0, 0xFFFFFFFFFFFF},
	 .s_tag = 0x2000,
	 .s_mask = 0xE000,
	 .flags = UPF_ETHERNET_S_TAG},
};

static void
check(bool ok)
{
	if (!ok)
		abort();
}

/** The frame is all there is: a longer one would be read differently, a shorter one refused. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t first[] = {0, 1, 3, 3};
	static const uint8_t lanes[] = {0, 1, 2};
	const struct upf_arrival a = {.teid = TEID, .rx = UPF_RX_TUNNEL, .interface = 1};
	struct upf_group g = {.teid = TEID, .interfaces = 2, .lanes = lanes, .nb_lanes = 3};
	struct upf_pdr pdrs[3] = {0};
	struct upf_rules r = {.nb_groups = 1, .groups = &g, .pdrs = pdrs, .nb_lanes = 3};
	struct upf_session s = {.id = 7, .handle = 9, .rules = &r};
	struct upf_ethernet e = {.session = &s, .first = first, .rules = rules};
	struct upf_recent recent = {0};
	struct upf_report told;
	struct upf_frame f;
	uint64_t key;
	int lane;

	r.ethernet = &e;
	lane = upf_ethernet_lane(&s, &a, data, (uint32_t)size);
	if (!upf_frame_read(data, (uint32_t)size, &f)) {
		check(lane == UPF_MISS_BAD_INNER);
		return 0;
	}
	check(lane >= 0 && lane <= 2 && f.at <= size);
	check(lane != 0 || (f.type == 0x0800 && f.src >> 40 == 2));
	check(lane != 1 || f.has_c || f.has_s);
	key = upf_mac_key(f.src, upf_frame_vid(&f));
	check(upf_ethernet_learn(&e, key, 1000, reports, &recent));
	check(upf_report_get(reports, &told) || key == 0);
	check(upf_recent_find(&recent, 0, key) == 9 || key == 0);
	return 0;
}
