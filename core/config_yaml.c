/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the YAML says and libcyaml does not tell: what stands behind a number or in place of a
 * switch, numbers that are 0 and not left out, and further documents. The document is walked
 * beside the schema and the struct that libcyaml made of both.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "core/config_check.h"
#include "core/config_schema.h"
#include "core/yaml.h"

struct walk {
	const char *path;
	struct ap_config *cfg; /**< takes zeros, NULL: they are not looked at */
	yaml_document_t document;
	struct ap_error *err;
	char place[128]; /**< `upf[0].interfaces[1].mtu` */
};

bool
config_says_zero(const struct ap_config *cfg, const void *number)
{
	for (unsigned i = 0; i < cfg->zeros_count; i++)
		if (cfg->zeros[i] == number)
			return true;
	return false;
}

static int
remember(struct ap_config *cfg, const void *number)
{
	const void **zeros = realloc(cfg->zeros, (cfg->zeros_count + 1) * sizeof(*zeros));

	if (zeros == NULL)
		return -ENOMEM;
	cfg->zeros = zeros;
	cfg->zeros[cfg->zeros_count++] = number;
	return 0;
}

static int
zero_check(struct walk *w, const cyaml_schema_value_t *schema, const uint8_t *at,
	   const yaml_node_t *node)
{
	if (w->cfg == NULL || !(schema->flags & CYAML_FLAG_OPTIONAL))
		return 0; /* not to be left out, so there is no default to be told apart */
	for (uint32_t i = 0; i < schema->data_size; i++)
		if (at[i] != 0)
			return 0;
	if (schema->flags & CONFIG_ZERO)
		return remember(w->cfg, at);
	return ap_error_set(w->err,
			    "%s:%zu: %s: 0 is no value for it: give more than 0, or leave it out "
			    "for the default",
			    w->path, node->start_mark.line + 1, w->place);
}

static bool
is_whole(const char *text, size_t len)
{
	if (len > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return strspn(text + 2, "0123456789abcdefABCDEF") == len - 2;
	return len > 0 && strspn(text, "0123456789") == len && (text[0] != '0' || len == 1);
}

static bool
is_real(const char *text, size_t len)
{
	char *end;

	return len > 0 && strspn(text, "0123456789.eE+-") == len && isfinite(strtod(text, &end)) &&
	       end == text + len;
}

static bool
is_switch(const char *text)
{
	static const char *const words[] = {"true",  "yes", "on",  "enable",  "1",
					    "false", "no",  "off", "disable", "0"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

/** libcyaml takes the digits a value begins with, by strtoull(), and any word for true. */
static int
scalar_check(struct walk *w, const cyaml_schema_value_t *schema, const uint8_t *at,
	     const yaml_node_t *node)
{
	const char *text = (const char *)node->data.scalar.value, *wanted = NULL;
	size_t len = node->data.scalar.length;

	if (schema->type == CYAML_UINT && !is_whole(text, len))
		wanted = "a whole number: decimal digits alone and no 0 before them, or 0x and hex "
			 "digits";
	else if (schema->type == CYAML_FLOAT && !is_real(text, len))
		wanted = "a number, as 12, 0.5 or 1e6";
	else if (schema->type == CYAML_BOOL && (strlen(text) != len || !is_switch(text)))
		wanted = "true or false";
	/* What stands among keys may be one: it is not repeated. */
	if (wanted && strstr(w->place, "security"))
		return ap_error_set(w->err, "%s:%zu: %s: give %s", w->path,
				    node->start_mark.line + 1, w->place, wanted);
	if (wanted)
		return ap_error_set(w->err, "%s:%zu: %s: '%.40s' is not taken: give %s", w->path,
				    node->start_mark.line + 1, w->place, text, wanted);
	return schema->type == CYAML_BOOL ? 0 : zero_check(w, schema, at, node);
}

/** A value, and the text of one that is a string; `node` is on its line. */
static int
mark(struct walk *w, const cyaml_schema_value_t *schema, const uint8_t *at, const yaml_node_t *node)
{
	const bool pointer = schema->flags & CYAML_FLAG_POINTER;
	const char *text;
	size_t line;

	if (w->cfg == NULL || node == NULL)
		return 0;
	line = node->start_mark.line + 1;
	if (pointer && schema->type == CYAML_STRING) {
		memcpy(&text, at, sizeof(text));
		if (text && config_mark(w->cfg, text, strlen(text) + 1, line) < 0)
			return -ENOMEM;
	}
	return config_mark(w->cfg, at, pointer ? sizeof(void *) : schema->data_size, line);
}

static int value_walk(struct walk *w, const cyaml_schema_value_t *schema, uint8_t *at, int node,
		      size_t place_len);

static int
mapping_walk(struct walk *w, const cyaml_schema_value_t *schema, uint8_t *at,
	     const yaml_node_t *node, size_t place_len)
{
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	int rc = 0;

	for (; rc == 0 && pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *k = yaml_document_get_node(&w->document, pair->key);
		const cyaml_schema_field_t *f = schema->mapping.fields;
		const char *key =
			k->type == YAML_SCALAR_NODE ? (const char *)k->data.scalar.value : "";
		size_t len = place_len;

		while (f->key && strcmp(f->key, key) != 0)
			f++;
		if (f->key == NULL)
			continue;
		len += (size_t)snprintf(w->place + len, sizeof(w->place) - len, "%s%s",
					len ? "." : "", key);
		rc = mark(w, &f->value, at + f->data_offset, k);
		if (rc == 0)
			rc = value_walk(w, &f->value, at + f->data_offset, pair->value, len);
	}
	return rc;
}

static int
sequence_walk(struct walk *w, const cyaml_schema_value_t *schema, uint8_t *at,
	      const yaml_node_t *node, size_t place_len)
{
	const cyaml_schema_value_t *entry = schema->sequence.entry;
	const size_t step =
		entry->flags & CYAML_FLAG_POINTER ? sizeof(void *) : (size_t)entry->data_size;
	const yaml_node_item_t *first = node->data.sequence.items.start, *item = first;
	int rc = 0;

	for (; rc == 0 && item < node->data.sequence.items.top; item++, at += step) {
		size_t len = place_len;

		len += (size_t)snprintf(w->place + len, sizeof(w->place) - len, "[%zu]",
					(size_t)(item - first));
		rc = mark(w, entry, at, yaml_document_get_node(&w->document, *item));
		if (rc == 0)
			rc = value_walk(w, entry, at, *item, len);
	}
	return rc;
}

/** @param at where libcyaml put the value, or a pointer to it. @return 0 or -errno */
static int
value_walk(struct walk *w, const cyaml_schema_value_t *schema, uint8_t *at, int node,
	   size_t place_len)
{
	const yaml_node_t *n = yaml_document_get_node(&w->document, node);

	if (place_len >= sizeof(w->place))
		return ap_error_set(w->err, "%s: %s: names are too long", w->path, w->place);
	if (schema->flags & CYAML_FLAG_POINTER)
		at = *(uint8_t **)(void *)at;
	if (n == NULL || at == NULL)
		return 0;
	if (schema->type == CYAML_MAPPING && n->type == YAML_MAPPING_NODE)
		return mapping_walk(w, schema, at, n, place_len);
	if (schema->type == CYAML_SEQUENCE && n->type == YAML_SEQUENCE_NODE)
		return sequence_walk(w, schema, at, n, place_len);
	if (n->type == YAML_SCALAR_NODE &&
	    (schema->type == CYAML_UINT || schema->type == CYAML_FLOAT ||
	     schema->type == CYAML_BOOL))
		return scalar_check(w, schema, at, n);
	return 0;
}

/** @return 0 when the first document is the last. */
static int
alone(yaml_parser_t *parser, const char *path, struct ap_error *err)
{
	yaml_document_t second;
	size_t line;
	bool more;

	if (!yaml_parser_load(parser, &second))
		return ap_error_set(err, "%s:%zu: behind the document: %s", path,
				    parser->problem_mark.line + 1,
				    parser->problem ? parser->problem : "no YAML");
	more = yaml_document_get_root_node(&second) != NULL;
	line = second.start_mark.line + 1;
	yaml_document_delete(&second);
	if (!more)
		return 0;
	return ap_error_set(err,
			    "%s:%zu: a second YAML document begins: one is read, put the rest into "
			    "a file of its own",
			    path, line);
}

static int
walk(struct walk *w, const cyaml_schema_value_t *schema, void *data, const char *text, size_t len)
{
	yaml_parser_t parser;
	int rc = -ENOMEM;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (yaml_parser_load(&parser, &w->document)) {
		/* Its nodes count from 1. */
		rc = value_walk(w, schema, (uint8_t *)&data, 1, 0);
		yaml_document_delete(&w->document);
		rc = rc < 0 ? rc : alone(&parser, w->path, w->err);
	}
	yaml_parser_delete(&parser);
	return rc;
}

int
config_yaml_check(struct ap_config *cfg, const char *text, size_t len, struct ap_error *err)
{
	struct walk w = {.path = cfg->path, .cfg = cfg, .err = err};

	return walk(&w, &ap_config_schema, cfg, text, len);
}

int
yaml_check(const char *path, const cyaml_schema_value_t *schema, void *data, const char *text,
	   size_t len, struct ap_error *err)
{
	struct walk w = {.path = path, .err = err};

	return walk(&w, schema, data, text, len);
}
