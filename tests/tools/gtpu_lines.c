/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Encodes and decodes GTP-U given as lines, so that other implementations can judge it. A line is
 *     gpdu teid=N [qfi=N ul=0|1 rqi=0|1] pdu=HEX
 *     psc teid=N qfi=N ul=0|1 [rqi= ppi= ts= sn= mbs= rx= tx= dld= uld= n3= d1=] pdu=HEX
 *     msg type=N teid=N seq=N [recovery= tdi= peer=HEX types=HEX spoc= time= private=HEX udp=]
 *     read HEX
 * `gpdu` uses the fast path, `psc` the general one. Out comes hexadecimal, for `read` what was
 * decoded, or `failed` and the error.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/gtpu_msg.h"

#define TEXT_MAX 8192

static const uint8_t understood[] = {GTPU_EXT_PDU_SESSION_CONTAINER, GTPU_EXT_UDP_PORT};

static const char *
value(const char *line, const char *key)
{
	char name[16];
	const char *at;

	snprintf(name, sizeof(name), " %s=", key);
	at = strstr(line, name);
	return at ? at + strlen(name) : NULL;
}

static bool
number(const char *line, const char *key, uint64_t *v)
{
	const char *at = value(line, key);

	*v = at ? strtoull(at, NULL, 0) : 0;
	return at != NULL;
}

static uint64_t
get(const char *line, const char *key)
{
	uint64_t v;

	number(line, key, &v);
	return v;
}

static int
unhex(const char *text, uint8_t *to)
{
	unsigned byte;
	int n = 0;

	for (; text && sscanf(text + 2 * n, "%2x", &byte) == 1; n++)
		to[n] = (uint8_t)byte;
	return n;
}

static void
print_hex(const uint8_t *p, int n)
{
	if (n < 0)
		printf("failed %d", n);
	for (int i = 0; i < n; i++)
		printf("%02x", p[i]);
}

static int
gpdu(const char *line, uint8_t *p)
{
	uint64_t qfi;
	int hdr = number(line, "qfi", &qfi) ? GTPU_HDR_PSC_BYTES : GTPU_HDR_BYTES;
	int n = unhex(value(line, "pdu"), p + hdr);
	uint32_t teid = (uint32_t)get(line, "teid");

	if (hdr == GTPU_HDR_BYTES)
		gtpu_gpdu_put(p, teid, (uint16_t)n);
	else
		gtpu_gpdu_psc_put(p, teid, (uint16_t)n, get(line, "ul") ? PSC_UL : PSC_DL,
				  (uint8_t)qfi, get(line, "rqi"));
	return hdr + n;
}

static int
psc(const char *line, uint8_t *p)
{
	struct psc f = {.type = get(line, "ul") ? PSC_UL : PSC_DL,
			.qfi = (uint8_t)get(line, "qfi"),
			.rqi = get(line, "rqi"),
			.dl_received_ts = get(line, "rx"),
			.ul_sending_ts = get(line, "tx")};
	struct gtpu_hdr h = {.type = GTPU_G_PDU,
			     .e = true,
			     .teid = (uint32_t)get(line, "teid"),
			     .next = GTPU_EXT_PDU_SESSION_CONTAINER};
	struct gtpu_ext ext = {.type = GTPU_EXT_PDU_SESSION_CONTAINER};
	uint8_t frame[PSC_BYTES_MAX];
	uint64_t v;
	int n, at;

	f.ppp = number(line, "ppi", &v);
	f.ppi = (uint8_t)v;
	f.qmp = number(line, "ts", &f.dl_sending_ts);
	f.snp = number(line, "sn", &v);
	f.sn = (uint32_t)v;
	f.msnp = number(line, "mbs", &v);
	f.mbs_sn = (uint32_t)v;
	f.has_dl_delay = number(line, "dld", &v);
	f.dl_delay = (uint32_t)v;
	f.has_ul_delay = number(line, "uld", &v);
	f.ul_delay = (uint32_t)v;
	f.has_n3_n9_delay = number(line, "n3", &v);
	f.n3_n9_delay = (uint32_t)v;
	f.has_d1 = number(line, "d1", &v);
	f.d1 = v;
	n = psc_encode(frame, sizeof(frame), &f);
	if (n < 0)
		return n;
	ext.bytes = (uint16_t)n;
	ext.content = frame;
	n = unhex(value(line, "pdu"), p + GTPU_HDR_OPT_BYTES + ext.bytes + 2);
	h.length = (uint16_t)(GTPU_HDR_OPT_BYTES - GTPU_HDR_BYTES + ext.bytes + 2 + n);
	at = gtpu_hdr_encode(p, TEXT_MAX, &h);
	return at + gtpu_ext_encode(p + at, TEXT_MAX, &ext, GTPU_EXT_NONE) + n;
}

static int
msg(const char *line, uint8_t *p)
{
	static uint8_t types[TEXT_MAX], private[TEXT_MAX];
	struct gtpu_msg m = {.hdr = {.type = (uint8_t)get(line, "type"),
				     .teid = (uint32_t)get(line, "teid"),
				     .seq = (uint16_t)get(line, "seq")}};
	struct gtpu_ies *ies = &m.ies;
	static uint8_t peer[TEXT_MAX];
	uint64_t v;
	unsigned has = 0;

	has |= number(line, "recovery", &v) ? GTPU_HAS_RECOVERY : 0;
	ies->restart_counter = (uint8_t)v;
	has |= number(line, "tdi", &v) ? GTPU_HAS_TEID_DATA_I : 0;
	ies->teid = (uint32_t)v;
	has |= value(line, "peer") ? GTPU_HAS_PEER_ADDRESS : 0;
	ies->peer_bytes = (uint8_t)unhex(value(line, "peer"), peer);
	memcpy(ies->peer, peer, sizeof(ies->peer));
	has |= value(line, "types") ? GTPU_HAS_EXT_HEADER_TYPES : 0;
	ies->nb_ext_types = (uint8_t)unhex(value(line, "types"), types);
	ies->ext_types = types;
	has |= number(line, "spoc", &v) ? GTPU_HAS_TUNNEL_STATUS : 0;
	ies->spoc = v;
	has |= number(line, "time", &v) ? GTPU_HAS_RECOVERY_TIME_STAMP : 0;
	ies->recovery_time_stamp = (uint32_t)v;
	has |= value(line, "private") ? GTPU_HAS_PRIVATE_EXTENSION : 0;
	ies->private_bytes = (uint16_t)unhex(value(line, "private"), private);
	ies->private_value = private;
	ies->private_id = (uint16_t)get(line, "id");
	ies->present = (uint8_t)has;
	m.chain.has_udp_port = number(line, "udp", &v);
	m.chain.udp_port = (uint16_t)v;
	return gtpu_msg_encode(p, TEXT_MAX, &m);
}

static void
print_psc(const struct gtpu_ext *ext)
{
	struct psc f;
	int n = psc_decode(ext->content, ext->bytes, &f);

	if (n < 0) {
		printf(" psc=failed");
		return;
	}
	printf(" ul=%d qfi=%u", f.type == PSC_UL, f.qfi);
	if (f.type == PSC_DL)
		printf(" rqi=%d", f.rqi);
	if (f.ppp)
		printf(" ppi=%u", f.ppi);
	if (f.qmp)
		printf(" ts=%" PRIu64, f.dl_sending_ts);
	if (f.qmp && f.type == PSC_UL)
		printf(" rx=%" PRIu64 " tx=%" PRIu64, f.dl_received_ts, f.ul_sending_ts);
	if (f.has_dl_delay)
		printf(" dld=%u", f.dl_delay);
	if (f.has_ul_delay)
		printf(" uld=%u", f.ul_delay);
	if (f.snp)
		printf(" sn=%u", f.sn);
	if (f.has_n3_n9_delay)
		printf(" n3=%u", f.n3_n9_delay);
	if (f.msnp)
		printf(" mbs=%u", f.mbs_sn);
}

static void
print_ies(const struct gtpu_ies *ies)
{
	if (ies->present & GTPU_HAS_RECOVERY)
		printf(" recovery=%u", ies->restart_counter);
	if (ies->present & GTPU_HAS_TEID_DATA_I)
		printf(" tdi=%u", ies->teid);
	if (ies->present & GTPU_HAS_PEER_ADDRESS) {
		printf(" peer=");
		print_hex(ies->peer, ies->peer_bytes);
	}
	if (ies->present & GTPU_HAS_EXT_HEADER_TYPES) {
		printf(" types=");
		print_hex(ies->ext_types, ies->nb_ext_types);
	}
}

static void
read_message(const uint8_t *p, size_t len)
{
	struct gtpu_hdr h;
	struct gtpu_chain chain;
	struct gtpu_gpdu g;
	struct gtpu_msg m;
	int n = gtpu_hdr_decode(p, len, &h);

	if (n >= 0)
		n = gtpu_chain_decode(p, &h, GTPU_ENDPOINT, understood, 2, &chain);
	if (n >= 0 && h.type == GTPU_G_PDU)
		n = gtpu_gpdu_decode(p, len, GTPU_ENDPOINT, understood, 2, &g);
	else if (n >= 0)
		n = gtpu_msg_decode(p, len, GTPU_ENDPOINT, understood, 2, &m);
	if (n < 0) {
		printf("failed %d\n", n);
		return;
	}
	printf("type=%u teid=%u", h.type, h.teid);
	if (h.s)
		printf(" seq=%u", h.seq);
	if (chain.unknown)
		printf(" unknown=%u", chain.unknown);
	if (chain.has_udp_port)
		printf(" udp=%u", chain.udp_port);
	if (chain.has_psc)
		print_psc(&chain.psc);
	if (h.type == GTPU_G_PDU) {
		printf(" pdu=");
		print_hex(p + g.hdr_bytes, g.tpdu_bytes);
	} else {
		print_ies(&m.ies);
	}
	putchar('\n');
}

int
main(void)
{
	static char text[2 * TEXT_MAX];
	static uint8_t p[2 * TEXT_MAX];

	while (fgets(text, sizeof(text), stdin) != NULL) {
		int n;

		if (strncmp(text, "read ", 5) == 0) {
			n = unhex(text + 5, p);
			read_message(p, (size_t)n);
			continue;
		}
		if (strncmp(text, "gpdu ", 5) == 0)
			n = gpdu(text, p);
		else if (strncmp(text, "psc ", 4) == 0)
			n = psc(text, p);
		else if (strncmp(text, "msg ", 4) == 0)
			n = msg(text, p);
		else
			return fprintf(stderr, "not understood: %.60s\n", text), 1;
		print_hex(p, n);
		putchar('\n');
	}
	return 0;
}
