/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * mac_rx → rlc_rx → pdcp_rx → sdap as a whole, over several TBs and a clock that moves.
 *
 * Each TB begins with a mode octet: raw bytes, or a list of subPDUs with sound MAC subheaders, so
 * that the layers above are reached at once. Nothing may leak, and the books of every layer must
 * balance.
 */
#include <stdlib.h>
#include <string.h>

#include "core/pkt.h"
#include "modules/mac/mac_rx.h"
#include "modules/pdcp/pdcp_rx.h"
#include "modules/rlc/rlc_rx.h"
#include "modules/sdap/sdap.h"
#include "tests/support/test_eal.h"

#define BEARERS 4
#define LCID_FIRST 4
#define TB_MAX 3000
#define SDUS_MAX 1024
#define OUT_MAX 256

enum { MODE_BUILT = 1, MODE_SMALL_SEGMENTS = 2, MODE_LONG_PAUSE = 4 };

struct input {
	const uint8_t *p;
	size_t left;
};

struct stack {
	struct mac_rx mac;
	struct rlc_rx rlc[BEARERS];
	struct pdcp_rx pdcp[BEARERS];
	struct sdap sdap;
	uint64_t now_ns;
	uint64_t pdcp_in, pdcp_out, pdcp_used;
};

static struct rte_mempool *segments, *indirect;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (test_eal_init() < 0)
		abort();
	segments = test_pool("segments", 4096, 2048);
	indirect = test_pool("indirect", 4096, 0);
	if (segments == NULL || indirect == NULL)
		abort();
	return 0;
}

static uint8_t
octet(struct input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->p++;
}

static size_t
octets(struct input *in, uint8_t *to, size_t want)
{
	size_t n = want < in->left ? want : in->left;

	memcpy(to, in->p, n);
	in->p += n;
	in->left -= n;
	return n;
}

/** SubPDUs of logical channels that exist, for as long as the input says. */
static size_t
tb_build(struct input *in, uint8_t *tb)
{
	size_t len = 0;

	for (unsigned i = octet(in) % 16; i > 0 && in->left > 0; i--) {
		uint8_t channel = octet(in);
		size_t n = octets(in, tb + len + 2, channel >> 2);

		tb[len] = (uint8_t)(LCID_FIRST + channel % BEARERS);
		tb[len + 1] = (uint8_t)n;
		len += 2 + n;
	}
	return len;
}

static struct rte_mbuf *
tb_chain(const uint8_t *tb, size_t len, size_t room)
{
	struct rte_mbuf *head = NULL, *tail = NULL;

	do {
		size_t n = len < room ? len : room;
		struct rte_mbuf *m = rte_pktmbuf_alloc(segments);

		if (m == NULL)
			abort();
		memcpy(rte_pktmbuf_append(m, (uint16_t)n), tb, n);
		tb += n;
		len -= n;
		if (head == NULL) {
			head = m;
		} else {
			tail->next = m;
			head->nb_segs++;
			head->pkt_len += (uint32_t)n;
		}
		tail = m;
	} while (len > 0);
	return head;
}

static struct rte_mbuf *
tb_next(struct input *in, struct stack *s)
{
	uint8_t tb[TB_MAX];
	uint8_t mode = octet(in);
	size_t len = mode & MODE_BUILT ? tb_build(in, tb) : octets(in, tb, octet(in) * 8U);

	s->now_ns += mode & MODE_LONG_PAUSE ? 100 * AP_NS_PER_MS : AP_NS_PER_MS / 8;
	return tb_chain(tb, len, mode & MODE_SMALL_SEGMENTS ? 7 : 2048);
}

static void
users(void *arg, struct rte_mbuf **sdus, uint16_t nb)
{
	uint64_t drops[SDAP_RX_DROPS] = {0}, used = 0;
	struct stack *s = arg;
	struct rte_mbuf *pkts[OUT_MAX];

	s->pdcp_out += nb;
	for (uint16_t at = 0, run; at < nb; at += run) {
		uint16_t left, lost = 0;

		run = RTE_MIN(nb - at, OUT_MAX);
		memcpy(pkts, sdus + at, run * sizeof(*pkts));
		left = sdap_rx_process(&s->sdap, pkts, run, drops, &used);
		rte_pktmbuf_free_bulk(pkts, left);
		for (unsigned i = 0; i < SDAP_RX_DROPS; i++)
			lost += (uint16_t)drops[i];
		if (left + lost + used != run)
			abort();
		memset(drops, 0, sizeof(drops));
		used = 0;
	}
}

static void
pdcp_balance(const struct stack *s, const uint64_t *drops)
{
	uint64_t went = s->pdcp_out + s->pdcp_used;

	for (unsigned i = 0; i < PDCP_RX_DROPS; i++)
		went += drops[i];
	for (unsigned b = 0; b < BEARERS; b++)
		went += s->pdcp[b].held;
	if (went != s->pdcp_in)
		abort();
}

static void
upper_layers(struct stack *s, struct rte_mbuf **pdus, unsigned nb, uint64_t *rlc_drops,
	     uint64_t *pdcp_drops)
{
	struct rlc_rx_counts c = {.drops = rlc_drops};
	struct pdcp_rx_sink sink = {
		.deliver = users, .arg = s, .drops = pdcp_drops, .used = &s->pdcp_used};

	for (unsigned i = 0, run; i < nb; i += run) {
		const uint32_t b = ap_meta(pdus[i])->bearer;
		uint16_t sdus, k;

		run = ap_run_of_bearer(pdus + i, (uint16_t)(nb - i));
		sdus = (uint16_t)rlc_rx_receive(&s->rlc[b], pdus + i, run, pdus + i, &c, s->now_ns);
		s->pdcp_in += sdus;
		k = sdus ? pdcp_rx_in_order(&s->pdcp[b], pdus + i, sdus) : 0;
		if (k)
			users(s, pdus + i, k);
		if (k < sdus)
			pdcp_rx_receive(&s->pdcp[b], pdus + i + k, sdus - k, s->now_ns, &sink);
	}
	for (unsigned b = 0; b < BEARERS; b++) {
		rlc_rx_expire(&s->rlc[b], &c, s->now_ns);
		pdcp_rx_expire(&s->pdcp[b], s->now_ns, &sink);
	}
	pdcp_balance(s, pdcp_drops);
}

static void
one_tb(struct stack *s, struct rte_mbuf *tb, uint64_t *rlc_drops, uint64_t *pdcp_drops)
{
	struct rte_mbuf *pdus[SDUS_MAX];
	struct mac_rx_run run = {.out = pdus, .max = SDUS_MAX};
	uint32_t lost = 0;

	mac_rx_tb(&s->mac, tb, &run);
	for (unsigned i = MAC_RX_EMPTY_TB + 1; i < MAC_RX_DROPS; i++)
		lost += run.drops[i];
	if (run.made != run.nb_out + lost)
		abort();
	upper_layers(s, pdus, run.nb_out, rlc_drops, pdcp_drops);
}

/** Bearers differ in SN sizes, headers and delivery; the first input octet chooses the rest. */
static void
stack_up(struct stack *s, uint8_t options)
{
	struct mac_rx_cfg mac = {.direction = options & 1 ? L2_DOWNLINK : L2_UPLINK,
				 .ind = indirect};
	struct sdap_drb drbs[BEARERS];
	struct sdap_cfg sdap = {.rx_direction = mac.direction,
				.tx_direction =
					mac.direction == L2_UPLINK ? L2_DOWNLINK : L2_UPLINK,
				.nb_bearers = BEARERS,
				.drbs = drbs,
				.defaultDRB = 0,
				.hdr = segments};

	for (unsigned i = 0; i <= L2_LCID_MAX; i++)
		mac.bearer_of_lcid[i] = L2_NO_BEARER;
	for (unsigned b = 0; b < BEARERS; b++) {
		const struct rlc_rx_cfg rlc = {.mode = b == 3 ? RLC_TM : RLC_UM,
					       .sn_FieldLength = b & 1 ? RLC_SN_12 : RLC_SN_6,
					       .t_Reassembly_ms = options & 2 ? 0 : 35,
					       .segments_max = 16,
					       .bearer = b};
		const struct pdcp_rx_cfg pdcp = {.pdcp_SN_Size = b & 1 ? 18 : 12,
						 .outOfOrderDelivery = b == 2,
						 .t_Reordering = options & 4 ? 0 : 40,
						 .reorder_slots = 64,
						 .rb_identity = (uint8_t)(b + 1),
						 .sdap_hdr_len = b < 2,
						 .direction = mac.direction};

		mac.bearer_of_lcid[LCID_FIRST + b] = b;
		drbs[b] = (struct sdap_drb){true, b < 2, b < 2};
		if (rlc_rx_init(&s->rlc[b], &rlc) < 0 || pdcp_rx_init(&s->pdcp[b], &pdcp) < 0)
			abort();
	}
	if (mac_rx_init(&s->mac, &mac) < 0 || sdap_init(&s->sdap, &sdap) < 0)
		abort();
}

static void
stack_down(struct stack *s)
{
	mac_rx_fini(&s->mac);
	sdap_fini(&s->sdap);
	for (unsigned b = 0; b < BEARERS; b++) {
		rlc_rx_fini(&s->rlc[b]);
		pdcp_rx_fini(&s->pdcp[b]);
	}
	if (rte_mempool_in_use_count(segments) || rte_mempool_in_use_count(indirect))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t rlc_drops[RLC_RX_DROPS] = {0}, pdcp_drops[PDCP_RX_DROPS] = {0};
	struct input in = {data, size};
	static struct stack s;

	memset(&s, 0, sizeof(s));
	s.now_ns = AP_NS_PER_MS;
	stack_up(&s, octet(&in));
	while (in.left > 0)
		one_tb(&s, tb_next(&in, &s), rlc_drops, pdcp_drops);
	stack_down(&s);
	return 0;
}
