/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_P4_PROGRAM_H
#define AIRPATH_P4_PROGRAM_H

/** The program's instructions, as rte_swx_pipeline_instructions_config() wants them. */

#include <stdbool.h>

#include "modules/p4/p4_gnb.h"

#define P4_PROGRAM_MAX 320
#define P4_PARSE_MIN 64 /**< octets: a G-PDU with a container and half a dozen of T-PDU */
/** COUNTs of the host: near the end of the numbers, where it has to report and to stop. */
#define P4_COUNT_HOST 0xFF000000U

struct p4_program {
	unsigned nb;
	bool full; /**< more than P4_PROGRAM_MAX */
	const char *lines[P4_PROGRAM_MAX];
	char text[P4_PROGRAM_MAX][80];
};

void p4_program_make(struct p4_program *p, const struct p4_cfg *cfg);

/** Adds an instruction. */
void p4_emit(struct p4_program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
