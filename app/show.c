/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "app/show_power.h"
#include "app/show_upf.h"
#include "app/telemetry_client.h"
#include "core/plan.h"

struct options {
	const char *name; /**< of the running deployment */
	const char *out;  /**< file, NULL: standard output */
	const char *deployment;
	bool svg;
	bool json;
};

static int
usage(FILE *f)
{
	fprintf(f, "usage: airpath show WHAT [OPTIONS]\n\n"
		   "  nodes               node types, their edges and drop reasons\n"
		   "  graph [FILE]        graph of a deployment file, or of the one that runs\n"
		   "      --dot           as Graphviz (default)\n"
		   "      --svg           as SVG, through Graphviz's 'dot'\n"
		   "      --out FILE      write there instead of standard output\n"
		   "  stats               counters of the deployment that runs\n"
		   "      --json          as JSON\n"
		   "  power [--json]      CPU time, wake-ups, frequency and watts of every lcore\n"
		   "  upf                 sessions, events and hand-offs of a upf that runs\n"
		   "  sessions            ids of its sessions\n"
		   "  session ID          one of them: rules and counters\n"
		   "  flows               its flow tables: flows, scans, names by protocol\n"
		   "  applications [AFTER] those it detects, by rising index, and their flows\n"
		   "  gnb [ROLE]          contexts, requests and events of a gNB that runs\n"
		   "  owner UE_IP|TEID    which worker serves it, and its session's handle\n"
		   "      --deployment FILE  of a file: worker by address or TEID alone\n\n"
		   "  --name NAME         which deployment, where several run\n");
	return f == stdout ? 0 : 2;
}

static void
show_type(const struct ap_node_type *t, void *arg)
{
	(void)arg;
	printf("%-12s %s%s\n", t->name, t->help ? t->help : "", t->source ? " [source]" : "");
	for (uint8_t e = 0; e < t->nb_edges; e++)
		printf("%s%s", e ? ", " : "             edges: ", t->edges[e]);
	if (t->nb_edges)
		printf("\n");
	for (uint8_t d = 0; d < t->nb_drops; d++)
		printf("%s%s_%s", d ? ", " : "             drops: ", t->name, t->drops[d]);
	if (t->nb_drops)
		printf("\n");
}

/** Path of the deployment that runs. @return 0, or 1 after saying why. */
static int
running_path(const struct options *o, char *path, size_t size)
{
	char reply[TEL_REPLY_MAX];
	int sock = tel_connect(o->name), rc = 1;

	if (sock < 0)
		return 1;
	if (tel_ask(sock, "/airpath/info", reply) > 0 && tel_string(reply, "path", path, size))
		rc = 0;
	else
		fprintf(stderr, "it does not answer /airpath/info\n");
	close(sock);
	return rc;
}

/** Where the drawing goes: a file, standard output, or through Graphviz to either. */
static FILE *
drawing_open(const struct options *o)
{
	char cmd[512];

	if (!o->svg)
		return o->out ? fopen(o->out, "w") : stdout;
	if (o->out == NULL)
		return popen("dot -Tsvg", "w");
	if (strchr(o->out, '\'') != NULL)
		return NULL;
	snprintf(cmd, sizeof(cmd), "dot -Tsvg -o '%s'", o->out);
	return popen(cmd, "w");
}

static int
show_graph(const struct options *o, const char *file)
{
	char path[512];
	struct ap_error err;
	struct ap_config *cfg;
	struct ap_plan *p;
	FILE *f;
	int rc = 1;

	if (file == NULL && running_path(o, path, sizeof(path)) != 0)
		return 1;
	cfg = ap_config_load(file ? file : path, &err);
	p = cfg ? ap_plan_make(cfg, &err) : NULL;
	f = p ? drawing_open(o) : NULL;
	if (p == NULL)
		fprintf(stderr, "%s\n", err.text);
	else if (f == NULL)
		perror(o->out ? o->out : "dot");
	else {
		ap_plan_dot(p, f);
		rc = o->svg ? pclose(f) != 0 : f != stdout && fclose(f) != 0;
		if (rc && o->svg)
			fprintf(stderr, "could not draw: is Graphviz ('dot') installed, and can it "
					"write there?\n");
		else if (rc)
			perror(o->out);
	}
	ap_plan_free(p);
	ap_config_free(cfg);
	return rc;
}

static void
show_node_stats(const char *name, const char *reply)
{
	unsigned long long in = tel_number(reply, "in") + tel_number(reply, "made");
	unsigned long long cycles = tel_number(reply, "cycles");
	const char *at = reply;
	char lcore[32] = "", key[96];

	tel_string(reply, "lcore", lcore, sizeof(lcore));
	printf("%-38s %-15s %14llu %14llu %10llu %8.1f\n", name, lcore, in,
	       tel_number(reply, "out") + tel_number(reply, "used"), tel_number(reply, "held"),
	       in ? (double)cycles / (double)in : 0.0);
	while ((at = strstr(at, "\"drop_")) != NULL) {
		if (!tel_next_string(&at, key, sizeof(key)))
			break;
		if (strtoull(at + 1, NULL, 10) > 0)
			printf("    %s: %llu\n", key + 5, strtoull(at + 1, NULL, 10));
	}
}

/** The reply is {"/airpath/node":{…}}: its inside becomes one entry, with the name in front. */
static void
print_node_json(const char *name, const char *reply, bool first)
{
	const char *inside = strchr(reply + 1, '{');
	int len = inside ? (int)strlen(inside) - 2 : 0;

	if (len > 0)
		printf("%s{\"node\":\"%s\",%.*s", first ? "" : ",\n", name, len, inside + 1);
}

static int
show_stats(const struct options *o)
{
	char list[TEL_REPLY_MAX], reply[TEL_REPLY_MAX], name[96], cmd[128];
	int sock = tel_connect(o->name);
	const char *at = NULL;
	bool first = true;

	if (sock < 0)
		return 1;
	if (tel_ask(sock, "/airpath/nodes", list) < 0 || (at = strchr(list, '[')) == NULL) {
		close(sock);
		fprintf(stderr, "it does not answer /airpath/nodes\n");
		return 1;
	}
	if (o->json)
		printf("[");
	else
		printf("%-38s %-15s %14s %14s %10s %8s\n", "node", "lcore", "in+made", "out+used",
		       "held", "cyc/pkt");
	while (tel_next_string(&at, name, sizeof(name))) {
		snprintf(cmd, sizeof(cmd), "/airpath/node,%s", name);
		if (tel_ask(sock, cmd, reply) < 0)
			break;
		if (o->json)
			print_node_json(name, reply, first);
		else
			show_node_stats(name, reply);
		first = false;
	}
	if (o->json)
		printf("]\n");
	close(sock);
	return 0;
}

int
app_show(int argc, char **argv)
{
	static const struct option options[] = {
		{"dot", no_argument, NULL, 'd'},
		{"svg", no_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{"out", required_argument, NULL, 'o'},
		{"name", required_argument, NULL, 'n'},
		{"deployment", required_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct options o = {0};
	const char *what;
	int c;

	while ((c = getopt_long(argc, argv, "dsjo:n:f:h", options, NULL)) != -1) {
		switch (c) {
		case 'd':
			o.svg = false;
			break;
		case 's':
			o.svg = true;
			break;
		case 'j':
			o.json = true;
			break;
		case 'o':
			o.out = optarg;
			break;
		case 'n':
			o.name = optarg;
			break;
		case 'f':
			o.deployment = optarg;
			break;
		default:
			return usage(c == 'h' ? stdout : stderr);
		}
	}
	what = optind < argc ? argv[optind++] : "";
	if (strcmp(what, "nodes") == 0) {
		ap_node_type_each(show_type, NULL);
		return 0;
	}
	if (strcmp(what, "graph") == 0)
		return show_graph(&o, optind < argc ? argv[optind] : NULL);
	if (strcmp(what, "stats") == 0)
		return show_stats(&o);
	if (strcmp(what, "power") == 0)
		return show_power(o.name, o.json);
	if (strcmp(what, "upf") == 0)
		return show_upf(o.name, "/airpath/upf/info", NULL);
	if (strcmp(what, "flows") == 0)
		return show_upf(o.name, "/airpath/upf/flows", NULL);
	if (strcmp(what, "applications") == 0)
		return show_upf(o.name, "/airpath/upf/applications",
				optind < argc ? argv[optind] : NULL);
	if (strcmp(what, "gnb") == 0)
		return show_upf(o.name, "/airpath/gnb/info", optind < argc ? argv[optind] : NULL);
	if (strcmp(what, "sessions") == 0)
		return show_upf_sessions(o.name);
	if (strcmp(what, "session") == 0 && optind < argc)
		return show_upf(o.name, "/airpath/upf/session", argv[optind]);
	if (strcmp(what, "owner") == 0 && optind < argc)
		return o.deployment ? show_owner(o.deployment, argv[optind])
				    : show_upf(o.name, "/airpath/upf/owner", argv[optind]);
	fprintf(stderr, "airpath show: there is no '%s'\n\n", what);
	return usage(stderr);
}
