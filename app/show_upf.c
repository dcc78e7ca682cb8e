/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/show_upf.h"
#include "app/telemetry_client.h"
#include "core/config.h"
#include "modules/upf/upf_owner.h"

/** Asks and checks that something came. @return the answer's value, or NULL after saying why. */
static const char *
ask(int sock, const char *command, const char *what, char reply[TEL_REPLY_MAX])
{
	char full[160], reason[160];
	const char *value;

	snprintf(full, sizeof(full), what ? "%s,%s" : "%s", command, what);
	value = tel_ask(sock, full, reply) > 0 ? strchr(reply, ':') : NULL;
	if (value && tel_refused(value + 1, reason, sizeof(reason)))
		fprintf(stderr, "%s\n", reason);
	else if (value && strncmp(value + 1, "null", 4) != 0)
		return value + 1;
	else
		fprintf(stderr, "it does not answer %s\n", command);
	return NULL;
}

/** JSON with every entry on a line of its own: people read it, and programs too. */
static void
print_lines(const char *json)
{
	unsigned depth = 0;
	bool string = false;
	size_t len = strlen(json) - 1; /* the answer's own brace */

	for (size_t i = 0; i < len; i++) {
		char ch = json[i];

		if (ch == '"' && (i == 0 || json[i - 1] != '\\'))
			string = !string;
		if (string || strchr("{}[],", ch) == NULL) {
			putchar(ch);
			continue;
		}
		depth -= ch == '}' || ch == ']';
		if (ch == '}' || ch == ']')
			printf("\n%*s", (int)(2 * depth), "");
		putchar(ch);
		depth += ch == '{' || ch == '[';
		if (ch != '}' && ch != ']')
			printf("\n%*s", (int)(2 * depth), "");
	}
	putchar('\n');
}

int
show_upf(const char *name, const char *command, const char *what)
{
	char reply[TEL_REPLY_MAX];
	int sock = tel_connect(name);
	const char *value;

	if (sock < 0)
		return 1;
	value = ask(sock, command, what, reply);
	if (value)
		print_lines(value);
	close(sock);
	return value ? 0 : 1;
}

/** Prints the numbers of a JSON array. @return the last one, 0: there were none. */
static uint64_t
print_ids(const char *array)
{
	uint64_t last = 0;

	for (const char *at = strpbrk(array, "0123456789"); at; at = strpbrk(at, "0123456789")) {
		char *end;

		last = strtoull(at, &end, 10);
		printf("%" PRIu64 "\n", last);
		at = end;
	}
	return last;
}

int
show_upf_sessions(const char *name)
{
	char reply[TEL_REPLY_MAX], after[24] = "0";
	int sock = tel_connect(name);
	const char *value;
	uint64_t last;

	if (sock < 0)
		return 1;
	while ((value = ask(sock, "/airpath/upf/sessions", after, reply)) != NULL &&
	       (last = print_ids(value)) != 0)
		snprintf(after, sizeof(after), "%" PRIu64, last);
	close(sock);
	return value ? 0 : 1;
}

int
show_owner(const char *file, const char *what)
{
	struct ap_error err;
	struct ap_config *cfg = ap_config_load(file, &err);
	struct upf_owner_map map;
	uint8_t ip[16], bits;
	unsigned bucket;
	char *end;
	int octets;

	if (cfg == NULL || cfg->upf_count == 0) {
		fprintf(stderr, "%s\n", cfg ? "the deployment has no upf" : err.text);
		ap_config_free(cfg);
		return 1;
	}
	octets = ap_config_prefix(what, ip, &bits);
	if (octets > 0) {
		bucket = (unsigned)upf_session_bucket(octets == 4 ? ip : NULL, ip);
	} else {
		bucket = upf_teid_bucket((uint32_t)strtoul(what, &end, 0));
		if (*end != '\0') {
			fprintf(stderr, "'%s' is neither an address nor a TEID\n", what);
			ap_config_free(cfg);
			return 2;
		}
	}
	upf_owner_map_init(&map, cfg->upf[0].workers, UPF_BUCKETS);
	printf("bucket %u, worker %u of %u\n", bucket, map.worker[bucket], cfg->upf[0].workers);
	ap_config_free(cfg);
	return 0;
}
