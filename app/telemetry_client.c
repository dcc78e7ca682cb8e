/* SPDX-License-Identifier: BSD-3-Clause */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/telemetry_client.h"

#define ANSWER_S 30 /**< ap_worker_run() gives up after 10 */
#define SOCKETS "/var/run/dpdk/airpath-*/dpdk_telemetry.v2"

/** How long one waits for an answer: an lcore that has to be asked may be without a CPU. */
static void
patience(int sock, long seconds)
{
	if (sock >= 0)
		setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = seconds},
			   sizeof(struct timeval));
}

static int
connect_to(const char *path, long seconds)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char hello[1024];

	patience(sock, seconds);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (sock >= 0 && connect(sock, (struct sockaddr *)&addr, sizeof(addr)) == 0 &&
	    read(sock, hello, sizeof(hello)) > 0)
		return sock;
	if (sock >= 0)
		close(sock);
	return -1;
}

/** Appends NAME of …/airpath-NAME/dpdk_telemetry.v2. */
static void
add_name(char *names, size_t size, const char *path)
{
	const char *name = strstr(path, "/airpath-") + strlen("/airpath-");
	size_t len = strlen(names);

	snprintf(names + len, size - len, " %.*s", (int)strcspn(name, "/"), name);
}

int
tel_connect(const char *name)
{
	char path[108];
	glob_t found = {0};
	char names[512] = "";
	int sock = -1;
	unsigned alive = 0;

	if (name) {
		snprintf(path, sizeof(path), "/var/run/dpdk/airpath-%s/dpdk_telemetry.v2", name);
		sock = connect_to(path, ANSWER_S);
		if (sock < 0)
			fprintf(stderr, "no deployment '%s' is running here\n", name);
		return sock;
	}
	glob(SOCKETS, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		/* A deployment that does not answer must not hold up the others. */
		int s = connect_to(found.gl_pathv[i], 1);

		/* A socket that refuses was left behind by a process that died. */
		if (s < 0)
			continue;
		add_name(names, sizeof(names), found.gl_pathv[i]);
		if (alive++ == 0)
			sock = s;
		else
			close(s);
	}
	if (alive == 0)
		fprintf(stderr, "no deployment is running here (as this user)\n");
	if (alive > 1) {
		fprintf(stderr, "%u deployments are running, choose one with --name:%s\n", alive,
			names);
		close(sock);
		sock = -1;
	}
	globfree(&found);
	patience(sock, ANSWER_S);
	return sock;
}

int
tel_ask(int sock, const char *command, char reply[TEL_REPLY_MAX])
{
	ssize_t n;

	if (write(sock, command, strlen(command)) < 0)
		return -1;
	n = read(sock, reply, TEL_REPLY_MAX - 1);
	if (n <= 0)
		return -1;
	reply[n] = '\0';
	return (int)n;
}

bool
tel_next_string(const char **at, char *out, size_t size)
{
	const char *start = strchr(*at, '"'), *end = start ? strchr(start + 1, '"') : NULL;
	const char *stop = strchr(*at, ']');

	if (end == NULL || (stop && stop < start))
		return false;
	snprintf(out, size, "%.*s", (int)(end - start - 1), start + 1);
	*at = end + 1;
	return true;
}

static const char *
value_of(const char *json, const char *key)
{
	char quoted[128];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	at = strstr(json, quoted);
	return at ? at + strlen(quoted) : NULL;
}

bool
tel_string(const char *json, const char *key, char *out, size_t size)
{
	const char *at = value_of(json, key);

	return at && tel_next_string(&at, out, size);
}

bool
tel_refused(const char *answer, char *reason, size_t size)
{
	static const char start[] = "{\"refused\":";

	answer += strspn(answer, " ");
	return strncmp(answer, start, sizeof(start) - 1) == 0 &&
	       tel_string(answer, "refused", reason, size);
}

unsigned long long
tel_number(const char *json, const char *key)
{
	const char *at = value_of(json, key);

	return at ? strtoull(at, NULL, 10) : 0;
}
