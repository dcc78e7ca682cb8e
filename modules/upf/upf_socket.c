/* SPDX-License-Identifier: BSD-3-Clause */
/** The agent's socket: UNIX SOCK_SEQPACKET, one agent at a time, a second one takes over. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "modules/upf/upf_control_impl.h"

#define SNDBUF (4 * UPF_MESSAGE_MAX)

static void
address_of(const struct upf_control *c, struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(a->sun_path, sizeof(a->sun_path), "%s", c->path);
}

/** @return 0 when the path is free now, -EADDRINUSE, or another -errno. */
static int
make_way(const struct upf_control *c, const struct sockaddr_un *a)
{
	struct stat st;
	int fd, rc;

	if (lstat(c->path, &st) < 0)
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
		rc = unlink(c->path) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/** The folder is the role's own, as /run/airpath is: made where it is missing. */
static void
folder_make(const char *path)
{
	char copy[sizeof(((struct upf_control *)0)->path)];

	snprintf(copy, sizeof(copy), "%s", path);
	mkdir(dirname(copy), 0755);
}

static int
watch(struct upf_control *c, int fd, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.fd = fd};

	return epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

int
upf_socket_listen(struct upf_control *c, struct ap_error *err)
{
	struct sockaddr_un a;
	int rc;

	address_of(c, &a);
	folder_make(c->path);
	rc = make_way(c, &a);
	if (rc == 0)
		c->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The mode of the socket becomes that of the file: nobody else can connect, not even for a
	 * moment. */
	if (rc == 0 && (c->listener < 0 || fchmod(c->listener, 0600) < 0 ||
			bind(c->listener, (const struct sockaddr *)&a, sizeof(a)) < 0))
		rc = -errno;
	c->bound = rc == 0;
	if (rc == 0 && listen(c->listener, 4) < 0)
		rc = -errno;
	if (rc == 0)
		rc = watch(c, c->listener, EPOLLIN);
	if (rc == 0)
		return 0;
	if (rc == -EADDRINUSE)
		ap_error_set(err, "upf %s: socket %s: another forwarding unit listens there",
			     c->upf->cfg->name, c->path);
	else if (rc == -EEXIST)
		ap_error_set(err, "upf %s: socket %s: is there already and is no socket",
			     c->upf->cfg->name, c->path);
	else
		ap_error_set(err, "upf %s: socket %s: %s", c->upf->cfg->name, c->path,
			     strerror(-rc));
	return rc;
}

void
upf_socket_hang_up(struct upf_control *c, const char *why)
{
	if (c->connection < 0)
		return;
	if (why)
		fprintf(stderr, "upf %s: agent: %s\n", c->upf->cfg->name, why);
	close(c->connection);
	c->connection = -1;
	c->greeted = c->configured = false;
	while (c->send_first) {
		struct upf_send *s = c->send_first;

		c->send_first = s->next;
		free(s->packed);
		free(s);
	}
	c->send_last = NULL;
	c->nb_send = 0;
}

void
upf_socket_accept(struct upf_control *c)
{
	int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), size = SNDBUF;

	if (fd < 0)
		return;
	upf_socket_hang_up(c, NULL);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (watch(c, fd, EPOLLIN) < 0) {
		close(fd);
		return;
	}
	c->connection = fd;
	c->connection_nb++;
	c->stats.connections++;
	upf_events_rewind(&c->events);
}

size_t
upf_socket_receive(struct upf_control *c)
{
	struct iovec v = {.iov_base = c->buf, .iov_len = sizeof(c->buf)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	ssize_t n;

	if (c->connection < 0)
		return 0;
	n = recvmsg(c->connection, &m, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0 && !(m.msg_flags & MSG_TRUNC))
		return (size_t)n;
	if (n > 0) {
		c->stats.bad_messages++;
		upf_socket_hang_up(c, "a message of more than 196608 octets");
	} else {
		upf_socket_hang_up(c, n < 0 ? strerror(errno) : NULL);
	}
	return 0;
}

/** @return whether it went, or need not be sent again. */
static bool
transmit(struct upf_control *c, const struct upf_packed *p)
{
	if (send(c->connection, p->data, p->bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return true;
	if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)
		return false;
	upf_socket_hang_up(c, errno == EPIPE || errno == ECONNRESET ? NULL : strerror(errno));
	return false;
}

void
upf_socket_flush(struct upf_control *c)
{
	const struct upf_packed *event;

	while (c->connection >= 0 && c->send_first) {
		struct upf_send *s = c->send_first;

		if (!transmit(c, s->packed))
			return;
		c->send_first = s->next;
		if (c->send_first == NULL)
			c->send_last = NULL;
		c->nb_send--;
		free(s->packed);
		free(s);
	}
	/* Events are for an agent that has its Welcome and has sent its Config. */
	while (c->connection >= 0 && c->configured &&
	       (event = upf_events_peek(&c->events)) != NULL) {
		if (!transmit(c, event))
			return;
		c->events.sent++;
	}
}

void
upf_socket_send(struct upf_control *c, struct upf_packed *p)
{
	struct upf_send *s = p && c->connection >= 0 ? malloc(sizeof(*s)) : NULL;

	if (s == NULL) {
		free(p);
		return;
	}
	*s = (struct upf_send){.packed = p};
	if (c->send_last)
		c->send_last->next = s;
	else
		c->send_first = s;
	c->send_last = s;
	c->nb_send++;
}
