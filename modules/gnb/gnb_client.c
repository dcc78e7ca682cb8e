/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "modules/ctl/ctl_server.h"
#include "modules/gnb/gnb_client.h"

typedef Airpath__Gnb__V1__Answer GnbAnswer;
typedef Airpath__Gnb__V1__Request GnbRequest;

static int
connect_to(struct gnb_client *cl, const char *path, struct ap_error *err)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int size = 4 * CTL_MESSAGE_MAX;

	if (strlen(path) >= sizeof(a.sun_path))
		return ap_error_set(err, "%s: a socket's path has at most %zu characters", path,
				    sizeof(a.sun_path) - 1);
	memcpy(a.sun_path, path, strlen(path));
	cl->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (cl->fd < 0)
		return ap_error_set(err, "no socket: %s", strerror(errno));
	setsockopt(cl->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (connect(cl->fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return ap_error_set(err, "%s: %s%s", path, strerror(errno),
				    errno == ECONNREFUSED || errno == ENOENT ? ": no gNB runs there"
									     : "");
	return 0;
}

int
gnb_client_open(struct gnb_client *cl, const char *path, bool events, struct ap_error *err)
{
	GnbRequest q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__Hello hello = AIRPATH__GNB__V1__HELLO__INIT;
	int rc;

	*cl = (struct gnb_client){.fd = -1};
	rc = connect_to(cl, path, err);
	if (rc < 0)
		return rc;
	hello.protocol = 1;
	hello.client = (char *)(uintptr_t) "airpath " AIRPATH_VERSION;
	hello.events = events;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_HELLO;
	q.hello = &hello;
	cl->hello = gnb_client_ask(cl, &q, err);
	if (cl->hello == NULL)
		return -EPROTO;
	if (cl->hello->reply->body_case != AIRPATH__GNB__V1__REPLY__BODY_WELCOME)
		return ap_error_set(err, "%s: it does not say what it is", path);
	return 0;
}

void
gnb_client_close(struct gnb_client *cl)
{
	gnb_client_free(cl->hello);
	if (cl->fd >= 0)
		close(cl->fd);
	*cl = (struct gnb_client){.fd = -1};
}

void
gnb_client_free(GnbAnswer *a)
{
	if (a)
		airpath__gnb__v1__answer__free_unpacked(a, NULL);
}

int
gnb_client_send(struct gnb_client *cl, GnbRequest *q, struct ap_error *err)
{
	struct ctl_packed *p;
	ssize_t n = -1;

	q->seq = ++cl->seq;
	p = ctl_pack(&q->base);
	if (p && p->bytes > CTL_MESSAGE_MAX) {
		free(p);
		return ap_error_set(err, "a message of more than %d octets: ask for less at once",
				    CTL_MESSAGE_MAX);
	}
	if (p)
		n = send(cl->fd, p->data, p->bytes, MSG_NOSIGNAL);
	free(p);
	return n < 0 ? ap_error_set(err, "cannot send: %s", strerror(errno)) : 0;
}

GnbAnswer *
gnb_client_receive(struct gnb_client *cl, int timeout_ms, struct ap_error *err)
{
	static __thread uint8_t buf[CTL_MESSAGE_MAX];
	struct pollfd p = {.fd = cl->fd, .events = POLLIN};
	GnbAnswer *a = NULL;
	ssize_t n;
	int rc;

	do
		rc = poll(&p, 1, timeout_ms);
	while (rc < 0 && errno == EINTR);
	if (rc <= 0) {
		ap_error_set(err, "no answer within %d ms", timeout_ms);
		return NULL;
	}
	n = recv(cl->fd, buf, sizeof(buf), 0);
	if (n > 0)
		a = airpath__gnb__v1__answer__unpack(NULL, (size_t)n, buf);
	if (n <= 0)
		ap_error_set(err, "it hung up%s%s", n < 0 ? ": " : "",
			     n < 0 ? strerror(errno) : "");
	else if (a == NULL)
		ap_error_set(err, "an answer that is none");
	return a;
}

GnbAnswer *
gnb_client_ask(struct gnb_client *cl, GnbRequest *q, struct ap_error *err)
{
	if (gnb_client_send(cl, q, err) < 0)
		return NULL;
	for (;;) {
		GnbAnswer *a = gnb_client_receive(cl, GNB_CLIENT_TIMEOUT_MS, err);

		if (a == NULL)
			return NULL;
		if (a->body_case != AIRPATH__GNB__V1__ANSWER__BODY_REPLY ||
		    a->reply->seq != cl->seq) {
			gnb_client_free(a);
			continue;
		}
		if (a->reply->error[0] == '\0')
			return a;
		ap_error_set(err, "%s", a->reply->error);
		gnb_client_free(a);
		return NULL;
	}
}
