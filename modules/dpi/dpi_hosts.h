/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_HOSTS_H
#define AIRPATH_DPI_HOSTS_H

/** Whole host names and domains in one hash, looked up label by label. For dpi_set.c. */

#include "modules/dpi/dpi_set.h"

struct dpi_hosts;

/**
 * A host name or domain of a rule as names to look up are written: lower case, no dot at either
 * end.
 * @param out DPI_HOST_MAX octets
 * @return octets, or -EINVAL and why
 */
int dpi_host_normal(const char *text, bool is_suffix, char *out, const char **why);

/** The rules of kinds DPI_RULE_HOST and DPI_RULE_SUFFIX; others are passed over.
 * @return 0 and `*hosts`, NULL when there are none; -EINVAL: a rule is malformed; -ENOMEM */
int dpi_hosts_build(const struct dpi_rule *rules, uint32_t nb, struct dpi_hosts **hosts,
		    struct dpi_error *err);
void dpi_hosts_free(struct dpi_hosts *hosts);
size_t dpi_hosts_memory(const struct dpi_hosts *hosts);

#define DPI_HOSTS_NAMES 16
#define DPI_HOSTS_PARTS 6 /**< nearly all names have no more */

/** A name, or a domain it is of, that a rule may know. */
struct dpi_hosts_part {
	uint64_t hash;
	uint16_t like; /**< slots of its bucket that have its tag */
	bool full;     /**< there may be more in the next bucket */
	uint8_t start; /**< where in the name */
};

/** Names that are looked up, between the three steps of it. */
struct dpi_hosts_asked {
	const struct dpi_name *const *names;
	unsigned nb;
	uint8_t nb_parts[DPI_HOSTS_NAMES]; /**< above DPI_HOSTS_PARTS: there are more */
	struct dpi_hosts_part parts[DPI_HOSTS_NAMES][DPI_HOSTS_PARTS];
};

/**
 * A lookup of names is three steps, between which the caller may do something else, so that what
 * the next one needs comes from memory meanwhile. Any thread.
 * @param names of a host_len of 1..DPI_HOST_MAX; the octets may be any. They stay to the end
 * @param nb at most DPI_HOSTS_NAMES
 */
void dpi_hosts_ask(const struct dpi_hosts *hosts, const struct dpi_name *const names[], unsigned nb,
		   struct dpi_hosts_asked *asked);
void dpi_hosts_look(const struct dpi_hosts *hosts, struct dpi_hosts_asked *asked);
/** @param apps where they are 0: application of the name, else of the longest domain it is of, else
 *              0. Others stay. */
void dpi_hosts_tell(const struct dpi_hosts *hosts, const struct dpi_hosts_asked *asked,
		    uint16_t apps[]);

#endif
