/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_DO_H
#define AIRPATH_UPF_DO_H

/** What a worker does with a message. */

#include <stdint.h>

struct upf_msg;
struct upf_worker;

/**
 * Does it and fills in the result; end markers are the caller's to send, if m->status is
 * UPF_STATUS_OK. Worker thread, between two packets.
 */
void upf_do(struct upf_worker *w, struct upf_msg *m, uint64_t now_ns);

#endif
