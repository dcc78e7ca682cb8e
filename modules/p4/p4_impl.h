/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_P4_IMPL_H
#define AIRPATH_P4_IMPL_H

/** Inside of the program: p4_gnb.c runs it, p4_build.c makes it. */

#include <rte_swx_ctl.h>
#include <rte_swx_pipeline.h>

#include "codec/gtpu.h"
#include "modules/p4/p4_program.h"

enum p4_table { P4_TABLE_SESSION, P4_TABLE_DRB, P4_TABLE_PEER, P4_TABLES };
enum p4_action {
	P4_ACTION_SESSION,
	P4_ACTION_UPLINK,
	P4_ACTION_DRB,
	P4_ACTION_PEER,
	P4_ACTION_UNKNOWN,
	P4_ACTION_NO_PEER,
	P4_ACTIONS
};

#define P4_PEERS 4096 /**< UPF_PEERS_MAX */

/* What the tables' actions are given: fields as p4_build.c names them, in this order. */

struct p4_session_data {
	uint32_t out, hash;
	uint64_t map[4];
} __rte_packed;

struct p4_uplink_data {
	uint32_t out;
	uint32_t zero;
	uint64_t zeros[4]; /* as long as the longest action data of the table */
} __rte_packed;
_Static_assert(sizeof(struct p4_uplink_data) == sizeof(struct p4_session_data), "one table");

struct p4_drb_data {
	uint8_t gtpu[GTPU_HDR_BYTES];
	uint32_t regs[6]; /**< by enum p4_reg */
	uint32_t header;  /**< octets from the outer IP header to the SDU */
	uint32_t peer;
	uint8_t rlc_mode, pdcp_sn_bits, sdap;
} __rte_packed;

struct p4_peer_data {
	uint8_t eth[14];
	uint8_t ip_udp[28];
	uint16_t mtu;
} __rte_packed;

struct p4_port {
	struct p4_gnb *g;
	unsigned out;
};

struct p4_gnb {
	struct p4_cfg cfg;
	struct rte_swx_pipeline *pipeline;
	struct rte_swx_table_state *tables;
	struct rte_swx_table_ops ops;
	uint64_t actions[P4_ACTIONS];
	struct p4_port ports[P4_OUT_VF + P4_VFS_MAX];
	/* of the run */
	enum p4_side side;
	uint16_t nb, at;
	struct rte_mbuf **pkts;
	struct p4_result *result;
};

/** @return 0 or -errno of rte_swx. */
int p4_ports_config(struct p4_gnb *g);

#endif
