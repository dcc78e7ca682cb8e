/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_TELEMETRY_H
#define AIRPATH_UPF_TELEMETRY_H

/** What the files that answer /airpath/upf/… share. */

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

struct ap_run;
struct upf;

/**
 * Splits `WHAT,U` into `what`, and the upf's name; `U` alone where `what` is NULL.
 * @return the upf, the first without a name, or NULL after saying why
 */
struct upf *upf_telemetry_find(const struct ap_run *run, const char *params, char *what,
			       size_t size);

/** @param octets of the address, 4 or 16 */
void upf_telemetry_address(const uint8_t *ip, unsigned octets, char text[INET6_ADDRSTRLEN]);

#endif
