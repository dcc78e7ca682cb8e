/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * What the control socket of a gNB may bring: requests, each with its length in two octets before
 * it, decoded, applied by workers and answered, all in one thread. In the end every TEID, peer and
 * row of what was set up is back.
 */
#include "modules/gnb/gnb_control_rig.h"
#include "tests/support/test_eal.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
const char *__asan_default_options(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rig *rig;

/** The leak checker does not see pointers in DPDK's memory; what must come back is counted below.
 */
const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (test_eal_init() < 0 || (rig = rig_make(2, 4096, 2, false)) == NULL)
		abort();
	return 0;
}

static void
take(struct gnb_control *c, const uint8_t *data, size_t size)
{
	c->greeted[0] = true;
	gnb_request_take(c, &c->server.clients[0], data, size);
	gnb_control_finish(c);
}

/** Whatever the input left is released as a client would. */
static void
release_all(struct gnb_control *c)
{
	static uint8_t buf[1 << 16];
	uint64_t ids[4096];
	uint32_t ues[4096];
	int nb = upf_ids_list(&c->ues, 0, ids, RTE_DIM(ids));
	GnbRequest q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__BearerContextReleaseCommand r =
		AIRPATH__GNB__V1__BEARER_CONTEXT_RELEASE_COMMAND__INIT;

	for (int i = 0; i < nb; i++)
		ues[i] = (uint32_t)(ids[i] - 1);
	r.n_ue_ids = (size_t)nb;
	r.ue_ids = ues;
	q.seq = 1;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_RELEASE;
	q.release = &r;
	take(c, buf, airpath__gnb__v1__request__pack(&q, buf));
}

static void
check(const struct gnb_control *c)
{
	const struct gnb_table *t = c->cfg.table;
	const struct gnb_session none = {0};

	if (c->ids.nb != 0 || c->nb_drbs != 0 || c->ues.nb != 0 || c->remotes.nb != 0 ||
	    rig->peers.live != 0 || c->first != NULL || c->all_under_way != 0)
		abort();
	for (uint32_t i = 0; i <= t->capacity; i++)
		if (memcmp(&t->sessions[i], &none, sizeof(none)) != 0)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gnb_control *c = rig->control;

	while (size >= 2) {
		size_t n = RTE_MIN((size_t)be16_get(data), size - 2);

		take(c, data + 2, n);
		data += 2 + n;
		size -= 2 + n;
	}
	release_all(c);
	check(c);
	return 0;
}
