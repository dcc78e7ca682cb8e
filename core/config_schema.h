/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_CONFIG_SCHEMA_H
#define AIRPATH_CORE_CONFIG_SCHEMA_H

/** libcyaml's picture of struct ap_config. Only config.c uses it. */

#include <cyaml/cyaml.h>

extern const cyaml_schema_value_t ap_config_schema;

#endif
