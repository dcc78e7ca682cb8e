/* SPDX-License-Identifier: BSD-3-Clause */
/** Rules of the load model as applications: packet flow descriptions, a message each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>

#include "bench/upf_agent_impl.h"
#include "core/clock.h"

#define FILTER_ANY 256  /**< protocol of a Filter */
#define BUILD_MAX_S 300 /**< of CPU that others may want, too */
#define POLL_US 2000

/** An application's message, with room for as many descriptions as any has. */
struct message {
	Airpath__Upf__V1__Application app, *apps[1];
	Airpath__Upf__V1__Pfd *pfd, **pfds;
	Airpath__Upf__V1__Filter *filter;
	Airpath__Upf__V1__Prefix *prefix;
	Airpath__Upf__V1__PortRange *port, **ports;
	uint32_t *address;
	uint32_t n;
	char id[32];
};

static int
message_make(struct message *m, uint32_t most)
{
	*m = (struct message){
		.pfd = calloc(most, sizeof(*m->pfd)),
		.pfds = calloc(most, sizeof(*m->pfds)),
		.filter = calloc(most, sizeof(*m->filter)),
		.prefix = calloc(most, sizeof(*m->prefix)),
		.port = calloc(most, sizeof(*m->port)),
		.ports = calloc(most, sizeof(*m->ports)),
		.address = calloc(most, sizeof(*m->address)),
	};
	return m->pfd && m->pfds && m->filter && m->prefix && m->port && m->ports && m->address
		       ? 0
		       : -ENOMEM;
}

static void
message_free(struct message *m)
{
	free(m->pfd);
	free(m->pfds);
	free(m->filter);
	free(m->prefix);
	free(m->port);
	free(m->ports);
	free(m->address);
}

static Airpath__Upf__V1__Pfd *
pfd_add(struct message *m, Airpath__Upf__V1__Pfd__Kind kind)
{
	Airpath__Upf__V1__Pfd *p = &m->pfd[m->n];

	airpath__upf__v1__pfd__init(p);
	p->kind = kind;
	m->pfds[m->n++] = p;
	return p;
}

static void
name_add(struct message *m, const struct upf_load_name *name)
{
	Airpath__Upf__V1__Pfd *p = pfd_add(m, (Airpath__Upf__V1__Pfd__Kind)name->kind);

	p->text = (char *)(uintptr_t)name->text;
	p->regex = name->regex;
}

/** As downlink packets look: the server is the source. */
static void
net_add(struct message *m, const struct upf_load_net *net)
{
	const uint32_t i = m->n;
	Airpath__Upf__V1__Filter *f = &m->filter[i];

	m->address[i] = rte_cpu_to_be_32(net->address);
	airpath__upf__v1__prefix__init(&m->prefix[i]);
	m->prefix[i].address = (ProtobufCBinaryData){4, (uint8_t *)&m->address[i]};
	m->prefix[i].bits = net->bits;
	airpath__upf__v1__filter__init(f);
	f->protocol = net->protocol ? net->protocol : FILTER_ANY;
	f->source = &m->prefix[i];
	if (net->port != 0) {
		airpath__upf__v1__port_range__init(&m->port[i]);
		m->port[i].first = m->port[i].last = net->port;
		m->ports[i] = &m->port[i];
		f->n_source_ports = 1;
		f->source_ports = &m->ports[i];
	}
	pfd_add(m, AIRPATH__UPF__V1__PFD__KIND__FLOW)->flow = f;
}

static int
application_send(struct upf_agent *a, struct message *m, const struct upf_load *load, uint16_t app,
		 uint32_t generation, struct ap_error *err)
{
	Airpath__Upf__V1__Applications body = AIRPATH__UPF__V1__APPLICATIONS__INIT;
	upf_agent_request r = AIRPATH__UPF__V1__REQUEST__INIT;

	m->n = 0;
	for (uint32_t i = 0; i < load->nb_names; i++)
		if (load->names[i].app == app)
			name_add(m, &load->names[i]);
	for (uint32_t i = 0; i < load->nb_nets; i++)
		if (load->nets[i].app == app)
			net_add(m, &load->nets[i]);
	airpath__upf__v1__application__init(&m->app);
	snprintf(m->id, sizeof(m->id), "application-%u", app);
	m->app.index = app;
	m->app.id = m->id;
	m->app.n_pfds = m->n;
	m->app.pfds = m->pfds;
	m->apps[0] = &m->app;
	body.generation = generation;
	body.first = app == 1;
	body.last = app == UPF_LOAD_STATIC;
	body.n_applications = 1;
	body.applications = m->apps;
	r.seq = ++a->seq;
	r.body_case = AIRPATH__UPF__V1__REQUEST__BODY_APPLICATIONS;
	r.applications = &body;
	return upf_agent_put(a, &r, err) == 0 && upf_agent_wait(a, err) != NULL ? 0 : -EIO;
}

/** Of the moment: it may have come before the last reply. */
static int
done_wait(struct upf_agent *a, uint32_t generation, struct ap_error *err)
{
	const uint64_t end = ap_clock_ns() + BUILD_MAX_S * AP_NS_PER_S;

	while (a->done.generation != generation && ap_clock_ns() < end) {
		if (upf_agent_idle(a, err) < 0)
			return -EIO;
		rte_delay_us_sleep(POLL_US);
	}
	if (a->done.generation != generation)
		return ap_error_set(err, "rules are not in force after %d s", BUILD_MAX_S);
	if (a->done.error[0] != '\0')
		return ap_error_set(err, "the upf refuses the rules: %s (application %u, rule %u)",
				    a->done.error, a->done.application, a->done.pfd);
	return 0;
}

int
upf_agent_applications(struct upf_agent *a, const struct upf_load *load, uint32_t generation,
		       struct upf_agent_done *done, struct ap_error *err)
{
	const uint32_t most = (load->nb_names + load->nb_nets) / UPF_LOAD_STATIC + 1;
	struct message m;
	int rc = message_make(&m, most);

	if (rc < 0)
		ap_error_set(err, "out of memory");
	for (uint16_t app = 1; rc == 0 && app <= UPF_LOAD_STATIC; app++)
		rc = application_send(a, &m, load, app, generation, err);
	message_free(&m);
	rc = rc == 0 ? done_wait(a, generation, err) : rc;
	*done = a->done;
	return rc;
}
