/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_CONFIG_SCHEMA_H
#define AIRPATH_CORE_CONFIG_SCHEMA_H

/** libcyaml's picture of struct ap_config. Only config.c uses it. */

#include <cyaml/cyaml.h>

#include "core/config.h"

/** Roles that ring ports join: values must fit each other. @return 0, or < 0 with `err` filled. */
int ap_config_join(struct ap_config *cfg, struct ap_error *err);

extern const cyaml_schema_value_t ap_config_schema;

#endif
