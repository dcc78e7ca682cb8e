/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "codec/gtpu_msg.h"

#define TLV 0x80
#define TLV_HDR_BYTES 3
#define PRIVATE_ID_BYTES 2
#define SPOC 0x01

struct writer {
	uint8_t *p;
	size_t at, room;
	bool ok;
};

/* Room for an IE with `n` octets of value, its type and length written; NULL when there is none. */
static uint8_t *
ie_open(struct writer *w, uint8_t type, size_t n)
{
	size_t head = type & TLV ? TLV_HDR_BYTES : 1;
	uint8_t *p = w->p + w->at;

	if (!w->ok || w->room - w->at < head + n) {
		w->ok = false;
		return NULL;
	}
	p[0] = type;
	if (type & TLV)
		be16_put(p + 1, (uint16_t)n);
	w->at += head + n;
	return p + head;
}

static void
ie_bytes(struct writer *w, uint8_t type, const uint8_t *value, size_t n)
{
	uint8_t *p = ie_open(w, type, n);

	if (p && n > 0)
		memcpy(p, value, n);
}

static void
ie_u8(struct writer *w, uint8_t type, uint8_t value)
{
	ie_bytes(w, type, &value, 1);
}

static void
ie_u32(struct writer *w, uint8_t type, uint32_t value)
{
	uint8_t *p = ie_open(w, type, 4);

	if (p)
		be32_put(p, value);
}

static void
ie_private(struct writer *w, const struct gtpu_ies *ies)
{
	uint8_t *p = ie_open(w, GTPU_IE_PRIVATE_EXTENSION,
			     PRIVATE_ID_BYTES + (size_t)ies->private_bytes);

	if (!p)
		return;
	be16_put(p, ies->private_id);
	if (ies->private_bytes > 0)
		memcpy(p + PRIVATE_ID_BYTES, ies->private_value, ies->private_bytes);
}

int
gtpu_ies_encode(uint8_t *p, size_t room, const struct gtpu_ies *ies)
{
	struct writer w = {.p = p, .room = room, .ok = true};
	uint8_t has = ies->present;

	if (has & GTPU_HAS_PEER_ADDRESS && ies->peer_bytes != 4 && ies->peer_bytes != 16)
		return -CODEC_CONTRADICTION;
	if (has & GTPU_HAS_PRIVATE_EXTENSION && ies->private_bytes > UINT16_MAX - PRIVATE_ID_BYTES)
		return -CODEC_CONTRADICTION;
	if (has & GTPU_HAS_RECOVERY)
		ie_u8(&w, GTPU_IE_RECOVERY, ies->restart_counter);
	if (has & GTPU_HAS_TEID_DATA_I)
		ie_u32(&w, GTPU_IE_TEID_DATA_I, ies->teid);
	if (has & GTPU_HAS_PEER_ADDRESS)
		ie_bytes(&w, GTPU_IE_PEER_ADDRESS, ies->peer, ies->peer_bytes);
	/* The one IE whose length has a single octet, figure 8.5-1; an empty list has two, or a
	 * reader that knows both forms would take what follows for the second. */
	if (has & GTPU_HAS_EXT_HEADER_TYPES && ies->nb_ext_types == 0) {
		ie_open(&w, GTPU_IE_EXT_HEADER_TYPES, 0);
	} else if (has & GTPU_HAS_EXT_HEADER_TYPES) {
		if (!w.ok || room - w.at < 2U + ies->nb_ext_types)
			return -CODEC_SHORT;
		p[w.at] = GTPU_IE_EXT_HEADER_TYPES;
		p[w.at + 1] = ies->nb_ext_types;
		memcpy(p + w.at + 2, ies->ext_types, ies->nb_ext_types);
		w.at += 2U + ies->nb_ext_types;
	}
	if (has & GTPU_HAS_TUNNEL_STATUS)
		ie_u8(&w, GTPU_IE_TUNNEL_STATUS, ies->spoc ? SPOC : 0);
	if (has & GTPU_HAS_RECOVERY_TIME_STAMP)
		ie_u32(&w, GTPU_IE_RECOVERY_TIME_STAMP, ies->recovery_time_stamp);
	if (has & GTPU_HAS_PRIVATE_EXTENSION)
		ie_private(&w, ies);
	return w.ok ? (int)w.at : -CODEC_SHORT;
}

static uint8_t
presence(uint8_t type)
{
	switch (type) {
	case GTPU_IE_RECOVERY:
		return GTPU_HAS_RECOVERY;
	case GTPU_IE_TEID_DATA_I:
		return GTPU_HAS_TEID_DATA_I;
	case GTPU_IE_PEER_ADDRESS:
		return GTPU_HAS_PEER_ADDRESS;
	case GTPU_IE_EXT_HEADER_TYPES:
		return GTPU_HAS_EXT_HEADER_TYPES;
	case GTPU_IE_TUNNEL_STATUS:
		return GTPU_HAS_TUNNEL_STATUS;
	case GTPU_IE_RECOVERY_TIME_STAMP:
		return GTPU_HAS_RECOVERY_TIME_STAMP;
	case GTPU_IE_PRIVATE_EXTENSION:
		return GTPU_HAS_PRIVATE_EXTENSION;
	default:
		return 0;
	}
}

/*
 * Octets of type and length of the IE at `p`, and of its value. Figure 8.5-1 gives the Extension
 * Header Type List a length of one octet. Some senders write two: the first is then 0, which is
 * no length of a list that has a purpose. So the value never exceeds 255 octets.
 */
static int
ie_size(const uint8_t *p, size_t left, size_t *value)
{
	if (p[0] == GTPU_IE_RECOVERY || p[0] == GTPU_IE_TEID_DATA_I) {
		*value = p[0] == GTPU_IE_RECOVERY ? 1 : 4;
		return 1;
	}
	if (!(p[0] & TLV))
		return -CODEC_UNSUPPORTED;
	if (p[0] == GTPU_IE_EXT_HEADER_TYPES && left >= 2 && (p[1] != 0 || left == 2)) {
		*value = p[1];
		return 2;
	}
	if (left < TLV_HDR_BYTES)
		return -CODEC_SHORT;
	*value = be16_get(p + 1);
	return TLV_HDR_BYTES;
}

static int
ie_take(struct gtpu_ies *ies, uint8_t type, const uint8_t *v, size_t n)
{
	switch (type) {
	case GTPU_IE_RECOVERY:
		ies->restart_counter = v[0];
		return 0;
	case GTPU_IE_TEID_DATA_I:
		ies->teid = be32_get(v);
		return 0;
	case GTPU_IE_PEER_ADDRESS:
		if (n != 4 && n != 16)
			return -CODEC_CONTRADICTION;
		ies->peer_bytes = (uint8_t)n;
		memcpy(ies->peer, v, n);
		return 0;
	case GTPU_IE_EXT_HEADER_TYPES:
		ies->nb_ext_types = (uint8_t)n;
		ies->ext_types = v;
		return 0;
	case GTPU_IE_TUNNEL_STATUS:
		if (n < 1)
			return -CODEC_CONTRADICTION;
		ies->spoc = v[0] & SPOC;
		return 0;
	case GTPU_IE_RECOVERY_TIME_STAMP:
		if (n < 4)
			return -CODEC_CONTRADICTION;
		ies->recovery_time_stamp = be32_get(v);
		return 0;
	default:
		if (n < PRIVATE_ID_BYTES)
			return -CODEC_CONTRADICTION;
		ies->private_id = be16_get(v);
		ies->private_bytes = (uint16_t)(n - PRIVATE_ID_BYTES);
		ies->private_value = v + PRIVATE_ID_BYTES;
		return 0;
	}
}

int
gtpu_ies_decode(const uint8_t *p, size_t n, struct gtpu_ies *ies)
{
	memset(ies, 0, sizeof(*ies));
	for (size_t at = 0, value = 0; at < n; at += value) {
		uint8_t type = p[at], has = presence(type);
		int head = ie_size(p + at, n - at, &value);

		if (head < 0)
			return head;
		at += (size_t)head;
		if (n - at < value)
			return -CODEC_SHORT;
		if (!has || ies->present & has)
			continue;
		head = ie_take(ies, type, p + at, value);
		if (head < 0)
			return head;
		ies->present |= has;
	}
	return (int)n;
}

/* IEs a message must have, §7.2 and §7.3; -1 for no signalling message. */
static int
mandatory(uint8_t type)
{
	switch (type) {
	case GTPU_ECHO_REQUEST:
	case GTPU_END_MARKER:
		return 0;
	case GTPU_ECHO_RESPONSE:
		return GTPU_HAS_RECOVERY;
	case GTPU_ERROR_INDICATION:
		return GTPU_HAS_TEID_DATA_I | GTPU_HAS_PEER_ADDRESS;
	case GTPU_SUPPORTED_EXTENSION_HEADERS:
		return GTPU_HAS_EXT_HEADER_TYPES;
	case GTPU_TUNNEL_STATUS:
		return GTPU_HAS_TUNNEL_STATUS;
	default:
		return -1;
	}
}

/* Extension headers of a message to be written. */
static int
put_exts(uint8_t *p, size_t room, const struct gtpu_msg *m)
{
	uint8_t port[2];
	const struct gtpu_ext udp = {
		.type = GTPU_EXT_UDP_PORT, .bytes = sizeof(port), .content = port};
	int at = 0, n;

	if (m->chain.has_udp_port) {
		be16_put(port, m->chain.udp_port);
		n = gtpu_ext_encode(p, room, &udp,
				    m->chain.has_psc ? GTPU_EXT_PDU_SESSION_CONTAINER
						     : GTPU_EXT_NONE);
		if (n < 0)
			return n;
		at += n;
	}
	if (m->chain.has_psc) {
		n = gtpu_ext_encode(p + at, room - (size_t)at, &m->chain.psc, GTPU_EXT_NONE);
		if (n < 0)
			return n;
		at += n;
	}
	return at;
}

int
gtpu_msg_encode(uint8_t *p, size_t room, const struct gtpu_msg *m)
{
	uint8_t type = m->hdr.type;
	int must = mandatory(type), at, n;
	bool of_tunnel = type == GTPU_END_MARKER || type == GTPU_TUNNEL_STATUS;
	struct gtpu_hdr h = {
		.type = type,
		.s = !of_tunnel,
		.e = m->chain.has_udp_port || m->chain.has_psc,
		.seq = m->hdr.seq,
		.teid = of_tunnel ? m->hdr.teid : 0,
		.next = m->chain.has_udp_port ? GTPU_EXT_UDP_PORT : GTPU_EXT_PDU_SESSION_CONTAINER,
	};

	if (must < 0)
		return -CODEC_UNSUPPORTED;
	if ((m->ies.present & must) != must)
		return -CODEC_CONTRADICTION;
	at = gtpu_hdr_encode(p, room, &h);
	if (at < 0)
		return at;
	n = put_exts(p + at, room - (size_t)at, m);
	if (n < 0)
		return n;
	at += n;
	n = gtpu_ies_encode(p + at, room - (size_t)at, &m->ies);
	if (n < 0)
		return n;
	at += n;
	if (at - GTPU_HDR_BYTES > UINT16_MAX)
		return -CODEC_CONTRADICTION;
	be16_put(p + 2, (uint16_t)(at - GTPU_HDR_BYTES));
	return at;
}

int
gtpu_msg_decode(const uint8_t *p, size_t len, enum gtpu_reader reader, const uint8_t *understood,
		unsigned nb, struct gtpu_msg *m)
{
	int n = gtpu_hdr_decode(p, len, &m->hdr), must = mandatory(m->hdr.type);
	size_t end = GTPU_HDR_BYTES + (size_t)m->hdr.length;

	if (n < 0)
		return n;
	if (must < 0)
		return -CODEC_UNSUPPORTED;
	memset(&m->ies, 0, sizeof(m->ies));
	n = gtpu_chain_decode(p, &m->hdr, reader, understood, nb, &m->chain);
	if (n < 0)
		return n;
	if (m->chain.unknown)
		return (int)end;
	n = gtpu_ies_decode(p + n, end - (size_t)n, &m->ies);
	if (n < 0)
		return n;
	return (m->ies.present & must) == must ? (int)end : -CODEC_CONTRADICTION;
}
