/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/clock.h"
#include "modules/ctl/ctl_server.h"

#define SNDBUF (4 * CTL_MESSAGE_MAX)
#define PATIENCE_NS (30 * AP_NS_PER_S)

struct ctl_send {
	struct ctl_send *next;
	struct ctl_packed *packed;
};

/* --- listening -------------------------------------------------------------------------------- */

int
ctl_server_init(struct ctl_server *s, const char *who, const char *peer, const char *path,
		unsigned max)
{
	snprintf(s->who, sizeof(s->who), "%s", who);
	snprintf(s->path, sizeof(s->path), "%s", path);
	s->peer = peer;
	s->listener = -1;
	s->bound = false;
	s->max = max < CTL_CLIENTS_MAX ? max : CTL_CLIENTS_MAX;
	s->send_max = 0;
	s->patience_ns = PATIENCE_NS;
	s->idle_ns = 0;
	s->connections = s->bad_messages = 0;
	for (unsigned i = 0; i < CTL_CLIENTS_MAX; i++)
		s->clients[i] = (struct ctl_client){.fd = -1};
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	return s->epoll < 0 ? -errno : 0;
}

/** @return 0 when the path is free now, -EADDRINUSE, or another -errno. */
static int
make_way(const struct ctl_server *s, const struct sockaddr_un *a)
{
	struct stat st;
	int fd, rc;

	if (lstat(s->path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	rc = connect(fd, (const struct sockaddr *)a, sizeof(*a));
	if (rc == 0 || errno != ECONNREFUSED)
		rc = rc == 0 || errno == EAGAIN ? -EADDRINUSE : -errno;
	else
		rc = unlink(s->path) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/** The folder is the role's own, as /run/airpath is: made where it is missing. */
static void
folder_make(const char *path)
{
	char copy[sizeof(((struct ctl_server *)0)->path)];

	snprintf(copy, sizeof(copy), "%s", path);
	mkdir(dirname(copy), 0755);
}

static int
watch(struct ctl_server *s, int fd, uint64_t data)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = data};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

int
ctl_server_listen(struct ctl_server *s, struct ap_error *err)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int rc;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", s->path);
	folder_make(s->path);
	rc = make_way(s, &a);
	if (rc == 0)
		s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The mode of the socket becomes that of the file: nobody else can connect, not even for a
	 * moment. */
	if (rc == 0 && (s->listener < 0 || fchmod(s->listener, 0600) < 0 ||
			bind(s->listener, (const struct sockaddr *)&a, sizeof(a)) < 0))
		rc = -errno;
	s->bound = rc == 0;
	if (rc == 0 && listen(s->listener, 4) < 0)
		rc = -errno;
	if (rc == 0)
		rc = watch(s, s->listener, CTL_LISTENER);
	if (rc == 0)
		return 0;
	if (rc == -EADDRINUSE)
		ap_error_set(err, "%s: socket %s: another process listens there", s->who, s->path);
	else if (rc == -EEXIST)
		ap_error_set(err, "%s: socket %s: is there already and is no socket", s->who,
			     s->path);
	else
		ap_error_set(err, "%s: socket %s: %s", s->who, s->path, strerror(-rc));
	return rc;
}

void
ctl_server_close(struct ctl_server *s)
{
	for (unsigned i = 0; i < s->max; i++) {
		ctl_flush(s, &s->clients[i]);
		ctl_hang_up(s, &s->clients[i], NULL);
	}
	if (s->bound)
		unlink(s->path);
	s->bound = false;
}

void
ctl_server_fini(struct ctl_server *s)
{
	ctl_server_close(s);
	if (s->listener >= 0)
		close(s->listener);
	if (s->epoll >= 0)
		close(s->epoll);
	s->listener = s->epoll = -1;
}

/* --- clients ---------------------------------------------------------------------------------- */

static void
send_pop(struct ctl_client *c)
{
	struct ctl_send *s = c->first;

	c->first = s->next;
	if (c->first == NULL)
		c->last = NULL;
	c->nb_send--;
	free(s->packed);
	free(s);
}

void
ctl_hang_up(struct ctl_server *s, struct ctl_client *c, const char *why)
{
	if (c->fd < 0)
		return;
	if (why)
		fprintf(stderr, "%s: %s: %s\n", s->who, s->peer, why);
	close(c->fd);
	c->fd = -1;
	if (s->closed)
		s->closed(s->arg, c);
	while (c->first)
		send_pop(c);
	c->data = NULL;
}

static struct ctl_client *
place(struct ctl_server *s)
{
	for (unsigned i = 0; i < s->max; i++)
		if (s->clients[i].fd < 0)
			return &s->clients[i];
	return NULL;
}

/** Of someone who has not said who it is. */
static struct ctl_client *
make_room(struct ctl_server *s)
{
	struct ctl_client *oldest = NULL;

	for (unsigned i = 0; i < s->max && s->idle_ns; i++) {
		struct ctl_client *c = &s->clients[i];

		if (!c->admitted && (oldest == NULL || c->since_ns < oldest->since_ns))
			oldest = c;
	}
	if (oldest)
		ctl_hang_up(s, oldest, "says nothing and others come: hung up");
	return oldest;
}

struct ctl_client *
ctl_accept(struct ctl_server *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), size = SNDBUF;
	struct ctl_client *c;

	if (fd < 0)
		return NULL;
	c = place(s);
	if (c == NULL)
		c = make_room(s);
	if (c == NULL || watch(s, fd, (uint64_t)(c - s->clients)) < 0) {
		close(fd);
		return NULL;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	*c = (struct ctl_client){.fd = fd, .nb = ++s->connections, .since_ns = ap_clock_ns()};
	return c;
}

void
ctl_expire(struct ctl_server *s)
{
	const uint64_t now_ns = ap_clock_ns();

	for (unsigned i = 0; i < s->max && s->idle_ns; i++)
		if (s->clients[i].fd >= 0 && !s->clients[i].admitted &&
		    now_ns - s->clients[i].since_ns >= s->idle_ns)
			ctl_hang_up(s, &s->clients[i], "says no Hello: hung up");
}

size_t
ctl_receive(struct ctl_server *s, struct ctl_client *c)
{
	struct iovec v = {.iov_base = s->buf, .iov_len = sizeof(s->buf)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	ssize_t n;

	if (c->fd < 0)
		return 0;
	n = recvmsg(c->fd, &m, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0 && !(m.msg_flags & MSG_TRUNC))
		return (size_t)n;
	if (n > 0) {
		s->bad_messages++;
		ctl_hang_up(s, c, "a message of more than 196608 octets");
	} else {
		ctl_hang_up(s, c, n < 0 ? strerror(errno) : NULL);
	}
	return 0;
}

struct ctl_client *
ctl_client_of(struct ctl_server *s, uint64_t nb)
{
	for (unsigned i = 0; i < s->max; i++)
		if (s->clients[i].fd >= 0 && s->clients[i].nb == nb)
			return &s->clients[i];
	return NULL;
}

void
ctl_send(struct ctl_client *c, struct ctl_packed *p)
{
	struct ctl_send *s = p && c && c->fd >= 0 ? malloc(sizeof(*s)) : NULL;

	if (s == NULL) {
		free(p);
		return;
	}
	*s = (struct ctl_send){.packed = p};
	if (c->last)
		c->last->next = s;
	else
		c->first = s;
	c->last = s;
	c->nb_send++;
}

bool
ctl_transmit(struct ctl_server *s, struct ctl_client *c, const struct ctl_packed *p)
{
	if (c->fd < 0)
		return false;
	if (send(c->fd, p->data, p->bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return true;
	if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)
		return false;
	ctl_hang_up(s, c, errno == EPIPE || errno == ECONNRESET ? NULL : strerror(errno));
	return false;
}

bool
ctl_gone(const struct ctl_client *c)
{
	struct pollfd p = {.fd = c->fd, .events = POLLRDHUP};

	return c->fd < 0 || (poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

int
ctl_pid(const struct ctl_client *c)
{
	struct ucred who = {0};
	socklen_t len = sizeof(who);

	return getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 ? 0 : (int)who.pid;
}

/** `epoll` tells of what can be read as long as nobody reads it: not while nobody will. */
static void
listen_to(struct ctl_server *s, struct ctl_client *c)
{
	bool deaf = s->send_max && c->nb_send >= s->send_max;
	struct epoll_event e = {.events = deaf ? EPOLLOUT | EPOLLET : EPOLLIN,
				.data.u64 = (uint64_t)(c - s->clients)};

	if (deaf != c->deaf && epoll_ctl(s->epoll, EPOLL_CTL_MOD, c->fd, &e) == 0)
		c->deaf = deaf;
}

/** The socket takes no more for now. */
static void
stuck(struct ctl_server *s, struct ctl_client *c)
{
	uint64_t now_ns = ap_clock_ns();

	if (c->stuck_ns == 0)
		c->stuck_ns = now_ns;
	if (now_ns - c->stuck_ns >= s->patience_ns)
		ctl_hang_up(s, c, "does not read its answers: hung up");
	else
		listen_to(s, c);
}

bool
ctl_flush(struct ctl_server *s, struct ctl_client *c)
{
	while (c->fd >= 0 && c->first) {
		if (!ctl_transmit(s, c, c->first->packed)) {
			if (c->fd >= 0)
				stuck(s, c);
			return false;
		}
		c->stuck_ns = 0;
		send_pop(c);
	}
	if (c->fd >= 0 && c->deaf)
		listen_to(s, c);
	return c->fd >= 0;
}
