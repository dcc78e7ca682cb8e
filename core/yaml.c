/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/yaml.h"

static void
place_prepend(struct yaml_log *log, const char *step)
{
	char inner[sizeof(log->place)];
	const char *dot = log->place[0] == '\0' || log->place[0] == '[' ? "" : ".";

	memcpy(inner, log->place, sizeof(inner));
	snprintf(log->place, sizeof(log->place), "%.60s%s%.180s", step, dot, inner);
}

static void
log_line(cyaml_log_t level, void *ctx, const char *fmt, va_list args)
{
	struct yaml_log *log = ctx;
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

cyaml_config_t
yaml_setup(struct yaml_log *log)
{
	return (cyaml_config_t){
		.log_fn = log_line,
		.log_ctx = log,
		.mem_fn = cyaml_mem,
		.log_level = CYAML_LOG_ERROR,
	};
}

char *
yaml_read(const char *path, size_t *len, struct ap_error *err)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	struct stat st;

	if (f == NULL) {
		ap_error_set(err, "%s: cannot be opened: %s", path, strerror(errno));
		return NULL;
	}
	if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode))
		ap_error_set(err, "%s: is a folder, not a file", path);
	else if ((text = malloc(YAML_TEXT_MAX + 1)) == NULL)
		ap_error_set(err, "%s: out of memory", path);
	else if ((*len = fread(text, 1, YAML_TEXT_MAX + 1, f)) > YAML_TEXT_MAX)
		ap_error_set(err, "%s: is longer than %d MiB", path, YAML_TEXT_MAX >> 20);
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

void *
yaml_file_load(const char *path, const cyaml_schema_value_t *schema, struct ap_error *err)
{
	struct yaml_log log = {0};
	cyaml_config_t setup = yaml_setup(&log);
	cyaml_data_t *data = NULL;
	cyaml_err_t rc;
	size_t len;
	char *text;

	err->text[0] = '\0';
	text = yaml_read(path, &len, err);
	if (text == NULL)
		return NULL;
	rc = cyaml_load_data((const uint8_t *)text, len, &setup, schema, &data, NULL);
	if (rc != CYAML_OK) {
		yaml_explain(&log, schema, text, len);
		ap_error_set(err, "%s:%u: %s%s%s", path, log.line, log.place,
			     log.place[0] ? ": " : "",
			     log.reason[0] ? log.reason : cyaml_strerror(rc));
	} else if (data == NULL) {
		ap_error_set(err, "%s: the file is empty", path);
	} else if (yaml_check(path, schema, data, text, len, err) < 0) {
		ap_error_set(err, "%s: out of memory", path);
		yaml_file_free(schema, data);
		data = NULL;
	}
	explicit_bzero(text, len);
	free(text);
	return data;
}

void
yaml_file_free(const cyaml_schema_value_t *schema, void *data)
{
	struct yaml_log log = {0};
	cyaml_config_t setup = yaml_setup(&log);

	if (data)
		cyaml_free(&setup, schema, data, 0);
}
