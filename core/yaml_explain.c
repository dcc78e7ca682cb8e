/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libcyaml says where its parser was when it gave up, which is behind what is wrong, and not what
 * would have been right. The document and the schema know both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/yaml.h"

/** A value of the document and what it should be. */
struct spot {
	const cyaml_schema_value_t *schema;
	const yaml_node_t *node;
};

static const cyaml_schema_field_t *
field_find(const cyaml_schema_value_t *schema, const char *key)
{
	const cyaml_schema_field_t *f = schema->mapping.fields;

	while (f->key && strcmp(f->key, key) != 0)
		f++;
	return f->key ? f : NULL;
}

/** @return the pair that has `key` for the nth time, from 0, or NULL. */
static const yaml_node_pair_t *
pair_find(yaml_document_t *d, const yaml_node_t *node, const char *key, unsigned nth)
{
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;

	for (; pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *k = yaml_document_get_node(d, pair->key);

		if (k->type == YAML_SCALAR_NODE &&
		    strcmp((const char *)k->data.scalar.value, key) == 0 && nth-- == 0)
			return pair;
	}
	return NULL;
}

static bool
key_step(yaml_document_t *d, struct spot *s, const char *key)
{
	const cyaml_schema_field_t *f;
	const yaml_node_pair_t *pair;

	if (s->schema->type != CYAML_MAPPING || s->node->type != YAML_MAPPING_NODE ||
	    (f = field_find(s->schema, key)) == NULL ||
	    (pair = pair_find(d, s->node, key, 0)) == NULL)
		return false;
	s->schema = &f->value;
	s->node = yaml_document_get_node(d, pair->value);
	return true;
}

static bool
entry_step(yaml_document_t *d, struct spot *s, unsigned long entry)
{
	const yaml_node_t *n = s->node;

	if (s->schema->type != CYAML_SEQUENCE || n->type != YAML_SEQUENCE_NODE ||
	    entry >= (size_t)(n->data.sequence.items.top - n->data.sequence.items.start))
		return false;
	s->schema = s->schema->sequence.entry;
	s->node = yaml_document_get_node(d, n->data.sequence.items.start[entry]);
	return true;
}

/** Goes to `upf[0].interfaces[1].mtu`. @return whether it is there */
static bool
place_find(yaml_document_t *d, struct spot *s, const char *place)
{
	while (*place != '\0') {
		size_t len = strcspn(place, ".[");
		char key[64];

		if (*place == '[') {
			if (!entry_step(d, s, strtoul(place + 1, NULL, 10)))
				return false;
			place += strcspn(place, "]") + 1;
		} else {
			snprintf(key, sizeof(key), "%.*s", (int)len, place);
			if (!key_step(d, s, key))
				return false;
			place += len;
		}
		place += *place == '.';
	}
	return true;
}

static void
choices_add(struct yaml_log *log, const cyaml_schema_value_t *schema)
{
	size_t len = strlen(log->reason);

	for (uint32_t i = 0; i < schema->enumeration.count && len < sizeof(log->reason); i++)
		len += (size_t)snprintf(log->reason + len, sizeof(log->reason) - len, "%s%s",
					i == 0                               ? ": give "
					: i + 1 == schema->enumeration.count ? " or "
									     : ", ",
					schema->enumeration.strings[i].str);
}

/** A mapping that lacks a key: libcyaml names the key it read last. */
static void
missing_explain(struct yaml_log *log, yaml_document_t *d, struct spot top, const char *key)
{
	char *last = strrchr(log->place, '.');
	struct spot s = top;

	if (!place_find(d, &s, log->place) || s.schema->type != CYAML_MAPPING ||
	    field_find(s.schema, key) == NULL) {
		s = top;
		*(last ? last : log->place) = '\0';
		if (!place_find(d, &s, log->place))
			return;
	}
	log->line = (unsigned)s.node->start_mark.line + 1;
	snprintf(log->reason, sizeof(log->reason), "Missing key: %s", key);
}

/** A key that should not be there, or not again. */
static void
key_explain(struct yaml_log *log, yaml_document_t *d, struct spot s, const char *key, unsigned nth)
{
	const yaml_node_pair_t *pair;
	char *last = strrchr(log->place, '.');

	if (nth > 0)
		*(last ? last : log->place) = '\0';
	if (!place_find(d, &s, log->place) || s.node->type != YAML_MAPPING_NODE ||
	    (pair = pair_find(d, s.node, key, nth)) == NULL)
		return;
	log->line = (unsigned)yaml_document_get_node(d, pair->key)->start_mark.line + 1;
}

/** What a scalar may be, behind what is wrong with it. */
static void
scalar_add(struct yaml_log *log, const cyaml_schema_value_t *schema)
{
	const size_t len = strlen(log->reason), room = sizeof(log->reason) - len;
	char *end = log->reason + len;

	if (schema->type == CYAML_ENUM)
		choices_add(log, schema);
	else if (schema->type == CYAML_UINT && schema->data_size == sizeof(uint64_t))
		snprintf(end, room, ": give a whole number");
	else if (schema->type == CYAML_UINT)
		snprintf(end, room, ": give a whole number up to %llu",
			 ~0ULL >> (64 - 8 * schema->data_size));
	else if (schema->type == CYAML_FLOAT)
		snprintf(end, room, ": give a number, as 12, 0.5 or 1e6");
	else if (schema->type == CYAML_BOOL)
		snprintf(end, room, ": give true or false");
	else if (schema->type == CYAML_STRING && schema->string.max < 1024)
		snprintf(end, room, ": give %u to %u characters", schema->string.min,
			 schema->string.max);
	else if (schema->type == CYAML_STRING)
		snprintf(end, room, ": give a text");
}

static void
value_explain(struct yaml_log *log, yaml_document_t *d, struct spot s)
{
	bool scalar;

	if (!place_find(d, &s, log->place))
		return;
	scalar = s.schema->type != CYAML_SEQUENCE && s.schema->type != CYAML_MAPPING;
	log->line = (unsigned)s.node->start_mark.line + 1;
	if (scalar && s.node->type != YAML_SCALAR_NODE)
		snprintf(log->reason, sizeof(log->reason),
			 "One value is needed, no list and no keys");
	else if (scalar && s.node->data.scalar.length == 0)
		snprintf(log->reason, sizeof(log->reason), "There is no value");
	/* libcyaml names the type it reads numbers with. */
	else if (strncmp(log->reason, "Invalid uint64_t", 16) == 0)
		memmove(log->reason + 8, log->reason + 17, strlen(log->reason + 17) + 1);
	if (scalar)
		scalar_add(log, s.schema);
	else if (s.schema->type == CYAML_SEQUENCE && s.node->type != YAML_SEQUENCE_NODE)
		snprintf(log->reason, sizeof(log->reason),
			 "A list is needed: [ … ], or lines "
			 "that begin with '- '");
	else if (s.schema->type == CYAML_MAPPING && s.node->type != YAML_MAPPING_NODE)
		snprintf(log->reason, sizeof(log->reason),
			 "Keys and their values are needed: { … }, or lines of 'key: value'");
}

void
yaml_explain(struct yaml_log *log, const cyaml_schema_value_t *schema, const char *text, size_t len)
{
	yaml_parser_t parser;
	yaml_document_t d;
	struct spot top = {.schema = schema};
	char key[64];

	if (!yaml_parser_initialize(&parser))
		return;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!yaml_parser_load(&parser, &d)) {
		if (parser.problem) {
			log->line = (unsigned)parser.problem_mark.line + 1;
			log->place[0] = '\0';
			snprintf(log->reason, sizeof(log->reason), "%s", parser.problem);
		}
		yaml_parser_delete(&parser);
		return;
	}
	top.node = yaml_document_get_root_node(&d);
	if (top.node == NULL)
		;
	else if (sscanf(log->reason, "Missing required mapping field: %60s", key) == 1)
		missing_explain(log, &d, top, key);
	else if (sscanf(log->reason, "Unexpected key: %60s", key) == 1)
		key_explain(log, &d, top, key, 0);
	else if (sscanf(log->reason, "Mapping field already seen: %60s", key) == 1)
		key_explain(log, &d, top, key, 1);
	else
		value_explain(log, &d, top);
	yaml_document_delete(&d);
	yaml_parser_delete(&parser);
}
