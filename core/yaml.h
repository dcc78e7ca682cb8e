/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_YAML_H
#define AIRPATH_CORE_YAML_H

/** Reading YAML by libcyaml, and what is wrong with a file in words: place, line and reason. */

#include <stddef.h>

#include <cyaml/cyaml.h>

#include "core/config.h"

#define YAML_TEXT_MAX (16 << 20) /**< B of a file */

/** What libcyaml says while loading: the reason first, then the place, innermost first. */
struct yaml_log {
	char reason[256];
	char place[256]; /**< `ports[0].framing` */
	unsigned line;
};

/** Settings of libcyaml that fill in the log. */
cyaml_config_t yaml_setup(struct yaml_log *log);

/**
 * Corrects line and place by the document, and adds what would have been right. @param schema of
 * the document, @param text all of it
 */
void yaml_explain(struct yaml_log *log, const cyaml_schema_value_t *schema, const char *text,
		  size_t len);

/** @return the file's octets and a 0 behind them, or NULL with `err` filled. */
char *yaml_read(const char *path, size_t *len, struct ap_error *err);

/**
 * Looks for what libcyaml passes: text behind a number, words that are no switch, and a second
 * document. @param data what libcyaml made of `text` by `schema`, a pointer to a mapping
 * @return 0, or -errno with `err` filled if the file is at fault
 */
int yaml_check(const char *path, const cyaml_schema_value_t *schema, void *data, const char *text,
	       size_t len, struct ap_error *err);

/** Loads and checks a file by these. @return what yaml_file_free() frees, or NULL with `err`
 * filled. */
void *yaml_file_load(const char *path, const cyaml_schema_value_t *schema, struct ap_error *err);
void yaml_file_free(const cyaml_schema_value_t *schema, void *data);

#endif
