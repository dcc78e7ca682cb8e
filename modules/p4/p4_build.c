/* SPDX-License-Identifier: BSD-3-Clause */
/** Types, headers, actions and tables of gnb.p4, and making and freeing the whole. */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "modules/p4/p4_impl.h"

#define FIELDS_MAX 32

/** A type: fields `name bits name bits …`, in order. */
struct type {
	const char *name;
	struct rte_swx_field_params fields[FIELDS_MAX];
};

static const struct type types[] = {
	{"intrinsic_t", {{"bytes", 16}, {"side", 8}, {"odd", 8}}},
	{"ethernet_t", {{"dst", 48}, {"src", 48}, {"type", 16}}},
	{"ipv4_t",
	 {{"ver_ihl", 8},
	  {"tos", 8},
	  {"total_len", 16},
	  {"identification", 16},
	  {"fragment", 16},
	  {"ttl", 8},
	  {"protocol", 8},
	  {"checksum", 16},
	  {"src", 32},
	  {"dst", 32}}},
	{"udp_t", {{"src_port", 16}, {"dst_port", 16}, {"length", 16}, {"checksum", 16}}},
	{"gtpu_t", {{"flags", 8}, {"type", 8}, {"length", 16}, {"teid", 32}}},
	{"option_t", {{"sequence", 16}, {"npdu", 8}, {"next", 8}}},
	{"psc_t", {{"length", 8}, {"type", 8}, {"rqi_qfi", 8}, {"next", 8}}},
	{"shim_t",
	 {{"flags", 8}, {"zero", 24}, {"bearer", 32}, {"tx_next", 32}, {"rlc_tx_next", 32}}},
	{"sum_t", {{"v", 16}}},
	{"octet_t", {{"v", 8}}},
	{"two_t", {{"v", 16}}},
	{"three_t", {{"v", 24}}},
	{"meta_t", {{"in", 32},        {"out", 32},     {"handed_in", 32}, {"qfi", 32},
		    {"n3", 32},        {"tpdu", 32},    {"total", 32},     {"bearer", 32},
		    {"hash", 32},      {"header", 32},  {"peer", 32},      {"r_tx", 32},
		    {"r_rlc", 32},     {"r_owner", 32}, {"r_sent", 32},    {"r_bytes", 32},
		    {"r_packets", 32}, {"mtu", 32},     {"rlc_mode", 32},  {"pdcp_sn_bits", 32},
		    {"sdap", 32},      {"owner", 64},   {"t", 64},         {"tx", 64},
		    {"rlc", 64},       {"map0", 64},    {"map1", 64},      {"map2", 64},
		    {"map3", 64},      {"pad", 64}}},
	{"session_args",
	 {{"out", 32}, {"hash", 32}, {"map0", 64}, {"map1", 64}, {"map2", 64}, {"map3", 64}}},
	{"uplink_args", {{"out", 32}}},
	{"drb_args",
	 {{"gtpu_flags", 8},
	  {"gtpu_type", 8},
	  {"gtpu_length", 16},
	  {"gtpu_teid", 32},
	  {"r_tx", 32},
	  {"r_rlc", 32},
	  {"r_owner", 32},
	  {"r_sent", 32},
	  {"r_bytes", 32},
	  {"r_packets", 32},
	  {"header", 32},
	  {"peer", 32},
	  {"rlc_mode", 8},
	  {"pdcp_sn_bits", 8},
	  {"sdap", 8}}},
	{"peer_args",
	 {{"eth_dst", 48},
	  {"eth_src", 48},
	  {"eth_type", 16},
	  {"ipv4_ver_ihl", 8},
	  {"ipv4_tos", 8},
	  {"ipv4_total_len", 16},
	  {"ipv4_identification", 16},
	  {"ipv4_fragment", 16},
	  {"ipv4_ttl", 8},
	  {"ipv4_protocol", 8},
	  {"ipv4_checksum", 16},
	  {"ipv4_src", 32},
	  {"ipv4_dst", 32},
	  {"udp_src_port", 16},
	  {"udp_dst_port", 16},
	  {"udp_length", 16},
	  {"udp_checksum", 16},
	  {"mtu", 16}}},
};

/** Headers, in the order in which those that are sent stand in a frame. */
static const char *const headers[][2] = {
	{"intrinsic", "intrinsic_t"},
	{"vf_eth", "ethernet_t"},
	{"shim", "shim_t"},
	{"release", "shim_t"},
	{"eth", "ethernet_t"},
	{"ipv4", "ipv4_t"},
	{"udp", "udp_t"},
	{"gtpu", "gtpu_t"},
	{"option", "option_t"},
	{"psc", "psc_t"},
	{"sum", "sum_t"},
	{"out_eth", "ethernet_t"},
	{"out_ipv4", "ipv4_t"},
	{"out_udp", "udp_t"},
	{"out_gtpu", "gtpu_t"},
	{"rlc_um", "octet_t"},
	{"rlc_am12", "two_t"},
	{"rlc_am18", "three_t"},
	{"pdcp12", "two_t"},
	{"pdcp18", "three_t"},
	{"sdap", "octet_t"},
};

/* rte_swx makes one copy of a header whose fields are moved in order from the action's data, and
 * then wants these in network order. */
static const char *const session_code[] = {
	"mov m.out t.out",
	"mov m.hash t.hash",
	"mov m.map0 t.map0",
	"mov m.map1 t.map1",
	"mov m.map2 t.map2",
	"mov m.map3 t.map3",
	"return",
};
static const char *const uplink_code[] = {"mov m.out t.out", "return"};
static const char *const drb_code[] = {
	"validate h.out_gtpu",
	"mov h.out_gtpu.flags t.gtpu_flags",
	"mov h.out_gtpu.type t.gtpu_type",
	"mov h.out_gtpu.length t.gtpu_length",
	"mov h.out_gtpu.teid t.gtpu_teid",
	"mov m.r_tx t.r_tx",
	"regprefetch state m.r_tx",
	"mov m.r_rlc t.r_rlc",
	"mov m.r_owner t.r_owner",
	"mov m.r_sent t.r_sent",
	"mov m.r_bytes t.r_bytes",
	"mov m.r_packets t.r_packets",
	"mov m.header t.header",
	"mov m.peer t.peer",
	"mov m.rlc_mode t.rlc_mode",
	"mov m.pdcp_sn_bits t.pdcp_sn_bits",
	"mov m.sdap t.sdap",
	"return",
};
static const char *const peer_code[] = {
	"validate h.out_eth",
	"mov h.out_eth.dst t.eth_dst",
	"mov h.out_eth.src t.eth_src",
	"mov h.out_eth.type t.eth_type",
	"validate h.out_ipv4",
	"mov h.out_ipv4.ver_ihl t.ipv4_ver_ihl",
	"mov h.out_ipv4.tos t.ipv4_tos",
	"mov h.out_ipv4.total_len t.ipv4_total_len",
	"mov h.out_ipv4.identification t.ipv4_identification",
	"mov h.out_ipv4.fragment t.ipv4_fragment",
	"mov h.out_ipv4.ttl t.ipv4_ttl",
	"mov h.out_ipv4.protocol t.ipv4_protocol",
	"mov h.out_ipv4.checksum t.ipv4_checksum",
	"mov h.out_ipv4.src t.ipv4_src",
	"mov h.out_ipv4.dst t.ipv4_dst",
	"validate h.out_udp",
	"mov h.out_udp.src_port t.udp_src_port",
	"mov h.out_udp.dst_port t.udp_dst_port",
	"mov h.out_udp.length t.udp_length",
	"mov h.out_udp.checksum t.udp_checksum",
	"mov m.mtu t.mtu",
	"return",
};
static const char *const unknown_code[] = {"return"};
static const char *const no_peer_code[] = {"mov m.mtu 0", "return"};

static const struct {
	const char *name, *args;
	const char *const *code;
	unsigned nb;
} actions[P4_ACTIONS] = {
	[P4_ACTION_SESSION] = {"session_set", "session_args", session_code, RTE_DIM(session_code)},
	[P4_ACTION_UPLINK] = {"uplink", "uplink_args", uplink_code, RTE_DIM(uplink_code)},
	[P4_ACTION_DRB] = {"drb_set", "drb_args", drb_code, RTE_DIM(drb_code)},
	[P4_ACTION_PEER] = {"peer_set", "peer_args", peer_code, RTE_DIM(peer_code)},
	[P4_ACTION_UNKNOWN] = {"unknown", NULL, unknown_code, RTE_DIM(unknown_code)},
	[P4_ACTION_NO_PEER] = {"no_peer", NULL, no_peer_code, RTE_DIM(no_peer_code)},
};

static int
types_config(struct rte_swx_pipeline *p)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < RTE_DIM(types); i++) {
		unsigned nb = 0;

		while (nb < FIELDS_MAX && types[i].fields[nb].name)
			nb++;
		rc = rte_swx_pipeline_struct_type_register(
			p, types[i].name, (struct rte_swx_field_params *)(uintptr_t)types[i].fields,
			nb, 0);
	}
	for (unsigned i = 0; rc == 0 && i < RTE_DIM(headers); i++)
		rc = rte_swx_pipeline_packet_header_register(p, headers[i][0], headers[i][1]);
	return rc ? rc : rte_swx_pipeline_packet_metadata_register(p, "meta_t");
}

static int
table_config(struct rte_swx_pipeline *p, const char *name, const char *key, const char **names,
	     unsigned nb, const char *otherwise, uint32_t size)
{
	struct rte_swx_match_field_params field = {key, RTE_SWX_TABLE_MATCH_EXACT};
	struct rte_swx_pipeline_table_params params = {
		.fields = &field,
		.n_fields = 1,
		.action_names = names,
		.n_actions = nb,
		.default_action_name = otherwise,
	};

	return rte_swx_pipeline_table_config(p, name, &params, NULL, NULL, size);
}

/** In the order of enum p4_table. Buckets of four, and as many spare ones: powers of two. */
static int
tables_config(struct p4_gnb *g)
{
	const uint32_t drbs = g->cfg.sessions << g->cfg.drb_shift;
	struct rte_swx_pipeline *p = g->pipeline;
	int rc = rte_swx_pipeline_regarray_config(p, "state", drbs * P4_REGS, 0);

	if (rc == 0)
		rc = rte_swx_pipeline_regarray_config(p, "share", 1, P4_SHARE_BY_MARK);
	for (unsigned i = 0; rc == 0 && i < P4_ACTIONS; i++)
		rc = rte_swx_pipeline_action_config(p, actions[i].name, actions[i].args,
						    (const char **)(uintptr_t)actions[i].code,
						    actions[i].nb);
	if (rc == 0)
		rc = table_config(p, "session", "h.gtpu.teid",
				  (const char *[]){"session_set", "uplink", "unknown"}, 3,
				  "unknown", RTE_MAX(64U, rte_align32pow2(g->cfg.sessions + drbs)));
	if (rc == 0)
		rc = table_config(p, "drb", "m.bearer", (const char *[]){"drb_set", "unknown"}, 2,
				  "unknown", RTE_MAX(64U, rte_align32pow2(drbs)));
	if (rc == 0)
		rc = table_config(p, "peer", "m.peer", (const char *[]){"peer_set", "no_peer"}, 2,
				  "no_peer", P4_PEERS);
	return rc;
}

static int
handles_get(struct p4_gnb *g)
{
	int rc = rte_swx_pipeline_table_state_get(g->pipeline, &g->tables), stub;

	for (uint32_t i = 0; rc == 0 && i < P4_ACTIONS; i++) {
		struct rte_swx_ctl_action_info info;

		rc = rte_swx_ctl_action_info_get(g->pipeline, i, &info);
		for (unsigned a = 0; rc == 0 && a < P4_ACTIONS; a++)
			if (strcmp(info.name, actions[a].name) == 0)
				g->actions[a] = i;
	}
	return rc ? rc : rte_swx_ctl_table_ops_get(g->pipeline, P4_TABLE_SESSION, &g->ops, &stub);
}

static int
program_config(struct p4_gnb *g)
{
	struct p4_program *program = rte_zmalloc("p4_program", sizeof(*program), 0);
	int rc = -ENOMEM;

	if (program) {
		p4_program_make(program, &g->cfg);
		rc = program->full ? -E2BIG
				   : rte_swx_pipeline_instructions_config(
					     g->pipeline, program->lines, program->nb);
	}
	rte_free(program);
	return rc;
}

/** @return 0, or -errno with `what` it came of. */
static int
build(struct p4_gnb *g, const char **what)
{
	int rc;

	*what = "pipeline";
	rc = rte_swx_pipeline_config(&g->pipeline, g->cfg.name, g->cfg.socket);
	if (rc)
		return rc;
	*what = "ports";
	if ((rc = p4_ports_config(g)) != 0)
		return rc;
	*what = "types and headers";
	if ((rc = types_config(g->pipeline)) != 0)
		return rc;
	*what = "tables";
	if ((rc = tables_config(g)) != 0)
		return rc;
	*what = "instructions";
	if ((rc = program_config(g)) != 0)
		return rc;
	*what = "build";
	rc = rte_swx_pipeline_build(g->pipeline);
	return rc ? rc : handles_get(g);
}

struct p4_gnb *
p4_gnb_create(const struct p4_cfg *cfg, struct ap_error *err)
{
	struct p4_gnb *g = rte_zmalloc("p4_gnb", sizeof(*g), RTE_CACHE_LINE_SIZE);
	const char *what = "memory";
	int rc = -ENOMEM;

	if (g) {
		g->cfg = *cfg;
		rc = build(g, &what);
	}
	if (rc == 0)
		return g;
	ap_error_set(err, "smartnic %s: rte_swx: %s: %s", cfg->name, what, strerror(-rc));
	p4_gnb_destroy(g);
	return NULL;
}

void
p4_gnb_destroy(struct p4_gnb *g)
{
	if (g == NULL)
		return;
	if (g->pipeline)
		rte_swx_pipeline_free(g->pipeline);
	rte_free(g);
}
