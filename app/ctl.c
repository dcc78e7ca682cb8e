/* SPDX-License-Identifier: BSD-3-Clause */
/** `airpath ctl`: a person's, or a script's, end of a gNB's control socket. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/app.h"
#include "app/ctl.h"
#include "app/telemetry_client.h"

#define DRBS_MAX 8

static int
usage(FILE *f)
{
	fprintf(f,
		"usage: airpath ctl [--name NAME] ROLE COMMAND …\n\n"
		"ROLE is the name of a gNB in the deployment that runs (NAME, where several run),\n"
		"or the path of its control socket.\n\n"
		"  status                 what it is, and how many contexts it has\n"
		"  list [UE] [--json]     contexts and their counters; JSON: one a line\n"
		"  add UE --session ID --upf ADDRESS/TEID --drb SPEC …\n"
		"      --forward ADDRESS/TEID   downlink packets go there after a handover\n"
		"      --count N                so many UEs from UE on: TEIDs rise with them\n"
		"      --rnti N                 role gnb: the C-RNTI of the first of them\n"
		"      SPEC: id=4,qfi=9+8[,du=ADDRESS/TEID][,rlc=um|am|tm][,rlc-sn=12][,default]\n"
		"            [,pdcp-sn=18][,no-sdap-ul][,no-sdap-dl][,count=0][,lcid=7]\n"
		"            [,priority=8]\n"
		"  modify UE --session ID [--upf ADDRESS/TEID] [--forward ADDRESS/TEID|none]\n"
		"      [--drb SPEC] [--du DRB=ADDRESS/TEID] [--count DRB=N] [--remove-drb DRB]\n"
		"      [--remove-session ID]\n"
		"  delete UE …            or --all\n"
		"  load FILE              contexts of a YAML or JSON file, keys too\n"
		"  complete               all contexts are there: unknown TEIDs are answered by\n"
		"                         Error Indications\n"
		"  echo SECONDS           an Echo Request to every peer so often; 0: none\n"
		"  offload PERCENT        the share of packets the SmartNIC leaves to the host\n"
		"  events                 error indications, paths, COUNT, radio link failures\n"
		"  churn --upf ADDRESS --du ADDRESS [--ues N] [--first UE] [--batch N]\n"
		"      [--seconds S] [--rate N]   role gnb_header: UEs come, change and go, N\n"
		"                         changes a second or as fast as they are answered; after "
		"S\n"
		"                         seconds, or Ctrl-C, those it made are deleted\n");
	return f == stdout ? 0 : 2;
}

/** The socket of a role by its name. @return 0, or 1 after saying why. */
static int
socket_find(const char *deployment, const char *role, char *path, size_t size)
{
	char reply[TEL_REPLY_MAX], command[96], reason[256];
	const char *value;
	struct stat st;
	int sock, rc = 1;

	if (strchr(role, '/') || (stat(role, &st) == 0 && S_ISSOCK(st.st_mode))) {
		snprintf(path, size, "%s", role);
		return 0;
	}
	sock = tel_connect(deployment);
	if (sock < 0)
		return 1;
	snprintf(command, sizeof(command), "/airpath/gnb/info,%s", role);
	value = tel_ask(sock, command, reply) > 0 ? strchr(reply, ':') : NULL;
	if (value == NULL)
		fprintf(stderr,
			"the deployment does not answer /airpath/gnb/info: it ends, or hangs; try "
			"again, or give the path of the control socket in place of %s\n",
			role);
	else if (tel_refused(value + 1, reason, sizeof(reason)))
		fprintf(stderr, "%s\n", reason);
	else if (tel_string(value, "socket", path, size))
		rc = 0;
	close(sock);
	return rc;
}

/* --- commands --------------------------------------------------------------------------------- */

static int
ctl_load(struct gnb_client *cl, const char *path)
{
	struct ap_error err = {0};
	struct ctl_tally t = {0};
	struct ctl_file *f = ctl_file_load(path, &err);
	int rc = f ? ctl_send_file(cl, f, &t, &err) : -EINVAL;

	ctl_file_free(f);
	return ctl_tell("load", rc, &t, &err);
}

/** What `add` was told. */
struct add {
	struct ctl_context context;
	struct ctl_session session;
	struct ctl_tunnel upf, forwarding;
	struct ctl_drb drbs[DRBS_MAX];
};

static int
add_take(struct add *a, int option, const char *value, struct ap_error *err)
{
	switch (option) {
	case 's':
		return ctl_text_number(value, UINT32_MAX, &a->session.id) == 0
			       ? 0
			       : ap_error_set(err, "session '%s' is no ID", value);
	case 'u':
		a->session.upf = &a->upf;
		return ctl_text_tunnel(value, &a->upf, err);
	case 'f':
		a->session.forwarding = &a->forwarding;
		return ctl_text_tunnel(value, &a->forwarding, err);
	case 'd':
		if (a->session.drbs_count == DRBS_MAX)
			return ap_error_set(err, "more than %d DRBs", DRBS_MAX);
		return ctl_text_drb(value, &a->drbs[a->session.drbs_count++], err);
	case 'c':
		return ctl_text_number(value, UINT32_MAX, &a->context.count) == 0 &&
				       a->context.count > 0
			       ? 0
			       : ap_error_set(err, "'%s' UEs are no number of them", value);
	case 'r':
		return ctl_text_number(value, UINT16_MAX, &a->context.rnti) == 0 &&
				       a->context.rnti > 0
			       ? 0
			       : ap_error_set(err, "'%s' is no C-RNTI", value);
	default:
		return ap_error_set(err, "'airpath ctl --help' tells what add takes");
	}
}

static int
ctl_add(struct gnb_client *cl, int argc, char **argv)
{
	static const struct option options[] = {
		{"session", required_argument, NULL, 's'},
		{"upf", required_argument, NULL, 'u'},
		{"forward", required_argument, NULL, 'f'},
		{"drb", required_argument, NULL, 'd'},
		{"count", required_argument, NULL, 'c'},
		{"rnti", required_argument, NULL, 'r'},
		{0},
	};
	struct add a = {.session = {.id = 1}};
	struct ctl_file f = {&a.context, 1};
	struct ap_error err = {0};
	struct ctl_tally t = {0};
	int o, rc = 0;

	a.context.sessions = &a.session;
	a.context.sessions_count = 1;
	a.session.drbs = a.drbs;
	optind = 0;
	while (rc == 0 && (o = getopt_long(argc, argv, "", options, NULL)) != -1)
		rc = add_take(&a, o, optarg, &err);
	if (rc == 0 &&
	    (optind != argc - 1 || ctl_text_number(argv[optind], UINT32_MAX, &a.context.ue) < 0))
		rc = ap_error_set(&err, "which UE? One number is wanted");
	if (rc == 0)
		rc = ctl_send_file(cl, &f, &t, &err);
	return ctl_tell("add", rc, &t, &err);
}

static int
churn_options(struct gnb_client *cl, int argc, char **argv)
{
	static const struct option options[] = {
		{"ues", required_argument, NULL, 'n'},   {"first", required_argument, NULL, 'f'},
		{"batch", required_argument, NULL, 'b'}, {"seconds", required_argument, NULL, 's'},
		{"rate", required_argument, NULL, 'r'},  {"upf", required_argument, NULL, 'u'},
		{"du", required_argument, NULL, 'd'},    {0},
	};
	struct ctl_churn o = {.ues = 4096, .first = 1U << 24, .batch = 128, .seconds = 3};
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		uint32_t *to = c == 'n'   ? &o.ues
			       : c == 'f' ? &o.first
			       : c == 'b' ? &o.batch
			       : c == 's' ? &o.seconds
			       : c == 'r' ? &o.rate
					  : NULL;

		if (c == '?')
			return 2;
		if (c == 'u')
			o.upf = optarg;
		else if (c == 'd')
			o.du = optarg;
		else if (ctl_text_number(optarg, UINT32_MAX, to) < 0) {
			fprintf(stderr, "airpath ctl churn: '%s' is no number\n", optarg);
			return 2;
		}
	}
	if (o.upf == NULL || o.du == NULL) {
		fprintf(stderr, "airpath ctl churn: --upf and --du say where packets would go\n");
		return 2;
	}
	return ctl_churn(cl, &o);
}

static int
list_options(struct gnb_client *cl, int argc, char **argv)
{
	bool json = false;
	int nb = 0;
	uint32_t ue;

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--json") == 0) {
			json = true;
		} else if (nb++ > 0 || ctl_text_number(argv[i], UINT32_MAX, &ue) < 0) {
			fprintf(stderr, "airpath ctl list: '%s' is no UE\n", argv[i]);
			return 2;
		}
	return ctl_list(cl, nb ? &ue : NULL, json);
}

enum { ANY = -1 };

static const struct {
	const char *name;
	int args; /**< behind it */
} commands[] = {
	{"status", 0},   {"list", ANY}, {"add", ANY},    {"modify", ANY},
	{"delete", ANY}, {"load", 1},   {"complete", 0}, {"echo", 1},
	{"offload", 1},  {"events", 0}, {"churn", ANY},
};

/** Before a gNB is asked. @return whether there is such a command, and it takes so many words. */
static bool
command_check(int argc, char **argv)
{
	static const char *const counts[] = {"nothing", "one word"};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, argv[0]) != 0)
			continue;
		if (commands[i].args == ANY || commands[i].args == argc - 1)
			return true;
		fprintf(stderr, "airpath ctl: %s takes %s: see 'airpath ctl --help'\n", argv[0],
			counts[commands[i].args]);
		return false;
	}
	fprintf(stderr, "airpath ctl: there is no command '%s': ", argv[0]);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(stderr, "%s%s", i ? ", " : "", commands[i].name);
	fprintf(stderr, " are commands, see 'airpath ctl --help'\n");
	return false;
}

/** @param argv [0] is the command: command_check() */
static int
command(struct gnb_client *cl, int argc, char **argv)
{
	const char *what = argv[0];

	if (strcmp(what, "status") == 0)
		return ctl_status(cl);
	if (strcmp(what, "list") == 0)
		return list_options(cl, argc, argv);
	if (strcmp(what, "add") == 0)
		return ctl_add(cl, argc, argv);
	if (strcmp(what, "modify") == 0)
		return ctl_modify(cl, argc, argv);
	if (strcmp(what, "delete") == 0)
		return ctl_delete(cl, argc, argv);
	if (strcmp(what, "load") == 0)
		return ctl_load(cl, argv[1]);
	if (strcmp(what, "complete") == 0)
		return ctl_complete(cl);
	if (strcmp(what, "echo") == 0)
		return ctl_echo(cl, argv[1]);
	if (strcmp(what, "offload") == 0)
		return ctl_offload(cl, argv[1]);
	if (strcmp(what, "events") == 0)
		return ctl_events(cl);
	return churn_options(cl, argc, argv);
}

int
app_ctl(int argc, char **argv)
{
	static const struct option options[] = {
		{"name", required_argument, NULL, 'n'}, {"help", no_argument, NULL, 'h'}, {0}};
	const char *deployment = NULL;
	char path[128];
	struct ap_error err = {0};
	struct gnb_client cl;
	int o, rc;

	/* `+`: options behind the command are the command's. */
	while ((o = getopt_long(argc, argv, "+n:h", options, NULL)) != -1) {
		if (o != 'n')
			return usage(o == 'h' ? stdout : stderr);
		deployment = optarg;
	}
	if (argc - optind < 2)
		return usage(argc - optind == 1 && strcmp(argv[optind], "help") == 0 ? stdout
										     : stderr);
	argc -= optind;
	argv += optind;
	if (!command_check(argc - 1, argv + 1))
		return 2;
	if (socket_find(deployment, argv[0], path, sizeof(path)) != 0)
		return 1;
	if (gnb_client_open(&cl, path, strcmp(argv[1], "events") == 0, &err) < 0) {
		fprintf(stderr, "airpath ctl: %s\n", err.text);
		gnb_client_close(&cl);
		return 1;
	}
	rc = command(&cl, argc - 1, argv + 1);
	gnb_client_close(&cl);
	return rc;
}
