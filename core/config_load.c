/* SPDX-License-Identifier: BSD-3-Clause */
/* From a file to struct ap_config, and what is wrong with the file in words. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_check.h"
#include "core/config_schema.h"
#include "core/yaml.h"

#define SECRET_DIGITS 16 /**< in a row are half a key: not to be repeated */

/**
 * What stands where a key should not: libcyaml repeats values it cannot read, and names are
 * repeated by our own checks.
 */
static void
hide_secrets(char *text)
{
	static const char hidden[] = "(hidden)";

	while (*text != '\0') {
		size_t n = strspn(text, "0123456789abcdefABCDEF");

		if (n >= SECRET_DIGITS) {
			memcpy(text, hidden, sizeof(hidden) - 1);
			memmove(text + sizeof(hidden) - 1, text + n, strlen(text + n) + 1);
			n = sizeof(hidden) - 1;
		}
		text += n ? n : 1;
	}
}

/** In `security` no value that may be meant for a key is repeated, whatever it looks like. */
static void
hide_security(struct yaml_log *log)
{
	char *value = strstr(log->reason, ": ");

	if (value && strstr(log->place, "security") && !strstr(log->place, ".engine") &&
	    !strstr(log->place, ".cryptodev") && strncmp(log->reason, "Missing", 7) != 0 &&
	    strncmp(log->reason, "Unexpected key", 14) != 0)
		*value = '\0';
}

/** @return the deployment as the file has it, without defaults, or NULL with `err` filled. */
static struct ap_config *
text_load(const char *path, const char *text, size_t len, struct ap_error *err)
{
	struct yaml_log log = {0};
	cyaml_config_t setup = yaml_setup(&log);
	struct ap_config *cfg = NULL;
	cyaml_err_t rc = cyaml_load_data((const uint8_t *)text, len, &setup, &ap_config_schema,
					 (cyaml_data_t **)&cfg, NULL);

	if (rc == CYAML_OK && cfg == NULL) {
		ap_error_set(err, "%s: the file is empty", path);
		return NULL;
	}
	if (rc != CYAML_OK) {
		yaml_explain(&log, &ap_config_schema, text, len);
		hide_security(&log);
		ap_error_set(err, "%s:%u: %s%s%s", path, log.line, log.place,
			     log.place[0] ? ": " : "",
			     log.reason[0] ? log.reason : cyaml_strerror(rc));
		return NULL;
	}
	cfg->path = strdup(path);
	if (cfg->path == NULL || config_yaml_check(cfg, text, len, err) < 0) {
		ap_error_set(err, "%s: out of memory", path);
		ap_config_free(cfg);
		return NULL;
	}
	return cfg;
}

struct ap_config *
ap_config_load(const char *path, struct ap_error *err)
{
	struct ap_config *cfg;
	size_t len;
	char *text;

	err->text[0] = '\0';
	text = yaml_read(path, &len, err);
	if (text == NULL)
		return NULL;
	cfg = text_load(path, text, len, err);
	explicit_bzero(text, len);
	free(text);
	if (cfg && config_finish(cfg, err) < 0) {
		ap_config_free(cfg);
		cfg = NULL;
	}
	/* The file's own name stays as it is. */
	if (cfg == NULL && strncmp(err->text, path, strlen(path)) == 0)
		hide_secrets(err->text + strlen(path));
	return cfg;
}

void
ap_config_free(struct ap_config *cfg)
{
	struct yaml_log log = {0};
	cyaml_config_t setup = yaml_setup(&log);

	if (cfg == NULL)
		return;
	free(cfg->path);
	free(cfg->zeros);
	free(cfg->marks);
	free(cfg->warnings);
	cfg->path = NULL;
	cfg->zeros = NULL;
	cfg->marks = NULL;
	cfg->warnings = NULL;
	cyaml_free(&setup, &ap_config_schema, cfg, 0);
}
