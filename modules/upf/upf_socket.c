/* SPDX-License-Identifier: BSD-3-Clause */
/** The agent's socket: one agent at a time, a second one takes over. */
#include <stdio.h>

#include "modules/upf/upf_control_impl.h"

/** A connection ended: the next one begins with Hello and Config. */
static void
closed(void *arg, struct ctl_client *client)
{
	struct upf_control *c = arg;

	(void)client;
	c->greeted = c->configured = false;
}

int
upf_socket_listen(struct upf_control *c, struct ap_error *err)
{
	char who[96];
	int rc;

	snprintf(who, sizeof(who), "upf %s", c->upf->cfg->name);
	rc = ctl_server_init(&c->server, who, "agent", c->upf->cfg->socket, 1);
	c->server.closed = closed;
	c->server.arg = c;
	if (rc < 0)
		return ap_error_set(err, "%s: no epoll", who);
	return ctl_server_listen(&c->server, err);
}

void
upf_socket_accept(struct upf_control *c)
{
	if (ctl_accept(&c->server) == NULL)
		return;
	c->stats.connections++;
	ctl_events_rewind(&c->events);
}

void
upf_socket_flush(struct upf_control *c)
{
	const struct ctl_packed *event;

	/* Events are for an agent that has its Welcome and has sent its Config. */
	while (ctl_flush(&c->server, c->agent) && c->configured &&
	       (event = ctl_events_peek(&c->events)) != NULL) {
		if (!ctl_transmit(&c->server, c->agent, event))
			return;
		c->events.sent++;
	}
}
