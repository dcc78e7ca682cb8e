/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/upf_dns.h"

#include <string.h>

#include "codec/be.h"

#define HEADER 12
#define FLAG_RD 0x01
#define TYPE_A 1
#define TYPE_AAAA 28
#define CLASS_IN 1
#define TYPE_OPT 41
#define OPT_HEAD 11       /**< root, type, class, TTL, length */
#define OPTION_HEAD 4     /**< code, length */
#define OPTION_PADDING 12 /**< RFC 7830 §3 */
#define OPTION_LOCAL 65001
#define UDP_PAYLOAD 1232 /**< that the resolver takes */

uint32_t
upf_dns_least(uint32_t host_len, uint32_t more)
{
	return HEADER + host_len + 2 + 4 + OPT_HEAD + OPTION_HEAD + OPTION_HEAD + more;
}

/** Labels behind their lengths. @return behind the root */
static uint8_t *
name_put(uint8_t *p, const char *host, uint32_t len)
{
	uint8_t *label = p++;

	for (uint32_t i = 0; i <= len; i++, p++) {
		if (i < len && host[i] != '.') {
			*p = (uint8_t)host[i];
			continue;
		}
		*label = (uint8_t)(p - label - 1);
		label = p;
	}
	*label = 0;
	return p;
}

void
upf_dns_put(uint8_t *p, uint32_t len, const char *host, uint32_t host_len, uint16_t id,
	    uint32_t more)
{
	const uint32_t padding = len - upf_dns_least(host_len, more);
	uint8_t *at;

	memset(p, 0, HEADER);
	be16_put(p, id);
	p[2] = FLAG_RD;
	p[5] = 1;  /* QDCOUNT */
	p[11] = 1; /* ARCOUNT */
	at = name_put(p + HEADER, host, host_len);
	be16_put(at, id & 1 ? TYPE_AAAA : TYPE_A);
	be16_put(at + 2, CLASS_IN);
	at += 4;
	memset(at, 0, OPT_HEAD);
	be16_put(at + 1, TYPE_OPT);
	be16_put(at + 3, UDP_PAYLOAD);
	be16_put(at + 9, (uint16_t)(OPTION_HEAD + padding + OPTION_HEAD + more));
	at += OPT_HEAD;
	be16_put(at, OPTION_PADDING);
	be16_put(at + 2, (uint16_t)padding);
	memset(at + OPTION_HEAD, 0, padding);
	at += OPTION_HEAD + padding;
	be16_put(at, OPTION_LOCAL);
	be16_put(at + 2, (uint16_t)more);
}
