/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * upf_control: source at which a worker takes its messages from the control thread, a bounded
 * number a walk, before packets of that walk are matched. What the old rules sent is followed by
 * the end markers of the change (TS 29.281 §7.3.2); packets that waited for it are upf_forward's,
 * which upf_buffer_changed() wakes.
 */
#include <rte_ring.h>

#include "core/worker.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_do.h"
#include "modules/upf/upf_end_marker.h"
#include "modules/upf/upf_msg.h"

#define MESSAGES 16
#define CHECKPOINTS 16

enum { DROP_NO_MBUF };
static const char *const edges[] = {
	[UPF_CONTROL_OUT] = "out",
	[UPF_CONTROL_FORWARD] = "forward",
};
static const char *const drops[] = {[DROP_NO_MBUF] = "no_mbuf"};

static void
end_marker(struct ap_node *n, struct upf_worker *w, const struct upf_end_marker *e)
{
	struct rte_mbuf *m =
		upf_end_marker_make(&w->upf->peers.peer[e->peer], e->peer, e->teid, 0, w->pkt_pool);

	n->made++;
	if (m == NULL)
		n->drops[DROP_NO_MBUF]++;
	else
		ap_next_one(n, UPF_CONTROL_OUT, m);
}

/** So that no sleep delays a checkpoint. */
static void
checkpoint_arm(struct ap_node *n, const struct upf_charger *c)
{
	uint64_t due = upf_urr_checkpoint_ns(c, ap_node_now(n));

	if (due != UINT64_MAX && !ap_timer_armed(&n->timer))
		ap_node_arm(n, due);
}

static uint16_t
upf_control_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct upf_worker *w = upf_worker_of(n);
	struct upf_msg *msgs[MESSAGES];
	uint64_t now_ns = ap_node_now(n);

	(void)graph;
	(void)objs;
	nb = (uint16_t)rte_ring_sc_dequeue_burst(w->messages, (void **)msgs, MESSAGES, NULL);
	for (uint16_t i = 0; i < nb; i++) {
		upf_do(w, msgs[i], now_ns);
		for (uint16_t k = 0; k < msgs[i]->nb_end_markers; k++)
			if (msgs[i]->status == UPF_STATUS_OK)
				end_marker(n, w, &msgs[i]->end_markers[k]);
		/* The control thread never has more under way than this ring holds. */
		rte_ring_sp_enqueue(w->replies, msgs[i]);
	}
	upf_urr_checkpoints(w->charger, CHECKPOINTS, now_ns);
	if (n->worker->sleep != NULL)
		checkpoint_arm(n, w->charger);
	if (nb > 0)
		ap_node_busy(n, nb);
	return 0;
}

static uint32_t
upf_control_waiting(const struct ap_node *n, uint16_t queue, uint64_t now_ns)
{
	const struct upf_worker *w = upf_worker_of(n);

	(void)queue;
	return rte_ring_count(w->messages) + (upf_urr_checkpoint_ns(w->charger, now_ns) <= now_ns);
}

/** The visit after it makes the checkpoints. */
static void
upf_control_timer(struct ap_node *n, uint64_t now_ns)
{
	(void)n;
	(void)now_ns;
}

static int
upf_control_init(struct ap_node *n)
{
	upf_worker_of(n)->charger->wheel = n->worker->wheel;
	upf_worker_of(n)->control_node = n;
	return 0;
}

static const struct ap_node_type upf_control = {
	.name = "upf_control",
	.help = "takes a worker's messages from the control thread",
	.source = true,
	.process = upf_control_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.rare_edges = 1U << UPF_CONTROL_OUT | 1U << UPF_CONTROL_FORWARD,
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.waiting = upf_control_waiting,
	.init = upf_control_init,
	.expire = upf_control_timer,
};

AP_NODE_REGISTER(upf_control)
