/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What an AM bearer does, by telemetry:
 *   /airpath/rlc,UE,DRB   state variables and counters of the transmitting side
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_telemetry.h>

#include "core/telemetry.h"
#include "modules/rlc/rlc_rx.h"
#include "modules/rlc/rlc_tx.h"
#include "modules/ue/ue.h"

/** Parses `UE[.u],DRB`. @return the UE with the bearer's index in `index`, or NULL. */
static const struct ue *
find(const struct ap_run *run, const char *params, uint32_t *index)
{
	const struct ue *stack;
	char name[40];
	unsigned drb, ue = 0;
	int end = 0;

	if (params == NULL || sscanf(params, "%39[^.,]%n", name, &end) != 1)
		return NULL;
	params += end;
	if (sscanf(params, ".%u%n", &ue, &end) == 1)
		params += end;
	if (sscanf(params, ",%u", &drb) != 1)
		return NULL;
	stack = ue_stack_named(run, name);
	for (uint32_t i = 0; stack && ue < stack->cfg->count && i < stack->cfg->bearers_count; i++)
		if (stack->cfg->bearers[i].id == drb) {
			*index = ue * stack->cfg->bearers_count + i;
			return stack;
		}
	return NULL;
}

/* Read while the workers run: each value is whole, together they are a picture in motion. */
static int
rlc(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	uint32_t i = 0;
	const struct ue *ue = find(run, params, &i);
	const struct rlc_am_tx_counters *c = ue ? rlc_tx_am_counters(&ue->l2.rlc_tx[i]) : NULL;
	const struct rlc_am_tx *tx;
	const struct rlc_am_rx *rx;

	if (c == NULL)
		return ue ? -ENOTSUP : -ENOENT;
	tx = ue->l2.rlc_tx[i].am;
	rx = &ue->l2.rlc_rx[i].am;
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_u64(d, "TX_Next_Ack", tx->TX_Next_Ack);
	rte_tel_data_add_dict_u64(d, "TX_Next", tx->TX_Next);
	rte_tel_data_add_dict_u64(d, "RX_Next", rx->RX_Next);
	rte_tel_data_add_dict_u64(d, "RX_Highest_Status", rx->RX_Highest_Status);
	rte_tel_data_add_dict_u64(d, "RX_Next_Highest", rx->RX_Next_Highest);
	rte_tel_data_add_dict_u64(d, "delivered", c->delivered);
	rte_tel_data_add_dict_u64(d, "rlc_retx", c->retx);
	rte_tel_data_add_dict_u64(d, "rlc_retx_bytes", c->retx_bytes);
	rte_tel_data_add_dict_u64(d, "polls", c->polls);
	rte_tel_data_add_dict_u64(d, "poll_timeouts", c->poll_timeouts);
	rte_tel_data_add_dict_u64(d, "max_retx", c->max_retx);
	rte_tel_data_add_dict_u64(d, "stalled", c->stalled);
	rte_tel_data_add_dict_u64(d, "status_triggered", rx->status_made);
	rte_tel_data_add_dict_u64(d, "status_sent", c->status_sent);
	rte_tel_data_add_dict_u64(d, "status_trimmed", c->status_trimmed);
	rte_tel_data_add_dict_u64(d, "status_received", c->status_taken);
	rte_tel_data_add_dict_u64(d, "status_old", c->status_old);
	rte_tel_data_add_dict_u64(d, "status_refused", c->status_refused);
	return 0;
}

RTE_INIT(ue_rlc_commands)
{
	ap_telemetry_add("/airpath/rlc", rlc, "RLC AM state variables and counters: UE,DRB.");
}
