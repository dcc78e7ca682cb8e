/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/show_power.h"
#include "app/telemetry_client.h"

/** Value of `key`, "-" where an lcore has none. */
static const char *
value(const char *lcore, const char *key, char out[32])
{
	if (!tel_string(lcore, key, out, 32))
		snprintf(out, 32, "-");
	return out;
}

static void
print_lcore(const char *lcore)
{
	char name[32], idle[96] = "-", governor[32], pstates[32], cpu[32], wakeups[32], mhz[32],
		       watts[32], source[32], priority[32], effect[32], both[72];

	tel_string(lcore, "idle", idle, sizeof(idle));
	snprintf(both, sizeof(both), "%s, %s", value(lcore, "priority", priority),
		 value(lcore, "priority_effect", effect));
	printf("%-15s %-11s %-10s %8s %10s %8s %8s %-9s %-22s %s\n", value(lcore, "lcore", name),
	       value(lcore, "governor", governor), value(lcore, "pstates", pstates),
	       value(lcore, "cpu_time_percent", cpu), value(lcore, "wakeups_per_s", wakeups),
	       value(lcore, "freq_mhz", mhz), value(lcore, "power_watts", watts),
	       value(lcore, "power_source", source), priority[0] == '-' ? "-" : both, idle);
}

/** @param at inside {"NAME":{…},"NAME":{…}} */
static void
print_lcores(const char *at)
{
	char key[32], lcore[1024], package[32];
	const char *end;

	printf("%-15s %-11s %-10s %8s %10s %8s %8s %-9s %-22s %s\n", "lcore", "governor",
	       "P-states", "CPU %", "wake-ups/s", "MHz", "W", "source", "priority", "idle by");
	package[0] = '\0';
	while (tel_next_string(&at, key, sizeof(key)) && (at = strchr(at, '{')) != NULL &&
	       (end = strchr(at, '}')) != NULL) {
		snprintf(lcore, sizeof(lcore), "%.*s", (int)(end - at + 1), at);
		print_lcore(lcore);
		tel_string(lcore, "package_watts_measured", package, sizeof(package));
		at = end + 1;
	}
	if (package[0] != '\0')
		printf("all packages, measured: %s W\n", package);
}

int
show_power(const char *name, bool json)
{
	char reply[TEL_REPLY_MAX], reason[160];
	int sock = tel_connect(name), rc = 1;
	const char *inside;

	if (sock < 0)
		return 1;
	inside = tel_ask(sock, "/airpath/power", reply) > 0 ? strchr(reply, ':') : NULL;
	if (inside == NULL || tel_refused(reply, reason, sizeof(reason))) {
		fprintf(stderr, "it does not answer /airpath/power\n");
	} else if (json) {
		printf("%.*s\n", (int)strlen(inside + 1) - 1, inside + 1);
		rc = 0;
	} else {
		print_lcores(inside + 1);
		rc = 0;
	}
	close(sock);
	return rc;
}
