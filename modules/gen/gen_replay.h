/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_GEN_REPLAY_H
#define AIRPATH_MODULES_GEN_REPLAY_H

/** IP packets of a capture file, in memory. Constant once loaded. */

#include <stdint.h>

#include "core/config.h"

struct gen_replay {
	uint32_t nb_packets;
	uint32_t nb_skipped; /**< frames without a whole IP packet, or too large */
	uint8_t *bytes;  /**< the IP packets, one behind the other, GEN_BLOCK readable bytes behind
			    the last */
	uint64_t *at;    /**< [nb_packets] where each starts */
	uint16_t *sizes; /**< [nb_packets] B of IP */
	uint64_t *keys;  /**< [nb_packets] gen_replay_key() of each */
};

/**
 * Loads the IP packets of at most `max_bytes` each. Link types: Ethernet, raw IP, Linux cooked.
 * @return 0; -EINVAL with `err` filled when the file cannot be read or holds no such packet;
 * -ENOMEM
 */
int gen_replay_load(struct gen_replay *r, const char *path, uint16_t max_bytes,
		    struct ap_error *err);
void gen_replay_free(struct gen_replay *r);

/** Running CRC-32C over any bytes, however they are cut into pieces. */
uint32_t gen_replay_crc(uint32_t crc, const uint8_t *p, uint32_t len);

/** Length and CRC-32C of a packet's bytes; two packets with one key count as the same. */
static inline uint64_t
gen_replay_key(uint32_t bytes, uint32_t crc)
{
	return (uint64_t)bytes << 32 | crc;
}

/**
 * Finds which packet of the endless repetition of the file arrived.
 * @param next sequence number expected; the nearest match ahead wins over one behind
 * @return 0 with *seq set, or -1 when no packet within reach has this key
 */
int gen_replay_find(const struct gen_replay *r, uint64_t key, uint64_t next, uint64_t *seq);

#endif
