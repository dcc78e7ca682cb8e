/* SPDX-License-Identifier: BSD-3-Clause */
#include <cyaml/cyaml.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/yaml.h"
#include "modules/power/power_table.h"

#define NEED CYAML_FLAG_POINTER
#define MUST CYAML_FLAG_DEFAULT

static const cyaml_schema_field_t pstate_fields[] = {
	CYAML_FIELD_UINT("mhz", MUST, struct power_pstate, mhz),
	CYAML_FIELD_FLOAT("watts", MUST, struct power_pstate, watts), CYAML_FIELD_END};
static const cyaml_schema_value_t pstate_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct power_pstate, pstate_fields)};
static const cyaml_schema_field_t cstate_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct power_cstate, name, 1, 16),
	CYAML_FIELD_FLOAT("watts", MUST, struct power_cstate, watts),
	CYAML_FIELD_UINT("exit_us", MUST, struct power_cstate, exit_us),
	CYAML_FIELD_UINT("residency_us", MUST, struct power_cstate, residency_us), CYAML_FIELD_END};
static const cyaml_schema_value_t cstate_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct power_cstate, cstate_fields)};
static const cyaml_schema_field_t table_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct power_table, name, 1, 64),
	CYAML_FIELD_STRING_PTR("source", NEED, struct power_table, source, 1, CYAML_UNLIMITED),
	CYAML_FIELD_FLOAT("base_watts", MUST, struct power_table, base_watts),
	CYAML_FIELD_FLOAT("pause_share", MUST, struct power_table, pause_share),
	CYAML_FIELD_SEQUENCE("pstates", NEED, struct power_table, pstates, &pstate_value, 1,
			     POWER_STATES_MAX),
	CYAML_FIELD_SEQUENCE("cstates", NEED, struct power_table, cstates, &cstate_value, 1,
			     POWER_STATES_MAX),
	CYAML_FIELD_END};
static const cyaml_schema_value_t table_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct power_table, table_fields)};

static int
check(const char *path, const struct power_table *t, struct ap_error *err)
{
	if (!(t->base_watts >= 0) || !(t->pause_share >= 0 && t->pause_share <= 1))
		return ap_error_set(err, "%s: base_watts must be at least 0 and pause_share 0..1",
				    path);
	for (unsigned i = 0; i < t->pstates_count; i++) {
		const struct power_pstate *p = &t->pstates[i];

		if (p->mhz == 0 || !(p->watts >= 0) || (i > 0 && p->mhz >= p[-1].mhz))
			return ap_error_set(err,
					    "%s: pstates[%u]: %u MHz, %g W: the fastest comes "
					    "first, watts are at least 0",
					    path, i, p->mhz, p->watts);
	}
	for (unsigned i = 0; i < t->cstates_count; i++) {
		const struct power_cstate *c = &t->cstates[i];

		if (!(c->watts >= 0) || (i == 0 && c->residency_us != 0) ||
		    (i > 0 && c->residency_us <= c[-1].residency_us))
			return ap_error_set(err,
					    "%s: cstates[%u] (%s): the shallowest comes first and "
					    "has residency_us 0, then it rises",
					    path, i, c->name);
	}
	return 0;
}

/** Tables stand in deploy/power/, and deployments beside that folder. */
static void
find(char *full, size_t size, const char *path, const char *beside)
{
	char copy[512];

	snprintf(full, size, "%s", path);
	if (path[0] == '/' || beside == NULL || access(path, R_OK) == 0)
		return;
	snprintf(copy, sizeof(copy), "%s", beside);
	snprintf(full, size, "%s/%s", dirname(copy), path);
}

struct power_table *
power_table_load(const char *path, const char *beside, struct ap_error *err)
{
	struct power_table *t;
	char full[1024];

	find(full, sizeof(full), path, beside);
	t = yaml_file_load(full, &table_schema, err);
	if (t && check(full, t, err) < 0) {
		power_table_free(t);
		t = NULL;
	}
	return t;
}

void
power_table_free(struct power_table *t)
{
	yaml_file_free(&table_schema, t);
}

unsigned
power_table_cstate(const struct power_table *t, uint64_t ns)
{
	unsigned i = t->cstates_count - 1;

	while (i > 0 && ns < t->cstates[i].residency_us * AP_NS_PER_US)
		i--;
	return i;
}
