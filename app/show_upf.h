/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_APP_SHOW_UPF_H
#define AIRPATH_APP_SHOW_UPF_H

/** What `airpath show` tells of a upf. Each returns the exit status. */

/** A telemetry command's answer, a line each of its entries. @param what its parameter, or NULL. */
int show_upf(const char *name, const char *command, const char *what);

/** Ids of all sessions, one a line. */
int show_upf_sessions(const char *name);

/** Whose an address or TEID is by a deployment file alone. */
int show_owner(const char *file, const char *what);

#endif
