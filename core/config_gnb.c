/* SPDX-License-Identifier: BSD-3-Clause */
/* Defaults and checks of gNB roles. */
#include <errno.h>
#include <string.h>
#include <sys/un.h>

#include "core/config_check.h"

#define WORKERS_MAX 32
#define SESSIONS_MAX (1U << 20)
#define DRBS_MAX 8

#define AT "gnb_header %s: "
#define WHERE gnb->edge.name

static uint32_t
workers_wanted(const struct ap_cfg_gnb_header *gnb)
{
	return gnb->edge.workers ? gnb->edge.workers : 1;
}

uint32_t
config_gnb_header_queues(const struct ap_config *cfg, const char *port)
{
	for (unsigned g = 0; g < cfg->gnb_header_count; g++) {
		const struct ap_cfg_gnb_header *gnb = &cfg->gnb_header[g];

		for (unsigned i = 0; i < gnb->edge.interfaces_count; i++)
			if (gnb->edge.interfaces[i].port &&
			    strcmp(gnb->edge.interfaces[i].port, port) == 0)
				return workers_wanted(gnb);
	}
	return 0;
}

/** Frames come by the interfaces' own ports. */
static int
ports_finish(const struct ap_config *cfg, const struct ap_cfg_gnb_header *gnb, struct ap_error *err)
{
	for (unsigned i = 0; i < gnb->edge.interfaces_count; i++) {
		const struct ap_cfg_upf_interface *in = &gnb->edge.interfaces[i];
		const struct ap_cfg_port *port;

		if (in->port == NULL)
			BAD(&in->name,
			    AT "interface %s: port: one is needed, unless frames come by 'vfs'",
			    WHERE, in->name);
		if (in->mac)
			BAD(&in->mac,
			    AT "interface %s: mac: that of port %s is used; it is for 'vfs'", WHERE,
			    in->name, in->port);
		port = ap_config_port(cfg, in->port);
		if (port && port->queues < gnb->edge.workers)
			BAD(&port->queues,
			    AT "port %s: queues %u, but each of %u workers needs one", WHERE,
			    port->name, port->queues, gnb->edge.workers);
	}
	return 0;
}

/** A worker a virtual function; what interface a frame is of says its destination. */
static int
vfs_finish(const struct ap_config *cfg, const struct ap_cfg_gnb_header *gnb, struct ap_error *err)
{
	for (unsigned i = 0; i < gnb->edge.interfaces_count; i++) {
		const struct ap_cfg_upf_interface *in = &gnb->edge.interfaces[i];

		if (in->port)
			BAD(&in->port, AT "interface %s: port: frames come by 'vfs', leave it out",
			    WHERE, in->name);
		if (in->mac == NULL || !config_is_station(in->mac))
			BAD(&in->mac,
			    AT "interface %s: mac: with 'vfs' a unicast Ethernet address is needed",
			    WHERE, in->name);
		for (unsigned k = 0; k < i; k++)
			if (strcasecmp(gnb->edge.interfaces[k].mac, in->mac) == 0 &&
			    gnb->edge.interfaces[k].vlan == in->vlan)
				BAD(&in->mac,
				    AT "interface %s: mac %s belongs to interface %s already",
				    WHERE, in->name, in->mac, gnb->edge.interfaces[k].name);
	}
	for (unsigned v = 0; v < gnb->vfs_count; v++) {
		const struct ap_cfg_port *port = ap_config_port(cfg, gnb->vfs[v]);

		if (port == NULL)
			BAD(&gnb->vfs[v], AT "vfs[%u]: there is no port '%s'", WHERE, v,
			    gnb->vfs[v]);
		if (port->framing != AP_FRAMING_RAW)
			BAD(&port->framing, AT "vfs[%u]: port %s: framing must be raw", WHERE, v,
			    port->name);
		for (unsigned k = 0; k < v; k++)
			if (strcmp(gnb->vfs[k], gnb->vfs[v]) == 0)
				BAD(&gnb->vfs[v], AT "vfs[%u]: port %s is there twice", WHERE, v,
				    port->name);
	}
	return 0;
}

static int
sides_finish(const struct ap_config *cfg, const struct ap_cfg_gnb_header *gnb, struct ap_error *err)
{
	bool side[2] = {false, false};

	for (unsigned i = 0; i < gnb->edge.interfaces_count; i++)
		side[gnb->edge.interfaces[i].side] = true;
	if (!side[AP_GNB_N3] || !side[AP_GNB_F1])
		BAD(&gnb->edge.interfaces,
		    AT "interfaces: at least one of type n3 and one of type f1 are needed", WHERE);
	return 0;
}

static int
numbers_finish(const struct ap_config *cfg, const struct ap_cfg_gnb_header *gnb,
	       struct ap_error *err)
{
	const struct ap_cfg_upf *edge = &gnb->edge;

	if (strlen(edge->socket) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		BAD(&edge->socket, AT "socket: a path has at most %zu characters", WHERE,
		    sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
	if (edge->workers > WORKERS_MAX)
		BAD(&edge->workers, AT "workers %u must be 1..%d", WHERE, edge->workers,
		    WORKERS_MAX);
	if (gnb->vfs_count && edge->workers != gnb->vfs_count)
		BAD(&edge->workers, AT "workers %u, but there are %u vfs: each has one worker",
		    WHERE, edge->workers, gnb->vfs_count);
	if (edge->sessions > SESSIONS_MAX)
		BAD(&edge->sessions, AT "sessions %u must be 1..%u", WHERE, edge->sessions,
		    SESSIONS_MAX);
	if (!power_of_2(gnb->drbs_per_session) || gnb->drbs_per_session > DRBS_MAX)
		BAD(&gnb->drbs_per_session, AT "drbs_per_session %u must be 1, 2, 4 or 8", WHERE,
		    gnb->drbs_per_session);
	if (edge->reassembly_packets > 65536 || edge->reassembly_ms > 60000)
		BAD(edge->reassembly_ms > 60000 ? &edge->reassembly_ms : &edge->reassembly_packets,
		    AT "reassembly_packets must be 1..65536 and reassembly_ms 1..60000", WHERE);
	return 0;
}

int
config_gnb_header_finish(const struct ap_config *cfg, struct ap_cfg_gnb_header *gnb,
			 struct ap_error *err)
{
	struct ap_cfg_upf *edge = &gnb->edge;

	edge->kind = "gnb_header";
	DEFAULT(edge->workers, gnb->vfs_count ? gnb->vfs_count : 1);
	DEFAULT(edge->sessions, 65536);
	DEFAULT(gnb->drbs_per_session, 1);
	DEFAULT(edge->reassembly_packets, 1024);
	DEFAULT(edge->reassembly_ms, 1000);
	DEFAULT(edge->error_indications_s, 100);
	if (numbers_finish(cfg, gnb, err) < 0 || config_edge_finish(cfg, edge, err) < 0 ||
	    sides_finish(cfg, gnb, err) < 0)
		return -EINVAL;
	return gnb->vfs_count ? vfs_finish(cfg, gnb, err) : ports_finish(cfg, gnb, err);
}
