/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL makes a folder for every file prefix and leaves it there. Ours holds the telemetry socket and
 * nothing else: EAL runs --in-memory, or with neither hugepages nor a shared configuration.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/eal.h"

#define PREFIX "airpath-"
#define SOCKET "dpdk_telemetry.v2"
/** EAL makes the folder first and listens last; between the two nobody seems to be there. */
#define YOUNG_S 600

static char own[PATH_MAX];

/** Where EAL puts folders of prefixes. */
static void
base(char *path, size_t size)
{
	const char *given = getenv("RUNTIME_DIRECTORY");

	if (given == NULL && getuid() == 0)
		given = "/var/run";
	if (given == NULL)
		given = getenv("XDG_RUNTIME_DIR");
	snprintf(path, size, "%s/dpdk", given ? given : "/tmp");
}

/** telemetry has removed its socket by now; where another process uses the folder it stays. */
static void
remove_own(void)
{
	rmdir(own);
}

/** @return whether whoever listened there is gone. */
static bool
deserted(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int sock, rc;

	if (strlen(path) >= sizeof(addr.sun_path))
		return false;
	strcpy(addr.sun_path, path);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return false;
	rc = connect(sock, (const struct sockaddr *)&addr, sizeof(addr)) < 0 ? errno : 0;
	close(sock);
	return rc == ECONNREFUSED;
}

/** Removes a folder that holds nothing but sockets of processes that are gone. */
static void
remove_stale(const char *path)
{
	struct dirent *e;
	struct stat st;
	DIR *dir;

	if (stat(path, &st) < 0 || time(NULL) - st.st_mtime < YOUNG_S ||
	    (dir = opendir(path)) == NULL)
		return;
	while ((e = readdir(dir)) != NULL) {
		char file[PATH_MAX];

		/* Further processes of one prefix append `:1` and so on. */
		if (strncmp(e->d_name, SOCKET, strlen(SOCKET)) == 0 &&
		    (size_t)snprintf(file, sizeof(file), "%s/%s", path, e->d_name) < sizeof(file) &&
		    deserted(file))
			unlink(file);
	}
	closedir(dir);
	rmdir(path);
}

void
ap_eal_folder_tidy(const char *prefix)
{
	char folder[PATH_MAX / 4], path[PATH_MAX];
	struct dirent *e;
	DIR *dir;

	base(folder, sizeof(folder));
	/* Now it is young, so that nobody who starts beside us takes it for stale. */
	snprintf(own, sizeof(own), "%s/%s", folder, prefix);
	(void)utimensat(AT_FDCWD, own, NULL, 0);
	/* Before EAL has telemetry do the same: what is registered last runs first. */
	atexit(remove_own);
	dir = opendir(folder);
	while (dir && (e = readdir(dir)) != NULL)
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) == 0 &&
		    strcmp(e->d_name, prefix) != 0 &&
		    (size_t)snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) < sizeof(path))
			remove_stale(path);
	if (dir)
		closedir(dir);
}
