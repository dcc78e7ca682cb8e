/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/upf/upf_net_test.h"
#include "modules/upf/upf_path.h"
#include "test_eal.h"

#define S 1000000000ULL
#define INTERVAL 60

static struct upf_net *net;
static struct upf_paths w;
static unsigned sent, ups, downs;
static uint16_t last_seq;
static bool can_tell, can_send;

static bool
send(void *arg, const struct upf_net_path *path, uint16_t seq)
{
	(void)arg;
	(void)path;
	if (!can_send)
		return false;
	sent++;
	last_seq = seq;
	return true;
}

static bool
event(void *arg, const struct upf_net_path *path, bool up)
{
	(void)arg;
	assert_int_equal(atomic_load(&path->interface), N3);
	if (!can_tell)
		return false;
	*(up ? &ups : &downs) += 1;
	return true;
}

static int
up(void **state)
{
	(void)state;
	sent = ups = downs = 0;
	can_tell = can_send = true;
	net = net_make(UPF_MTU_FRAGMENT);
	atomic_store(&net->live.echo_interval_s, INTERVAL);
	if (upf_paths_init(&w, net) < 0)
		return -1;
	w.send = send;
	w.event = event;
	return 0;
}

static int
down(void **state)
{
	(void)state;
	upf_paths_fini(&w);
	upf_net_destroy(net);
	return 0;
}

/** Ticks from..to, every 100 ms. */
static void
run(uint64_t from, uint64_t to)
{
	for (uint64_t t = from; t < to; t += UPF_PATH_TICK_NS)
		upf_paths_tick(&w, t);
}

static void
requests_go_to_paths_in_use(void **state)
{
	(void)state;
	run(S, 2 * S);
	assert_int_equal(sent, 0);
	assert_int_equal(upf_net_peer_set(net, 1, N3, false, gnb_4, true), 0);
	assert_int_equal(upf_net_peer_set(net, 2, N3, false, gnb_4, true), 0); /* another marking */
	run(2 * S, 3 * S);
	assert_int_equal(sent, 1);
	assert_true(upf_path_answered(net, false, gnb_4, last_seq, 3 * S));
	run(3 * S, (2 + INTERVAL) * S);
	assert_int_equal(sent, 1);
	run((2 + INTERVAL) * S, (3 + INTERVAL) * S);
	assert_int_equal(sent, 2);
	/* One of the two stays in use. */
	assert_true(upf_path_answered(net, false, gnb_4, last_seq, (3 + INTERVAL) * S));
	upf_net_peer_clear(net, 1);
	run((3 + INTERVAL) * S, (4 + 2 * INTERVAL) * S);
	assert_int_equal(sent, 3);
	upf_net_peer_clear(net, 2);
	run((4 + 2 * INTERVAL) * S, (9 + 5 * INTERVAL) * S);
	assert_int_equal(sent, 3);
	assert_int_equal(downs, 0);
	/* In use again: at once. */
	assert_int_equal(upf_net_peer_set(net, 2, N3, false, gnb_4, true), 0);
	run(999 * S, 1000 * S);
	assert_int_equal(sent, 4);
}

/** TS 29.244 §8.2.56: outer headers of UDP or IP alone; nobody there speaks GTP-U. */
static void
peers_without_gtpu_are_not_asked(void **state)
{
	(void)state;
	assert_int_equal(upf_net_peer_set(net, 1, N3, false, gnb_4, false), 0);
	run(S, 9 * S);
	assert_int_equal(sent + downs, 0);
	/* The same address takes G-PDUs too. */
	assert_int_equal(upf_net_peer_set(net, 2, N3, false, gnb_4, true), 0);
	run(9 * S, 10 * S);
	assert_int_equal(sent, 1);
	assert_true(upf_path_answered(net, false, gnb_4, last_seq, 10 * S));
	upf_net_peer_clear(net, 1);
	run(10 * S, (10 + INTERVAL) * S);
	assert_int_equal(sent, 2);
	assert_true(upf_path_answered(net, false, gnb_4, last_seq, (10 + INTERVAL) * S));
	upf_net_peer_clear(net, 2);
	assert_int_equal(upf_net_peer_set(net, 1, N3, false, gnb_4, false), 0);
	run((10 + INTERVAL) * S, (20 + 3 * INTERVAL) * S);
	assert_int_equal(sent, 2);
	assert_int_equal(downs, 0);
}

static void
silence_is_a_failure_after_n3_requests(void **state)
{
	(void)state;
	upf_net_peer_set(net, 1, N3, false, gnb_4, true);
	run(S, 7 * S);
	assert_int_equal(sent, 3); /* at 1, 3 and 5 s */
	assert_int_equal(downs, 0);
	can_tell = false;
	run(7 * S, 8 * S);
	assert_int_equal(downs, 0);
	can_tell = true;
	run(8 * S, 9 * S);
	assert_int_equal(downs, 1);
	run(9 * S, 60 * S);
	assert_int_equal(sent, 3);
	/* Tried again each interval; told once. */
	run(60 * S, 120 * S);
	assert_int_equal(sent, 6);
	assert_int_equal(downs, 1);
	run(120 * S, 130 * S);
	assert_true(upf_path_answered(net, false, gnb_4, last_seq, 130 * S));
	run(130 * S, 131 * S);
	assert_int_equal(ups, 1);
	assert_int_equal(downs, 1);
}

static void
an_answer_between_the_tries(void **state)
{
	(void)state;
	upf_net_peer_set(net, 1, N3, false, gnb_4, true);
	run(S, 4 * S);
	assert_int_equal(sent, 2);
	assert_true(upf_path_answered(net, false, gnb_4, last_seq, 4 * S));
	run(4 * S, 60 * S);
	assert_int_equal(sent, 2);
	assert_int_equal(ups + downs, 0);
}

static void
answers_that_are_none(void **state)
{
	const uint8_t other[4] = {192, 168, 1, 8};

	(void)state;
	upf_net_peer_set(net, 1, N3, false, gnb_4, true);
	run(S, 2 * S);
	assert_false(upf_path_answered(net, false, other, last_seq, S));
	assert_false(upf_path_answered(net, true, gnb_6, last_seq, S));
	assert_false(upf_path_answered(net, false, gnb_4, (uint16_t)(last_seq ^ 1), S));
	assert_false(upf_path_answered(net, false, gnb_4, (uint16_t)(last_seq ^ 0x8000), S));
	assert_true(upf_path_answered(net, false, gnb_4, last_seq, S));
}

static void
none_without_an_interval(void **state)
{
	(void)state;
	upf_net_peer_set(net, 1, N3, false, gnb_4, true);
	atomic_store(&net->live.echo_interval_s, 0);
	run(S, 100 * S);
	assert_int_equal(sent, 0);
	/* No buffer now: later. */
	atomic_store(&net->live.echo_interval_s, INTERVAL);
	can_send = false;
	run(100 * S, 101 * S);
	can_send = true;
	run(101 * S, 102 * S);
	assert_int_equal(sent, 1);
}

/** Many paths take turns: a bounded number of requests a tick. */
static void
many_paths(void **state)
{
	(void)state;
	for (uint32_t i = 1; i < UPF_PEERS_MAX; i++) {
		uint8_t address[4] = {9, 9, (uint8_t)(i >> 8), (uint8_t)i};

		assert_int_equal(upf_net_peer_set(net, i, N3, false, address, true), 0);
	}
	upf_paths_tick(&w, S);
	assert_int_equal(sent, UPF_PATH_SEND_MAX);
	for (unsigned i = 1; i < UPF_PEERS_MAX / UPF_PATH_SEND_MAX; i++)
		upf_paths_tick(&w, S);
	assert_int_equal(sent, UPF_PEERS_MAX - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(requests_go_to_paths_in_use, up, down),
		cmocka_unit_test_setup_teardown(peers_without_gtpu_are_not_asked, up, down),
		cmocka_unit_test_setup_teardown(silence_is_a_failure_after_n3_requests, up, down),
		cmocka_unit_test_setup_teardown(an_answer_between_the_tries, up, down),
		cmocka_unit_test_setup_teardown(answers_that_are_none, up, down),
		cmocka_unit_test_setup_teardown(none_without_an_interval, up, down),
		cmocka_unit_test_setup_teardown(many_paths, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
