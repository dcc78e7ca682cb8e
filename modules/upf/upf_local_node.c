/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * upf_local: answers what is for the UPF itself; that of worker 0 watches GTP-U paths. See
 * upf_local.h.
 */
#include "core/node.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_local.h"
#include "modules/upf/upf_report.h"

#define REASSEMBLY_POLL_NS 50000000ULL

struct local {
	struct upf_local local;
	struct upf_paths paths; /**< worker 0 */
	struct rte_ring *reports;
};

static const char *const edges[] = {[UPF_LOCAL_OUT] = "out", [UPF_LOCAL_STEER] = "steer"};

/* --- what the control thread is told ---------------------------------------------------------- */

/** The session is not known here: id 0, the control thread finds those of peer and TEID. */
static bool
error_indication(void *arg, bool v6, const uint8_t *peer, uint32_t teid)
{
	const struct ap_node *n = arg;
	struct upf_report r = {.kind = UPF_REPORT_ERROR, .error = {.teid = teid}};

	if (v6) {
		memcpy(r.error.peer, peer, 16);
	} else {
		r.error.peer[10] = r.error.peer[11] = 0xff;
		memcpy(r.error.peer + 12, peer, 4);
	}
	return upf_report_put(((struct local *)n->priv)->reports, &r);
}

static bool
path_event(void *arg, const struct upf_net_path *path, bool up)
{
	const struct ap_node *n = arg;
	struct upf_report r = {.kind = UPF_REPORT_PATH,
			       .path = {.octets = path->v6 ? 16 : 4,
					.interface = atomic_load(&path->interface),
					.up = up}};

	memcpy(r.path.ip, path->address, sizeof(r.path.ip));
	return upf_report_put(((struct local *)n->priv)->reports, &r);
}

static bool
path_send(void *arg, const struct upf_net_path *path, uint16_t seq)
{
	struct ap_node *n = arg;
	struct rte_mbuf *m = upf_local_echo_request(&((struct local *)n->priv)->local, path, seq);

	if (m)
		ap_next_one(n, UPF_LOCAL_OUT, m);
	return m != NULL;
}

/* --- node ------------------------------------------------------------------------------------- */

static void
arm(struct ap_node *n, uint64_t now_ns)
{
	const struct local *s = n->priv;

	if (s->paths.net)
		ap_node_arm(n, now_ns + UPF_PATH_TICK_NS);
	if (s->local.fragments.nb > 0)
		ap_node_arm(n, now_ns + REASSEMBLY_POLL_NS);
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct local *s = n->priv;
	const uint64_t now = ap_node_now(n);

	(void)graph;
	n->in += nb;
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = objs[i];

		switch (upf_local_take(&s->local, &m, now)) {
		case UPF_LOCAL_ANSWER:
			ap_next_one(n, UPF_LOCAL_OUT, m);
			break;
		case UPF_LOCAL_ARRIVED:
			ap_next_one(n, UPF_LOCAL_STEER, m);
			break;
		case UPF_LOCAL_GONE:
			break;
		}
	}
	arm(n, now);
	return nb;
}

static void
expire(struct ap_node *n, uint64_t now_ns)
{
	struct local *s = n->priv;

	upf_reassembly_expire(&s->local.fragments, now_ns, n->drops + UPF_LOCAL_DROP_FRAGMENT);
	if (s->paths.net)
		upf_paths_tick(&s->paths, now_ns);
	arm(n, now_ns);
}

static uint64_t
held(const struct ap_node *n)
{
	return ((const struct local *)n->priv)->local.fragments.held;
}

static int
init(struct ap_node *n)
{
	struct upf *upf = n->role;
	struct local *s = n->priv;
	int rc = upf_local_init(&s->local, upf->net);

	if (rc < 0)
		return rc;
	s->local.drops = n->drops;
	s->local.made = &n->made;
	s->local.used = &n->used;
	s->local.error_indication = error_indication;
	s->local.arg = n;
	s->reports = upf_worker_of(n)->reports;
	if (n->index != 0)
		return 0;
	rc = upf_paths_init(&s->paths, upf->net);
	s->paths.send = path_send;
	s->paths.event = path_event;
	s->paths.arg = n;
	if (rc == 0)
		ap_node_arm(n, ap_clock_ns() + UPF_PATH_TICK_NS);
	return rc;
}

static void
fini(struct ap_node *n)
{
	struct local *s = n->priv;

	upf_local_fini(&s->local);
	upf_paths_fini(&s->paths);
}

static const struct ap_node_type upf_local = {
	.name = "upf_local",
	.help = "ARP, ND, ICMP, fragments and GTP-U signalling of the UPF itself",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = upf_local_drops,
	.nb_drops = UPF_LOCAL_DROPS,
	.priv_size = sizeof(struct local),
	.init = init,
	.fini = fini,
	.held = held,
	.expire = expire,
};
AP_NODE_REGISTER(upf_local)
_Static_assert(UPF_LOCAL_DROPS <= AP_DROPS_MAX, "drop reasons");
