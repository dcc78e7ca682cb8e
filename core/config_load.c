/* SPDX-License-Identifier: BSD-3-Clause */
/* From a file to struct ap_config, and what is wrong with the file in words. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/config_check.h"
#include "core/config_schema.h"

#define TEXT_MAX (16 << 20) /**< B of a file */
#define SECRET_DIGITS 16    /**< in a row are half a key: not to be repeated */

/** What libcyaml says while loading: the reason first, then the place, innermost first. */
struct load_log {
	char reason[256];
	char place[256]; /**< `ports[0].framing` */
	unsigned line;
};

static void
place_prepend(struct load_log *log, const char *step)
{
	char inner[sizeof(log->place)];
	const char *dot = log->place[0] == '\0' || log->place[0] == '[' ? "" : ".";

	memcpy(inner, log->place, sizeof(inner));
	snprintf(log->place, sizeof(log->place), "%.60s%s%.180s", step, dot, inner);
}

static void
log_line(cyaml_log_t level, void *ctx, const char *fmt, va_list args)
{
	struct load_log *log = ctx;
	char text[256], step[64];
	unsigned entry, line = 0;

	if (level < CYAML_LOG_ERROR)
		return;
	vsnprintf(text, sizeof(text), fmt, args);
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, "  in ", 5) == 0) {
		if (sscanf(text, "  in mapping field '%60[^']' (line: %u", step, &line) == 2)
			place_prepend(log, step);
		else if (sscanf(text, "  in sequence entry '%u' (line: %u", &entry, &line) == 2) {
			/* libcyaml counts entries from 1, and names 0 where there is none. */
			snprintf(step, sizeof(step), "[%u]", entry - 1);
			if (entry > 0)
				place_prepend(log, step);
		} else
			sscanf(text, "  in mapping (line: %u", &line);
		if (log->line == 0)
			log->line = line;
		return;
	}
	if (log->reason[0] == '\0' && strstr(text, "Backtrace") == NULL)
		snprintf(log->reason, sizeof(log->reason), "%.250s",
			 strncmp(text, "Load: ", 6) == 0 ? text + 6 : text);
}

/** libcyaml places an unexpected key where its mapping begins; the file knows better. */
static void
place_key(struct load_log *log, const char *text)
{
	const char *line = text, *found;
	char key[64];
	unsigned n = 1;

	if (sscanf(log->reason, "Unexpected key: %60s", key) != 1)
		return;
	strcat(key, ":");
	for (; n < log->line && (line = strchr(line, '\n')) != NULL; n++)
		line++;
	found = line ? strstr(line, key) : NULL;
	if (found == NULL)
		return;
	for (log->line = n; (line = strchr(line, '\n')) != NULL && line < found; line++)
		log->line++;
}

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
hide_security(struct load_log *log)
{
	char *value = strstr(log->reason, ": ");

	if (value && strstr(log->place, "security") && !strstr(log->place, ".engine") &&
	    !strstr(log->place, ".cryptodev") && strncmp(log->reason, "Missing", 7) != 0 &&
	    strncmp(log->reason, "Unexpected key", 14) != 0)
		*value = '\0';
}

static cyaml_config_t
cyaml_setup(struct load_log *log)
{
	return (cyaml_config_t){
		.log_fn = log_line,
		.log_ctx = log,
		.mem_fn = cyaml_mem,
		.log_level = CYAML_LOG_ERROR,
	};
}

/** @return the file's octets and a 0 behind them, or NULL with `err` filled. */
static char *
text_read(const char *path, size_t *len, struct ap_error *err)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	struct stat st;

	if (f == NULL) {
		ap_error_set(err, "%s: cannot be opened: %s", path, strerror(errno));
		return NULL;
	}
	if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode))
		ap_error_set(err, "%s: is a folder, not a deployment file", path);
	else if ((text = malloc(TEXT_MAX + 1)) == NULL)
		ap_error_set(err, "%s: out of memory", path);
	else if ((*len = fread(text, 1, TEXT_MAX + 1, f)) > TEXT_MAX)
		ap_error_set(err, "%s: is longer than %d MiB", path, TEXT_MAX >> 20);
	else if (ferror(f))
		ap_error_set(err, "%s: cannot be read: %s", path, strerror(errno));
	else if (*len == 0)
		ap_error_set(err, "%s: the file is empty", path);
	fclose(f);
	if (err->text[0] != '\0') {
		free(text);
		return NULL;
	}
	text[*len] = '\0';
	return text;
}

/** @return the deployment as the file has it, without defaults, or NULL with `err` filled. */
static struct ap_config *
text_load(const char *path, const char *text, size_t len, struct ap_error *err)
{
	struct load_log log = {0};
	cyaml_config_t setup = cyaml_setup(&log);
	struct ap_config *cfg = NULL;
	cyaml_err_t rc = cyaml_load_data((const uint8_t *)text, len, &setup, &ap_config_schema,
					 (cyaml_data_t **)&cfg, NULL);

	if (rc == CYAML_OK && cfg == NULL) {
		ap_error_set(err, "%s: the file is empty", path);
		return NULL;
	}
	if (rc != CYAML_OK) {
		place_key(&log, text);
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
	text = text_read(path, &len, err);
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
	struct load_log log = {0};
	cyaml_config_t setup = cyaml_setup(&log);

	if (cfg == NULL)
		return;
	free(cfg->path);
	free(cfg->zeros);
	cfg->path = NULL;
	cfg->zeros = NULL;
	cyaml_free(&setup, &ap_config_schema, cfg, 0);
}
