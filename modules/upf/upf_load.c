/* SPDX-License-Identifier: BSD-3-Clause */
/** How much of the unit is in use. What CP functions are told of it is the agent's affair. */
#include <rte_common.h>

#include "core/clock.h"
#include "core/node.h"
#include "core/plan.h"
#include "core/worker.h"
#include "modules/upf/upf_control_impl.h"

/** @return share of a worker's time with packets since the last look, ‰. */
static uint32_t
busy_since(struct upf_load_mark *last, const struct ap_worker *w)
{
	struct upf_load_mark now = {__atomic_load_n(&w->busy_cycles, __ATOMIC_RELAXED),
				    __atomic_load_n(&w->idle_cycles, __ATOMIC_RELAXED)};
	uint64_t busy = now.busy - last->busy, all = busy + now.idle - last->idle;

	*last = now;
	return (uint32_t)RTE_MIN(busy / RTE_MAX(all / 1000, 1UL), 1000UL);
}

/** @return that of the busiest of workers and dispatchers. */
static uint32_t
busiest(struct upf_control *c)
{
	uint32_t most = 0;

	for (unsigned k = 0; k < c->upf->nb_steers; k++) {
		const struct ap_node *n = c->upf->steers[k]->inst;

		if (n && n->worker) {
			uint32_t busy = busy_since(&c->load_marks[k], n->worker);

			most = RTE_MAX(most, busy);
		}
	}
	return most;
}

void
upf_load_start(struct upf_control *c, uint32_t every_ms)
{
	c->load_ns = every_ms * AP_NS_PER_MS;
	c->load_due_ns = ap_clock_ns() + c->load_ns;
	busiest(c); /* from now on */
}

void
upf_load_tell(struct upf_control *c)
{
	UpfAnswer a = AIRPATH__UPF__V1__ANSWER__INIT;
	Airpath__Upf__V1__Load load = AIRPATH__UPF__V1__LOAD__INIT;
	uint64_t now_ns;

	if (!c->configured || c->load_ns == 0 || c->agent->nb_send >= UPF_SEND_QUEUE_MAX)
		return;
	now_ns = ap_clock_ns();
	if (now_ns < c->load_due_ns)
		return;
	c->load_due_ns = now_ns + c->load_ns;
	load.sessions = c->ids.nb;
	load.sessions_max = c->upf->cfg->sessions;
	load.busy_permille = busiest(c);
	a.body_case = AIRPATH__UPF__V1__ANSWER__BODY_LOAD;
	a.load = &load;
	ctl_send(c->agent, ctl_pack(&a.base));
}
