/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_QUIC_H
#define AIRPATH_BENCH_UPF_QUIC_H

/**
 * First datagrams of QUIC clients that ask for the hosts of the load model (RFC 9000, RFC 9001,
 * version 1): an Initial with a ClientHello, padded, behind it a 0-RTT packet, 1200 octets
 * together. What the latter protects only its ends can read, and is the caller's to fill. Of one
 * host in UPF_QUIC_SPLIT_EVERY the ClientHello takes two datagrams, and is cut within the host's
 * name.
 *
 * They are all made beforehand, since ciphers cost far more than a copy. Constant once made.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bench/upf_load.h"

#define UPF_QUIC_DATAGRAM 1200 /**< UDP's data, RFC 9000 §14.1 */
#define UPF_QUIC_REST 32       /**< of it at the end, that is to be filled */
#define UPF_QUIC_MADE (UPF_QUIC_DATAGRAM - UPF_QUIC_REST)
#define UPF_QUIC_SPLIT_EVERY 16

struct upf_quic;

/** @return of all names of `load`, listed and not; NULL without memory, or without ciphers. Control
 * thread. */
struct upf_quic *upf_quic_make(const struct upf_load *load, uint64_t seed);
void upf_quic_free(struct upf_quic *q);

/** @return whether a name's ClientHello takes two datagrams */
static inline bool
upf_quic_split(uint32_t name)
{
	return name % UPF_QUIC_SPLIT_EVERY == 0;
}

/** @return the first UPF_QUIC_MADE octets of a name's datagram 0 (or 1: upf_quic_split()). Any. */
const uint8_t *upf_quic_datagram(const struct upf_quic *q, uint32_t name, unsigned part);

#endif
