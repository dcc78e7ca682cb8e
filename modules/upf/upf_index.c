/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "codec/be.h"
#include "modules/upf/upf_index.h"
#include "modules/upf/upf_keys.h"
#include "modules/upf/upf_rules.h"

struct upf_index {
	struct upf_index_head h; /* first: what readers see */
	struct upf_keys *keys;
	/* Lengths of framed routes there are, 1 << bits; readers look for these alone. */
	uint64_t lengths4;
	uint64_t lengths6[3];
	uint32_t count4[33], count6[129];
	int socket;
};

struct upf_index *
upf_index_create(int socket)
{
	struct upf_index *ix =
		rte_zmalloc_socket("upf_index", sizeof(*ix), RTE_CACHE_LINE_SIZE, socket);

	if (!ix)
		return NULL;
	ix->socket = socket;
	ix->keys = upf_keys_create(socket);
	if (!ix->keys) {
		rte_free(ix);
		return NULL;
	}
	return ix;
}

void
upf_index_destroy(struct upf_index *ix)
{
	if (!ix)
		return;
	for (unsigned i = 0; i < ix->h.nb_pools; i++)
		rte_free(ix->h.pools[i].handles);
	upf_keys_destroy(ix->keys);
	rte_free(ix);
}

int
upf_index_pool(struct upf_index *ix, const uint8_t *address, unsigned octets, unsigned bits,
	       unsigned interface)
{
	unsigned width = octets == 16 ? 64 : 32, i;
	struct upf_pool_table p = {.ip6 = octets == 16, .interface = (uint8_t)interface};

	if ((octets != 4 && octets != 16) || bits > width || bits == 0 || interface == 0 ||
	    interface > UPF_INTERFACES_MAX)
		return -EINVAL;
	if (width - bits > UPF_POOL_BITS_MAX)
		return 0; /* hashed */
	p.mask = ~0ULL << (width - bits);
	p.base = (p.ip6 ? be64_get(address) : be32_get(address)) & p.mask;
	if (!p.ip6)
		p.mask |= ~0ULL << 32;
	for (i = 0; i < ix->h.nb_pools; i++) {
		const struct upf_pool_table *o = &ix->h.pools[i];

		if (o->base == p.base && o->mask == p.mask && o->interface == p.interface &&
		    o->ip6 == p.ip6)
			return 0;
	}
	if (i == UPF_INDEX_POOLS_MAX)
		return -ENOSPC;
	p.handles = rte_zmalloc_socket("upf_pool", sizeof(*p.handles) << (width - bits),
				       RTE_CACHE_LINE_SIZE, ix->socket);
	if (!p.handles)
		return -ENOMEM;
	ix->h.pools[i] = p;
	__atomic_store_n(&ix->h.nb_pools, i + 1, __ATOMIC_RELEASE);
	return 0;
}

/* --- what leads to a session ------------------------------------------------------------------ */

static uint64_t
mask64(unsigned bits)
{
	return bits == 0 ? 0 : bits >= 64 ? ~0ULL : ~0ULL << (64 - bits);
}

static struct upf_key
framed_key(const uint8_t *address, unsigned octets, unsigned bits, unsigned interface)
{
	if (octets == 4)
		return (struct upf_key){.high = be32_get(address) & (uint32_t)(mask64(bits) >> 32),
					.meta = upf_key_meta(UPF_KEY_FRAMED4, bits, interface)};
	return (struct upf_key){.high = be64_get(address) & mask64(bits),
				.low = bits > 64 ? be64_get(address + 8) & mask64(bits - 64) : 0,
				.meta = upf_key_meta(UPF_KEY_FRAMED6, bits, interface)};
}

/* The n-th key of a session. @return false: there are no more. */
static bool
key_of(const struct upf_rules *r, unsigned n, struct upf_key *key)
{
	unsigned skipped = 0, tunnel = 0;

	if (r->core_interface != 0) {
		if (be32_get(r->ue_ip4) != 0 && n == skipped++) {
			*key = (struct upf_key){
				.high = be32_get(r->ue_ip4),
				.meta = upf_key_meta(UPF_KEY_IP4, 32, r->core_interface)};
			return true;
		}
		if (r->ue_ip6_bits != 0 && n == skipped++) {
			*key = framed_key(r->ue_ip6, 16, r->ue_ip6_bits, r->core_interface);
			if (r->ue_ip6_bits == 64)
				key->meta = upf_key_meta(UPF_KEY_IP6, 64, r->core_interface);
			return true;
		}
		if (n - skipped < r->nb_framed) {
			const struct upf_framed_route *f = &r->framed[n - skipped];

			*key = framed_key(f->address, f->octets, f->bits, r->core_interface);
			return true;
		}
		skipped += r->nb_framed;
	}
	for (; tunnel < r->nb_tunnels; tunnel++)
		if (r->tunnels[tunnel].foreign && n == skipped++) {
			*key = (struct upf_key){.high = r->tunnels[tunnel].teid,
						.meta = upf_key_meta(UPF_KEY_FOREIGN, 0, 0)};
			return true;
		}
	return false;
}

static bool
has_key(const struct upf_rules *r, const struct upf_key *key)
{
	struct upf_key k;

	for (unsigned n = 0; r && key_of(r, n, &k); n++)
		if (k.high == key->high && k.low == key->low && k.meta == key->meta)
			return true;
	return false;
}

/* --- changes ---------------------------------------------------------------------------------- */

static enum upf_key_kind
kind_of(const struct upf_key *key)
{
	return key->meta >> 24;
}

/* The pools' entry of an address, or NULL. */
static uint32_t *
pooled(struct upf_index *ix, const struct upf_key *key)
{
	bool ip6 = kind_of(key) == UPF_KEY_IP6;

	if (!ip6 && kind_of(key) != UPF_KEY_IP4)
		return NULL;
	for (unsigned i = 0; i < ix->h.nb_pools; i++) {
		const struct upf_pool_table *p = &ix->h.pools[i];

		if ((key->high & p->mask) == p->base && p->interface == (key->meta & 0xFF) &&
		    p->ip6 == ip6)
			return &p->handles[key->high & ~p->mask];
	}
	return NULL;
}

/* Keeps what tells readers whether to look at all. */
static void
count(struct upf_index *ix, const struct upf_key *key, int32_t by)
{
	unsigned bits = key->meta >> 8 & 0xFFFF;
	uint64_t *lengths = NULL, one = 0;
	uint32_t *of = NULL, *total = NULL;

	switch (kind_of(key)) {
	case UPF_KEY_IP4:
	case UPF_KEY_IP6:
		total = &ix->h.nb_hashed;
		break;
	case UPF_KEY_FRAMED4:
		total = &ix->h.nb_framed;
		of = &ix->count4[bits];
		lengths = &ix->lengths4;
		one = 1ULL << bits;
		break;
	case UPF_KEY_FRAMED6:
		total = &ix->h.nb_framed;
		of = &ix->count6[bits];
		lengths = &ix->lengths6[bits / 64];
		one = 1ULL << bits % 64;
		break;
	case UPF_KEY_FOREIGN:
		total = &ix->h.nb_foreign;
		break;
	case UPF_KEY_MAC:
		return;
	}
	if (of) {
		*of += (uint32_t)by;
		__atomic_store_n(lengths, *of ? *lengths | one : *lengths & ~one, __ATOMIC_RELAXED);
	}
	__atomic_store_n(total, *total + (uint32_t)by, __ATOMIC_RELAXED);
}

static uint32_t
handle_of(struct upf_index *ix, const struct upf_key *key)
{
	uint32_t *entry = pooled(ix, key);

	return entry && *entry != 0 ? *entry : upf_keys_get(ix->keys, key);
}

static int
add(struct upf_index *ix, const struct upf_key *key, uint32_t handle, uint32_t old)
{
	uint32_t has = handle_of(ix, key), *entry = pooled(ix, key);
	int ret;

	if (has == handle)
		return 0;
	if (has != 0 && has != old)
		return -EEXIST;
	/* An address hashed before its pool came stays where it is. */
	if (entry && (has == 0 || *entry != 0)) {
		__atomic_store_n(entry, handle, __ATOMIC_RELAXED);
		return 0;
	}
	ret = upf_keys_put(ix->keys, key, handle);
	if (ret == 0 && has == 0)
		count(ix, key, 1);
	return ret;
}

int
upf_index_add(struct upf_index *ix, const struct upf_rules *now, const struct upf_rules *old)
{
	struct upf_key key;
	int ret = 0;

	for (unsigned n = 0; ret == 0 && key_of(now, n, &key); n++)
		ret = add(ix, &key, now->handle, old ? old->handle : 0);
	if (ret < 0)
		upf_index_remove(ix, now, old);
	return ret;
}

void
upf_index_remove(struct upf_index *ix, const struct upf_rules *gone, const struct upf_rules *stays)
{
	struct upf_key key;

	for (unsigned n = 0; key_of(gone, n, &key); n++) {
		uint32_t *entry = pooled(ix, &key);

		if (has_key(stays, &key))
			continue;
		if (entry && *entry == gone->handle)
			__atomic_store_n(entry, 0, __ATOMIC_RELAXED);
		else if (upf_keys_get(ix->keys, &key) == gone->handle &&
			 upf_keys_delete(ix->keys, &key))
			count(ix, &key, -1);
	}
}

int
upf_index_mac_set(struct upf_index *ix, unsigned interface, uint64_t key, uint32_t handle)
{
	const struct upf_key k = {.high = key, .meta = upf_key_meta(UPF_KEY_MAC, 0, interface)};

	if (handle != 0)
		return upf_keys_put(ix->keys, &k, handle);
	upf_keys_delete(ix->keys, &k);
	return 0;
}

/* --- readers ---------------------------------------------------------------------------------- */

uint32_t
upf_index_foreign(const struct upf_index *ix, uint32_t teid)
{
	struct upf_key key = {.high = teid, .meta = upf_key_meta(UPF_KEY_FOREIGN, 0, 0)};

	return upf_keys_get(ix->keys, &key);
}

uint32_t
upf_index_mac(const struct upf_index *ix, unsigned interface, uint64_t key)
{
	const struct upf_key k = {.high = key, .meta = upf_key_meta(UPF_KEY_MAC, 0, interface)};

	return upf_keys_get(ix->keys, &k);
}

void
upf_index_prefetch_hashed(const struct upf_index *ix, unsigned interface, uint64_t key, bool ip6)
{
	struct upf_key k = {.high = key,
			    .meta = ip6 ? upf_key_meta(UPF_KEY_IP6, 64, interface)
					: upf_key_meta(UPF_KEY_IP4, 32, interface)};

	upf_keys_prefetch(ix->keys, &k);
}

uint32_t
upf_index_ip4_hashed(const struct upf_index *ix, unsigned interface, uint32_t ip4)
{
	uint8_t address[4];
	struct upf_key key = {.high = rte_be_to_cpu_32(ip4),
			      .meta = upf_key_meta(UPF_KEY_IP4, 32, interface)};
	uint32_t handle = upf_keys_get(ix->keys, &key);
	uint64_t lengths = __atomic_load_n(&ix->lengths4, __ATOMIC_RELAXED);

	memcpy(address, &ip4, sizeof(address));
	while (handle == 0 && lengths != 0) {
		unsigned bits = 63 - (unsigned)__builtin_clzll(lengths);

		lengths &= ~(1ULL << bits);
		key = framed_key(address, 4, bits, interface);
		handle = upf_keys_get(ix->keys, &key);
	}
	return handle;
}

uint32_t
upf_index_ip6_hashed(const struct upf_index *ix, unsigned interface, const uint8_t *ip6)
{
	struct upf_key key = {.high = be64_get(ip6),
			      .meta = upf_key_meta(UPF_KEY_IP6, 64, interface)};
	uint32_t handle = upf_keys_get(ix->keys, &key);

	for (unsigned w = 3; handle == 0 && w-- > 0;) {
		uint64_t lengths = __atomic_load_n(&ix->lengths6[w], __ATOMIC_RELAXED);

		while (handle == 0 && lengths != 0) {
			unsigned bit = 63 - (unsigned)__builtin_clzll(lengths);

			lengths &= ~(1ULL << bit);
			key = framed_key(ip6, 16, w * 64 + bit, interface);
			handle = upf_keys_get(ix->keys, &key);
		}
	}
	return handle;
}
