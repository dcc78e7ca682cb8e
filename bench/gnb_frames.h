/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_GNB_FRAMES_H
#define AIRPATH_BENCH_GNB_FRAMES_H

/**
 * Frames of a gNB's header processing for the generator of upf_gen.h, which holds both ends of N3
 * and F1-U. They carry a T-PDU of upf_wire_cfg.bytes octets, which says which session, which
 * number of the session and when, under a CRC. Peers and TEIDs of theirs are gnb_wire.h's;
 * sessions have one DRB with SDAP headers, PDCP SNs of 18 bits and RLC UM.
 *
 * Of upf_wire_cfg: `n3_mac` and `n3_ip` are the gNB's on N3, `n6_mac` and `f1_ip` on F1;
 * `gnb_mac` and `net_mac` its next hops there; `gnb_ip` the first UPF, `server_ip` the first DU.
 * upf_wire_session.octets counts packets, which is the number of the next one: COUNT.
 */

#include "bench/upf_wire.h"

#define GNB_FRAMES_TPDU_MIN 64

void gnb_frames_init(struct upf_wire *w, const struct upf_wire_cfg *cfg);

#endif
