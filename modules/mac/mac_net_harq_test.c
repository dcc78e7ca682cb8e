/* SPDX-License-Identifier: BSD-3-Clause */
/* The network's side of uplink HARQ, against a UE as TS 38.321 §5.4.2 wants it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "modules/mac/mac_net_harq.h"
#include "modules/phy/phy_rng.h"

static struct mac_net_harq h;
static struct mac_net_harq_stats s;
static struct mac_net_harq_cfg cfg;

static void
start(uint32_t processes, uint32_t max_tx)
{
	cfg = (struct mac_net_harq_cfg){processes, max_tx};
	s = (struct mac_net_harq_stats){0};
	mac_net_harq_init(&h, &cfg);
}

/** What the process is granted in slot `now`: again, else new data. @return it, or -1. */
static int
grant(uint64_t now, uint32_t bytes, struct fapi_grant *g)
{
	int p = mac_net_harq_pending(&h);

	if (p < 0)
		p = mac_net_harq_idle(&h);
	*g = (struct fapi_grant){.tb_bytes = bytes};
	if (p >= 0)
		mac_net_harq_grant(&h, p, bytes, now, g, &s);
	return p;
}

static void
report(const struct fapi_grant *g, uint64_t at, enum mac_tb_verdict v)
{
	mac_net_harq_report(&h, g->harq_process, at, v, &s);
}

static void
new_data_toggles_ndi(void **state)
{
	struct fapi_grant a, b;

	(void)state;
	start(1, 4);
	assert_int_equal(grant(10, 1000, &a), 0);
	assert_int_equal(a.rv_index, 0);
	assert_int_equal(grant(11, 500, &b), -1); /* its only process waits */
	report(&a, 10, MAC_TB_DECODED);
	assert_int_equal(grant(12, 500, &b), 0);
	assert_int_not_equal(a.new_data, b.new_data);
	assert_int_equal(b.tb_bytes, 500);
	assert_int_equal(s.retx, 0);
}

static void
failures_come_again_until_max_tx(void **state)
{
	static const uint8_t rv[] = {0, 2, 3, 1};
	struct fapi_grant g, first = {0};

	(void)state;
	start(2, 4);
	for (unsigned k = 0; k < 4; k++) {
		assert_int_equal(grant(k, k ? 7 : 1000, &g), 0);
		if (k == 0)
			first = g;
		assert_int_equal(g.rv_index, rv[k]);
		assert_int_equal(g.new_data, first.new_data);
		assert_int_equal(g.tb_bytes, 1000);
		assert_int_equal(h.process[0].part, 1000);
		report(&g, k, MAC_TB_FAILED);
	}
	assert_int_equal(s.retx, 3);
	assert_int_equal(s.failed, 4);
	assert_int_equal(s.lost, 1);
	assert_int_equal(grant(4, 7, &g), 0);
	assert_int_not_equal(g.new_data, first.new_data);
	assert_int_equal(g.tb_bytes, 7);
}

/** What no TB came for is repeated as it was, and is no transmission. */
static void
grants_in_vain_are_repeated(void **state)
{
	struct fapi_grant a, b;

	(void)state;
	start(1, 2);
	grant(0, 1000, &a);
	report(&a, 0, MAC_TB_NOT_SENT);
	assert_int_equal(grant(1, 9, &b), 0);
	assert_int_equal(b.new_data, a.new_data);
	assert_int_equal(b.rv_index, 0);
	assert_int_equal(b.tb_bytes, 1000);
	mac_net_harq_refused(&h, 0, &s); /* of an older slot */
	assert_int_equal(mac_net_harq_pending(&h), -1);
	mac_net_harq_refused(&h, 1, &s);
	assert_int_equal(grant(2, 9, &b), 0);
	mac_net_harq_expire(&h, 2 + MAC_NET_HARQ_WAIT, &s);
	assert_int_equal(mac_net_harq_pending(&h), -1);
	mac_net_harq_expire(&h, 3 + MAC_NET_HARQ_WAIT, &s);
	assert_int_equal(grant(3 + MAC_NET_HARQ_WAIT, 9, &b), 0);
	assert_int_equal(b.new_data, a.new_data);
	assert_int_equal(s.not_sent, 3);
	assert_int_equal(s.unheard, 1);
	assert_int_equal(s.retx, 0);
	/* The TB was only late: it decodes by its first grant. */
	report(&a, 0, MAC_TB_DECODED);
	assert_int_equal(mac_net_harq_idle(&h), 0);
	assert_int_equal(s.lost, 0);
}

static void
old_news_do_not_count(void **state)
{
	struct fapi_grant a, b;

	(void)state;
	start(1, 2);
	grant(0, 1000, &a);
	mac_net_harq_refused(&h, 0, &s);
	grant(5, 1000, &b);
	report(&a, 0, MAC_TB_FAILED); /* granted again since */
	report(&b, 5, MAC_TB_DECODED);
	report(&b, 5, MAC_TB_FAILED); /* is done with */
	assert_int_equal(s.lost, 0);
	grant(6, 300, &a);
	report(&b, 5, MAC_TB_DECODED); /* of the TB before */
	assert_int_equal(mac_net_harq_idle(&h), -1);
	mac_net_harq_report(&h, 9, 6, MAC_TB_DECODED, &s); /* no such process */
	mac_net_harq_report(&h, 255, 6, MAC_TB_DECODED, &s);
	assert_int_equal(mac_net_harq_idle(&h), -1);
}

static void
a_silent_ue_is_left_alone(void **state)
{
	struct fapi_grant g, first = {0};
	uint64_t now = 0;

	(void)state;
	start(4, 4);
	for (unsigned i = 0; i < MAC_NET_HARQ_VAIN; i++, now++) {
		assert_int_equal(grant(now, 1000, &g), 0);
		if (i == 0)
			first = g;
		report(&g, now, MAC_TB_NOT_SENT);
	}
	assert_int_equal(mac_net_harq_pending(&h), -1);
	mac_net_harq_unpark(&h);
	assert_int_equal(grant(now, 9, &g), 0);
	assert_int_equal(g.new_data, first.new_data);
	assert_int_equal(g.tb_bytes, 1000);
}

/** What brings nothing while other grants do has no TB behind it. */
static void
an_empty_process_is_given_up(void **state)
{
	struct fapi_grant g, other, first;
	uint64_t now = 1;

	(void)state;
	start(2, 4);
	grant(now, 1000, &first);
	for (unsigned i = 0; i < MAC_NET_HARQ_VAIN; i++) {
		assert_int_equal(s.lost, 0);
		if (i > 0) {
			assert_int_equal(grant(now, 9, &g), 0);
			assert_int_equal(g.new_data, first.new_data);
		}
		assert_int_equal(grant(now + 1, 9, &other), 1);
		report(&other, now + 1, MAC_TB_DECODED);
		report(&first, now, MAC_TB_NOT_SENT);
		now += 2;
	}
	assert_int_equal(s.lost, 1);
	assert_int_equal(grant(now, 9, &g), 0);
	assert_int_not_equal(g.new_data, first.new_data);
}

static void
the_oldest_comes_first(void **state)
{
	struct fapi_grant g[3];

	(void)state;
	start(3, 4);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(grant(i, 100, &g[i]), i);
	for (uint64_t i = 3; i-- > 0;)
		report(&g[i], i, MAC_TB_FAILED);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(grant(10 + i, 9, &g[0]), i);
}

static void
start_downlink(uint32_t processes, uint32_t max_tx)
{
	cfg = (struct mac_net_harq_cfg){.processes = processes, .max_tx = max_tx, .downlink = true};
	s = (struct mac_net_harq_stats){0};
	mac_net_harq_init(&h, &cfg);
}

/** NACK, DTX and silence count alike; the next one would be the fifth transmission. */
static void
downlink_no_answer_is_a_negative_one(void **state)
{
	static const uint8_t rv[] = {0, 2, 3, 1};
	struct fapi_grant g, first = {0};
	uint64_t now = 10;

	(void)state;
	start_downlink(1, 4);
	for (unsigned k = 0; k < 4; k++) {
		assert_int_equal(grant(now, 1000, &g), 0);
		if (k == 0)
			first = g;
		assert_int_equal(g.rv_index, rv[k]);
		assert_int_equal(g.new_data, first.new_data);
		assert_int_equal(s.lost, 0);
		if (k == 0 || k == 3) {
			report(&g, now, k ? MAC_TB_DTX : MAC_TB_FAILED);
			now++;
		} else {
			mac_net_harq_expire(&h, now + MAC_NET_HARQ_WAIT, &s);
			assert_int_equal(mac_net_harq_pending(&h), -1);
			now += MAC_NET_HARQ_WAIT + 1;
			mac_net_harq_expire(&h, now, &s);
		}
	}
	assert_int_equal(s.lost, 1);
	assert_int_equal(s.failed, 1);
	assert_int_equal(s.dtx, 3);
	assert_int_equal(s.unheard, 2);
	assert_int_equal(s.not_sent, 0);
	assert_int_equal(mac_net_harq_pending(&h), -1);
	assert_int_equal(grant(now, 7, &g), 0);
	assert_int_not_equal(g.new_data, first.new_data);
	report(&g, now, MAC_TB_DECODED);
	assert_int_equal(s.decoded, 1);
}

/** What the PHY refused was not transmitted; one that is refused for ever is given up. */
static void
downlink_refusals_do_not_count(void **state)
{
	struct fapi_grant g;

	(void)state;
	start_downlink(1, 2);
	for (uint64_t now = 0; now < MAC_NET_HARQ_VAIN; now++) {
		assert_int_equal(s.lost, 0);
		assert_int_equal(grant(now, 1000, &g), 0);
		assert_int_equal(g.rv_index, 0);
		assert_int_equal(g.tb_bytes, 1000);
		mac_net_harq_refused(&h, now, &s);
	}
	assert_int_equal(s.lost, 1);
	assert_int_equal(s.retx, 0);
	assert_int_equal(mac_net_harq_idle(&h), 0);
}

/** TBs that have begun are sent as often as others, but new ones only one by one, far apart. */
static void
downlink_a_silent_ue_is_sent_little(void **state)
{
	struct fapi_grant g;
	uint64_t now = 1000, fresh = 0;

	(void)state;
	start_downlink(4, 8);
	for (; now < 1000 + 40 * MAC_NET_HARQ_WAIT; now++) {
		mac_net_harq_expire(&h, now, &s);
		if (mac_net_harq_pending(&h) < 0 && !mac_net_harq_free(&h, now))
			continue;
		fresh += mac_net_harq_pending(&h) < 0;
		grant(now, 1000, &g);
	}
	assert_in_range(fresh, 8, 12); /* with answers that are negative 20 */
	assert_int_equal(s.lost, fresh - (h.idle != 0xF));
	/* No answer was detected: that is none. */
	mac_net_harq_report(&h, 0, now, MAC_TB_DTX, &s);
	assert_true(h.silent > MAC_NET_HARQ_VAIN);
	mac_net_harq_reset(&h, &s);
	assert_false(mac_net_harq_free(&h, now));
	/* Of whichever TB: it is there. */
	mac_net_harq_report(&h, 0, now, MAC_TB_FAILED, &s);
	assert_true(mac_net_harq_free(&h, now));
}

/** An answer says its slot alone. */
static void
downlink_answers_are_known_by_their_slot(void **state)
{
	struct fapi_grant g;

	(void)state;
	start_downlink(3, 4);
	for (uint64_t now = 5; now < 8; now++)
		assert_int_equal(grant(now, 100, &g), now - 5);
	assert_int_equal(mac_net_harq_of_slot(&h, 4), -1);
	assert_int_equal(mac_net_harq_of_slot(&h, 6), 1);
	mac_net_harq_report(&h, 1, 6, MAC_TB_FAILED, &s);
	assert_int_equal(mac_net_harq_of_slot(&h, 6),
			 1); /* an answer may be changed for the better */
	assert_int_equal(grant(9, 1, &g), 1);
	assert_int_equal(mac_net_harq_of_slot(&h, 6), -1);
	mac_net_harq_report(&h, 1, 9, MAC_TB_DECODED, &s);
	assert_int_equal(mac_net_harq_of_slot(&h, 9), -1);
	mac_net_harq_reset(&h, &s);
	assert_int_equal(s.lost, 2);
	assert_int_equal(h.idle, 7);
	assert_int_equal(mac_net_harq_of_slot(&h, 5), -1);
}

#define TBS (1 << 16)
#define WINDOW 120
#define NEWS_AFTER 3

struct news {
	uint64_t due;
	uint64_t at;
	uint8_t process;
	enum mac_tb_verdict verdict;
};
struct tb {
	uint64_t arrives;
	uint64_t at;
	struct fapi_grant g;
	uint32_t number;
};

static struct {
	struct news news[1024];
	unsigned nb_news;
	struct tb flight[1024];
	unsigned nb_flight;
	struct {
		bool known, new_data;
		uint32_t number;
	} ue[MAC_HARQ_MAX];
	struct {
		bool known, new_data, decoded;
	} soft[MAC_HARQ_MAX];
	uint8_t delivered[TBS];
	uint32_t tbs;
	struct phy_rng rng;
} sim;

static bool
chance(unsigned percent)
{
	return phy_rng_below(&sim.rng, 100) < percent;
}

static void
tell(uint64_t due, uint64_t at, uint8_t process, enum mac_tb_verdict v)
{
	assert_true(sim.nb_news < 1024);
	sim.news[sim.nb_news++] = (struct news){due, at, process, v};
}

static void
hear(uint64_t now)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < sim.nb_news; i++) {
		const struct news *n = &sim.news[i];

		if (n->due > now)
			sim.news[kept++] = *n;
		else if (n->verdict == MAC_TB_REFUSED)
			mac_net_harq_refused(&h, n->at, &s);
		else
			mac_net_harq_report(&h, n->process, n->at, n->verdict, &s);
	}
	sim.nb_news = kept;
}

/** The UE serves a grant; its TB is on the way. */
static void
ue_serve(const struct fapi_grant *g, uint64_t now, bool calm)
{
	const uint64_t behind = sim.nb_flight ? sim.flight[sim.nb_flight - 1].arrives : 0;
	const uint64_t arrives = now + (calm ? 0 : phy_rng_below(&sim.rng, 200));
	const uint8_t p = g->harq_process;

	if (!sim.ue[p].known || sim.ue[p].new_data != g->new_data) {
		sim.ue[p].known = true;
		sim.ue[p].new_data = g->new_data;
		sim.ue[p].number = sim.tbs++;
	}
	assert_true(sim.nb_flight < 1024);
	sim.flight[sim.nb_flight++] =
		(struct tb){RTE_MAX(arrives, behind), now, *g, sim.ue[p].number};
}

static void
phy_receive(const struct tb *t, bool calm)
{
	const uint8_t p = t->g.harq_process;
	bool failed = false;

	if (t->arrives >= t->at + WINDOW) {
		tell(t->at + WINDOW, t->at, p, MAC_TB_NOT_SENT);
		return;
	}
	if (!sim.soft[p].known || sim.soft[p].new_data != t->g.new_data) {
		sim.soft[p].known = true;
		sim.soft[p].new_data = t->g.new_data;
		sim.soft[p].decoded = false;
	}
	if (!sim.soft[p].decoded) {
		failed = chance(30);
		sim.soft[p].decoded = !failed;
		sim.delivered[t->number] += !failed;
	}
	if (calm || !chance(2)) /* some news are lost */
		tell(t->arrives + NEWS_AFTER, t->at, p, failed ? MAC_TB_FAILED : MAC_TB_DECODED);
}

/**
 * Grants that the UE never sees, requests that are refused, TBs that come late or too late, news
 * that are lost: every TB that the UE made arrives once.
 */
static void
nothing_is_lost_and_nothing_twice(void **state)
{
	(void)state;
	memset(&sim, 0, sizeof(sim));
	phy_rng_seed(&sim.rng, 3);
	start(8, 32);
	for (uint64_t now = 1000; now < 120000; now++) {
		const bool calm = now > 110000;
		unsigned gone = 0;
		struct fapi_grant g;

		hear(now);
		mac_net_harq_expire(&h, now, &s);
		mac_net_harq_unpark(&h);
		if (grant(now, 1000, &g) >= 0) {
			const unsigned dice = calm ? 99 : (unsigned)phy_rng_below(&sim.rng, 100);

			if (dice < 3)
				tell(now + 1, now, 0, MAC_TB_REFUSED);
			else if (dice < 20)
				tell(now + WINDOW, now, g.harq_process, MAC_TB_NOT_SENT);
			else
				ue_serve(&g, now, calm);
		}
		for (; gone < sim.nb_flight && sim.flight[gone].arrives <= now; gone++)
			phy_receive(&sim.flight[gone], calm);
		sim.nb_flight -= gone;
		memmove(sim.flight, sim.flight + gone, sim.nb_flight * sizeof(sim.flight[0]));
	}
	assert_true(sim.tbs > 2000);
	assert_true(s.failed > 500 && s.not_sent > 500 && s.unheard > 10);
	assert_int_equal(s.lost, 0);
	for (uint32_t i = 0; i + 8 < sim.tbs; i++)
		assert_int_equal(sim.delivered[i], 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_data_toggles_ndi),
		cmocka_unit_test(failures_come_again_until_max_tx),
		cmocka_unit_test(grants_in_vain_are_repeated),
		cmocka_unit_test(old_news_do_not_count),
		cmocka_unit_test(a_silent_ue_is_left_alone),
		cmocka_unit_test(an_empty_process_is_given_up),
		cmocka_unit_test(the_oldest_comes_first),
		cmocka_unit_test(downlink_no_answer_is_a_negative_one),
		cmocka_unit_test(downlink_refusals_do_not_count),
		cmocka_unit_test(downlink_answers_are_known_by_their_slot),
		cmocka_unit_test(downlink_a_silent_ue_is_sent_little),
		cmocka_unit_test(nothing_is_lost_and_nothing_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
