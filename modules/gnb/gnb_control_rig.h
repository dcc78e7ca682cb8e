/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_CONTROL_RIG_H
#define AIRPATH_GNB_CONTROL_RIG_H

/**
 * A gNB without ports, for tests and the fuzzer: the real control thread's code, and workers that
 * do nothing but take their messages: threads, or the control thread itself when it waits for them.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ring.h>

#include "modules/gnb/gnb_control_impl.h"
#include "modules/upf/upf_net_test.h"
#include "modules/upf/upf_peer.h"
#include "modules/upf/upf_report.h"

#define RIG_WORKERS_MAX 4

struct rig {
	struct gnb_control_cfg cfg;
	struct upf_peers peers;
	struct gnb_control *control;
	char socket[96];
	unsigned percent; /**< of the last offload share */
	bool threads;
	pthread_t thread[RIG_WORKERS_MAX];
	_Atomic bool stop;
};

/** @return whether there was a message. */
static inline bool
rig_worker_step(struct gnb_ctx_worker *w)
{
	struct gnb_msg *m;

	if (rte_ring_sc_dequeue(w->messages, (void **)&m) < 0)
		return false;
	gnb_do(w, m);
	rte_ring_sp_enqueue(w->replies, m);
	return true;
}

/** Of a control thread without worker threads. */
static inline void
rig_work(struct gnb_control *c)
{
	for (unsigned k = 0; k < c->cfg.nb_workers; k++)
		while (rig_worker_step(&c->cfg.workers[k]))
			;
}

/** All workers of the rig. */
static inline void *
rig_worker_main(void *arg)
{
	struct rig *rig = arg;

	while (!rig->stop) {
		bool any = false;

		for (unsigned k = 0; k < rig->cfg.nb_workers; k++)
			any |= rig_worker_step(&rig->cfg.workers[k]);
		if (!any)
			rte_delay_us_sleep(1);
	}
	return NULL;
}

static inline int
rig_offload(void *arg, unsigned percent)
{
	((struct rig *)arg)->percent = percent;
	return 0;
}

/**
 * N3 by interfaces n3 and n9, F1 by n6, of upf_net_test.h.
 * @param threads workers run by themselves; then rig->control is to be started
 * @return NULL: failed
 */
static inline struct rig *
rig_make(unsigned workers, uint32_t sessions, unsigned drbs, bool threads)
{
	static unsigned serial;
	struct rig *rig = calloc(1, sizeof(*rig));
	struct ap_error err = {0};

	snprintf(rig->socket, sizeof(rig->socket), "/tmp/airpath-gnb-%d-%u.sock", (int)getpid(),
		 serial);
	rig->threads = threads;
	rig->cfg = (struct gnb_control_cfg){.kind = "gnb_header",
					    .name = "rig",
					    .socket = rig->socket,
					    .nb_workers = workers,
					    .n3 = 1 << N3 | 1 << N9,
					    .f1 = 1 << N6,
					    .offload = rig_offload,
					    .arg = rig};
	rig->cfg.net = net_make(UPF_MTU_FRAGMENT);
	rig->cfg.table = gnb_table_create(sessions, drbs, SOCKET_ID_ANY);
	rig->cfg.peers = &rig->peers;
	if (rig->cfg.net == NULL || rig->cfg.table == NULL ||
	    upf_peers_init(&rig->peers, rig->cfg.net) < 0)
		return NULL;
	rig->cfg.workers = gnb_ctx_workers_init(rig->cfg.table, workers, 1000 + serial++);
	for (unsigned k = 0; k < workers; k++) {
		char name[32];

		snprintf(name, sizeof(name), "rig_edge%u.%u", serial, k);
		rig->cfg.workers[k].edge_reports = upf_report_ring(name, 63, SOCKET_ID_ANY);
	}
	rig->control = gnb_control_create(&rig->cfg, &err);
	if (rig->control == NULL)
		return NULL;
	if (threads)
		pthread_create(&rig->thread[0], NULL, rig_worker_main, rig);
	else
		rig->control->pause = rig_work;
	return rig;
}

static inline void
rig_free(struct rig *rig)
{
	gnb_control_stop(rig->control);
	rig->stop = true;
	if (rig->threads)
		pthread_join(rig->thread[0], NULL);
	gnb_control_destroy(rig->control);
	for (unsigned k = 0; k < rig->cfg.nb_workers; k++)
		rte_ring_free(rig->cfg.workers[k].edge_reports);
	gnb_ctx_workers_fini(rig->cfg.workers, rig->cfg.nb_workers);
	gnb_table_destroy(rig->cfg.table);
	upf_peers_fini(&rig->peers);
	upf_net_destroy(rig->cfg.net);
	free(rig);
}

#endif
