/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_TESTS_TEST_UPF_H
#define AIRPATH_TESTS_TEST_UPF_H

/** The agent's messages, made by hand, and a worker to take them. cmocka must be included first. */

#include <string.h>

#include "codec/be.h"
#include "core/wheel.h"
#include "modules/upf/upf_apply.h"
#include "modules/upf/upf_compile.h"
#include "modules/upf/upf_index.h"
#include "modules/upf/upf_pdi.h"

#define TEST_ACCESS_INTERFACE 1
#define TEST_CORE_INTERFACE 2
#define TEST_OTHER_CORE_INTERFACE 3

/** A message and the memory of all in it; test_message() begins anew. */
struct test_message {
	UpfSession m;
	size_t used;
	uint8_t memory[2 << 20];
};

static inline void *
test_take(struct test_message *t, size_t bytes)
{
	void *p = t->memory + t->used;

	t->used += (bytes + 15) & ~(size_t)15;
	assert_true(t->used <= sizeof(t->memory));
	memset(p, 0, bytes);
	return p;
}

/** Makes a message of `type`, appends it to a repeated field, and evaluates to it. */
#define TEST_ADD(t, array, count, type, init)                                                      \
	({                                                                                         \
		if (!(array))                                                                      \
			(array) = test_take(t, 320 * sizeof(void *));                              \
		assert_true((count) < 320);                                                        \
		(array)[count] = test_take(t, sizeof(type));                                       \
		init((array)[count]);                                                              \
		(array)[(count)++];                                                                \
	})

#define TEST_RULE(t, field, type, name)                                                            \
	TEST_ADD(t, (t)->m.field, (t)->m.n_##field, Airpath__Upf__V1__##type,                      \
		 airpath__upf__v1__##name##__init)

static inline ProtobufCBinaryData
test_bytes(struct test_message *t, const void *p, size_t len)
{
	ProtobufCBinaryData b = {.len = len, .data = test_take(t, len)};

	memcpy(b.data, p, len);
	return b;
}

static inline ProtobufCBinaryData
test_ip4(struct test_message *t, uint32_t ip4)
{
	uint8_t p[4];

	be32_put(p, ip4);
	return test_bytes(t, p, sizeof(p));
}

static inline ProtobufCBinaryData
test_ip6(struct test_message *t, uint64_t high, uint64_t low)
{
	uint8_t p[16];

	be32_put(p, (uint32_t)(high >> 32));
	be32_put(p + 4, (uint32_t)high);
	be32_put(p + 8, (uint32_t)(low >> 32));
	be32_put(p + 12, (uint32_t)low);
	return test_bytes(t, p, sizeof(p));
}

static inline Airpath__Upf__V1__Prefix *
test_prefix(struct test_message *t, ProtobufCBinaryData address, unsigned bits)
{
	Airpath__Upf__V1__Prefix *p = test_take(t, sizeof(*p));

	airpath__upf__v1__prefix__init(p);
	p->address = address;
	p->bits = bits;
	return p;
}

/** A session without rules. */
static inline void
test_message(struct test_message *t, uint64_t id, uint32_t handle, uint32_t ip4)
{
	t->used = 0;
	airpath__upf__v1__session__init(&t->m);
	t->m.id = id;
	t->m.handle = handle;
	t->m.version = 1;
	t->m.core_interface = TEST_CORE_INTERFACE;
	if (ip4 != 0)
		t->m.ue_ip4 = test_ip4(t, ip4);
}

static inline uint32_t
test_tunnel(struct test_message *t, uint32_t teid)
{
	Airpath__Upf__V1__Tunnel *tunnel = TEST_RULE(t, tunnels, Tunnel, tunnel);

	tunnel->teid = teid;
	tunnel->interface = TEST_ACCESS_INTERFACE;
	return (uint32_t)t->m.n_tunnels;
}

static inline Airpath__Upf__V1__Pdr *
test_pdr(struct test_message *t, unsigned id, uint32_t precedence, unsigned source, uint32_t tunnel,
	 uint32_t far_id)
{
	Airpath__Upf__V1__Pdr *pdr = TEST_RULE(t, pdrs, Pdr, pdr);

	pdr->id = id;
	pdr->precedence = precedence;
	pdr->source = (Airpath__Upf__V1__InterfaceType)source;
	pdr->tunnel = tunnel;
	pdr->far_id = far_id;
	return pdr;
}

static inline Airpath__Upf__V1__Filter *
test_filter(struct test_message *t, Airpath__Upf__V1__Pdr *pdr)
{
	Airpath__Upf__V1__Filter *f =
		TEST_ADD(t, pdr->filters, pdr->n_filters, Airpath__Upf__V1__Filter,
			 airpath__upf__v1__filter__init);

	f->protocol = 256;
	return f;
}

/** Forwards to the core (peer 0), or to a peer of the access. */
static inline Airpath__Upf__V1__Far *
test_far(struct test_message *t, uint32_t id, uint32_t peer, uint32_t teid)
{
	Airpath__Upf__V1__Far *far = TEST_RULE(t, fars, Far, far);
	Airpath__Upf__V1__Forwarding *f = test_take(t, sizeof(*f));

	airpath__upf__v1__forwarding__init(f);
	f->interface = peer ? TEST_ACCESS_INTERFACE : TEST_CORE_INTERFACE;
	f->destination = peer ? AIRPATH__UPF__V1__INTERFACE_TYPE__ACCESS
			      : AIRPATH__UPF__V1__INTERFACE_TYPE__CORE;
	if (peer) {
		f->peer = test_ip4(t, peer);
		f->teid = teid;
		f->gtpu = f->pdu_session_container = true;
	}
	far->id = id;
	far->forward = true;
	far->forwarding = f;
	return far;
}

static inline Airpath__Upf__V1__Qer *
test_qer(struct test_message *t, uint32_t id, uint64_t ul_kbps, uint64_t dl_kbps)
{
	Airpath__Upf__V1__Qer *qer = TEST_RULE(t, qers, Qer, qer);

	qer->id = id;
	qer->mbr = test_take(t, sizeof(*qer->mbr));
	airpath__upf__v1__rate__init(qer->mbr);
	qer->mbr->ul_kbps = ul_kbps;
	qer->mbr->dl_kbps = dl_kbps;
	return qer;
}

static inline void
test_name_qer(struct test_message *t, Airpath__Upf__V1__Pdr *pdr, uint32_t id)
{
	if (!pdr->qer_ids)
		pdr->qer_ids = test_take(t, 16 * sizeof(uint32_t));
	pdr->qer_ids[pdr->n_qer_ids++] = id;
}

static inline void
test_name_urr(struct test_message *t, Airpath__Upf__V1__Pdr *pdr, uint32_t id)
{
	if (!pdr->urr_ids)
		pdr->urr_ids = test_take(t, 32 * sizeof(uint32_t));
	pdr->urr_ids[pdr->n_urr_ids++] = id;
}

static inline Airpath__Upf__V1__Urr *
test_urr(struct test_message *t, uint32_t id)
{
	Airpath__Upf__V1__Urr *urr = TEST_RULE(t, urrs, Urr, urr);

	urr->id = id;
	urr->volume = true;
	return urr;
}

/** What most sessions are: PDR 1 up, PDR 2 down, a QER of MBRs with QFI 9, a URR for both. */
static inline void
test_plain(struct test_message *t, uint64_t id, uint32_t handle, uint32_t ip4)
{
	Airpath__Upf__V1__Pdr *up, *down;
	Airpath__Upf__V1__Qer *qer;

	test_message(t, id, handle, ip4);
	up = test_pdr(t, 1, 100, UPF_ACCESS, test_tunnel(t, handle), 1);
	down = test_pdr(t, 2, 100, UPF_CORE, 0, 2);
	up->match_ue_source = down->match_ue_destination = true;
	up->match_ip4 = down->match_ip4 = true;
	up->outer_header_removal = true;
	test_far(t, 1, 0, 0);
	test_far(t, 2, 0xC0A80102, 0x1234);
	qer = test_qer(t, 1, 100000, 200000);
	qer->has_qfi = true;
	qer->qfi = 9;
	test_urr(t, 1);
	test_name_qer(t, up, 1);
	test_name_qer(t, down, 1);
	test_name_urr(t, up, 1);
	test_name_urr(t, down, 1);
}

/** A unit of one worker. */
struct test_unit {
	struct upf_compiler *compiler;
	struct upf_tables *tables;
	struct upf_index *index;
	struct upf_charger charger;
	struct upf_owner_map owners;
	struct upf_compile_error error;
	int peers; /**< uses of peers not yet ended */
	bool no_peers;
	uint64_t now;
};

static inline int
test_peer_get(void *arg, const UpfForwarding *f)
{
	struct test_unit *u = arg;

	if (u->no_peers)
		return -12;
	u->peers++;
	return 1 + f->peer.data[f->peer.len - 1];
}

static inline void
test_peer_put(void *arg, uint16_t peer)
{
	struct test_unit *u = arg;

	(void)peer;
	u->peers--;
}

static inline void
test_unit_open(struct test_unit *u)
{
	struct upf_compiler_config c = {
		.interface_types = {[TEST_ACCESS_INTERFACE] = 1 << UPF_ACCESS,
				    [TEST_CORE_INTERFACE] = 1 << UPF_CORE | 1 << UPF_SGI_N6_LAN,
				    [TEST_OTHER_CORE_INTERFACE] = 1 << UPF_CORE},
		.peer_get = test_peer_get,
		.peer_put = test_peer_put,
		.arg = u,
	};

	memset(u, 0, sizeof(*u));
	u->now = 1000000000;
	assert_int_equal(upf_owner_map_init(&u->owners, 1, 1), 0);
	u->compiler = upf_compiler_create(&c);
	u->tables = upf_tables_create(&u->owners, 0, 0);
	u->index = upf_index_create(0);
	u->charger.wheel = ap_wheel_create(1000000, u->now);
	u->charger.reports = upf_report_ring("test_reports", 64, 0);
	assert_non_null(u->compiler);
	assert_non_null(u->tables);
	assert_non_null(u->index);
	assert_non_null(u->charger.reports);
	assert_int_equal(upf_charger_init(&u->charger, 100), 0);
}

static inline void
test_unit_close(struct test_unit *u)
{
	assert_int_equal(u->tables->sessions, 0);
	assert_int_equal(u->peers, 0);
	assert_int_equal(upf_compiler_sets(u->compiler), 0);
	assert_int_equal(upf_compiler_profiles(u->compiler), 0);
	assert_int_equal(upf_index_head(u->index)->nb_hashed, 0);
	assert_int_equal(upf_index_head(u->index)->nb_framed, 0);
	assert_int_equal(upf_index_head(u->index)->nb_foreign, 0);
	upf_charger_fini(&u->charger);
	rte_ring_free(u->charger.reports);
	ap_wheel_destroy(u->charger.wheel);
	upf_index_destroy(u->index);
	upf_tables_destroy(u->tables);
	upf_compiler_destroy(u->compiler);
}

/** What control thread and worker do for a message. @return 0 or -errno; -1: refused, u->error. */
static inline int
test_set(struct test_unit *u, const UpfSession *m)
{
	struct upf_rules *r = upf_compile(u->compiler, m, &u->error), *old;
	struct upf_session *s;
	struct upf_applied done;
	int ret;

	if (!r)
		return -1;
	assert_int_equal(upf_tables_prepare(u->tables, r->handle), 0);
	for (unsigned i = 0; i < r->nb_tunnels; i++)
		if (!r->tunnels[i].foreign)
			assert_int_equal(upf_tables_prepare(u->tables, r->tunnels[i].teid), 0);
	s = upf_by_handle(u->tables, r->handle);
	old = s && s->id == r->id ? s->rules : NULL;
	ret = upf_index_add(u->index, r, old);
	if (ret == 0) {
		ret = upf_apply_set(u->tables, r, &u->charger, u->now, &done);
		if (ret < 0)
			upf_index_remove(u->index, r, old);
	}
	if (ret < 0) {
		upf_rules_free(u->compiler, r);
		return ret;
	}
	assert_ptr_equal(done.old, old);
	upf_rules_installed(u->compiler, done.spent);
	if (old) {
		upf_index_remove(u->index, old, r);
		upf_rules_free(u->compiler, old);
	}
	return 0;
}

static inline int
test_delete(struct test_unit *u, uint32_t handle, uint64_t id)
{
	struct upf_applied done;
	int ret = upf_apply_delete(u->tables, handle, id, u->now, &done);

	if (ret < 0)
		return ret;
	upf_index_remove(u->index, done.old, NULL);
	upf_rules_free(u->compiler, done.old);
	return 0;
}

#endif
