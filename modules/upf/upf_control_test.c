/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread's socket: who is the agent, what it is told, and what becomes of its work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the above before it. */
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/plan.h"
#include "core/worker.h"
#include "modules/upf/upf_control_rig.h"
#include "modules/upf/upf_index.h"
#include "modules/upf/upf_tables.h"
#include "tests/support/test_eal.h"

static int
agent_connect(const struct rig *rig)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", rig->socket);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static Airpath__Upf__V1__Answer *
agent_ask(int fd, Airpath__Upf__V1__Request *q)
{
	static uint8_t buf[UPF_MESSAGE_MAX];
	ssize_t n = (ssize_t)airpath__upf__v1__request__pack(q, buf);

	assert_int_equal(send(fd, buf, (size_t)n, 0), n);
	n = recv(fd, buf, sizeof(buf), 0);
	assert_true(n > 0);
	return airpath__upf__v1__answer__unpack(NULL, (size_t)n, buf);
}

static Airpath__Upf__V1__Answer *
agent_hello(int fd)
{
	Airpath__Upf__V1__Request q = AIRPATH__UPF__V1__REQUEST__INIT;
	Airpath__Upf__V1__Hello hello = AIRPATH__UPF__V1__HELLO__INIT;

	hello.protocol = 1;
	q.seq = 7;
	q.body_case = AIRPATH__UPF__V1__REQUEST__BODY_HELLO;
	q.hello = &hello;
	return agent_ask(fd, &q);
}

static void
agent_is_welcomed(void **state)
{
	struct rig *rig = rig_make(3, 16, true);
	struct ap_error err = {0};
	Airpath__Upf__V1__Answer *a;
	int fd;

	(void)state;
	assert_int_equal(upf_control_start(rig->upf.control, &err), 0);
	fd = agent_connect(rig);
	a = agent_hello(fd);
	assert_int_equal(a->reply->seq, 7);
	assert_int_equal(a->reply->welcome->n_interfaces, 3);
	assert_int_equal(a->reply->welcome->n_bucket_workers, UPF_BUCKETS);
	assert_int_equal(a->reply->welcome->bucket_workers[5], 2);
	assert_int_equal(a->reply->welcome->interfaces[0]->ip6.len, 16);
	/* A link-local address is no address for F-TEIDs. */
	assert_int_equal(a->reply->welcome->interfaces[2]->ip6.len, 0);
	airpath__upf__v1__answer__free_unpacked(a, NULL);
	close(fd);
	rig_free(rig);
}

/** Who says nothing keeps nobody out, whether time passes or not; the agent stays. */
static void
idle_clients_keep_nobody_out(void **state)
{
	struct rig *rig = rig_make(1, 16, true);
	struct upf_control *c = rig->upf.control;
	struct ap_error err = {0};
	int idle[CTL_CLIENTS_MAX], agent, other;
	char byte;

	(void)state;
	assert_int_equal(upf_control_start(c, &err), 0);
	for (unsigned i = 0; i < CTL_CLIENTS_MAX; i++)
		idle[i] = agent_connect(rig);
	agent = agent_connect(rig);
	airpath__upf__v1__answer__free_unpacked(agent_hello(agent), NULL);
	assert_int_equal(recv(idle[0], &byte, 1, 0), 0);
	for (unsigned i = 0; i < 3 * CTL_CLIENTS_MAX; i++)
		close(agent_connect(rig));
	other = agent_connect(rig);
	pthread_mutex_lock(&c->lock);
	c->server.idle_ns = 1;
	pthread_mutex_unlock(&c->lock);
	assert_int_equal(recv(other, &byte, 1, 0), 0);
	for (unsigned i = 1; i < CTL_CLIENTS_MAX; i++)
		assert_int_equal(recv(idle[i], &byte, 1, 0), 0);
	airpath__upf__v1__answer__free_unpacked(agent_hello(agent), NULL);
	for (unsigned i = 0; i < CTL_CLIENTS_MAX; i++)
		close(idle[i]);
	close(other);
	close(agent);
	rig_free(rig);
}

/** A session with a URR is made and deleted, and nobody waits for the answer. */
static void
agent_leaves_work(int fd)
{
	uint32_t urr_id = 1;
	Airpath__Upf__V1__Urr urr = AIRPATH__UPF__V1__URR__INIT, *urrs = &urr;
	Airpath__Upf__V1__Far far = AIRPATH__UPF__V1__FAR__INIT, *fars = &far;
	Airpath__Upf__V1__Pdr pdr = AIRPATH__UPF__V1__PDR__INIT, *pdrs = &pdr;
	Airpath__Upf__V1__Session session = AIRPATH__UPF__V1__SESSION__INIT;
	Airpath__Upf__V1__Delete delete = AIRPATH__UPF__V1__DELETE__INIT;
	Airpath__Upf__V1__Op set = AIRPATH__UPF__V1__OP__INIT, del = set, *ops[] = {&set, &del};
	Airpath__Upf__V1__Apply apply = AIRPATH__UPF__V1__APPLY__INIT;
	Airpath__Upf__V1__Request q = AIRPATH__UPF__V1__REQUEST__INIT;
	uint8_t buf[1024];
	ssize_t n;

	urr.id = far.id = pdr.id = pdr.far_id = session.version = 1;
	urr.volume = far.drop = true;
	pdr.n_urr_ids = session.n_urrs = session.n_fars = session.n_pdrs = 1;
	pdr.urr_ids = &urr_id;
	session.urrs = &urrs;
	session.fars = &fars;
	session.pdrs = &pdrs;
	session.id = delete.id = 5;
	session.handle = 1U << 20 | 1;
	set.op_case = AIRPATH__UPF__V1__OP__OP_SET;
	set.set = &session;
	del.op_case = AIRPATH__UPF__V1__OP__OP_DELETE;
	del.delete_ = &delete;
	apply.n_ops = 2;
	apply.ops = ops;
	q.seq = 8;
	q.body_case = AIRPATH__UPF__V1__REQUEST__BODY_APPLY;
	q.apply = &apply;
	n = (ssize_t)airpath__upf__v1__request__pack(&q, buf);
	assert_int_equal(send(fd, buf, (size_t)n, 0), n);
}

/** The workers have what the agent asked for, and not done it, when another comes by its place. */
static void
welcome_knows_what_the_agent_before_left(void **state)
{
	struct rig *rig = rig_make(1, 16, false);
	struct upf_control *c = rig->upf.control;
	const struct timeval patience = {.tv_sec = 30};
	struct ap_error err = {0};
	Airpath__Upf__V1__Answer *a;
	bool gone = false;
	int fd;

	(void)state;
	assert_int_equal(upf_control_start(c, &err), 0);
	fd = agent_connect(rig);
	airpath__upf__v1__answer__free_unpacked(agent_hello(fd), NULL);
	agent_leaves_work(fd);
	close(fd);
	while (!gone) {
		pthread_mutex_lock(&c->lock);
		gone = !c->greeted;
		pthread_mutex_unlock(&c->lock);
		rte_delay_us_sleep(1000);
	}
	assert_true(c->all_under_way > 0);
	fd = agent_connect(rig);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	a = agent_hello(fd);
	assert_int_equal(a->reply->welcome->told, 1);
	assert_int_equal(a->reply->welcome->sessions, 0);
	airpath__upf__v1__answer__free_unpacked(a, NULL);
	close(fd);
	rig_free(rig);
}

static Airpath__Upf__V1__Load
load_receive(int fd)
{
	uint8_t buf[256];
	ssize_t n = recv(fd, buf, sizeof(buf), 0);
	Airpath__Upf__V1__Answer *a;
	Airpath__Upf__V1__Load load;

	assert_true(n > 0);
	a = airpath__upf__v1__answer__unpack(NULL, (size_t)n, buf);
	assert_int_equal(a->body_case, AIRPATH__UPF__V1__ANSWER__BODY_LOAD);
	load = *a->load;
	airpath__upf__v1__answer__free_unpacked(a, NULL);
	return load;
}

static void
load_is_told_to_who_asks(void **state)
{
	struct rig *rig = rig_make(2, 16, true);
	struct ap_worker workers[2] = {{.busy_cycles = 5000, .idle_cycles = 5000}};
	struct ap_node nodes[2] = {{.worker = &workers[0]}, {.worker = &workers[1]}};
	struct ap_plan_node plan[2] = {{.inst = &nodes[0]}, {.inst = &nodes[1]}};
	Airpath__Upf__V1__Request q = AIRPATH__UPF__V1__REQUEST__INIT;
	Airpath__Upf__V1__Config config = AIRPATH__UPF__V1__CONFIG__INIT;
	Airpath__Upf__V1__Load load;
	struct ap_error err = {0};
	int fd;

	(void)state;
	rig->upf.steers[0] = &plan[0];
	rig->upf.steers[1] = &plan[1];
	rig->upf.nb_steers = 2;
	assert_int_equal(upf_control_start(rig->upf.control, &err), 0);
	fd = agent_connect(rig);
	airpath__upf__v1__answer__free_unpacked(agent_hello(fd), NULL);
	config.load_ms = 20;
	q.seq = 8;
	q.body_case = AIRPATH__UPF__V1__REQUEST__BODY_CONFIG;
	q.config = &config;
	airpath__upf__v1__answer__free_unpacked(agent_ask(fd, &q), NULL);
	load = load_receive(fd);
	assert_int_equal(load.sessions, 0);
	assert_int_equal(load.sessions_max, 16);
	/* What they did before the agent asked is not told. */
	assert_int_equal(load.busy_permille, 0);
	pthread_mutex_lock(&rig->upf.control->lock);
	workers[0].busy_cycles += 100000;
	workers[0].idle_cycles += 900000;
	workers[1].busy_cycles += 300000;
	workers[1].idle_cycles += 700000;
	pthread_mutex_unlock(&rig->upf.control->lock);
	while ((load = load_receive(fd)).busy_permille == 0)
		;
	assert_int_equal(load.busy_permille, 300);
	assert_int_equal(load_receive(fd).busy_permille, 0);
	rig->upf.nb_steers = 0;
	close(fd);
	rig_free(rig);
}

static void
socket_that_is_no_socket_stays(void **state)
{
	struct rig *rig = rig_make(1, 16, true);
	struct ap_error err = {0};
	char path[sizeof(rig->socket) + 8];
	int fd;

	(void)state;
	/* Somebody listens. */
	assert_null(upf_control_create(&rig->upf, &err));
	assert_non_null(strstr(err.text, "another process"));
	snprintf(path, sizeof(path), "%s.file", rig->socket);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	rig->cfg.socket = path;
	err.text[0] = '\0';
	assert_null(upf_control_create(&rig->upf, &err));
	assert_non_null(strstr(err.text, "is no socket"));
	assert_int_equal(unlink(path), 0);
	rig_free(rig);
}

/** Asks until the socket takes no more; each answer is of some 4 kB. */
static void
ask_without_reading(int fd)
{
	Airpath__Upf__V1__Request q = AIRPATH__UPF__V1__REQUEST__INIT;
	Airpath__Upf__V1__Hello hello = AIRPATH__UPF__V1__HELLO__INIT;
	uint8_t buf[64];
	size_t n;
	int full = 0;

	hello.protocol = 1;
	q.seq = 1;
	q.body_case = AIRPATH__UPF__V1__REQUEST__BODY_HELLO;
	q.hello = &hello;
	n = airpath__upf__v1__request__pack(&q, buf);
	/* Full for good, not for the moment the other thread needs. */
	while (full < 100) {
		if (send(fd, buf, n, MSG_DONTWAIT) > 0) {
			full = 0;
		} else {
			full++;
			rte_delay_us_sleep(1000);
		}
	}
}

static void
who_does_not_read_costs_nothing_and_ends(void **state)
{
	struct rig *rig = rig_make(1, 16, true);
	struct upf_control *c = rig->upf.control;
	struct epoll_event events[4];
	struct ap_error err = {0};
	int fd, other, told;

	(void)state;
	assert_int_equal(upf_control_start(c, &err), 0);
	fd = agent_connect(rig);
	ask_without_reading(fd);
	/* Much waits to be read, and still nothing wakes the thread. */
	pthread_mutex_lock(&c->lock);
	assert_true(c->agent->nb_send >= UPF_SEND_QUEUE_MAX);
	assert_true(c->agent->deaf);
	told = epoll_wait(c->server.epoll, events, 4, 0);
	c->server.patience_ns = 1;
	pthread_mutex_unlock(&c->lock);
	assert_int_equal(told, 0);
	while (send(fd, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno == EAGAIN)
		rte_delay_us_sleep(1000);
	assert_true(errno == EPIPE || errno == ECONNRESET);
	other = agent_connect(rig);
	airpath__upf__v1__answer__free_unpacked(agent_hello(other), NULL);
	close(other);
	close(fd);
	rig_free(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agent_is_welcomed),
		cmocka_unit_test(idle_clients_keep_nobody_out),
		cmocka_unit_test(welcome_knows_what_the_agent_before_left),
		cmocka_unit_test(load_is_told_to_who_asks),
		cmocka_unit_test(who_does_not_read_costs_nothing_and_ends),
		cmocka_unit_test(socket_that_is_no_socket_stays),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
