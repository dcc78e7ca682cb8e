/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of Ethernet sessions: which PDR they match, whose addresses they have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "modules/upf/upf_ethernet.h"
#include "modules/upf/upf_macs.h"
#include "modules/upf/upf_report.h"
#include "test_eal.h"
#include "test_upf.h"

#define LAN 4
#define HANDLE 0x12300101U
#define MAC_UE 0x0200000000EEULL
#define MAC_HOST 0x0200000000DDULL

static struct upf_compiler *compiler;
static struct upf_compile_error error;
static struct test_message msg;
static int peers;

static int
peer_get(void *arg, const UpfForwarding *f)
{
	(void)arg, (void)f;
	peers++;
	return 1;
}

static void
peer_put(void *arg, uint16_t peer)
{
	(void)arg, (void)peer;
	peers--;
}

static int
setup(void **state)
{
	const struct upf_compiler_config c = {
		.interface_types = {[TEST_ACCESS_INTERFACE] = 1 << UPF_ACCESS,
				    [TEST_CORE_INTERFACE] = 1 << UPF_CORE,
				    [LAN] = 1 << UPF_CORE},
		.lans = 1U << LAN,
		.peer_get = peer_get,
		.peer_put = peer_put,
	};

	(void)state;
	compiler = upf_compiler_create(&c);
	return compiler ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	assert_int_equal(peers, 0);
	upf_compiler_destroy(compiler);
	return 0;
}

/** PDR 1 up, PDR 2 down. */
static void
ethernet(void)
{
	test_message(&msg, 7, HANDLE, 0);
	msg.m.ethernet = true;
	msg.m.core_interface = LAN;
	test_pdr(&msg, 1, 100, UPF_ACCESS, test_tunnel(&msg, HANDLE), 1);
	test_pdr(&msg, 2, 100, UPF_CORE, 0, 2);
	test_far(&msg, 1, 0, 0)->forwarding->interface = LAN;
	test_far(&msg, 2, 0xC0A80102, 0x1234);
}

static Airpath__Upf__V1__EthernetFilter *
filter(unsigned pdr)
{
	Airpath__Upf__V1__Pdr *p = msg.m.pdrs[pdr];

	return TEST_ADD(&msg, p->ethernet_filters, p->n_ethernet_filters,
			Airpath__Upf__V1__EthernetFilter, airpath__upf__v1__ethernet_filter__init);
}

static ProtobufCBinaryData
mac_of(uint64_t mac)
{
	uint8_t p[6];

	upf_mac_put(p, mac);
	return test_bytes(&msg, p, sizeof(p));
}

static Airpath__Upf__V1__MacFilter *
mac_filter(Airpath__Upf__V1__EthernetFilter *f)
{
	return TEST_ADD(&msg, f->macs, f->n_macs, Airpath__Upf__V1__MacFilter,
			airpath__upf__v1__mac_filter__init);
}

static Airpath__Upf__V1__VlanTag *
tag(uint16_t value, uint16_t mask)
{
	Airpath__Upf__V1__VlanTag *t = test_take(&msg, sizeof(*t));

	airpath__upf__v1__vlan_tag__init(t);
	t->value = value;
	t->mask = mask;
	return t;
}

/** A frame with tags where they are not 0. @return its octets */
static uint32_t
frame(uint8_t *p, uint64_t src, uint16_t s_tag, uint16_t c_tag, uint16_t type)
{
	uint32_t at = 12;

	upf_mac_put(p, MAC_HOST);
	upf_mac_put(p + 6, src);
	if (s_tag) {
		be16_put(p + at, UPF_TAG_S);
		be16_put(p + at + 2, s_tag);
		at += 4;
	}
	if (c_tag) {
		be16_put(p + at, UPF_TAG_C);
		be16_put(p + at + 2, c_tag);
		at += 4;
	}
	be16_put(p + at, type);
	memset(p + at + 2, 0, 64);
	return at + 2 + 64;
}

/** The lane of an uplink frame under the message's rules. */
static int
up(const uint8_t *p, uint32_t len)
{
	const struct upf_arrival a = {.teid = HANDLE,
				      .rx = UPF_RX_TUNNEL | UPF_RX_QFI | UPF_RX_FRAME,
				      .qfi = 9,
				      .interface = TEST_ACCESS_INTERFACE};
	struct upf_rules *r = upf_compile(compiler, &msg.m, &error);
	struct upf_session s = {.id = 7};
	int lane;

	if (r == NULL)
		print_error("%s\n", error.text);
	assert_non_null(r);
	assert_non_null(r->ethernet);
	s.rules = r;
	lane = upf_ethernet_lane(&s, &a, p, len);
	upf_rules_free(compiler, r);
	return lane;
}

static void
without_filters_any_frame(void **state)
{
	uint8_t p[128];
	uint32_t len = frame(p, MAC_UE, 0, 0, 0x88B5);

	(void)state;
	ethernet();
	assert_int_equal(up(p, len), 0);
	assert_int_equal(up(p, 13), UPF_MISS_BAD_INNER);
	msg.m.pdrs[0]->qfis = 1 << 5;
	assert_int_equal(up(p, len), UPF_MISS_QFI);
	msg.m.pdrs[0]->qfis = 1 << 9;
	assert_int_equal(up(p, len), 0);
}

static void
addresses_and_ranges(void **state)
{
	Airpath__Upf__V1__MacFilter *m;
	uint8_t p[128];
	uint32_t len = frame(p, MAC_UE, 0, 0, 0x0800);

	(void)state;
	ethernet();
	m = mac_filter(filter(0));
	m->source = mac_of(MAC_UE + 1);
	assert_int_equal(up(p, len), UPF_MISS_NO_PDR);
	m->source = mac_of(MAC_UE);
	assert_int_equal(up(p, len), 0);
	m->source = mac_of(MAC_UE - 5);
	m->source_upper = mac_of(MAC_UE);
	assert_int_equal(up(p, len), 0);
	m->source_upper = mac_of(MAC_UE - 1);
	assert_int_equal(up(p, len), UPF_MISS_NO_PDR);
	/* a second address of the same filter */
	m = mac_filter(msg.m.pdrs[0]->ethernet_filters[0]);
	m->destination = mac_of(MAC_HOST);
	assert_int_equal(up(p, len), 0);
}

static void
types_and_tags(void **state)
{
	Airpath__Upf__V1__EthernetFilter *f;
	uint8_t p[128];
	uint32_t len = frame(p, MAC_UE, 0x2005, 0x6007, 0x0806);

	(void)state;
	ethernet();
	f = filter(0);
	f->match_type = true;
	f->type = 0x0800;
	assert_int_equal(up(p, len), UPF_MISS_NO_PDR);
	f->type = 0x0806;
	assert_int_equal(up(p, len), 0);
	f->c_tag = tag(7, 0xFFF);
	f->s_tag = tag(0x2000, 0xE000);
	assert_int_equal(up(p, len), 0);
	f->c_tag = tag(8, 0xFFF);
	assert_int_equal(up(p, len), UPF_MISS_NO_PDR);
	f->c_tag = tag(7, 0xFFF);
	len = frame(p, MAC_UE, 0x2005, 0, 0x0806);
	assert_int_equal(up(p, len), UPF_MISS_NO_PDR);
	/* cut within a tag */
	assert_int_equal(up(p, 15), UPF_MISS_BAD_INNER);
}

static void
packets_within(void **state)
{
	Airpath__Upf__V1__EthernetFilter *f;
	Airpath__Upf__V1__Filter *ip;
	uint8_t p[128];
	uint32_t len = frame(p, MAC_UE, 0, 5, 0x0800);

	(void)state;
	p[18] = 0x45;
	be16_put(p + 20, 60);
	p[27] = 17;
	ethernet();
	f = filter(0);
	ip = TEST_ADD(&msg, f->filters, f->n_filters, Airpath__Upf__V1__Filter,
		      airpath__upf__v1__filter__init);
	ip->protocol = 17;
	assert_int_equal(up(p, len), 0);
	ip->protocol = 6;
	assert_int_equal(up(p, len), UPF_MISS_NO_PDR);
	/* what is no packet, and what says it is of the other family */
	ip->protocol = 256;
	assert_int_equal(up(p, len), 0);
	p[18] = 0x65;
	assert_int_equal(up(p, len), UPF_MISS_NO_PDR);
	frame(p, MAC_UE, 0, 5, 0x0806);
	assert_int_equal(up(p, len), UPF_MISS_NO_PDR);
}

static void
refused_by(const char *text, unsigned pdr)
{
	assert_null(upf_compile(compiler, &msg.m, &error));
	assert_non_null(strstr(error.text, text));
	assert_int_equal(error.id, pdr);
	assert_int_equal(peers, 0);
	ethernet();
}

static void
what_is_refused(void **state)
{
	(void)state;
	ethernet();
	msg.m.core_interface = TEST_CORE_INTERFACE;
	refused_by("LAN", 0);
	msg.m.ethernet = false;
	refused_by("LAN", 0);
	msg.m.ue_ip4 = test_ip4(&msg, 0x0A2D0001);
	refused_by("no IP address", 0);
	msg.m.pdrs[1]->match_ue_destination = true;
	refused_by("no UE address", 2);
	mac_filter(filter(0))->source = test_bytes(&msg, "12345", 5);
	refused_by("6 octets", 1);
	mac_filter(filter(0))->source_upper = mac_of(MAC_UE);
	refused_by("6 octets", 1);
	filter(0)->type = 65536;
	refused_by("out of range", 1);
	filter(1)->c_tag = tag(1, 0);
	msg.m.pdrs[1]->ethernet_filters[0]->c_tag->mask = 65536;
	refused_by("out of range", 2);
	msg.m.fars[0]->forwarding->interface = TEST_CORE_INTERFACE;
	refused_by("interface", 1);
	for (unsigned i = 0; i < 5; i++) {
		Airpath__Upf__V1__EthernetFilter *f = filter(0);

		for (unsigned k = 0; k < 300; k++)
			mac_filter(f)->source = mac_of(k + 1);
	}
	refused_by("too many", 1);
}

static void
learning(void **state)
{
	struct rte_ring *ring = upf_report_ring("ethernet_reports", 64, 0);
	struct upf_rules rules = {.core_interface = LAN};
	struct upf_session s = {.id = 7, .handle = HANDLE, .rules = &rules};
	struct upf_ethernet e = {.session = &s, .age_s = UPF_MAC_AGE_S, .tell_s = UPF_MAC_TELL_S};
	struct upf_recent recent = {0};
	struct upf_report r;

	(void)state;
	for (unsigned i = 0; i < UPF_MACS_MAX; i++)
		assert_true(upf_ethernet_learn(&e, MAC_UE + i, 1000, ring, &recent));
	for (unsigned i = 0; i < UPF_MACS_MAX; i++) {
		assert_true(upf_report_get(ring, &r));
		assert_int_equal(r.kind, UPF_REPORT_MAC);
		assert_int_equal(r.id, 7);
		assert_int_equal(r.mac.key, MAC_UE + i);
	}
	/* Known ones are told of now and then; there is no room for more until one is forgotten. */
	assert_true(upf_ethernet_learn(&e, MAC_UE, 1000 + UPF_MAC_TELL_S - 1, ring, &recent));
	assert_false(upf_report_get(ring, &r));
	assert_true(upf_ethernet_learn(&e, MAC_UE, 1000 + UPF_MAC_TELL_S, ring, &recent));
	assert_true(upf_report_get(ring, &r));
	assert_false(upf_ethernet_learn(&e, MAC_HOST, 1000 + UPF_MAC_AGE_S, ring, &recent));
	assert_true(upf_ethernet_learn(&e, MAC_HOST, 1001 + UPF_MAC_AGE_S, ring, &recent));
	/* What was learned last is found here before anyone else knows. */
	assert_int_equal(upf_recent_find(&recent, LAN, MAC_HOST), HANDLE);
	assert_int_equal(upf_recent_find(&recent, LAN, MAC_UE + 15), HANDLE);
	assert_int_equal(upf_recent_find(&recent, LAN + 1, MAC_HOST), 0);
	rte_ring_free(ring);
}

static unsigned nb_told;
static struct {
	uint64_t id;
	bool removed;
} told[16];

static void
tell(void *arg, const struct upf_mac_owner *o, bool removed)
{
	(void)arg;
	assert_true(nb_told < RTE_DIM(told));
	told[nb_told].id = o->id;
	told[nb_told++].removed = removed;
}

static void
owners(void **state)
{
	struct upf_index *ix = upf_index_create(0);
	struct upf_mac_owner other, o = {.id = 7,
					 .key = MAC_UE,
					 .handle = 70,
					 .interface = LAN,
					 .age_s = UPF_MAC_AGE_S};
	struct upf_macs t;

	(void)state;
	nb_told = 0;
	assert_int_equal(upf_macs_init(&t, ix, tell, NULL), 0);
	upf_macs_seen(&t, &o, 100);
	upf_macs_seen(&t, &o, 160);
	assert_int_equal(nb_told, 1);
	assert_int_equal(upf_index_mac(ix, LAN, MAC_UE), 70);
	assert_int_equal(upf_index_mac(ix, LAN + 1, MAC_UE), 0);
	assert_int_equal(upf_index_mac(ix, LAN, upf_mac_key(MAC_UE, 5)), 0);
	/* It moves. */
	o.id = 8;
	o.handle = 80;
	upf_macs_seen(&t, &o, 170);
	assert_int_equal(nb_told, 3);
	assert_true(told[1].removed && told[1].id == 7);
	assert_true(!told[2].removed && told[2].id == 8);
	assert_int_equal(upf_index_mac(ix, LAN, MAC_UE), 80);
	upf_macs_gone(&t, 7);
	assert_int_equal(upf_index_mac(ix, LAN, MAC_UE), 80);
	/* It ages. */
	upf_macs_expire(&t, 170 + UPF_MAC_AGE_S);
	assert_int_equal(nb_told, 3);
	upf_macs_expire(&t, 171 + UPF_MAC_AGE_S);
	assert_int_equal(nb_told, 4);
	assert_true(told[3].removed && told[3].id == 8);
	assert_int_equal(upf_index_mac(ix, LAN, MAC_UE), 0);
	/* Its session ends. */
	upf_macs_seen(&t, &o, 1000);
	upf_macs_gone(&t, 8);
	assert_int_equal(nb_told, 5);
	assert_int_equal(upf_index_mac(ix, LAN, MAC_UE), 0);
	/* Its session has a timer of its own. */
	o.age_s = 2;
	upf_macs_seen(&t, &o, 2000);
	upf_macs_expire(&t, 2002);
	assert_int_equal(nb_told, 6);
	upf_macs_expire(&t, 2003);
	assert_int_equal(nb_told, 7);
	assert_true(told[6].removed);
	assert_int_equal(upf_index_mac(ix, LAN, MAC_UE), 0);
	/* The timer changes, of this session alone. */
	upf_macs_seen(&t, &o, 3000);
	other = o;
	other.id = 9;
	other.key = upf_mac_key(MAC_UE, 5);
	upf_macs_seen(&t, &other, 3000);
	upf_macs_age(&t, 8, 60, 3001);
	upf_macs_expire(&t, 3003);
	assert_int_equal(nb_told, 10);
	assert_true(told[9].removed && told[9].id == 9);
	upf_macs_expire(&t, 3061);
	assert_int_equal(nb_told, 10);
	upf_macs_expire(&t, 3062);
	assert_int_equal(nb_told, 11);
	assert_true(told[10].removed && told[10].id == 8);
	upf_macs_fini(&t);
	upf_index_destroy(ix);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_filters_any_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(addresses_and_ranges, setup, teardown),
		cmocka_unit_test_setup_teardown(types_and_tags, setup, teardown),
		cmocka_unit_test_setup_teardown(packets_within, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_refused, setup, teardown),
		cmocka_unit_test(learning),
		cmocka_unit_test(owners),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests_name("upf_ethernet", tests, NULL, NULL);
}
