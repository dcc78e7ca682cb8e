/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_CONFIG_SCHEMA_IMPL_H
#define AIRPATH_CORE_CONFIG_SCHEMA_IMPL_H

/** What the files of the schema share; values are named after their struct ap_cfg_*. */

#include "core/config_schema.h"

#define OPT CYAML_FLAG_OPTIONAL
#define ZERO (OPT | CONFIG_ZERO)
#define PTR (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define NEED CYAML_FLAG_POINTER

/* config_schema.c */

extern const cyaml_strval_t ap_schema_switches[3];
extern const cyaml_schema_value_t ap_schema_string, ap_schema_u8, ap_schema_u32;

/* config_schema_l2.c */

extern const cyaml_schema_value_t ap_schema_ue, ap_schema_gnb, ap_schema_phy;

/* config_schema_upf.c */

extern const cyaml_schema_value_t ap_schema_upf, ap_schema_gnb_header, ap_schema_smartnic;
extern const cyaml_schema_value_t ap_schema_gnb_interface, ap_schema_upf_route,
	ap_schema_upf_neighbour;

#endif
