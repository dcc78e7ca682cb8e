/* SPDX-License-Identifier: BSD-3-Clause */
/** The agent's socket: one agent at a time, who comes while it lives is refused. */
#include <stdio.h>

#include "modules/upf/upf_control_impl.h"

/** A connection ended: the next one begins with Hello and Config. */
static void
closed(void *arg, struct ctl_client *client)
{
	struct upf_control *c = arg;

	if (client == c->agent)
		c->greeted = c->configured = false;
}

int
upf_socket_listen(struct upf_control *c, struct ap_error *err)
{
	char who[96];
	int rc;

	snprintf(who, sizeof(who), "upf %s", c->upf->cfg->name);
	rc = ctl_server_init(&c->server, who, "agent", c->upf->cfg->socket, CTL_CLIENTS_MAX);
	c->server.send_max = UPF_SEND_QUEUE_MAX;
	c->server.idle_ns = UPF_HELLO_NS;
	c->server.closed = closed;
	c->server.arg = c;
	if (rc < 0)
		return ap_error_set(err, "%s: no epoll", who);
	return ctl_server_listen(&c->server, err);
}

bool
upf_socket_admit(struct upf_control *c, struct ctl_client *client, const uint8_t *data,
		 size_t bytes)
{
	char text[96];
	UpfRequest *q;

	if (client == c->agent && c->greeted)
		return true;
	/* A killed agent is back before the end of its connection was looked at. */
	if (c->greeted && ctl_gone(c->agent))
		ctl_hang_up(&c->server, c->agent, NULL);
	if (!c->greeted) {
		c->agent = client;
		upf_control_finish(c); /* of the agent before: its Welcome says how much was told */
		return true;
	}
	ctl_arena_reset(&c->arena);
	q = airpath__upf__v1__request__unpack(&c->arena.allocator, bytes, data);
	snprintf(text, sizeof(text), "another agent is connected, pid %d", ctl_pid(c->agent));
	ctl_send(client, upf_answer_error(q ? q->seq : 0, text));
	return false;
}

void
upf_socket_flush(struct upf_control *c)
{
	const struct ctl_packed *event;
	struct ctl_events *from;

	for (unsigned i = 0; i < c->server.max; i++)
		if (&c->server.clients[i] != c->agent)
			ctl_flush(&c->server, &c->server.clients[i]);
	/* Events are for an agent that has its Welcome and has sent its Config. */
	while (ctl_flush(&c->server, c->agent) && c->configured) {
		from = ctl_events_peek(&c->told) ? &c->told : &c->events;
		event = ctl_events_peek(from);
		if (event == NULL || !ctl_transmit(&c->server, c->agent, event))
			return;
		from->sent++;
	}
}
