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

/** Looks all of them up, with one wait for memory; host_len is 1..DPI_HOST_MAX, the octets may be
 * any.
 * @param apps application of the name, else of the longest domain it is of, else 0. Any thread. */
void dpi_hosts_find(const struct dpi_hosts *hosts, const struct dpi_name *const names[],
		    unsigned nb, uint16_t apps[]);

#endif
