/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The instructions of gnb.p4: its parser, control and deparser, in this order. Names are those of
 * the P4 source.
 *
 * rte_swx runs 16 packets in turns and changes between them at table look-ups alone. What follows
 * the last look-up is one piece: reading a bearer's registers, changing them and sending the
 * packet, in the order of arrival, as all packets of a bearer have as many look-ups.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "modules/p4/p4_program.h"

void
p4_emit(struct p4_program *p, const char *format, ...)
{
	va_list args;

	if (p->nb == P4_PROGRAM_MAX) {
		p->full = true;
		return;
	}
	va_start(args, format);
	vsnprintf(p->text[p->nb], sizeof(p->text[0]), format, args);
	va_end(args);
	p->lines[p->nb] = p->text[p->nb];
	p->nb++;
}

static unsigned long long
p4_mac(const uint8_t *mac)
{
	return (unsigned long long)be16_get(mac) << 32 | be32_get(mac + 2);
}

#define I(...) p4_emit(p, __VA_ARGS__)

/** To which interface, by its MAC, and whether to its address. */
static void
parse_interface(struct p4_program *p, const struct p4_cfg *cfg)
{
	for (unsigned i = 0; i < cfg->nb_interfaces; i++) {
		const struct p4_interface *f = &cfg->interfaces[i];

		I("NOT%u : jmpneq NOT%u h.eth.dst 0x%012llx", i, i + 1, p4_mac(f->mac));
		I("mov m.n3 %u", f->n3);
		I("jmpeq OURS h.ipv4.dst 0x%08x", rte_be_to_cpu_32(f->ip4));
		I("jmp ASIDE");
	}
	I("NOT%u : jmp ASIDE", cfg->nb_interfaces);
}

/** Ethernet, IPv4, UDP and GTP-U of a packet to us: anything unusual is the host's. */
static void
parse_outer(struct p4_program *p, const struct p4_cfg *cfg)
{
	I("jmpneq ASIDE h.eth.type 0x0800");
	I("jmpneq ASIDE h.ipv4.ver_ihl 0x45");
	I("jmpneq ASIDE h.ipv4.protocol 17");
	I("mov m.t h.ipv4.fragment");
	I("and m.t 0x3fff");
	I("jmpneq ASIDE m.t 0");
	parse_interface(p, cfg);
	I("OURS : jmpneq ASIDE h.udp.dst_port 2152");
	/* RFC 1812 §5.3.7: addresses no packet comes from */
	I("jmplt ASIDE h.ipv4.src 0x01000000");
	I("jmpgt ASIDE h.ipv4.src 0xdfffffff");
	I("mov m.t h.ipv4.src");
	I("shr m.t 24");
	I("jmpeq ASIDE m.t 127");
	for (unsigned i = 0; i < cfg->nb_own; i++)
		I("jmpeq ASIDE h.ipv4.src 0x%08x", rte_be_to_cpu_32(cfg->own[i]));
	I("mov h.sum.v 0");
	I("ckadd h.sum.v h.ipv4");
	I("jmpneq ASIDE h.sum.v 0xffff");
	/* Frames without padding: the program cannot cut it off. */
	I("mov m.t h.intrinsic.bytes");
	I("sub m.t 14");
	I("jmpneq ASIDE h.ipv4.total_len m.t");
	I("sub m.t 20");
	I("jmpneq ASIDE h.udp.length m.t");
	I("sub m.t 16");
	I("jmpneq ASIDE h.gtpu.length m.t");
	I("jmpneq ASIDE h.gtpu.type 255");
	I("mov m.tpdu m.t");
}

/** A downlink PDU session container alone. The T-PDU is not looked at. */
static void
parse_container(struct p4_program *p)
{
	I("jmpeq ASIDE m.n3 0");
	I("mov m.t h.gtpu.flags");
	I("and m.t 0xf4");
	I("jmpneq ASIDE m.t 0x34");
	I("extract h.option");
	I("extract h.psc");
	I("jmpneq ASIDE h.option.next 0x85");
	I("jmpneq ASIDE h.psc.length 1");
	I("jmpneq ASIDE h.psc.type 0");
	I("jmpgt ASIDE h.psc.rqi_qfi 0x7f");
	I("jmpneq ASIDE h.psc.next 0");
	I("sub m.tpdu 8");
	I("mov m.qfi h.psc.rqi_qfi");
	I("and m.qfi 0x3f");
}

static void
parser(struct p4_program *p, const struct p4_cfg *cfg)
{
	I("rx m.in");
	I("extract h.intrinsic");
	I("mov m.handed_in 0");
	I("mov m.out %u", P4_OUT_VF);
	I("jmpneq VF h.intrinsic.side %u", P4_SIDE_WIRE);
	I("jmpneq ASIDE h.intrinsic.odd 0");
	I("jmplt ASIDE h.intrinsic.bytes %u", P4_PARSE_MIN);
	I("extract h.eth");
	I("PACKET : extract h.ipv4");
	I("extract h.udp");
	I("extract h.gtpu");
	parse_outer(p, cfg);
	I("table session");
	I("jmpnh ASIDE");
	I("jmpa RAW uplink");
	parse_container(p);
	/* QFI to DRB: 64 × 4 bits in four words */
	I("mov m.t m.qfi");
	I("and m.t 0xf");
	I("shl m.t 2");
	I("jmplt MAP0 m.qfi 16");
	I("jmplt MAP1 m.qfi 32");
	I("jmplt MAP2 m.qfi 48");
	I("mov m.map0 m.map3");
	I("jmp MAP0");
	I("MAP1 : mov m.map0 m.map1");
	I("jmp MAP0");
	I("MAP2 : mov m.map0 m.map2");
	I("MAP0 : shr m.map0 m.t");
	I("and m.map0 0xf");
	I("jmpeq ASIDE m.map0 15");
	I("mov m.bearer h.gtpu.teid");
	I("and m.bearer 0xfffffff0");
	I("or m.bearer m.map0");
	I("table drb");
	I("jmpnh ASIDE");
	I("table peer");
}

/** Whose packet it is, and whose numbers; see p4_shim.h. No look-up from here on. */
static void
offload_manager(struct p4_program *p)
{
	I("mov m.total m.tpdu");
	I("add m.total m.header");
	I("jmpgt FOR_HOST m.total m.mtu");
	I("regrd m.t share 0");
	I("jmpgt BY_MARK m.t %u", P4_SHARE_ALL);
	I("jmplt FOR_HOST m.hash m.t");
	I("jmp FOR_NIC");
	I("BY_MARK : jmpgt FOR_HOST h.ipv4.identification 0x7fff");
	I("FOR_NIC : regrd m.tx state m.r_tx");
	I("jmpgt FOR_HOST m.tx 0x%08x", P4_COUNT_HOST - 1);
	I("regrd m.owner state m.r_owner");
	I("jmpeq NUMBER m.owner %u", P4_OWNER_NIC);
	I("jmpeq COUNTED m.owner %u", P4_OWNER_RETURNING);
	I("regwr state m.r_owner %u", P4_OWNER_RETURNING);
	I("regwr state m.r_sent 0");
	I("mov h.shim.flags %u", P4_SHIM_RELEASE);
	I("mov h.shim.tx_next 0");
	I("mov h.shim.rlc_tx_next 0");
	I("jmp HAND_OVER");
	I("FOR_HOST : regrd m.owner state m.r_owner");
	I("jmpeq RAW m.owner %u", P4_OWNER_HOST);
	I("jmpeq COUNTED m.owner %u", P4_OWNER_RETURNING);
	I("regwr state m.r_owner %u", P4_OWNER_HOST);
	I("regrd m.tx state m.r_tx");
	I("regrd m.rlc state m.r_rlc");
	I("mov h.shim.flags %u", P4_SHIM_TAKE);
	I("mov h.shim.tx_next m.tx");
	I("mov h.shim.rlc_tx_next m.rlc");
	I("HAND_OVER : mov h.shim.bearer m.bearer");
	I("jmp SHIM");
	I("COUNTED : regadd state m.r_sent 1");
	I("jmp RAW");
}

/** RLC (TS 38.322 §6.2.2), PDCP (TS 38.323 §6.2.2), SDAP (TS 37.324 §6.2.2.2) of an SDU. */
static void
radio_headers(struct p4_program *p)
{
	I("jmpeq PDCP m.rlc_mode %u", P4_RLC_NONE);
	I("jmpeq RLC_AM12 m.rlc_mode %u", P4_RLC_AM12);
	I("jmpeq RLC_AM18 m.rlc_mode %u", P4_RLC_AM18);
	I("validate h.rlc_um");
	I("mov h.rlc_um.v 0");
	I("jmp PDCP");
	I("RLC_AM12 : validate h.rlc_am12");
	I("and m.rlc 0xfff");
	I("or m.rlc 0x8000");
	I("mov h.rlc_am12.v m.rlc");
	I("jmp PDCP");
	I("RLC_AM18 : validate h.rlc_am18");
	I("and m.rlc 0x3ffff");
	I("or m.rlc 0x800000");
	I("mov h.rlc_am18.v m.rlc");
	I("PDCP : jmpeq PDCP18 m.pdcp_sn_bits 18");
	I("validate h.pdcp12");
	I("and m.tx 0xfff");
	I("or m.tx 0x8000");
	I("mov h.pdcp12.v m.tx");
	I("jmp SDAP");
	I("PDCP18 : validate h.pdcp18");
	I("and m.tx 0x3ffff");
	I("or m.tx 0x800000");
	I("mov h.pdcp18.v m.tx");
	I("SDAP : jmpeq SEND m.sdap 0");
	I("validate h.sdap");
	I("mov h.sdap.v h.psc.rqi_qfi");
}

static void
header_processing(struct p4_program *p)
{
	I("NUMBER : regadd state m.r_tx 1");
	I("regrd m.rlc state m.r_rlc");
	I("regadd state m.r_rlc 1");
	I("regadd state m.r_bytes m.tpdu");
	I("regadd state m.r_packets 1");
	I("mov h.out_ipv4.total_len m.total");
	I("mov h.out_ipv4.identification m.tx");
	I("mov h.out_ipv4.checksum 0");
	I("ckadd h.out_ipv4.checksum h.out_ipv4");
	/* The instruction says 0xffff for 0: equal, but other octets. */
	I("jmpneq SUMMED h.out_ipv4.checksum 0xffff");
	I("mov h.out_ipv4.checksum 0");
	I("SUMMED : sub m.total 20");
	I("mov h.out_udp.length m.total");
	I("sub m.total 16");
	I("mov h.out_gtpu.length m.total");
	radio_headers(p);
	I("SEND : emit h.out_eth");
	I("emit h.out_ipv4");
	I("emit h.out_udp");
	I("emit h.out_gtpu");
	I("emit h.rlc_um");
	I("emit h.rlc_am12");
	I("emit h.rlc_am18");
	I("emit h.pdcp12");
	I("emit h.pdcp18");
	I("emit h.sdap");
	I("tx %u", P4_OUT_WIRE);
}

static void
emit_received(struct p4_program *p)
{
	I("emit h.ipv4");
	I("emit h.udp");
	I("emit h.gtpu");
	I("emit h.option");
	I("emit h.psc");
	I("tx m.out");
}

static void
to_host(struct p4_program *p, const struct p4_cfg *cfg)
{
	I("ASIDE : jmpeq REFUSED m.handed_in 1");
	I("mov h.shim.flags %u", P4_SHIM_ASIDE);
	I("mov h.shim.bearer 0");
	I("mov h.shim.tx_next 0");
	I("mov h.shim.rlc_tx_next 0");
	I("SHIM : validate h.shim");
	I("mov h.shim.zero 0");
	I("validate h.vf_eth");
	I("mov h.vf_eth.dst 0x%012llx", p4_mac(cfg->interfaces[0].mac));
	I("mov h.vf_eth.src 0x%012llx", p4_mac(cfg->interfaces[0].mac));
	I("mov h.vf_eth.type 0x%04x", P4_SHIM_TYPE);
	I("emit h.vf_eth");
	I("emit h.shim");
	I("emit h.eth");
	emit_received(p);
	I("RAW : emit h.eth");
	emit_received(p);
	I("REFUSED : tx %u", P4_OUT_REFUSED);
}

/**
 * What the host sends: to the wire, a release, or a packet for us to number. A received shim is
 * another header than the one we write: rte_swx would go on writing where the last one came.
 */
static void
from_host(struct p4_program *p, const struct p4_cfg *cfg)
{
	I("VF : jmpneq UNTOUCHED h.intrinsic.odd 0");
	I("jmplt UNTOUCHED h.intrinsic.bytes 14");
	I("extract h.eth");
	I("jmpeq RELEASE h.eth.type 0x%04x", P4_SHIM_TYPE);
	for (unsigned i = 0; i < cfg->nb_interfaces; i++)
		I("jmpeq HANDED_IN h.eth.dst 0x%012llx", p4_mac(cfg->interfaces[i].mac));
	I("emit h.eth");
	I("UNTOUCHED : tx %u", P4_OUT_WIRE);
	I("HANDED_IN : mov m.handed_in 1");
	I("jmplt REFUSED h.intrinsic.bytes %u", P4_PARSE_MIN);
	I("jmp PACKET");
	I("RELEASE : jmplt SHORT h.intrinsic.bytes %u", P4_SHIM_FRAME_BYTES);
	I("extract h.release");
	I("mov m.bearer h.release.bearer");
	I("table drb");
	I("jmpnh USED");
	I("jmpneq USED h.release.flags %u", P4_SHIM_RELEASE);
	I("regrd m.owner state m.r_owner");
	I("jmpneq USED m.owner %u", P4_OWNER_RETURNING);
	I("regrd m.t state m.r_sent");
	I("mov m.tx h.release.tx_next");
	I("add m.tx m.t");
	I("regwr state m.r_tx m.tx");
	I("mov m.rlc h.release.rlc_tx_next");
	I("add m.rlc m.t");
	I("and m.rlc 0xffffffff");
	I("regwr state m.r_rlc m.rlc");
	I("regwr state m.r_owner %u", P4_OWNER_NIC);
	I("USED : tx %u", P4_OUT_USED);
	I("SHORT : tx %u", P4_OUT_SHORT);
}

void
p4_program_make(struct p4_program *p, const struct p4_cfg *cfg)
{
	p->nb = 0;
	p->full = false;
	parser(p, cfg);
	offload_manager(p);
	header_processing(p);
	to_host(p, cfg);
	from_host(p, cfg);
}
