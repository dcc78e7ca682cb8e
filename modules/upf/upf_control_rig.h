/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_CONTROL_RIG_H
#define AIRPATH_UPF_CONTROL_RIG_H

/**
 * A forwarding unit without ports, for tests: the real control thread's code, and workers that do
 * nothing but take their messages: threads, or where time is measured the control thread itself
 * whenever it waits for them.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ring.h>

#include "core/wheel.h"
#include "modules/upf/upf_control_impl.h"
#include "modules/upf/upf_do.h"
#include "modules/upf/upf_net_test.h"
#include "modules/upf/upf_role.h"

struct rig {
	struct upf upf;
	struct ap_cfg_upf cfg;
	struct ap_cfg_upf_interface interfaces[3];
	char socket[96];
	bool threads;
	pthread_t thread[UPF_ROLE_WORKERS_MAX];
	_Atomic bool stop;
};

struct rig_worker {
	struct rig *rig;
	unsigned index;
};

/** @return whether there was a message. */
static inline bool
rig_worker_step(struct upf_worker *w)
{
	uint64_t now_ns = ap_clock_ns();
	struct upf_msg *m;
	bool any = false;

	if (rte_ring_sc_dequeue(w->messages, (void **)&m) == 0) {
		upf_do(w, m, now_ns);
		rte_ring_sp_enqueue(w->replies, m);
		any = true;
	}
	ap_wheel_run(w->charger->wheel, now_ns);
	upf_urr_checkpoints(w->charger, 16, now_ns);
	return any;
}

/** Of a control thread without worker threads. */
static inline void
rig_work(struct upf_control *c)
{
	for (unsigned k = 0; k < c->upf->nb_workers; k++)
		while (rig_worker_step(&c->upf->workers[k]))
			;
}

static inline void *
rig_worker_main(void *arg)
{
	struct rig_worker *k = arg;
	struct rig *rig = k->rig;
	struct upf_worker *w = &rig->upf.workers[k->index];

	free(k);
	while (!rig->stop)
		if (!rig_worker_step(w))
			rte_delay_us_sleep(1);
	return NULL;
}

/**
 * The unit of upf_net_test.h with some workers; rig->upf.control is not started.
 * @param threads the workers are, which share their memory with the control thread
 * @return NULL: failed
 */
static inline struct rig *
rig_make(unsigned workers, unsigned sessions, bool threads)
{
	static unsigned serial;
	struct rig *rig = calloc(1, sizeof(*rig));
	struct upf *upf = &rig->upf;
	struct ap_error err = {0};

	snprintf(rig->socket, sizeof(rig->socket), "/tmp/airpath-rig-%d-%u.sock", (int)getpid(),
		 serial);
	for (unsigned i = 0; i < RTE_DIM(rig->interfaces); i++)
		rig->interfaces[i].name = (char *)(uintptr_t)(i == 0 ? "n3" : i == 1 ? "n6" : "n9");
	rig->cfg = (struct ap_cfg_upf){.name = (char *)(uintptr_t) "rig",
				       .socket = rig->socket,
				       .workers = workers,
				       .sessions = sessions,
				       .buffer_packets = 64,
				       .buffer_session_packets = 16,
				       .flows = 4096,
				       .session_flows = 256,
				       .dpi = {.scans = 64},
				       .interfaces = rig->interfaces,
				       .interfaces_count = RTE_DIM(rig->interfaces)};
	rig->threads = threads;
	upf->cfg = &rig->cfg;
	upf->nb_workers = workers;
	snprintf(upf->steering, sizeof(upf->steering), "rss");
	upf_owner_map_init(&upf->owners, workers, UPF_BUCKETS);
	upf->net = net_make(UPF_MTU_FRAGMENT);
	if (upf->net == NULL || upf_peers_init(&upf->peers, upf->net) < 0 ||
	    upf_workers_init(upf, 1000 + serial++) < 0)
		return NULL;
	for (unsigned k = 0; k < workers; k++) {
		struct rig_worker *w;

		upf->workers[k].charger->wheel = ap_wheel_create(AP_NS_PER_MS, ap_clock_ns());
		if (!threads)
			continue;
		w = malloc(sizeof(*w));
		*w = (struct rig_worker){rig, k};
		pthread_create(&rig->thread[k], NULL, rig_worker_main, w);
	}
	upf->control = upf_control_create(upf, &err);
	if (upf->control && !threads)
		upf->control->pause = rig_work;
	return upf->control ? rig : NULL;
}

static inline void
rig_free(struct rig *rig)
{
	upf_control_stop(rig->upf.control);
	rig->stop = true;
	for (unsigned k = 0; k < rig->upf.nb_workers && rig->threads; k++)
		pthread_join(rig->thread[k], NULL);
	upf_control_destroy(rig->upf.control);
	for (unsigned k = 0; k < rig->upf.nb_workers; k++)
		ap_wheel_destroy(rig->upf.workers[k].charger->wheel);
	upf_workers_fini(&rig->upf);
	upf_peers_fini(&rig->upf.peers);
	upf_net_destroy(rig->upf.net);
	free(rig);
}

#endif
