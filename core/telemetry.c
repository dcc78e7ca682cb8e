/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_debug.h>
#include <rte_mempool.h>
#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include "core/clock.h"
#include "core/telemetry.h"

#define COMMANDS_MAX 32

/* Telemetry answers on a thread of its own; the lock keeps the run alive while it does. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ap_run *current;
static uint64_t since_ns;

static struct {
	const char *name;
	ap_telemetry_fn *fn;
} commands[COMMANDS_MAX];
static unsigned nb_commands;
static char reason[RTE_TEL_MAX_STRING_LEN]; /* of the command that runs, under the lock */

void
ap_telemetry_set(struct ap_run *run)
{
	pthread_mutex_lock(&lock);
	current = run;
	since_ns = ap_clock_ns();
	pthread_mutex_unlock(&lock);
}

int
ap_telemetry_refuse(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/** What the client gets: rte_telemetry makes a bare null of an error. */
static int
answer_end(int rc, struct rte_tel_data *d)
{
	if (rc >= 0)
		return rc;
	if (reason[0] == '\0')
		snprintf(reason, sizeof(reason), "%s",
			 rc == -ENOENT      ? "there is nothing of that name"
			 : rc == -ENODEV    ? "no deployment is running"
			 : rc == -ETIMEDOUT ? "an lcore does not come by"
					    : strerror(-rc));
	rte_tel_data_start_dict(d);
	return rte_tel_data_add_dict_string(d, "refused", reason);
}

/** rte_telemetry's callback for every command that modules added. */
static int
answer_added(const char *cmd, const char *params, struct rte_tel_data *d)
{
	int rc = -ENOENT;

	pthread_mutex_lock(&lock);
	reason[0] = '\0';
	for (unsigned i = 0; i < nb_commands; i++)
		if (strcmp(cmd, commands[i].name) == 0)
			rc = current ? commands[i].fn(current, params, d) : -ENODEV;
	rc = answer_end(rc, d);
	pthread_mutex_unlock(&lock);
	return rc;
}

void
ap_telemetry_add(const char *cmd, ap_telemetry_fn *fn, const char *help)
{
	RTE_VERIFY(nb_commands < COMMANDS_MAX);
	commands[nb_commands].name = cmd;
	commands[nb_commands++].fn = fn;
	rte_telemetry_register_cmd(cmd, answer_added, help);
}

static int
tell_info(struct rte_tel_data *d)
{
	char path[RTE_TEL_MAX_STRING_LEN];

	if (realpath(current->cfg->path, path) == NULL)
		snprintf(path, sizeof(path), "%s", current->cfg->path);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "name", current->cfg->name);
	rte_tel_data_add_dict_string(d, "path", path);
	rte_tel_data_add_dict_int(d, "pid", getpid());
	rte_tel_data_add_dict_u64(d, "lcores", current->plan->nb_lcores);
	rte_tel_data_add_dict_u64(d, "nodes", current->plan->nb_nodes);
	rte_tel_data_add_dict_u64(d, "cuts", current->plan->nb_cuts);
	rte_tel_data_add_dict_u64(d, "uptime_s", (ap_clock_ns() - since_ns) / AP_NS_PER_S);
	return 0;
}

static int
tell_nodes(struct rte_tel_data *d)
{
	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	for (unsigned i = 0; i < current->plan->nb_nodes; i++)
		rte_tel_data_add_array_string(d, current->plan->nodes[i]->name);
	return 0;
}

static int
tell_node(const char *name, struct rte_tel_data *d)
{
	const struct ap_plan_node *pn = name ? ap_plan_find(current->plan, name) : NULL;
	struct ap_account_row r;

	if (pn == NULL)
		return -ENOENT;
	ap_account_node(pn, &r);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "type", pn->type->name);
	rte_tel_data_add_dict_string(d, "lcore", pn->lcore->cfg->name);
	rte_tel_data_add_dict_u64(d, "in", r.in);
	rte_tel_data_add_dict_u64(d, "made", r.made);
	rte_tel_data_add_dict_u64(d, "out", r.out);
	rte_tel_data_add_dict_u64(d, "used", r.used);
	rte_tel_data_add_dict_u64(d, "held", r.held);
	rte_tel_data_add_dict_u64(d, "calls", r.calls);
	rte_tel_data_add_dict_u64(d, "cycles", r.cycles);
	for (uint8_t k = 0; k < pn->type->nb_drops; k++) {
		char key[RTE_TEL_MAX_STRING_LEN];

		snprintf(key, sizeof(key), "drop_%.20s_%.32s", pn->type->name, pn->type->drops[k]);
		rte_tel_data_add_dict_u64(d, key, pn->inst->drops[k]);
	}
	return 0;
}

static bool
is_role(const struct ap_run_role *r, const char *name)
{
	char numbered[32];

	snprintf(numbered, sizeof(numbered), "%s%u", r->type->kind, r->index);
	return strcmp(name, numbered) == 0 || (r->index == 0 && strcmp(name, r->type->kind) == 0);
}

/** What a role reports, as one JSON string. */
static int
tell_role(const char *name, struct rte_tel_data *d)
{
	char text[RTE_TEL_MAX_SINGLE_STRING_LEN] = "";

	for (unsigned i = 0; name && i < current->nb_roles; i++) {
		const struct ap_run_role *r = &current->roles[i];
		FILE *f;

		if (r->type->report == NULL || !is_role(r, name))
			continue;
		f = fmemopen(text, sizeof(text), "w");
		if (f == NULL)
			return -errno;
		r->type->report(r->obj, 0, f, true);
		fclose(f);
		return rte_tel_data_string(d, text);
	}
	return -ENOENT;
}

static int
tell_lcores(struct rte_tel_data *d)
{
	rte_tel_data_start_dict(d);
	for (unsigned i = 0; i < current->plan->nb_lcores; i++) {
		const struct ap_worker *w = &current->workers[i];
		uint64_t all = RTE_MAX(w->busy_cycles + w->idle_cycles, 1UL);
		char text[RTE_TEL_MAX_STRING_LEN];

		snprintf(text, sizeof(text), "cpu %u, governor %s, busy %.1f %%, %lu walks",
			 current->plan->lcores[i].cfg->cpu, w->governor->name,
			 100.0 * (double)w->busy_cycles / (double)all, w->walks);
		rte_tel_data_add_dict_string(d, w->name, text);
	}
	return 0;
}

static void
tell_pool(struct rte_mempool *pool, void *into)
{
	char key[RTE_TEL_MAX_STRING_LEN];

	strlcpy(key, pool->name, sizeof(key));
	for (char *c = key; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_'; /* other characters may not stand in a key */
	rte_tel_data_add_dict_u64(into, key, rte_mempool_in_use_count(pool));
}

static int
tell_pools(struct rte_tel_data *d)
{
	rte_tel_data_start_dict(d);
	rte_mempool_walk(tell_pool, d);
	return 0;
}

static int
answer(const char *cmd, const char *params, struct rte_tel_data *d)
{
	int rc = -ENOENT;

	pthread_mutex_lock(&lock);
	reason[0] = '\0';
	if (current == NULL)
		rc = -ENODEV;
	else if (strcmp(cmd, "/airpath/info") == 0)
		rc = tell_info(d);
	else if (strcmp(cmd, "/airpath/nodes") == 0)
		rc = tell_nodes(d);
	else if (strcmp(cmd, "/airpath/node") == 0)
		rc = tell_node(params, d);
	else if (strcmp(cmd, "/airpath/role") == 0)
		rc = tell_role(params, d);
	else if (strcmp(cmd, "/airpath/lcores") == 0)
		rc = tell_lcores(d);
	else if (strcmp(cmd, "/airpath/pools") == 0)
		rc = tell_pools(d);
	rc = answer_end(rc, d);
	pthread_mutex_unlock(&lock);
	return rc;
}

RTE_INIT(ap_telemetry_register)
{
	rte_telemetry_register_cmd("/airpath/info", answer, "Deployment that runs here.");
	rte_telemetry_register_cmd("/airpath/nodes", answer, "Names of all nodes.");
	rte_telemetry_register_cmd("/airpath/node", answer, "Counters of one node: NAME.");
	rte_telemetry_register_cmd("/airpath/role", answer,
				   "What a role reports, JSON: KIND, KIND1, ...");
	rte_telemetry_register_cmd("/airpath/lcores", answer, "Busy share of every worker.");
	rte_telemetry_register_cmd("/airpath/pools", answer, "Objects in use of every mempool.");
}
