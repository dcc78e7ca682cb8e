/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_SET_H
#define AIRPATH_DPI_SET_H

/**
 * Rule sets: which application a host name, a URL or a packet's header is of. The rules are those
 * of packet flow descriptions, TS 29.244 §5.11.4, §8.2.39.
 *
 * A set is built once, off the workers, and never changes. Any number of workers read it, each with
 * a scratch of its own. Whole host names and domains are in a hash of labels, other patterns in
 * Vectorscan databases, flows in one rte_acl a family.
 *
 * What wins: a URL pattern over a host name, that over the longest domain it is of, that over a
 * pattern of hosts. Between rules of one kind it is the first. EAL must run.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/flow.h"
#include "modules/dpi/dpi_name.h"

#define DPI_URL_MAX 2048 /**< octets of host and path that URL patterns see */
#define DPI_FLOWS_MAX 64 /**< of one dpi_set_flows() */
#define DPI_NAMES_MAX 64 /**< of one dpi_set_names() */
#define DPI_NO_RULE UINT32_MAX

enum dpi_net_flag {
	DPI_NET_PROTO = 1 << 0,
	DPI_NET_PORTS = 1 << 1, /**< packets without ports do not match */
	DPI_NET_SPI = 1 << 2,
	DPI_NET_FLOW_LABEL = 1 << 3,
	DPI_NET_IP4 = 1 << 4, /**< one of these two, or both */
	DPI_NET_IP6 = 1 << 5,
};

/** Network order; bits behind the prefix do not count. */
struct dpi_prefix {
	uint8_t address[16]; /**< IPv4: the first four octets */
	uint8_t bits;        /**< 0: any; at most 32 where the rule is of IPv4 */
};

/** A packet's header as downlink has it: the source is the remote side. All of it must hold. */
struct dpi_net {
	struct dpi_prefix src, dst;
	uint16_t src_ports[2], dst_ports[2]; /**< first, last; with DPI_NET_PORTS */
	uint32_t spi;
	uint32_t flow_label;
	uint8_t proto;
	uint8_t tos, tos_mask;
	uint8_t flags; /**< Σ enum dpi_net_flag */
};

enum dpi_rule_kind {
	DPI_RULE_FLOW,
	DPI_RULE_HOST,         /**< the host name is the text */
	DPI_RULE_SUFFIX,       /**< it is the text, or ends in a dot and the text */
	DPI_RULE_HOST_PATTERN, /**< it has the text in it, or something the expression matches */
	DPI_RULE_URL_PATTERN,  /**< the same of host and path of an HTTP request. A text that begins
				  with http:// or https:// must be at the start. The case counts,
				  where the host is in lower case. */
};

struct dpi_rule {
	enum dpi_rule_kind kind;
	uint16_t app;             /**< 1..65535 */
	uint8_t pattern_is_regex; /**< of the two pattern kinds: PCRE as Vectorscan takes it */
	const char *text;         /**< not of DPI_RULE_FLOW; ASCII */
	struct dpi_net flow;      /**< of DPI_RULE_FLOW */
};

/** What a set may cost; a rule above is refused with what it costs. */
struct dpi_limits {
	uint32_t rules;
	uint32_t expressions;
	uint32_t expression_octets;
	uint32_t expression_positions; /**< characters and classes, repeats written out */
	uint32_t expression_ms;        /**< CPU time that compiling one alone takes */
	uint64_t expression_memory;    /**< octets of one compiled alone */
	uint32_t expression_us;        /**< CPU time to look through DPI_URL_MAX octets for one */
	uint32_t scan_us;              /**< the same for all texts, or all expressions, of a kind */
	uint32_t build_ms;             /**< CPU time that compiling texts, or expressions, takes */
	uint64_t build_memory;         /**< octets of the process that compiles */
	uint64_t memory;               /**< octets of the set */
};

extern const struct dpi_limits dpi_limits_default;

struct dpi_error {
	uint32_t rule; /**< which of the rules; DPI_NO_RULE: not one alone */
	char why[256]; /**< empty: nothing is wrong */
};

/** What a set has and what it took; for people. */
struct dpi_figures {
	uint32_t hosts, suffixes, literals, expressions, flows;
	size_t hosts_memory, patterns_memory, flows_memory; /**< octets */
	uint32_t hosts_ms, patterns_ms, flows_ms;           /**< to build */
};

struct dpi_set;
struct dpi_scratch;

/**
 * Takes seconds for tens of thousands of patterns: one thread at a time, but no worker's. Copies
 * what it needs of the rules.
 * @param limits NULL: dpi_limits_default
 * @param generation whatever the caller calls it
 * @param err says why not
 * @return 0 and `*set`; -EINVAL: a rule is malformed; -E2BIG: costs too much; -ENOMEM;
 *         -EIO: the compiler of patterns failed; -ENOTSUP: this CPU cannot do patterns
 */
int dpi_set_build(const struct dpi_rule *rules, uint32_t nb, const struct dpi_limits *limits,
		  uint32_t generation, struct dpi_set **set, struct dpi_error *err);

/**
 * Has patterns compiled in a process of its own that can be ended: `program` is started with the
 * argument dpi-compile and calls dpi_compile_main(). Without, they are compiled in the thread that
 * builds, where an expression that takes too long is only refused once it is done.
 * @param program stays as long as sets are built; NULL: none. Before the first set is built.
 */
void dpi_compile_with(const char *program);
/** @return exit status */
int dpi_compile_main(void);

/** No worker has it any more. NULL is allowed. */
void dpi_set_free(struct dpi_set *set);

uint32_t dpi_set_generation(const struct dpi_set *set);
/** @return octets */
size_t dpi_set_memory(const struct dpi_set *set);
/** @return whether a rule reads names: without any, flows need not be looked at. */
bool dpi_set_has_names(const struct dpi_set *set);
/** @return whether a rule reads headers. */
bool dpi_set_has_flows(const struct dpi_set *set);
void dpi_set_figures(const struct dpi_set *set, struct dpi_figures *f);

/** What one worker needs to look names up in this set, and in no other. Any thread.
 * @return NULL without memory */
struct dpi_scratch *dpi_scratch_alloc(const struct dpi_set *set);
/** NULL is allowed. */
void dpi_scratch_free(struct dpi_scratch *scratch);

/** @return the application, or 0. Worker: the one that has the scratch. Allocates nothing. */
uint16_t dpi_set_name(const struct dpi_set *set, struct dpi_scratch *scratch,
		      const struct dpi_name *name);

/** dpi_set_name() of up to DPI_NAMES_MAX names, whose waits for memory are one. */
void dpi_set_names(const struct dpi_set *set, struct dpi_scratch *scratch,
		   const struct dpi_name names[], unsigned nb, uint16_t apps[]);

/** @return the application of the first rule that the header matches, or 0. Any thread. */
uint16_t dpi_set_flow(const struct dpi_set *set, const struct flow *flow, bool uplink);

/** dpi_set_flow() of up to DPI_FLOWS_MAX headers, cheaper by far than one by one.
 * @param uplink bit n: flows[n] is */
void dpi_set_flows(const struct dpi_set *set, const struct flow *const flows[], uint64_t uplink,
		   unsigned nb, uint16_t apps[]);

#endif
