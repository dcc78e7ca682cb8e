/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_INDEX_H
#define AIRPATH_UPF_INDEX_H

/**
 * From what a packet carries to the handle of its session, where a TEID of ours does not say it:
 * UE addresses, framed routes, TEIDs that the CP function chose.
 *
 * One for the whole forwarding unit. The control thread alone writes, before a worker gets new
 * rules and after it gave back old ones; workers and dispatchers read without locks. So whoever
 * has to steer a packet knows the owner of its session, whatever found it: upf_teid_bucket() of
 * the handle.
 *
 * Addresses of the agent's pools are entries of direct tables, others are hashed. Keys include the
 * interface of the core side, so network instances may overlap. An IPv6 UE is found by its /64.
 * A UE's own address goes before framed routes; of these the longest prefix wins.
 *
 * A handle is a hint: readers check it against the session (upf_by_handle()), and the session's
 * own address or routes (upf_pdi.h), so what changes meanwhile leads to no wrong session.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_prefetch.h>

#include "modules/upf/upf_owner.h"

#define UPF_INDEX_POOLS_MAX 64
#define UPF_POOL_BITS_MAX 22 /**< a pool with more host bits than this is hashed */

struct upf_rules;
struct upf_index;

/** A pool's table: handle by address less base. Control thread: rw, others: ro. */
struct upf_pool_table {
	uint64_t base, mask; /**< of the address's (IPv6: the /64's) 32 or 64 bits, host order */
	uint32_t *handles;   /**< 0: nobody */
	uint8_t interface;
	bool ip6;
};

/** What readers of struct upf_index see of it. */
struct upf_index_head {
	uint32_t nb_pools;  /**< rises */
	uint32_t nb_hashed; /**< UE addresses outside pools */
	uint32_t nb_framed;
	uint32_t nb_foreign;
	struct upf_pool_table pools[UPF_INDEX_POOLS_MAX];
};

/** @return NULL without memory. Control thread, EAL up. */
struct upf_index *upf_index_create(int socket);
/** Nobody reads any more. */
void upf_index_destroy(struct upf_index *ix);

/**
 * A pool of the agent's Config. One already known is nothing new; one no longer named may stay.
 * Control thread.
 * @param octets 4 or 16; `bits` of the prefix, at most 32 or 64
 * @return 0; -EINVAL; -ENOSPC above UPF_INDEX_POOLS_MAX; -ENOMEM
 */
int upf_index_pool(struct upf_index *ix, const uint8_t *address, unsigned octets, unsigned bits,
		   unsigned interface);

/**
 * Before a worker gets `now`: all that leads to it leads to it, what led to `old` (NULL: none)
 * still does. Control thread.
 * @return 0; -EEXIST when another session has one of its addresses, routes or foreign TEIDs;
 *         -ENOMEM; in both cases nothing has changed
 */
int upf_index_add(struct upf_index *ix, const struct upf_rules *now, const struct upf_rules *old);

/**
 * After a worker gave `gone` back, or refused it: what led to it and does not lead to `stays`
 * (NULL: nothing stays) is forgotten. Control thread.
 */
void upf_index_remove(struct upf_index *ix, const struct upf_rules *gone,
		      const struct upf_rules *stays);

/**
 * An address behind a UE, upf_mac_key() of its VLAN; handle 0: nobody's any more. Control thread.
 * @return 0 or -ENOMEM
 */
int upf_index_mac_set(struct upf_index *ix, unsigned interface, uint64_t key, uint32_t handle);

/** @return handle of the session that has the address, or 0. */
uint32_t upf_index_mac(const struct upf_index *ix, unsigned interface, uint64_t key);

static inline const struct upf_index_head *
upf_index_head(const struct upf_index *ix)
{
	return (const struct upf_index_head *)(const void *)ix;
}

/** What pools leave to hashes. */
uint32_t upf_index_ip4_hashed(const struct upf_index *ix, unsigned interface, uint32_t ip4);
uint32_t upf_index_ip6_hashed(const struct upf_index *ix, unsigned interface, const uint8_t *ip6);

/** @return handle of the session with a TEID the CP function chose, or 0. */
uint32_t upf_index_foreign(const struct upf_index *ix, uint32_t teid);

/** Whether TEIDs of others or framed routes exist, so that a bucket may not say the owner. */
static inline bool
upf_index_has_foreign(const struct upf_index *ix)
{
	return __atomic_load_n(&upf_index_head(ix)->nb_foreign, __ATOMIC_RELAXED) != 0;
}

static inline bool
upf_index_has_framed(const struct upf_index *ix)
{
	return __atomic_load_n(&upf_index_head(ix)->nb_framed, __ATOMIC_RELAXED) != 0;
}

/** Handle of an address by the pools alone, 0: none. `key` in host order. */
static inline uint32_t
upf_index_pooled(const struct upf_index_head *h, unsigned interface, uint64_t key, bool ip6)
{
	unsigned nb = __atomic_load_n(&h->nb_pools, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < nb; i++) {
		const struct upf_pool_table *p = &h->pools[i];

		if ((key & p->mask) == p->base && p->interface == interface && p->ip6 == ip6)
			return __atomic_load_n(&p->handles[key & ~p->mask], __ATOMIC_RELAXED);
	}
	return 0;
}

/** upf_index_prefetch() outside pools. */
void upf_index_prefetch_hashed(const struct upf_index *ix, unsigned interface, uint64_t key,
			       bool ip6);

/**
 * Fetches what the lookup of a UE's address reads first, for a pass over a vector before the one
 * that looks up. `key` is the IPv4 address or /64 in host order.
 */
static inline void
upf_index_prefetch(const struct upf_index *ix, unsigned interface, uint64_t key, bool ip6)
{
	const struct upf_index_head *h = upf_index_head(ix);
	unsigned nb = __atomic_load_n(&h->nb_pools, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < nb; i++) {
		const struct upf_pool_table *p = &h->pools[i];

		if ((key & p->mask) == p->base && p->interface == interface && p->ip6 == ip6) {
			rte_prefetch0(&p->handles[key & ~p->mask]);
			return;
		}
	}
	if (__atomic_load_n(&h->nb_hashed, __ATOMIC_RELAXED) != 0)
		upf_index_prefetch_hashed(ix, interface, key, ip6);
}

/**
 * @param interface the packet came by
 * @param ip4 its destination, network order
 * @return handle of the session it goes to, or 0
 */
static inline uint32_t
upf_index_ip4(const struct upf_index *ix, unsigned interface, uint32_t ip4)
{
	const struct upf_index_head *h = upf_index_head(ix);
	uint32_t handle = upf_index_pooled(h, interface, rte_be_to_cpu_32(ip4), false);

	if (handle != 0 || (__atomic_load_n(&h->nb_hashed, __ATOMIC_RELAXED) |
			    __atomic_load_n(&h->nb_framed, __ATOMIC_RELAXED)) == 0)
		return handle;
	return upf_index_ip4_hashed(ix, interface, ip4);
}

/** Likewise; `ip6` 16 octets. */
static inline uint32_t
upf_index_ip6(const struct upf_index *ix, unsigned interface, const uint8_t *ip6)
{
	const struct upf_index_head *h = upf_index_head(ix);
	uint64_t prefix;
	uint32_t handle;

	memcpy(&prefix, ip6, sizeof(prefix));
	handle = upf_index_pooled(h, interface, rte_be_to_cpu_64(prefix), true);
	if (handle != 0 || (__atomic_load_n(&h->nb_hashed, __ATOMIC_RELAXED) |
			    __atomic_load_n(&h->nb_framed, __ATOMIC_RELAXED)) == 0)
		return handle;
	return upf_index_ip6_hashed(ix, interface, ip6);
}

#endif
