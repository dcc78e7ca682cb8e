/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_P4_HOST_H
#define AIRPATH_P4_HOST_H

/** What a gNB's nodes know of the SmartNIC behind their virtual functions. */

#include <stdint.h>

/**
 * ol_flags bit of packets the SmartNIC did not look at for a bearer, so that the host numbers
 * them only while the bearer is its own; 0: there are no virtual functions.
 */
extern uint64_t p4_aside;

/** Takes the bit. Control thread, EAL is up; twice is once. @return 0 or -errno. */
int p4_host_init(void);

enum p4_vf_edge { P4_VF_IN, P4_VF_PORT };
enum p4_inject_edge { P4_INJECT_PORT };

#endif
