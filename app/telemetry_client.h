/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_APP_TELEMETRY_CLIENT_H
#define AIRPATH_APP_TELEMETRY_CLIENT_H

/** Asks a running airpath through DPDK's telemetry socket. */

#include <stdbool.h>
#include <stddef.h>

#define TEL_REPLY_MAX 16384

/**
 * Connects to the deployment called `name`, or to the only one that runs.
 * @return socket, or -1 after saying why on standard error
 */
int tel_connect(const char *name);

/** Sends one command; `reply` gets JSON. @return length, or -1. */
int tel_ask(int sock, const char *command, char reply[TEL_REPLY_MAX]);

/** Steps through the strings of a JSON array; `*at` moves on. @return false at its end. */
bool tel_next_string(const char **at, char *out, size_t size);

/** Copies the string value of `key` in a flat JSON object. @return false if it is not there. */
bool tel_string(const char *json, const char *key, char *out, size_t size);

/** Whether a command's answer is a refusal, and why. */
bool tel_refused(const char *answer, char *reason, size_t size);

/** @return the number of `key` in a flat JSON object, 0 if it is not there. */
unsigned long long tel_number(const char *json, const char *key);

#endif
