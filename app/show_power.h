/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_APP_SHOW_POWER_H
#define AIRPATH_APP_SHOW_POWER_H

#include <stdbool.h>

/** Prints what every lcore of a running deployment consumes. @return exit status. */
int show_power(const char *name, bool json);

#endif
