/* SPDX-License-Identifier: BSD-3-Clause */
/* Applications from the agent's messages to the workers: what is taken, built, swapped, refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the above before it. */
#include <cmocka.h>

#include "modules/upf/upf_apps_rules.h"
#include "modules/upf/upf_control_rig.h"
#include "tests/support/test_eal.h"

#define PFDS 8
#define APPS 4

typedef Airpath__Upf__V1__Applications Applications;
typedef Airpath__Upf__V1__Pfd Pfd;

static struct rig *rig;
static struct upf_control *c;

static int
setup(void **state)
{
	(void)state;
	rig = rig_make(2, 16, false);
	c = rig ? rig->upf.control : NULL;
	return rig ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	rig_free(rig);
	return 0;
}

/* A message by hand. */
static struct {
	Applications m;
	Airpath__Upf__V1__Application app[APPS], *apps[APPS];
	Pfd pfd[APPS][PFDS], *pfds[APPS][PFDS];
	Airpath__Upf__V1__Filter flow;
	Airpath__Upf__V1__Prefix remote;
	Airpath__Upf__V1__PortRange range[2], *ranges[2];
	uint8_t address[4];
} t;

static void
message(uint32_t generation)
{
	airpath__upf__v1__applications__init(&t.m);
	t.m.generation = generation;
	t.m.first = t.m.last = true;
	t.m.applications = t.apps;
}

static void
application(uint32_t index, const char *id)
{
	Airpath__Upf__V1__Application *a = &t.app[t.m.n_applications];

	airpath__upf__v1__application__init(a);
	a->index = index;
	a->id = (char *)(uintptr_t)id;
	a->pfds = t.pfds[t.m.n_applications];
	t.apps[t.m.n_applications++] = a;
}

static Pfd *
pfd(int kind, const char *text)
{
	Airpath__Upf__V1__Application *a = &t.app[t.m.n_applications - 1];
	Pfd *p = &t.pfd[t.m.n_applications - 1][a->n_pfds];

	airpath__upf__v1__pfd__init(p);
	p->kind = (Airpath__Upf__V1__Pfd__Kind)kind;
	p->text = (char *)(uintptr_t)text;
	a->pfds[a->n_pfds++] = p;
	return p;
}

static Pfd *
host(const char *text)
{
	return pfd(AIRPATH__UPF__V1__PFD__KIND__HOST, text);
}

/* From 192.0.2.0/24, ports 80 and 443. */
static Pfd *
flow_pfd(void)
{
	Pfd *p = pfd(AIRPATH__UPF__V1__PFD__KIND__FLOW, "");

	airpath__upf__v1__filter__init(&t.flow);
	airpath__upf__v1__prefix__init(&t.remote);
	memcpy(t.address, "\xC0\x00\x02\x00", 4);
	t.remote.address = (ProtobufCBinaryData){4, t.address};
	t.remote.bits = 24;
	t.flow.protocol = 6;
	t.flow.source = &t.remote;
	for (unsigned i = 0; i < 2; i++) {
		airpath__upf__v1__port_range__init(&t.range[i]);
		t.range[i].first = t.range[i].last = i ? 443 : 80;
		t.ranges[i] = &t.range[i];
	}
	t.flow.source_ports = t.ranges;
	t.flow.n_source_ports = 2;
	return p->flow = &t.flow, p;
}

/* Goes on until nothing is left to do. */
static struct upf_apps_view
settle(void)
{
	struct upf_apps_view v;

	do {
		upf_apps_step(c);
		rig_work(c);
		upf_control_replies(c);
		upf_apps_look(&c->apps, &v);
		if (v.building)
			usleep(200);
	} while (v.building);
	return v;
}

static uint16_t
app_of(unsigned worker, const char *name)
{
	const struct upf_scans *s = rig->upf.workers[worker].scans;
	const struct dpi_name n = {.proto = DPI_TLS,
				   .host_len = (uint16_t)strlen(name),
				   .host = (const uint8_t *)name};

	return s->set ? dpi_set_name(s->set, s->scratch, &n) : 0;
}

static void
a_set_comes_to_every_worker(void **state)
{
	struct upf_apps_view v;

	(void)state;
	message(3);
	application(7, "news");
	host("news.example");
	application(65535, "video");
	pfd(AIRPATH__UPF__V1__PFD__KIND__SUFFIX, "video.example");
	flow_pfd();
	assert_null(upf_apps_take(c, &t.m));
	v = settle();
	assert_int_equal(v.generation, 3);
	assert_int_equal(v.applications, 2);
	assert_int_equal(v.rules, 3);
	assert_true(v.memory_bytes > 0);
	for (unsigned k = 0; k < 2; k++) {
		assert_int_equal(app_of(k, "news.example"), 7);
		assert_int_equal(app_of(k, "a.video.example"), 65535);
		assert_int_equal(app_of(k, "example"), 0);
	}
}

static void
flows_are_each_pair_of_port_ranges(void **state)
{
	struct flow f = {.version = 4,
			 .proto = 6,
			 .has_ports = true,
			 .src = {192, 0, 2, 9},
			 .dst = {10, 0, 0, 1}};
	static const uint16_t ports[] = {79, 80, 81, 443, 444};

	(void)state;
	message(1);
	application(9, "web");
	flow_pfd();
	assert_null(upf_apps_take(c, &t.m));
	assert_int_equal(settle().generation, 1);
	for (unsigned i = 0; i < RTE_DIM(ports); i++) {
		f.ports[0] = ports[i];
		f.ports[1] = 5000;
		assert_int_equal(dpi_set_flow(c->apps.set, &f, false), i % 2 ? 9 : 0);
	}
}

static void
a_new_set_replaces_the_old_one(void **state)
{
	(void)state;
	for (uint32_t g = 1; g <= 5; g++) {
		message(g);
		application(g, "app");
		host("news.example");
		assert_null(upf_apps_take(c, &t.m));
		assert_int_equal(settle().generation, g);
		assert_int_equal(app_of(0, "news.example"), g);
		assert_int_equal(app_of(1, "news.example"), g);
	}
}

static void
what_cannot_be_built_leaves_the_old_one(void **state)
{
	struct upf_apps_view v;
	Pfd *p;

	(void)state;
	message(1);
	application(7, "news");
	host("news.example");
	assert_null(upf_apps_take(c, &t.m));
	settle();
	message(2);
	application(8, "bad");
	host("good.example");
	p = pfd(AIRPATH__UPF__V1__PFD__KIND__HOST_PATTERN, "a(b");
	p->regex = true;
	assert_null(upf_apps_take(c, &t.m));
	v = settle();
	assert_int_equal(v.generation, 1);
	assert_int_equal(v.refused, 1);
	assert_non_null(strstr(v.error, "generation 2: "));
	assert_int_equal(app_of(0, "news.example"), 7);
	assert_int_equal(app_of(0, "good.example"), 0);
}

static void
chunks_make_one_set(void **state)
{
	(void)state;
	message(4);
	t.m.last = false;
	application(1, "one");
	host("one.example");
	assert_null(upf_apps_take(c, &t.m));
	assert_false(settle().building);
	message(4);
	t.m.first = t.m.last = false;
	application(1, "one");
	host("more.example");
	assert_null(upf_apps_take(c, &t.m));
	message(4);
	t.m.first = false;
	application(2, "two");
	host("two.example");
	assert_null(upf_apps_take(c, &t.m));
	assert_int_equal(settle().applications, 2);
	assert_int_equal(app_of(1, "one.example"), 1);
	assert_int_equal(app_of(1, "more.example"), 1);
	assert_int_equal(app_of(1, "two.example"), 2);
}

static void
messages_out_of_order_are_refused(void **state)
{
	(void)state;
	message(0);
	assert_non_null(strstr(upf_apps_take(c, &t.m), "generation"));
	message(1);
	t.m.first = false;
	assert_non_null(strstr(upf_apps_take(c, &t.m), "first"));
	message(1);
	t.m.last = false;
	assert_null(upf_apps_take(c, &t.m));
	message(2);
	t.m.first = false;
	assert_non_null(strstr(upf_apps_take(c, &t.m), "first"));
	/* A newer one gives the unfinished one up. */
	message(3);
	assert_null(upf_apps_take(c, &t.m));
	assert_int_equal(settle().generation, 3);
	assert_int_equal(settle().refused, 1);
	/* Several at once: only the last of those that wait is built. */
	for (uint32_t g = 4; g < 9; g++) {
		message(g);
		assert_null(upf_apps_take(c, &t.m));
	}
	assert_int_equal(settle().generation, 8);
	assert_int_equal(settle().refused, 5);
}

static void
mistakes_are_named(void **state)
{
	static const struct {
		uint32_t index;
		int kind;
		uint32_t tos, bits, last_port;
		const char *says;
	} bad[] = {
		{0, 1, 0, 0, 0, "application 0 'bad': its index must be 1..65535"},
		{65536, 1, 0, 0, 0, "application 65536 'bad': its index"},
		{7, 1, 0, 0, 0, "application 7 'bad': its index is that of another one"},
		{8, 9, 0, 0, 0, "application 8 'bad', pfd 0: it is of no kind"},
		{8, 0, 256, 24, 80, "pfd 0: a number of its flow"},
		{8, 0, 0, 33, 80, "pfd 0: its prefixes are none"},
		{8, 0, 0, 24, 79, "pfd 0: a port range of its flow is none"},
		{8, 0, 0, 24, 65536, "pfd 0: a port range of its flow is none"},
	};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(bad); i++) {
		const char *why;

		message(1);
		application(7, "news");
		application(bad[i].index, "bad");
		if (bad[i].kind == 0) {
			flow_pfd();
			t.flow.tos = bad[i].tos;
			t.remote.bits = bad[i].bits;
			t.range[0].last = bad[i].last_port;
		} else {
			pfd(bad[i].kind, "x.example");
		}
		why = upf_apps_take(c, &t.m);
		assert_non_null(why);
		if (strstr(why, bad[i].says) == NULL)
			fail_msg("%s: %s", why, bad[i].says);
	}
	message(1);
	application(8, "bad");
	pfd(AIRPATH__UPF__V1__PFD__KIND__FLOW, "");
	assert_non_null(strstr(upf_apps_take(c, &t.m), "its flow is missing"));
	assert_int_equal(settle().generation, 0);
}

/* The unit ends while a set is built, or on its way. */
static void
the_end_comes_at_any_time(void **state)
{
	for (unsigned i = 0; i < 40; i++) {
		message(1 + i);
		application(7, "news");
		host("news.example");
		assert_null(upf_apps_take(c, &t.m));
		for (unsigned k = 0; k < i % 8; k++) {
			upf_apps_step(c);
			if (k % 3 == 2)
				usleep(300);
			if (k == 6)
				rig_worker_step(&rig->upf.workers[0]);
		}
		teardown(state);
		setup(state);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_set_comes_to_every_worker),
		TEST(flows_are_each_pair_of_port_ranges),
		TEST(a_new_set_replaces_the_old_one),
		TEST(what_cannot_be_built_leaves_the_old_one),
		TEST(chunks_make_one_set),
		TEST(messages_out_of_order_are_refused),
		TEST(mistakes_are_named),
		TEST(the_end_comes_at_any_time),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
