/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_debug.h>

#include "core/node.h"

#define TYPES_MAX 128

static const struct ap_node_type *types[TYPES_MAX];
static unsigned nb_types;

static int
type_cmp(const void *a, const void *b)
{
	const struct ap_node_type *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

void
ap_node_type_add(const struct ap_node_type *type)
{
	if (nb_types == TYPES_MAX || type->nb_edges > AP_EDGES_MAX || type->nb_drops > AP_DROPS_MAX)
		rte_panic("node type %s: more types, edges or drop reasons than node.h allows\n",
			  type->name);
	types[nb_types++] = type;
	qsort(types, nb_types, sizeof(types[0]), type_cmp);
}

const struct ap_node_type *
ap_node_type_find(const char *name)
{
	for (unsigned i = 0; i < nb_types; i++)
		if (strcmp(types[i]->name, name) == 0)
			return types[i];
	return NULL;
}

void
ap_node_type_each(void (*fn)(const struct ap_node_type *type, void *arg), void *arg)
{
	for (unsigned i = 0; i < nb_types; i++)
		fn(types[i], arg);
}
