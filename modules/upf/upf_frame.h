/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_FRAME_H
#define AIRPATH_UPF_FRAME_H

/** Ethernet frames of PDU sessions: without preamble and FCS (TS 23.501 §5.6.10.2). Pure. */

#include <stdbool.h>
#include <stdint.h>

#include "codec/be.h"

#define UPF_FRAME_HDR 14
#define UPF_FRAME_MIN 16 /**< with a tag's TCI, which tells addresses apart */
#define UPF_TAG_S 0x88A8 /**< IEEE 802.1Q S-TAG */
#define UPF_TAG_C 0x8100 /**< C-TAG */

/** A frame's header, in host order. */
struct upf_frame {
	uint64_t dst, src; /**< 48 bits */
	uint16_t type;     /**< EtherType; below 0x0600: length of an LLC frame */
	uint16_t at;       /**< octets in front of the payload */
	bool has_s, has_c;
	uint16_t s_tag, c_tag; /**< PCP, DEI, VID */
};

static inline uint64_t
upf_mac_get(const uint8_t *p)
{
	return (uint64_t)be16_get(p) << 32 | be32_get(p + 2);
}

static inline void
upf_mac_put(uint8_t *p, uint64_t mac)
{
	be16_put(p, (uint16_t)(mac >> 32));
	be32_put(p + 2, (uint32_t)mac);
}

static inline bool
upf_mac_is_group(uint64_t mac)
{
	return mac >> 40 & 1;
}

/** @return whether there is a header, tags included, in the `len` octets at `p`. */
static inline bool
upf_frame_read(const uint8_t *p, uint32_t len, struct upf_frame *f)
{
	if (len < UPF_FRAME_HDR)
		return false;
	*f = (struct upf_frame){.dst = upf_mac_get(p),
				.src = upf_mac_get(p + 6),
				.type = be16_get(p + 12),
				.at = UPF_FRAME_HDR};
	if (f->type == UPF_TAG_S) {
		if (len < f->at + 4U)
			return false;
		f->has_s = true;
		f->s_tag = be16_get(p + f->at);
		f->type = be16_get(p + f->at + 2);
		f->at += 4;
	}
	if (f->type == UPF_TAG_C) {
		if (len < f->at + 4U)
			return false;
		f->has_c = true;
		f->c_tag = be16_get(p + f->at);
		f->type = be16_get(p + f->at + 2);
		f->at += 4;
	}
	return true;
}

/** VID of the outermost tag, which addresses are told apart by; 0: none. */
static inline uint16_t
upf_frame_vid(const struct upf_frame *f)
{
	return (f->has_s ? f->s_tag : f->has_c ? f->c_tag : 0) & 0xFFF;
}

/** An address as learned: of its VLAN. */
static inline uint64_t
upf_mac_key(uint64_t mac, uint16_t vid)
{
	return mac | (uint64_t)vid << 48;
}

/** That of a frame's destination, of which UPF_FRAME_MIN octets are there. */
static inline uint64_t
upf_frame_key(const uint8_t *p)
{
	const uint16_t type = be16_get(p + 12);
	const bool tagged = type == UPF_TAG_S || type == UPF_TAG_C;

	return upf_mac_key(upf_mac_get(p), tagged ? be16_get(p + 14) & 0xFFF : 0);
}

#endif
