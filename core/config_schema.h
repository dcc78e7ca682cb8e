/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_CONFIG_SCHEMA_H
#define AIRPATH_CORE_CONFIG_SCHEMA_H

/** libcyaml's picture of struct ap_config. Only config*.c use it. */

#include <cyaml/cyaml.h>

#include "core/config.h"

/** Roles that ring ports join: values must fit each other. @return 0, or < 0 with `err` filled. */
int ap_config_join(struct ap_config *cfg, struct ap_error *err);

/**
 * Of an optional number: 0 is a value of its own, not the wish for the default. libcyaml looks at
 * this bit only where it saves mappings and sequences, which airpath does not.
 */
#define CONFIG_ZERO CYAML_FLAG_FLOW

extern const cyaml_schema_value_t ap_config_schema;

#endif
