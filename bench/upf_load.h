/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_LOAD_H
#define AIRPATH_BENCH_UPF_LOAD_H

/**
 * Rules of S2's load model (§2.3): names of layer 7 and networks of layers 3 and 4, made from a
 * seed, as packet flow descriptions of the applications of 45 static policies. Five more, dynamic
 * ones, have SDF filters. All of them are shared by the sessions.
 *
 * Of the names 60 % are whole hosts, 25 % domains, 5 % parts of hosts and 10 % parts of URLs, of
 * which one in 50 is an expression. Each comes with the beginning of a request that it matches, and
 * that no other one does. Networks do not overlap. So what a packet is charged to is known.
 *
 * Constant once made. Control thread; read by any.
 */

#include <stdbool.h>
#include <stdint.h>

#define UPF_LOAD_STATIC 45 /**< policies of applications 1..45 */
#define UPF_LOAD_DYNAMIC 5 /**< policies 46..50 */
#define UPF_LOAD_POLICIES (UPF_LOAD_STATIC + UPF_LOAD_DYNAMIC)
#define UPF_LOAD_RATING_GROUPS 10
#define UPF_LOAD_UNLISTED 64     /**< requests that no rule matches */
#define UPF_LOAD_REQUEST_MAX 320 /**< octets of a request's beginning */
#define UPF_LOAD_NAMES_MAX 100000
#define UPF_LOAD_NETS_MAX 100000
#define UPF_LOAD_PORT_HTTP 80  /**< of servers */
#define UPF_LOAD_PORT_UDP 5004 /**< likewise: neither DNS nor QUIC */
#define UPF_LOAD_PORT_DNS 53
#define UPF_LOAD_PORT_QUIC 443
#define UPF_LOAD_DYNAMIC_BITS 16       /**< prefix of upf_load_dynamic_net() */
#define UPF_LOAD_ELSEWHERE 0xCB000000U /**< a network of 8 bits without rules, host order */

enum upf_load_kind { /* as Pfd.Kind of api/upf.proto */
		     UPF_LOAD_FLOW,
		     UPF_LOAD_HOST,
		     UPF_LOAD_SUFFIX,
		     UPF_LOAD_HOST_PATTERN,
		     UPF_LOAD_URL_PATTERN,
};

/** A name. */
struct upf_load_name {
	uint8_t kind; /**< enum upf_load_kind */
	bool regex;
	uint16_t app;         /**< 1..UPF_LOAD_STATIC */
	uint16_t request_len; /**< octets */
	uint16_t host_len;
	const char *text;
	const char *request; /**< up to the name of the header that follows */
	const char *host; /**< that it is for: alone it matches the rule, unless that is a URL's */
};

/** A network, host order. */
struct upf_load_net {
	uint32_t address;
	uint8_t bits;
	uint8_t protocol; /**< 0: any */
	uint16_t port;    /**< of the server, 0: any */
	uint16_t app;
};

struct upf_load {
	uint32_t nb_names, nb_nets;
	struct upf_load_name *names; /**< nb_names, then UPF_LOAD_UNLISTED of application 0 */
	struct upf_load_net *nets;
	char *text; /**< all of it */
};

/** @return NULL without memory. Free with upf_load_free(). */
struct upf_load *upf_load_make(uint32_t names, uint32_t nets, uint64_t seed);
void upf_load_free(struct upf_load *l);

/** @return application of the i-th rule, names first: all have as many. */
static inline uint16_t
upf_load_app(uint32_t i)
{
	return (uint16_t)(1 + i % UPF_LOAD_STATIC);
}

/** @return network of UDP to UPF_LOAD_PORT_UDP that a dynamic policy is for, host order. */
static inline uint32_t
upf_load_dynamic_net(unsigned policy)
{
	return 0x63000000U + ((policy - UPF_LOAD_STATIC) << UPF_LOAD_DYNAMIC_BITS);
}

/** @return rating group of a policy, 0 being the default rule: 1..UPF_LOAD_RATING_GROUPS. */
static inline unsigned
upf_load_rating_group(unsigned policy)
{
	return 1 + policy % UPF_LOAD_RATING_GROUPS;
}

/** A step of SplitMix64: as random as its argument is unique. */
static inline uint64_t
upf_load_mix(uint64_t x)
{
	x += 0x9E3779B97F4A7C15ULL;
	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ULL;
	x = (x ^ x >> 27) * 0x94D049BB133111EBULL;
	return x ^ x >> 31;
}

#endif
