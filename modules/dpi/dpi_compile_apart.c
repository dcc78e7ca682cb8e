/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ends of the socket between a builder and the process that compiles for it. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "modules/dpi/dpi_compile.h"

#define LOOK_MS 20     /* how often the process is looked at */
#define STUCK_S 10     /* a process that does not read or go on with what it writes */
#define WALL_OF_CPU 10 /* a machine so loaded does not compile */
#define WALL_MORE_MS 60000
#define ANSWER_MAX (1ULL << 32)

extern char **environ;

struct process {
	pid_t pid;
	int fd;
	const struct dpi_job *job;
	uint32_t at;     /* which expression it compiles; DPI_NO_RULE: all */
	uint64_t at_cpu; /* its CPU time when it began that, ms */
	uint64_t began;  /* ms of the monotonic clock */
};

static uint64_t
clock_ms(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* --- octets ----------------------------------------------------------------------------------- */

static int
put(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int
get(int fd, void *data, size_t len)
{
	char *p = data;

	while (len > 0) {
		ssize_t n = recv(fd, p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* --- the builder's end ------------------------------------------------------------------------ */

static int
start(const char *program, struct process *p)
{
	const struct timeval stuck = {.tv_sec = STUCK_S};
	char *argv[] = {(char *)(uintptr_t)program, "dpi-compile", NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int ends[2], ret;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, ends[1], STDIN_FILENO);
	/* Not ports, nor sockets of others. */
	posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	ret = -posix_spawn(&p->pid, program, &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	p->fd = ends[0];
	if (ret < 0)
		close(p->fd);
	setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &stuck, sizeof(stuck));
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &stuck, sizeof(stuck));
	return ret;
}

static int
ask(const struct process *p)
{
	const struct dpi_job *job = p->job;
	struct dpi_request q = {.nb = job->nb, .literal = job->literal, .limits = *job->limits};
	int ret = put(p->fd, &q, sizeof(q));

	for (uint32_t i = 0; i < job->nb && ret == 0; i++) {
		const struct dpi_expression *e = &job->expressions[i];
		struct dpi_request_expression r = {.id = e->id,
						   .rule = e->rule,
						   .caseless = e->caseless,
						   .every = e->every,
						   .len = (uint32_t)strlen(e->text) + 1};

		ret = put(p->fd, &r, sizeof(r));
		if (ret == 0)
			ret = put(p->fd, e->text, r.len);
	}
	return ret;
}

static uint64_t
cpu_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) == 0 ? clock_ms(clock) : 0;
}

static uint64_t
memory_of(pid_t pid)
{
	uint64_t pages = 0;
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/statm", (int)pid);
	f = fopen(name, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%*u %" SCNu64, &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* @return 0, or -E2BIG and why */
static int
within_limits(const struct process *p, struct dpi_error *err)
{
	const struct dpi_limits *l = p->job->limits;
	uint64_t cpu = cpu_of(p->pid), memory = memory_of(p->pid);
	uint64_t wall = clock_ms(CLOCK_MONOTONIC) - p->began;

	err->rule = p->at;
	if (p->at != DPI_NO_RULE && cpu > p->at_cpu + l->expression_ms)
		snprintf(err->why, sizeof(err->why),
			 "costs too much: does not compile in %" PRIu32 " ms", l->expression_ms);
	else if (memory > l->build_memory)
		snprintf(err->why, sizeof(err->why),
			 "costs too much: takes more than %" PRIu64 " octets to compile",
			 l->build_memory);
	else if (cpu > l->build_ms)
		snprintf(err->why, sizeof(err->why),
			 "%" PRIu32 " patterns do not compile in %" PRIu32 " ms", p->job->nb,
			 l->build_ms);
	else if (wall > WALL_OF_CPU * (uint64_t)l->build_ms + WALL_MORE_MS)
		snprintf(err->why, sizeof(err->why), "the compiler gets no CPU");
	else
		return 0;
	return -E2BIG;
}

static int
take_database(const struct process *p, uint64_t len, struct dpi_compiled *out)
{
	if (len > ANSWER_MAX)
		return -EIO;
	out->octets = malloc(len);
	out->len = len;
	if (!out->octets)
		return -ENOMEM;
	if (get(p->fd, out->octets, len) == 0)
		return 0;
	free(out->octets);
	return -EIO;
}

/* @return 0: it is compiled; 1: goes on; -errno */
static int
take(struct process *p, struct dpi_compiled *out, struct dpi_error *err)
{
	struct dpi_answer a;
	int ret = get(p->fd, &a, sizeof(a));

	if (ret < 0)
		return ret;
	switch (a.what) {
	case DPI_COMPILES:
		p->at = a.index;
		p->at_cpu = cpu_of(p->pid);
		return 1;
	case DPI_COMPILED:
		return take_database(p, a.len, out);
	case DPI_REFUSES:
	case DPI_BIG:
		err->rule = a.index;
		if (a.len != sizeof(err->why) || get(p->fd, err->why, sizeof(err->why)) < 0)
			return -EIO;
		return a.what == DPI_BIG ? -E2BIG : -EINVAL;
	default:
		return -EIO;
	}
}

static int
follow(struct process *p, struct dpi_compiled *out, struct dpi_error *err)
{
	for (;;) {
		struct pollfd poll_fd = {.fd = p->fd, .events = POLLIN};
		int ret = 1;

		if (poll(&poll_fd, 1, LOOK_MS) > 0)
			ret = take(p, out, err);
		if (ret <= 0)
			return ret;
		ret = within_limits(p, err);
		if (ret < 0)
			return ret;
	}
}

int
dpi_compile_apart(const char *program, const struct dpi_job *job, struct dpi_compiled *out,
		  struct dpi_error *err)
{
	struct process p = {.job = job, .at = DPI_NO_RULE, .began = clock_ms(CLOCK_MONOTONIC)};
	int ret = start(program, &p);

	err->rule = DPI_NO_RULE;
	if (ret < 0) {
		snprintf(err->why, sizeof(err->why), "cannot start the compiler %s: %s", program,
			 strerror(-ret));
		return -EIO;
	}
	ret = ask(&p);
	if (ret == 0)
		ret = follow(&p, out, err);
	close(p.fd);
	kill(p.pid, SIGKILL);
	while (waitpid(p.pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (ret == -EIO) {
		err->rule = p.at;
		snprintf(err->why, sizeof(err->why), "the compiler ended before it was done");
	}
	return ret;
}

/* --- the end that compiles -------------------------------------------------------------------- */

static int
answer(int fd, uint32_t what, uint32_t index, const void *data, size_t len)
{
	struct dpi_answer a = {.what = what, .index = index, .len = len};
	int ret = put(fd, &a, sizeof(a));

	return ret == 0 ? put(fd, data, len) : ret;
}

static void
tell(void *arg, uint32_t index)
{
	answer(*(int *)arg, DPI_COMPILES, index, NULL, 0);
}

static int
read_expressions(int fd, uint32_t nb, struct dpi_expression *e)
{
	for (uint32_t i = 0; i < nb; i++) {
		struct dpi_request_expression r;
		char *text;

		if (get(fd, &r, sizeof(r)) < 0 || r.len == 0 || (text = malloc(r.len)) == NULL)
			return -EIO;
		e[i] = (struct dpi_expression){.text = text,
					       .id = r.id,
					       .rule = r.rule,
					       .caseless = r.caseless != 0,
					       .every = r.every != 0};
		if (get(fd, text, r.len) < 0 || text[r.len - 1] != '\0')
			return -EIO;
	}
	return 0;
}

static void
free_expressions(struct dpi_expression *e, uint32_t nb)
{
	for (uint32_t i = 0; e && i < nb; i++)
		free((void *)(uintptr_t)e[i].text);
	free(e);
}

static int
compile_for(int fd, const struct dpi_request *q, const struct dpi_expression *e)
{
	const struct dpi_job job = {
		.expressions = e, .nb = q->nb, .literal = q->literal != 0, .limits = &q->limits};
	struct dpi_error err = {.rule = DPI_NO_RULE};
	struct dpi_compiled out = {0};
	int ret = dpi_compile_here(&job, tell, &fd, &out, &err);

	if (ret < 0)
		return answer(fd, ret == -E2BIG ? DPI_BIG : DPI_REFUSES, err.rule, err.why,
			      sizeof(err.why));
	ret = answer(fd, DPI_COMPILED, 0, out.octets, out.len);
	free(out.octets);
	return ret;
}

int
dpi_compile_main(void)
{
	struct dpi_expression *e = NULL;
	struct dpi_request q;
	int ret;

	/* Ends with the builder, and gives way to the workers. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, 10);
	ret = get(STDIN_FILENO, &q, sizeof(q));
	if (ret == 0 && (q.nb == 0 || (e = calloc(q.nb, sizeof(*e))) == NULL))
		ret = -EIO;
	if (ret == 0)
		ret = read_expressions(STDIN_FILENO, q.nb, e);
	if (ret == 0)
		ret = compile_for(STDIN_FILENO, &q, e);
	free_expressions(e, q.nb);
	return ret == 0 ? 0 : 1;
}
