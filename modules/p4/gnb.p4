/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A gNB's downlink header processing for a SmartNIC: P4-16, PSA.
 *
 * UNCOMPILED: no P4 compiler was at hand (Debian has no p4c). What runs is the same program built
 * call by call for DPDK's rte_swx, in p4_program.c and p4_build.c; names agree.
 *
 *   parser → session (TEID) → drb → peer → offload manager → header processing → deparser
 *
 * Ports: 0 is the wire, 1 + k virtual function k. What the program does not know goes to the host
 * as it is, behind a shim (p4_shim.h).
 */
#include <core.p4>
#include <psa.p4>

/* By the control plane, when it loads the program. */
const bit<48> N3_MAC = 0x020000000001;
const bit<32> N3_ADDRESS = 0x0a000001;
const bit<48> F1_MAC = 0x020000000002;
const bit<32> F1_ADDRESS = 0x0a000101;

const bit<32> BEARERS = 65536;
const bit<32> COUNT_HOST = 0xff000000; /* near the end of COUNT the host has to report, and stop */
const bit<16> SHIM = 0x88b5;
const bit<8> SHIM_TAKE = 1;
const bit<8> SHIM_RELEASE = 2;
const bit<8> SHIM_ASIDE = 4;
const bit<8> OWNER_NIC = 0;
const bit<8> OWNER_HOST = 1;
const bit<8> OWNER_RETURNING = 2;
const bit<32> SHARE_ALL = 65536; /* more: packets' marks say */
const bit<8> RLC_NONE = 0;
const bit<8> RLC_UM = 1;
const bit<8> RLC_AM12 = 2;
const bit<8> RLC_AM18 = 3;

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<8> ver_ihl; bit<8> tos; bit<16> total_len;
    bit<16> identification; bit<16> fragment;
    bit<8> ttl; bit<8> protocol; bit<16> checksum;
    bit<32> src; bit<32> dst;
}
header udp_t { bit<16> src_port; bit<16> dst_port; bit<16> length; bit<16> checksum; }
header gtpu_t { bit<8> flags; bit<8> type; bit<16> length; bit<32> teid; }
header option_t { bit<16> sequence; bit<8> npdu; bit<8> next; }
header psc_t { bit<8> length; bit<8> type; bit<8> rqi_qfi; bit<8> next; }
header shim_t { bit<8> flags; bit<24> zero; bit<32> bearer; bit<32> tx_next; bit<32> rlc_tx_next; }
header octet_t { bit<8> v; }
header two_t { bit<16> v; }
header three_t { bit<24> v; }

struct headers_t {
    ethernet_t vf_eth;
    shim_t shim;
    shim_t release;
    ethernet_t eth; ipv4_t ipv4; udp_t udp; gtpu_t gtpu; option_t option; psc_t psc;
    ethernet_t out_eth; ipv4_t out_ipv4; udp_t out_udp; gtpu_t out_gtpu;
    octet_t rlc_um; two_t rlc_am12; three_t rlc_am18;
    two_t pdcp12; three_t pdcp18;
    octet_t sdap;
}

struct metadata_t {
    bool handed_in;  /* by the host, for us to number */
    bool ours;       /* a good G-PDU to one of our interfaces */
    bool n3;
    bool plain;      /* with a container of QFI and RQI alone */
    bit<16> tpdu;
    bit<32> vf;
    bit<32> hash;
    bit<256> map;    /* slot by QFI, 4 bits each */
    bit<32> bearer;  /* our TEID with the DRB's slot */
    bit<32> row;     /* of its registers */
    bit<16> header;  /* octets from the outer IP header to the SDU */
    bit<16> peer;
    bit<16> mtu;
    bit<8> rlc_mode;
    bit<8> pdcp_sn_bits;
    bit<8> sdap;
}

struct empty_t {}

parser GnbParser(packet_in packet, out headers_t h, inout metadata_t m,
                 in psa_ingress_parser_input_metadata_t istd, in empty_t resubmitted,
                 in empty_t recirculated)
{
    InternetChecksum() sum;

    /* A packet that is too short for a header, or fails a check, is left as it is: not `ours`. */
    state start {
        packet.extract(h.eth);
        m.ours = false;
        m.plain = false;
        m.handed_in = istd.ingress_port != (PortId_t)0 &&
                      (h.eth.dst == N3_MAC || h.eth.dst == F1_MAC);
        transition select(istd.ingress_port == (PortId_t)0 || m.handed_in, h.eth.type) {
            (_, SHIM): shim;
            (true, 0x0800): ipv4;
            default: accept;
        }
    }
    state shim {
        packet.extract(h.release);
        transition accept;
    }
    state ipv4 {
        packet.extract(h.ipv4);
        sum.clear();
        sum.add({h.ipv4.ver_ihl, h.ipv4.tos, h.ipv4.total_len, h.ipv4.identification,
                 h.ipv4.fragment, h.ipv4.ttl, h.ipv4.protocol, h.ipv4.checksum, h.ipv4.src,
                 h.ipv4.dst});
        m.n3 = h.eth.dst == N3_MAC && h.ipv4.dst == N3_ADDRESS;
        verify(sum.get() == 0, error.NoMatch);
        verify(h.ipv4.src != N3_ADDRESS && h.ipv4.src != F1_ADDRESS, error.NoMatch);
        transition select(h.ipv4.ver_ihl, h.ipv4.protocol, h.ipv4.fragment, h.ipv4.src,
                          m.n3 || (h.eth.dst == F1_MAC && h.ipv4.dst == F1_ADDRESS)) {
            (_, _, _, 0x00000000 &&& 0xff000000, _): accept; /* RFC 1812 5.3.7 */
            (_, _, _, 0x7f000000 &&& 0xff000000, _): accept;
            (_, _, _, 0xe0000000 &&& 0xe0000000, _): accept;
            (0x45, 17, 0 &&& 0x3fff, _, true): udp;
            default: accept;
        }
    }
    state udp {
        packet.extract(h.udp);
        packet.extract(h.gtpu);
        m.tpdu = h.gtpu.length;
        m.ours = h.gtpu.type == 255 && h.udp.length == h.ipv4.total_len - 20 &&
                 h.gtpu.length == h.udp.length - 16;
        transition select(h.udp.dst_port, m.ours, m.n3, h.gtpu.flags) {
            (2152, true, true, 0x34 &&& 0xf4): container;
            (2152, _, _, _): accept;
            default: not_ours;
        }
    }
    state not_ours {
        m.ours = false;
        transition accept;
    }
    state container {
        packet.extract(h.option);
        packet.extract(h.psc);
        m.tpdu = m.tpdu - 8;
        m.plain = h.option.next == 0x85 && h.psc.length == 1 && h.psc.type == 0 &&
                  h.psc.rqi_qfi < 0x80 && h.psc.next == 0;
        transition accept;
    }
}

control GnbIngress(inout headers_t h, inout metadata_t m,
                   in psa_ingress_input_metadata_t istd,
                   inout psa_ingress_output_metadata_t ostd)
{
    Register<bit<32>, bit<32>>(BEARERS) tx_next;
    Register<bit<32>, bit<32>>(BEARERS) rlc_tx_next;
    Register<bit<8>, bit<32>>(BEARERS) owner;
    Register<bit<32>, bit<32>>(BEARERS) sent; /* to the host since it was asked to give back */
    Register<bit<64>, bit<32>>(BEARERS) octets;
    Register<bit<64>, bit<32>>(BEARERS) packets;
    Register<bit<32>, bit<32>>(1) share;      /* of 65536 bearers, those of the host */

    action unknown() {}
    action uplink(bit<32> vf) { m.vf = vf; }
    action session_set(bit<32> vf, bit<32> hash, bit<256> slots) {
        m.vf = vf;
        m.hash = hash;
        m.map = slots;
    }
    /* 65536 PDU sessions, and the F1-U tunnels of their DRBs. */
    table session {
        key = { h.gtpu.teid: exact; }
        actions = { session_set; uplink; unknown; }
        default_action = unknown;
        size = 131072;
    }

    action drb_set(bit<32> teid, bit<32> row, bit<16> header, bit<16> peer, bit<8> rlc_mode,
                   bit<8> pdcp_sn_bits, bit<8> sdap) {
        h.out_gtpu = {0x30, 255, 0, teid};
        m.row = row;
        m.header = header;
        m.peer = peer;
        m.rlc_mode = rlc_mode;
        m.pdcp_sn_bits = pdcp_sn_bits;
        m.sdap = sdap;
    }
    table drb {
        key = { m.bearer: exact; }
        actions = { drb_set; unknown; }
        default_action = unknown;
        size = 65536;
    }

    action no_peer() { m.mtu = 0; }
    action peer_set(ethernet_t eth, ipv4_t ipv4, udp_t udp, bit<16> mtu) {
        h.out_eth = eth;
        h.out_ipv4 = ipv4;
        h.out_udp = udp;
        m.mtu = mtu;
    }
    table peer {
        key = { m.peer: exact; }
        actions = { peer_set; no_peer; }
        default_action = no_peer;
        size = 4096;
    }

    action to_wire() { send_to_port(ostd, (PortId_t)0); }
    action to_host() { send_to_port(ostd, (PortId_t)(1 + m.vf)); }
    action out_invalid() {
        h.out_eth.setInvalid();
        h.out_ipv4.setInvalid();
        h.out_udp.setInvalid();
        h.out_gtpu.setInvalid();
    }
    action shim(bit<8> flags, bit<32> bearer, bit<32> tx, bit<32> rlc) {
        h.vf_eth = {N3_MAC, N3_MAC, SHIM};
        h.shim = {flags, 0, bearer, tx, rlc};
        to_host();
    }

    /* Not for a bearer: the host's; but a host gets nothing back that it handed in. */
    action aside() { shim(SHIM_ASIDE, 0, 0, 0); }

    /* A host gives a bearer back: what it was sent since will take as many numbers. */
    action released() {
        tx_next.write(m.row, h.release.tx_next + sent.read(m.row));
        rlc_tx_next.write(m.row, h.release.rlc_tx_next + sent.read(m.row));
        owner.write(m.row, OWNER_NIC);
    }

    action radio_headers(bit<32> tx, bit<32> rlc) {
        /* TS 38.322 6.2.2, TS 38.323 6.2.2, TS 37.324 6.2.2.2 */
        if (m.rlc_mode == RLC_UM) {
            h.rlc_um = {0};
        } else if (m.rlc_mode == RLC_AM12) {
            h.rlc_am12 = {0x8000 | (bit<16>)(rlc & 0xfff)};
        } else if (m.rlc_mode == RLC_AM18) {
            h.rlc_am18 = {0x800000 | (bit<24>)(rlc & 0x3ffff)};
        }
        if (m.pdcp_sn_bits == 12) {
            h.pdcp12 = {0x8000 | (bit<16>)(tx & 0xfff)};
        } else {
            h.pdcp18 = {0x800000 | (bit<24>)(tx & 0x3ffff)};
        }
        if (m.sdap != 0) {
            h.sdap = {h.psc.rqi_qfi};
        }
    }

    action received_invalid() {
        h.eth.setInvalid();
        h.ipv4.setInvalid();
        h.udp.setInvalid();
        h.gtpu.setInvalid();
        h.option.setInvalid();
        h.psc.setInvalid();
    }

    action number(bit<16> total) {
        bit<32> tx = tx_next.read(m.row);
        bit<32> rlc = rlc_tx_next.read(m.row);

        tx_next.write(m.row, tx + 1);
        rlc_tx_next.write(m.row, rlc + 1);
        octets.write(m.row, octets.read(m.row) + (bit<64>)m.tpdu);
        packets.write(m.row, packets.read(m.row) + 1);
        h.out_ipv4.total_len = total;
        h.out_ipv4.identification = (bit<16>)tx;
        h.out_udp.length = total - 20;
        h.out_gtpu.length = total - 36;
        radio_headers(tx, rlc);
        received_invalid();
        to_wire();
    }

    /* Whose packet it is, and whose numbers. One piece: a bearer's packets in their order. */
    action offload_manager() {
        bit<16> total = m.tpdu + m.header;
        bit<32> s = share.read(0);
        bit<8> o = owner.read(m.row);
        bool host = total > m.mtu || tx_next.read(m.row) >= COUNT_HOST ||
                    (s > SHARE_ALL ? h.ipv4.identification > 0x7fff : m.hash < s);

        if (!host && o == OWNER_NIC) {
            number(total);
        } else {
            out_invalid();
            if (o == OWNER_RETURNING) {
                sent.write(m.row, sent.read(m.row) + 1);
                to_host();
            } else if (host && o == OWNER_NIC) {
                owner.write(m.row, OWNER_HOST);
                shim(SHIM_TAKE, m.bearer, tx_next.read(m.row), rlc_tx_next.read(m.row));
            } else if (!host) {
                owner.write(m.row, OWNER_RETURNING);
                sent.write(m.row, 0);
                shim(SHIM_RELEASE, m.bearer, 0, 0);
            } else {
                to_host();
            }
        }
    }

    apply {
        m.vf = 0;
        if (h.release.isValid() && istd.ingress_port != (PortId_t)0) {
            m.bearer = h.release.bearer;
            if (drb.apply().hit && h.release.flags == SHIM_RELEASE &&
                owner.read(m.row) == OWNER_RETURNING) {
                released();
            }
            ingress_drop(ostd);
        } else if (istd.ingress_port != (PortId_t)0 && !m.handed_in) {
            to_wire();
        } else if (istd.parser_error != error.NoError || !m.ours) {
            if (m.handed_in) { ingress_drop(ostd); } else { aside(); }
        } else {
            switch (session.apply().action_run) {
                uplink: { to_host(); }
                session_set: {
                    bit<8> slot = (bit<8>)(m.map >> ((bit<8>)(h.psc.rqi_qfi & 0x3f) << 2)) & 15;

                    m.bearer = (h.gtpu.teid & 0xfffffff0) | (bit<32>)slot;
                    if (m.plain && slot != 15 && drb.apply().hit) {
                        peer.apply();
                        offload_manager();
                    } else if (m.handed_in) {
                        ingress_drop(ostd);
                    } else {
                        aside();
                    }
                }
                default: { if (m.handed_in) { ingress_drop(ostd); } else { aside(); } }
            }
        }
    }
}

control GnbDeparser(packet_out packet, out empty_t clone_i2e, out empty_t resubmit,
                    out empty_t normal, inout headers_t h, in metadata_t m,
                    in psa_ingress_output_metadata_t ostd)
{
    InternetChecksum() sum;

    apply {
        if (h.out_ipv4.isValid()) {
            sum.clear();
            sum.add({h.out_ipv4.ver_ihl, h.out_ipv4.tos, h.out_ipv4.total_len,
                     h.out_ipv4.identification, h.out_ipv4.fragment, h.out_ipv4.ttl,
                     h.out_ipv4.protocol, h.out_ipv4.src, h.out_ipv4.dst});
            h.out_ipv4.checksum = sum.get();
        }
        packet.emit(h); /* in the order of struct headers_t; a release was dropped */
    }
}

parser EgressParser(packet_in packet, out empty_t h, inout empty_t m,
                    in psa_egress_parser_input_metadata_t istd, in empty_t normal,
                    in empty_t clone_i2e, in empty_t clone_e2e)
{
    state start { transition accept; }
}

control Egress(inout empty_t h, inout empty_t m, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd)
{
    apply {}
}

control EgressDeparser(packet_out packet, out empty_t clone_e2e, out empty_t recirculated,
                       inout empty_t h, in empty_t m, in psa_egress_output_metadata_t ostd,
                       in psa_egress_deparser_input_metadata_t istd)
{
    apply {}
}

IngressPipeline(GnbParser(), GnbIngress(), GnbDeparser()) ingress;
EgressPipeline(EgressParser(), Egress(), EgressDeparser()) egress;
PSA_Switch(ingress, PacketReplicationEngine(), egress, BufferingQueueingEngine()) main;
