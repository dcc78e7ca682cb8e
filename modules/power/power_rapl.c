/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "modules/power/power_rapl.h"

static int
number(const char *folder, const char *file, uint64_t *value)
{
	char path[224];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	f = fopen(path, "r");
	if (f == NULL)
		return -1;
	n = fscanf(f, "%" SCNu64, value);
	fclose(f);
	return n == 1 ? 0 : -1;
}

/** Packages only: cores, DRAM and psys are parts or wholes of them. */
static int
is_package(const char *folder)
{
	char path[224], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/name", folder);
	f = fopen(path, "r");
	if (f == NULL)
		return 0;
	if (fgets(name, sizeof(name), f) == NULL)
		name[0] = '\0';
	fclose(f);
	return strncmp(name, "package-", 8) == 0;
}

unsigned
power_rapl_open(struct power_rapl *r, const char *root)
{
	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < POWER_RAPL_PACKAGES_MAX; i++) {
		char *path = r->path[r->packages];

		snprintf(path, sizeof(r->path[0]), "%.120s/intel-rapl:%u", root, i);
		if (is_package(path) &&
		    number(path, "max_energy_range_uj", &r->range_uj[r->packages]) == 0 &&
		    number(path, "energy_uj", &r->last_uj[r->packages]) == 0)
			r->packages++;
	}
	return r->packages;
}

double
power_rapl_read(struct power_rapl *r)
{
	for (unsigned i = 0; i < r->packages; i++) {
		uint64_t now;

		if (number(r->path[i], "energy_uj", &now) < 0)
			return NAN;
		r->joules += 1e-6 * (double)(now >= r->last_uj[i]
						     ? now - r->last_uj[i]
						     : now + r->range_uj[i] - r->last_uj[i]);
		r->last_uj[i] = now;
	}
	return r->packages ? r->joules : NAN;
}
