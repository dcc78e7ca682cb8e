/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * /airpath/sdap/flows,UE: QoS flows that are not simply on the default DRB. `rqi` is what TS 37.324
 * §5.4 tells NAS: PDUs of the flow of which it is to derive a QoS rule.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_telemetry.h>

#include "core/telemetry.h"
#include "modules/sdap/sdap.h"
#include "modules/ue/ue.h"

static void
tell_flow(const struct ue *ue, unsigned qfi, struct rte_tel_data *d)
{
	const struct sdap *s = ue->l2.sdap;
	const uint32_t bearer = s->bearer_of_qfi[qfi];
	char key[24];

	snprintf(key, sizeof(key), "%u/drb", qfi);
	rte_tel_data_add_dict_int(d, key,
				  bearer == L2_NO_BEARER ? 0 : (int)ue->cfg->bearers[bearer].id);
	snprintf(key, sizeof(key), "%u/rdi", qfi);
	rte_tel_data_add_dict_u64(d, key, s->rdi[qfi]);
	snprintf(key, sizeof(key), "%u/rqi", qfi);
	rte_tel_data_add_dict_u64(d, key, s->rqi[qfi]);
}

static int
flows(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	const struct ue *ue = params ? ue_stack_named(run, params) : NULL;

	if (ue == NULL)
		return -ENOENT;
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_u64(d, "end_markers_sent", ue->l2.sdap->end_markers_sent);
	rte_tel_data_add_dict_u64(d, "end_markers_received", ue->l2.sdap->end_markers);
	for (unsigned qfi = 0; qfi <= SDAP_QFI_MAX; qfi++)
		if (ue->l2.sdap->stored >> qfi & 1 || ue->l2.sdap->rqi[qfi])
			tell_flow(ue, qfi, d);
	return 0;
}

RTE_INIT(ue_sdap_commands)
{
	ap_telemetry_add("/airpath/sdap/flows", flows, "QoS flows and their DRBs: UE.");
}
