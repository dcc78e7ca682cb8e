/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_REMOTE_H
#define AIRPATH_UPF_REMOTE_H

/**
 * Remote F-TEIDs that FARs send to, and whose they are: what an Error Indication names (TS 29.281
 * §7.3.1). Open addressing that grows, 16 octets an entry, at most half full. Control thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct upf_net;
struct upf_rules;

struct upf_remote_entry {
	uint64_t key; /**< index of the path | TEID; 0: free */
	uint64_t id;  /**< of the session */
};

struct upf_remotes {
	struct upf_remote_entry *entry;
	uint32_t mask;
	uint32_t nb;
};

/** @return 0 or -ENOMEM. */
int upf_remotes_init(struct upf_remotes *t);
void upf_remotes_fini(struct upf_remotes *t);

/**
 * Rules of session `id` came into force in place of `old`; either may be NULL. Their peers are in
 * use still. Of two sessions that send to one F-TEID the later counts.
 * @return 0; -ENOMEM: some are not known, their Error Indications go unheard
 */
int upf_remotes_replace(struct upf_remotes *t, const struct upf_net *net, uint64_t id,
			const struct upf_rules *old, const struct upf_rules *now);

/**
 * The same of one tunnel: session `id` sends to `teid` of peer `peer`, or does so no more.
 * @return 0; -ENOMEM as above
 */
int upf_remotes_add(struct upf_remotes *t, const struct upf_net *net, uint64_t id, uint16_t peer,
		    uint32_t teid);
void upf_remotes_del(struct upf_remotes *t, const struct upf_net *net, uint64_t id, uint16_t peer,
		     uint32_t teid);

/** @return the session that sends to this TEID of the peer, 0: none. */
uint64_t upf_remotes_find(const struct upf_remotes *t, const struct upf_net *net, bool v6,
			  const uint8_t *peer, uint32_t teid);

#endif
