/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_SPEED_H
#define AIRPATH_DPI_SPEED_H

/** How long a worker would look through a URL. For dpi_compile.c. */

#include <stdint.h>

#include "modules/dpi/dpi_compile.h"

struct hs_database;

/**
 * Scans texts of DPI_URL_MAX octets made of what expressions have in them: those keep their
 * automata busy. A guess from below: there may be worse texts.
 * @param e up to a few dozen of those in the database, evenly drawn, are made texts of
 * @param ns of the text that took longest, at its best of several times; CPU time
 * @return 0 or -ENOMEM
 */
int dpi_speed(const struct hs_database *db, const struct dpi_expression *e, uint32_t nb,
	      uint64_t *ns);

#endif
