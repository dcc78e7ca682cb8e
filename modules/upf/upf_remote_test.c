/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/upf/upf_far.h"
#include "modules/upf/upf_net_test.h"
#include "modules/upf/upf_remote.h"
#include "modules/upf/upf_rules.h"
#include "test_eal.h"

#define PEER4 1
#define PEER6 2
#define PEER4_MARKED 3

static struct upf_net *net;
static struct upf_remotes t;

static int
up(void **state)
{
	(void)state;
	net = net_make(UPF_MTU_FRAGMENT);
	return upf_remotes_init(&t) || upf_net_peer_set(net, PEER4, N3, false, gnb_4, true) ||
	       upf_net_peer_set(net, PEER6, N3, true, gnb_6, true) ||
	       upf_net_peer_set(net, PEER4_MARKED, N3, false, gnb_4, true);
}

static int
down(void **state)
{
	(void)state;
	upf_remotes_fini(&t);
	upf_net_destroy(net);
	return 0;
}

static struct upf_rules
rules(struct upf_far *fars, uint16_t nb)
{
	return (struct upf_rules){.fars = fars, .nb_fars = nb};
}

static void
a_session_is_found_by_what_it_sends_to(void **state)
{
	struct upf_far fars[] = {{.to = {.teid = 7, .peer = PEER4}},
				 {.to = {.teid = 7, .peer = PEER6}},
				 {.to = {.interface = N6}}},
		       others[] = {{.to = {.teid = 8, .peer = PEER4_MARKED}}};
	const struct upf_rules first = rules(fars, 3), second = rules(others, 1);

	(void)state;
	assert_int_equal(upf_remotes_replace(&t, net, 11, NULL, &first), 0);
	assert_int_equal(upf_remotes_find(&t, net, false, gnb_4, 7), 11);
	assert_int_equal(upf_remotes_find(&t, net, true, gnb_6, 7), 11);
	assert_int_equal(upf_remotes_find(&t, net, false, gnb_4, 8), 0);
	assert_int_equal(upf_remotes_find(&t, net, false, host_4, 7), 0);
	/* Other rules; another marking is the same path. */
	assert_int_equal(upf_remotes_replace(&t, net, 11, &first, &second), 0);
	assert_int_equal(upf_remotes_find(&t, net, false, gnb_4, 7), 0);
	assert_int_equal(upf_remotes_find(&t, net, false, gnb_4, 8), 11);
	/* The peer gave the TEID to another session: the old one's end does not touch that. */
	assert_int_equal(upf_remotes_replace(&t, net, 12, NULL, &second), 0);
	assert_int_equal(upf_remotes_replace(&t, net, 11, &second, NULL), 0);
	assert_int_equal(upf_remotes_find(&t, net, false, gnb_4, 8), 12);
	assert_int_equal(upf_remotes_replace(&t, net, 12, &second, NULL), 0);
	assert_int_equal(t.nb, 0);
}

static void
many_come_and_go(void **state)
{
	struct upf_far far = {.to = {.peer = PEER4}};
	const struct upf_rules one = rules(&far, 1);

	(void)state;
	for (uint32_t i = 1; i <= 20000; i++) {
		far.to.teid = i * 256;
		assert_int_equal(upf_remotes_replace(&t, net, i, NULL, &one), 0);
	}
	for (uint32_t i = 1; i <= 20000; i += 2) {
		far.to.teid = i * 256;
		upf_remotes_replace(&t, net, i, &one, NULL);
	}
	assert_int_equal(t.nb, 10000);
	for (uint32_t i = 1; i <= 20000; i++)
		assert_int_equal(upf_remotes_find(&t, net, false, gnb_4, i * 256), i % 2 ? 0 : i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_session_is_found_by_what_it_sends_to, up, down),
		cmocka_unit_test_setup_teardown(many_come_and_go, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
