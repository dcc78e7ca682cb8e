/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_byteorder.h>

#include "bench/gnb_frames.h"
#include "bench/gnb_wire.h"
#include "codec/be.h"
#include "codec/gtpu.h"
#include "codec/ip.h"
#include "modules/gnb/gnb_ctx.h"

#define MAGIC 0x47475041U /* "APGG", the direction added */
#define TEST_BYTES 32     /* magic, session, sequence (64 bits), time, number, CRC-32C, 0 */
#define IP ETH_HDR_BYTES
#define UDP (IP + IP4_HDR_BYTES)
#define GTPU (UDP + UDP_HDR_BYTES)
#define RADIO (GTPU + GTPU_HDR_BYTES) /* RLC 1, PDCP 3, SDAP 1 */
#define N3_HEAD (GTPU + GTPU_HDR_PSC_BYTES)
#define F1_HEAD (RADIO + 5)
#define SN_MAX 0x3FFFFU

#define IP_ID 4
#define IP_SUM 10
#define IP_SRC 12
#define IP_DST 16

/** Ethernet, IPv4, UDP with `behind` octets; addresses in network order, 0: left to packets. */
static void
outer_put(uint8_t *p, const uint8_t *to, const uint8_t *from, uint32_t src, uint32_t dst,
	  unsigned behind)
{
	memcpy(p, to, 6);
	memcpy(p + 6, from, 6);
	be16_put(p + 12, ETH_TYPE_IP4);
	memset(p + IP, 0, IP4_HDR_BYTES);
	p[IP] = 0x45;
	be16_put(p + IP + 2, (uint16_t)(IP4_HDR_BYTES + UDP_HDR_BYTES + behind));
	p[IP + 8] = 64;
	p[IP + 9] = IP_PROTO_UDP;
	memcpy(p + IP + IP_SRC, &src, 4);
	memcpy(p + IP + IP_DST, &dst, 4);
	be16_put(p + UDP, GTPU_PORT);
	be16_put(p + UDP + 2, GTPU_PORT);
	be16_put(p + UDP + 4, (uint16_t)(UDP_HDR_BYTES + behind));
	be16_put(p + UDP + 6, 0);
}

static void
n3_put(const struct upf_wire *w, uint8_t *p, bool up)
{
	const struct upf_wire_cfg *c = &w->cfg;

	outer_put(p, up ? c->gnb_mac : c->n3_mac, up ? c->n3_mac : c->gnb_mac, up ? c->n3_ip : 0,
		  up ? 0 : c->n3_ip, GTPU_HDR_PSC_BYTES + c->bytes);
	gtpu_gpdu_psc_put(p + GTPU, 0, c->bytes, up ? PSC_UL : PSC_DL, UPF_WIRE_QFI, false);
}

/** The SNs are left to packets. */
static void
f1_put(const struct upf_wire *w, uint8_t *p, bool up)
{
	const struct upf_wire_cfg *c = &w->cfg;

	outer_put(p, up ? c->n6_mac : c->net_mac, up ? c->net_mac : c->n6_mac, up ? 0 : c->f1_ip,
		  up ? c->f1_ip : 0, F1_HEAD - GTPU + c->bytes);
	be16_put(p + GTPU, 0x30 << 8 | GTPU_G_PDU);
	be16_put(p + GTPU + 2, (uint16_t)(F1_HEAD - RADIO + c->bytes));
	be32_put(p + GTPU + 4, 0);
	be32_put(p + RADIO, 0x00800000);
	p[RADIO + 4] = (up ? 0x80 : 0) | UPF_WIRE_QFI;
}

/** What differs: Identification, checksum, the peer's address, TEID, SN. */
static void
mask_init(uint8_t *mask, unsigned bytes, bool f1)
{
	memset(mask, 0xFF, bytes);
	memset(mask + IP + IP_ID, 0, 2);
	memset(mask + IP + IP_SUM, 0, 2);
	memset(mask + IP + IP_DST, 0, 4);
	memset(mask + GTPU + 4, 0, 4);
	if (f1) {
		mask[RADIO + 1] = 0xFC;
		memset(mask + RADIO + 2, 0, 2);
	}
}

static uint32_t
peer(const struct upf_wire *w, bool f1, uint32_t i)
{
	return (f1 ? w->cfg.server_ip : w->cfg.gnb_ip) + rte_cpu_to_be_32(i % GNB_WIRE_PEERS);
}

static uint32_t
crc(const struct upf_wire *w, const uint64_t word[3])
{
	return gen_crc(gen_crc(gen_crc(w->seed, word[0]), word[1]), word[2]);
}

static void
sn_put(uint8_t *pdcp, uint32_t n)
{
	pdcp[0] = (uint8_t)(0x80 | (n >> 16 & 3));
	be16_put(pdcp + 1, (uint16_t)n);
}

static void
build(const struct upf_wire *w, enum upf_wire_direction d, uint8_t *p, uint32_t i,
      const struct upf_wire_session *s, uint64_t seq, uint32_t now)
{
	const bool up = d == UPF_WIRE_UP;
	const uint32_t n = s->octets[d], from = peer(w, up, i);
	const uint64_t word[3] = {(MAGIC + d) | (uint64_t)i << 32, seq, now | (uint64_t)n << 32};
	const uint64_t check = crc(w, word);
	const uint16_t sum = (uint16_t)~ip_sum_fold(w->ip_sum[d] + from);
	uint8_t *test = p + w->head_bytes[d];
	uint32_t teid = rte_be_to_cpu_32(s->teid);

	gen_copy(p, w->head[d], w->head_bytes[d]);
	gen_copy(test + TEST_BYTES, upf_wire_payload(w, seq), w->cfg.bytes - TEST_BYTES);
	memcpy(p + IP + IP_SRC, &from, 4);
	memcpy(p + IP + IP_SUM, &sum, 2);
	if (up) {
		teid = gnb_teid_with_slot(teid, 0);
		sn_put(p + RADIO + 1, n);
	}
	be32_put(p + GTPU + 4, teid);
	memcpy(test, word, sizeof(word));
	memcpy(test + sizeof(word), &check, sizeof(check));
}

static enum upf_wire_verdict
read_test(const struct upf_wire *w, enum upf_wire_direction d, const uint8_t *p, uint32_t bytes,
	  uint32_t n, struct upf_wire_test *t)
{
	uint64_t word[4];

	if (bytes < w->head_bytes[!d] + (uint32_t)TEST_BYTES)
		return UPF_WIRE_FOREIGN;
	memcpy(word, p + w->head_bytes[!d], TEST_BYTES);
	if ((uint32_t)word[0] != MAGIC + d)
		return UPF_WIRE_FOREIGN;
	t->session = (uint32_t)(word[0] >> 32);
	t->seq = word[1];
	t->now = (uint32_t)word[2];
	return word[3] == crc(w, word) && bytes == w->out_bytes[d] && t->session < n
		       ? UPF_WIRE_GOOD
		       : UPF_WIRE_CORRUPTED;
}

static enum upf_wire_verdict
check(const struct upf_wire *w, enum upf_wire_direction d, const uint8_t *p,
      const struct upf_wire_test *t, const struct upf_wire_session *s)
{
	const bool up = d == UPF_WIRE_UP;
	const uint8_t *test = p + w->head_bytes[!d];
	const uint32_t teid = up ? gnb_wire_upf_teid(t->session) : gnb_wire_du_teid(t->session);
	const uint32_t to = peer(w, !up, t->session);
	uint64_t word;
	bool good;

	(void)s;
	memcpy(&word, test + 16, sizeof(word));
	good = upf_wire_head_good(p, w->want[d], w->mask[d], w->head_bytes[!d]) &&
	       memcmp(p + IP + IP_DST, &to, 4) == 0 && be32_get(p + GTPU + 4) == teid &&
	       ip_sum_fold(ip_sum_words(0, p + IP, 5)) == 0xFFFF &&
	       gen_same(test + TEST_BYTES, upf_wire_payload(w, t->seq), w->cfg.bytes - TEST_BYTES);
	/* The session's n-th packet has COUNT n, which IPv4 Identification tells too. */
	if (!up && good)
		good = (be32_get(p + RADIO) & SN_MAX) == (word >> 32 & SN_MAX) &&
		       be16_get(p + IP + IP_ID) == (uint16_t)(word >> 32);
	return good ? UPF_WIRE_GOOD : UPF_WIRE_CORRUPTED;
}

void
gnb_frames_init(struct upf_wire *w, const struct upf_wire_cfg *cfg)
{
	static const struct upf_wire_ops ops = {gnb_frames_init, build, read_test, check};

	upf_wire_begin(w, cfg, &ops);
	w->step = 1;
	n3_put(w, w->head[UPF_WIRE_DOWN], false);
	f1_put(w, w->head[UPF_WIRE_UP], true);
	f1_put(w, w->want[UPF_WIRE_DOWN], false);
	n3_put(w, w->want[UPF_WIRE_UP], true);
	mask_init(w->mask[UPF_WIRE_DOWN], F1_HEAD, true);
	mask_init(w->mask[UPF_WIRE_UP], N3_HEAD, false);
	w->head_bytes[UPF_WIRE_DOWN] = N3_HEAD;
	w->head_bytes[UPF_WIRE_UP] = F1_HEAD;
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		w->frame_bytes[d] = w->head_bytes[d] + w->cfg.bytes;
		w->out_bytes[d] = w->head_bytes[!d] + w->cfg.bytes;
		w->ip_sum[d] = ip_sum_words(0, w->head[d] + IP, 5);
	}
}
