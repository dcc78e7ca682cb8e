/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_MACS_H
#define AIRPATH_UPF_MACS_H

/**
 * Who has which link address: those that workers learned, of all LANs. Control thread alone; it
 * keeps struct upf_index as these say, and tells who wants to know.
 */

#include <stdbool.h>
#include <stdint.h>

#define UPF_MACS_KNOWN_MAX 65536 /**< of a unit */

struct upf_index;
struct upf_mac_entry;

struct upf_mac_owner {
	uint64_t id;  /**< of the session */
	uint64_t key; /**< upf_mac_key() */
	uint32_t handle;
	uint32_t seen_s;   /**< when a frame came from it */
	uint32_t age_s;    /**< after which it is forgotten */
	uint8_t interface; /**< the LAN */
};

struct upf_macs {
	struct upf_index *index;
	struct upf_mac_entry *entries; /**< UPF_MACS_KNOWN_MAX */
	uint32_t *chains;
	uint32_t nb;   /**< entries used so far are below */
	uint32_t free; /**< first of those free again */
	uint32_t checked_s;
	void (*told)(void *arg, const struct upf_mac_owner *owner, bool removed);
	void *arg;
};

/** @return 0 or -ENOMEM. */
int upf_macs_init(struct upf_macs *t, struct upf_index *index,
		  void (*told)(void *arg, const struct upf_mac_owner *owner, bool removed),
		  void *arg);
void upf_macs_fini(struct upf_macs *t);

/** A frame came from o->key: it is o->id's from now on. What does not fit is not found. */
void upf_macs_seen(struct upf_macs *t, const struct upf_mac_owner *o, uint32_t now_s);

/** A session ended: nothing is told. */
void upf_macs_gone(struct upf_macs *t, uint64_t id);

/** A session's addresses live that long from now on; its worker tells anew of those in use. */
void upf_macs_age(struct upf_macs *t, uint64_t id, uint32_t age_s, uint32_t now_s);

/** Forgets what no frame came from for its age; looks once a second. */
void upf_macs_expire(struct upf_macs *t, uint32_t now_s);

#endif
