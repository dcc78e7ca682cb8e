/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * What the agent's socket may bring: requests, each with its length in two octets before it,
 * decoded, compiled, applied by a worker and answered, all in one thread: what an input takes does
 * not depend on who else has the CPUs, and a message that gets lost is a wait without end. In the
 * end all memory, peers and index entries of sessions are back.
 */
#include "modules/upf/upf_control_rig.h"
#include "modules/upf/upf_index.h"
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
	if (test_eal_init() < 0 || (rig = rig_make(2, 64, false)) == NULL)
		abort();
	return 0;
}

static void
take(struct upf_control *c, const uint8_t *data, size_t size)
{
	c->greeted = true;
	upf_request_take(c, data, size);
	upf_control_finish(c);
}

/** Whatever the input left is deleted as an agent would. */
static void
delete_all(struct upf_control *c)
{
	uint64_t ids[64];
	uint8_t buf[64];
	int nb = upf_ids_list(&c->ids, 0, ids, 64);

	for (int i = 0; i < nb; i++) {
		Airpath__Upf__V1__Request q = AIRPATH__UPF__V1__REQUEST__INIT;
		Airpath__Upf__V1__Apply apply = AIRPATH__UPF__V1__APPLY__INIT;
		Airpath__Upf__V1__Op op = AIRPATH__UPF__V1__OP__INIT, *ops = &op;
		Airpath__Upf__V1__Delete del = AIRPATH__UPF__V1__DELETE__INIT;

		del.id = ids[i];
		op.op_case = AIRPATH__UPF__V1__OP__OP_DELETE;
		op.delete_ = &del;
		apply.n_ops = 1;
		apply.ops = &ops;
		q.seq = 1;
		q.body_case = AIRPATH__UPF__V1__REQUEST__BODY_APPLY;
		q.apply = &apply;
		take(c, buf, airpath__upf__v1__request__pack(&q, buf));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct upf_control *c = rig->upf.control;

	while (size >= 2) {
		size_t n = RTE_MIN((size_t)be16_get(data), size - 2);

		take(c, data + 2, n);
		data += 2 + n;
		size -= 2 + n;
	}
	delete_all(c);
	upf_answer_reports(c);
	if (c->ids.nb != 0 || rig->upf.peers.live != 0 || c->first != NULL ||
	    c->all_under_way != 0 || upf_index_head(rig->upf.index)->nb_hashed != 0 ||
	    upf_index_head(rig->upf.index)->nb_framed != 0 ||
	    upf_index_head(rig->upf.index)->nb_foreign != 0 ||
	    upf_compiler_sets(c->compiler) != 0 || upf_compiler_profiles(c->compiler) != 0)
		abort();
	return 0;
}
