/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_DNS_H
#define AIRPATH_BENCH_UPF_DNS_H

/** DNS queries as a UE's resolver sends them, of any length: with EDNS(0), and padding. */

#include <stdint.h>

/** @return octets of the shortest query for a host, with an option of `more` octets */
uint32_t upf_dns_least(uint32_t host_len, uint32_t more);

/**
 * Writes a query for the addresses of a host (RFC 1035 §4.1, RFC 6891 §6.1), padded (RFC 7830),
 * whose last `more` octets are an option's for local use, which is the caller's to fill (RFC 6891
 * §9).
 * @param len of all of it, at least upf_dns_least(), at most 65535
 */
void upf_dns_put(uint8_t *p, uint32_t len, const char *host, uint32_t host_len, uint16_t id,
		 uint32_t more);

#endif
