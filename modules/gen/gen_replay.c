/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>
#include <rte_hash_crc.h>

#include "codec/ip.h"
#include "modules/gen/gen_replay.h"
#include "modules/gen/gen_wire.h"

#define REACH 1024 /* packets of the file searched each way */

/** @return where IP starts in a frame of this link type, or -1 when there is none. */
static int
ip_offset(int link, const uint8_t *p, uint32_t len)
{
	uint32_t type_at;

	switch (link) {
	case DLT_RAW:
	case DLT_IPV4:
	case DLT_IPV6:
		return 0;
	case DLT_EN10MB:
		type_at = ETH_HDR_BYTES - 2;
		break;
	case DLT_LINUX_SLL:
		type_at = 14;
		break;
	default:
		return -1;
	}
	if (len < type_at + 2)
		return -1;
	return ip_get16(p + type_at) == ETH_TYPE_IP4 || ip_get16(p + type_at) == ETH_TYPE_IP6
		       ? (int)type_at + 2
		       : -1;
}

/**
 * Length by the IP header alone: captures on a sending host hold checksums that only its NIC
 * would have filled in, so those are not looked at.
 * @return B, 0 when the packet is not whole
 */
static uint32_t
ip_packet_bytes(const uint8_t *p, uint32_t len)
{
	uint32_t bytes = 0;

	if (len >= IP4_HDR_BYTES && p[0] >> 4 == 4)
		bytes = ip_get16(p + 2) >= IP4_HDR_BYTES ? ip_get16(p + 2) : 0;
	else if (len >= IP6_HDR_BYTES && p[0] >> 4 == 6)
		bytes = IP6_HDR_BYTES + (uint32_t)ip_get16(p + 4);
	return bytes <= len ? bytes : 0;
}

/** Makes room for one more packet in every table. */
static bool
grow(struct gen_replay *r, uint64_t used, uint64_t *room, uint32_t bytes)
{
	uint32_t n = r->nb_packets;

	if (r->bytes == NULL || used + bytes + GEN_BLOCK > *room) {
		*room = (*room + bytes + GEN_BLOCK) * 2;
		uint8_t *p = realloc(r->bytes, *room);

		if (p == NULL)
			return false;
		r->bytes = p;
	}
	if ((n & (n - 1)) == 0) {
		uint32_t next = n ? n * 2 : 1;
		uint64_t *at = realloc(r->at, next * sizeof(*r->at));
		r->at = at ? at : r->at;
		uint64_t *keys = realloc(r->keys, next * sizeof(*r->keys));
		r->keys = keys ? keys : r->keys;
		uint16_t *sizes = realloc(r->sizes, next * sizeof(*r->sizes));
		r->sizes = sizes ? sizes : r->sizes;
		return at && keys && sizes;
	}
	return true;
}

static int
load_packets(struct gen_replay *r, pcap_t *file, uint16_t max_bytes)
{
	uint64_t used = 0, room = 0;
	struct pcap_pkthdr *hdr;
	const uint8_t *p;
	int rc;

	while ((rc = pcap_next_ex(file, &hdr, &p)) == 1) {
		int offset = ip_offset(pcap_datalink(file), p, hdr->caplen);
		uint32_t bytes =
			offset < 0 ? 0
				   : ip_packet_bytes(p + offset, hdr->caplen - (uint32_t)offset);

		if (bytes == 0 || bytes > max_bytes) {
			r->nb_skipped++;
			continue;
		}
		if (!grow(r, used, &room, bytes))
			return -ENOMEM;
		memcpy(r->bytes + used, p + offset, bytes);
		r->at[r->nb_packets] = used;
		r->sizes[r->nb_packets] = (uint16_t)bytes;
		r->keys[r->nb_packets] =
			gen_replay_key(bytes, gen_replay_crc(0, p + offset, bytes));
		r->nb_packets++;
		used += bytes;
	}
	return rc == PCAP_ERROR ? -EIO : 0;
}

int
gen_replay_load(struct gen_replay *r, const char *path, uint16_t max_bytes, struct ap_error *err)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *file = pcap_open_offline(path, why);
	int rc;

	*r = (struct gen_replay){0};
	if (file == NULL)
		return ap_error_set(err, "replay: %s", why);
	rc = load_packets(r, file, max_bytes);
	if (rc == -EIO)
		rc = ap_error_set(err, "replay: %s: %s", path, pcap_geterr(file));
	else if (rc == -ENOMEM)
		ap_error_set(err, "replay: %s: no memory for its packets", path);
	else if (r->nb_packets == 0)
		rc = ap_error_set(err,
				  "replay: %s: none of its %u frames is a whole IP packet of up "
				  "to %u B on a known link type",
				  path, r->nb_skipped, max_bytes);
	pcap_close(file);
	if (rc < 0)
		gen_replay_free(r);
	return rc;
}

void
gen_replay_free(struct gen_replay *r)
{
	free(r->bytes);
	free(r->at);
	free(r->sizes);
	free(r->keys);
	*r = (struct gen_replay){0};
}

uint32_t
gen_replay_crc(uint32_t crc, const uint8_t *p, uint32_t len)
{
	/* rte_hash_crc() reads words where they lie; packets are not aligned. */
	for (; len >= sizeof(uint64_t); len -= sizeof(uint64_t), p += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, p, sizeof(word));
		crc = gen_crc(crc, word);
	}
	for (; len > 0; len--)
		crc = rte_hash_crc_1byte(*p++, crc);
	return crc;
}

int
gen_replay_find(const struct gen_replay *r, uint64_t key, uint64_t next, uint64_t *seq)
{
	/* The file repeats: beyond half of it, ahead and behind are the same packets. */
	uint32_t ahead = RTE_MIN((r->nb_packets + 1) / 2, (uint32_t)REACH);
	uint64_t behind = RTE_MIN((uint64_t)RTE_MIN(r->nb_packets / 2, (uint32_t)REACH), next);

	for (uint64_t k = 0; k < ahead; k++) {
		*seq = next + k;
		if (r->keys[*seq % r->nb_packets] == key)
			return 0;
	}
	for (uint64_t k = 1; k <= behind; k++) {
		*seq = next - k;
		if (r->keys[*seq % r->nb_packets] == key)
			return 0;
	}
	return -1;
}
