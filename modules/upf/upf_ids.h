/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_IDS_H
#define AIRPATH_UPF_IDS_H

/**
 * Sessions by SEID, as the control thread knows them. Open addressing that grows: 32 octets an
 * entry, three quarters of which may be taken.
 */

#include <stdbool.h>
#include <stdint.h>

struct upf_rules;

struct upf_id {
	uint64_t id; /**< 0: free */
	uint32_t handle;
	uint32_t version;
	struct upf_rules *rules; /**< in force; fields that never change may be read */
	bool busy;               /**< a worker has a message for it */
};

struct upf_ids {
	struct upf_id *entry;
	uint32_t mask; /**< entries - 1 */
	uint32_t nb;
	/* of List: ids above `listed`, sorted; what went meanwhile is passed by */
	uint64_t *sorted;
	uint32_t nb_sorted;
};

/** @return 0 or -ENOMEM. */
int upf_ids_init(struct upf_ids *t);
void upf_ids_fini(struct upf_ids *t);

/** @return the session, or NULL; valid until the next upf_ids_add() or upf_ids_del(). */
struct upf_id *upf_ids_find(const struct upf_ids *t, uint64_t id);

/** @param id not 0 and not there. @return its entry, zeroed but for `id`; NULL without memory. */
struct upf_id *upf_ids_add(struct upf_ids *t, uint64_t id);
void upf_ids_del(struct upf_ids *t, struct upf_id *e);

/**
 * Ids above `after`, rising. A walk over all of them begins with 0 and goes on with the last one
 * got; sessions that came meanwhile may be missing.
 * @return how many, at most `max`; or -ENOMEM
 */
int upf_ids_list(struct upf_ids *t, uint64_t after, uint64_t *ids, uint32_t max);

#endif
