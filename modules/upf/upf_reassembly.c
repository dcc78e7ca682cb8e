/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "codec/be.h"
#include "codec/ip.h"
#include "core/pkt.h"
#include "modules/upf/upf_reassembly.h"

#define IP6_FRAGMENT 44
#define IP6_FRAGMENT_BYTES 8

struct key {
	uint8_t src[16], dst[16];
	uint32_t id;
	uint8_t version;
	uint8_t proto; /* IPv4 */
	uint16_t zero;
};

struct piece {
	struct rte_mbuf *m;
	uint32_t offset;  /* of the payload in the packet's */
	uint16_t bytes;   /* of payload */
	uint16_t payload; /* where it begins in m */
};

struct upf_frag_packet {
	struct key key;
	uint64_t begun_ns;
	uint32_t end;  /* of the last fragment; 0: not here yet */
	uint32_t have; /* octets */
	uint16_t nb;
	uint16_t next;                         /* of the bucket or the free ones, index + 1 */
	uint16_t older, newer;                 /* index + 1 */
	struct piece piece[UPF_FRAGMENTS_MAX]; /* by rising offset */
};

/* What a fragment says of itself. */
struct fragment {
	struct key key;
	struct piece piece;
	bool more;
};

int
upf_reassembly_init(struct upf_reassembly *r, uint32_t max, uint64_t timeout_ns)
{
	*r = (struct upf_reassembly){.max = RTE_MIN(max, 65534U), .timeout_ns = timeout_ns};
	r->mask = rte_align32pow2(r->max) - 1;
	r->packets = rte_zmalloc("upf_frag", r->max * sizeof(*r->packets), RTE_CACHE_LINE_SIZE);
	r->buckets =
		rte_zmalloc("upf_frag", (r->mask + 1) * sizeof(*r->buckets), RTE_CACHE_LINE_SIZE);
	if (r->packets == NULL || r->buckets == NULL) {
		upf_reassembly_fini(r);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < r->max; i++)
		r->packets[i].next = (uint16_t)(i + 1 < r->max ? i + 2 : 0);
	r->free = 1;
	return 0;
}

static uint32_t
bucket(const struct upf_reassembly *r, const struct key *key)
{
	uint64_t w[5], h = 0;

	memcpy(w, key, sizeof(w));
	for (unsigned i = 0; i < 5; i++)
		h = (h ^ w[i]) * 0x9E3779B97F4A7C15ULL, h ^= h >> 29;
	return (uint32_t)(h >> 32) & r->mask;
}
_Static_assert(sizeof(struct key) == 5 * sizeof(uint64_t), "hashed whole");

static struct upf_frag_packet *
at(const struct upf_reassembly *r, uint16_t index)
{
	return index ? &r->packets[index - 1] : NULL;
}

/** Takes a packet out of the lists; its fragments are the caller's. */
static void
forget(struct upf_reassembly *r, struct upf_frag_packet *p)
{
	const uint16_t me = (uint16_t)(p - r->packets + 1);
	uint16_t *link = &r->buckets[bucket(r, &p->key)];

	while (*link != me)
		link = &at(r, *link)->next;
	*link = p->next;
	*(p->older ? &at(r, p->older)->newer : &r->oldest) = p->newer;
	*(p->newer ? &at(r, p->newer)->older : &r->newest) = p->older;
	r->held -= p->nb;
	r->nb--;
	p->nb = 0;
	p->next = r->free;
	r->free = me;
}

static void
drop(struct upf_reassembly *r, struct upf_frag_packet *p, uint64_t *count)
{
	*count += p->nb;
	for (unsigned i = 0; i < p->nb; i++)
		rte_pktmbuf_free(p->piece[i].m);
	forget(r, p);
}

void
upf_reassembly_fini(struct upf_reassembly *r)
{
	uint64_t count = 0;

	while (r->oldest)
		drop(r, at(r, r->oldest), &count);
	rte_free(r->packets);
	rte_free(r->buckets);
	*r = (struct upf_reassembly){0};
}

static struct upf_frag_packet *
find(struct upf_reassembly *r, const struct key *key)
{
	struct upf_frag_packet *p = at(r, r->buckets[bucket(r, key)]);

	while (p && memcmp(&p->key, key, sizeof(*key)) != 0)
		p = at(r, p->next);
	return p;
}

static struct upf_frag_packet *
begin(struct upf_reassembly *r, const struct key *key, uint64_t now_ns)
{
	struct upf_frag_packet *p = at(r, r->free);
	const uint16_t me = r->free;
	uint16_t *link = &r->buckets[bucket(r, key)];

	if (p == NULL)
		return NULL;
	r->free = p->next;
	p->key = *key;
	p->begun_ns = now_ns;
	p->end = p->have = 0;
	p->next = *link;
	*link = me;
	p->older = r->newest;
	p->newer = 0;
	*(r->newest ? &at(r, r->newest)->newer : &r->oldest) = me;
	r->newest = me;
	r->nb++;
	return p;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool
read4(const uint8_t *ip, struct fragment *f)
{
	const unsigned hdr = (ip[0] & 0xFU) * 4, field = be16_get(ip + 6);

	memcpy(f->key.src, ip + 12, 4);
	memcpy(f->key.dst, ip + 16, 4);
	f->key.id = be16_get(ip + 4);
	f->key.proto = ip[9];
	f->more = field & 0x2000;
	f->piece.offset = (field & 0x1FFF) * 8;
	f->piece.payload = (uint16_t)hdr;
	f->piece.bytes = (uint16_t)(be16_get(ip + 2) - hdr);
	return true;
}

/** @return where the fragment header is; 0: there is none in the first segment. */
static unsigned
fragment_header(const struct rte_mbuf *m, unsigned *before)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned pos = IP6_HDR_BYTES;
	uint8_t next = ip[6];

	*before = 6;
	/* hop-by-hop options, routing, destination options */
	while (next == 0 || next == 43 || next == 60) {
		if (pos + 8 > m->data_len)
			return 0;
		next = ip[pos];
		*before = pos;
		pos += 8 + ip[pos + 1] * 8U;
	}
	return next == IP6_FRAGMENT && pos + IP6_FRAGMENT_BYTES <= m->data_len ? pos : 0;
}

static bool
read6(const struct rte_mbuf *m, struct fragment *f)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned before, pos = fragment_header(m, &before), field;

	if (pos == 0 || pos + IP6_FRAGMENT_BYTES > m->pkt_len)
		return false;
	field = be16_get(ip + pos + 2);
	memcpy(f->key.src, ip + 8, 16);
	memcpy(f->key.dst, ip + 24, 16);
	f->key.id = be32_get(ip + pos + 4);
	f->more = field & 1;
	f->piece.offset = field & 0xFFF8;
	f->piece.payload = (uint16_t)(pos + IP6_FRAGMENT_BYTES);
	f->piece.bytes = (uint16_t)(m->pkt_len - f->piece.payload);
	return true;
}

static bool
read_fragment(struct rte_mbuf *m, struct fragment *f)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);

	memset(f, 0, sizeof(*f));
	f->key.version = ip[0] >> 4;
	f->piece.m = m;
	if (!(f->key.version == 4 ? read4(ip, f) : read6(m, f)))
		return false;
	if (f->piece.bytes == 0 || (f->more && f->piece.bytes % 8))
		return false;
	return f->piece.offset + f->piece.bytes + IP4_HDR_BYTES <= UINT16_MAX;
}

/* --- joining ---------------------------------------------------------------------------------- */

/** The first fragment's header becomes that of the whole. */
static struct rte_mbuf *
header_of_whole(struct upf_frag_packet *p)
{
	struct rte_mbuf *m = p->piece[0].m;
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);
	const unsigned hdr = p->piece[0].payload;
	unsigned before, pos;
	uint16_t sum;

	if (p->key.version == 4) {
		be16_put(ip + 2, (uint16_t)(hdr + p->end));
		be16_put(ip + 6, 0);
		be16_put(ip + 10, 0);
		sum = ip_checksum(ip, hdr);
		memcpy(ip + 10, &sum, 2);
		return m;
	}
	pos = fragment_header(m, &before);
	ip[before] = ip[pos];
	be16_put(ip + 4, (uint16_t)(hdr - IP6_FRAGMENT_BYTES - IP6_HDR_BYTES + p->end));
	memmove(ip + IP6_FRAGMENT_BYTES, ip, pos);
	return ap_pkt_strip(m, IP6_FRAGMENT_BYTES);
}

static struct rte_mbuf *
join(struct upf_reassembly *r, struct upf_frag_packet *p, uint64_t *used)
{
	struct rte_mbuf *m = header_of_whole(p), *last = rte_pktmbuf_lastseg(m);

	for (unsigned i = 1; i < p->nb; i++) {
		struct rte_mbuf *more = ap_pkt_strip(p->piece[i].m, p->piece[i].payload);

		last->next = more;
		m->pkt_len += more->pkt_len;
		m->nb_segs = (uint16_t)(m->nb_segs + more->nb_segs);
		last = rte_pktmbuf_lastseg(more);
	}
	/* The port looked at a part. */
	m->ol_flags &= ~(RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK);
	*used += p->nb - 1U;
	forget(r, p);
	return m;
}

/** Puts the piece in order. @return UPF_FRAG_DROPS when it is in, else what it is. */
static enum upf_frag_drop
insert(struct upf_frag_packet *p, const struct fragment *f)
{
	const uint32_t first = f->piece.offset, end = first + f->piece.bytes;
	unsigned i = p->nb;

	while (i > 0 && p->piece[i - 1].offset > first)
		i--;
	if (i > 0 && p->piece[i - 1].offset == first && p->piece[i - 1].bytes == f->piece.bytes)
		return UPF_FRAG_DUPLICATE;
	if ((i > 0 && p->piece[i - 1].offset + p->piece[i - 1].bytes > first) ||
	    (i < p->nb && p->piece[i].offset < end))
		return UPF_FRAG_OVERLAP;
	/* An end that differs, or something behind it. */
	if ((p->end && (end > p->end || (!f->more && end != p->end))) || (!f->more && i < p->nb))
		return UPF_FRAG_OVERLAP;
	if (p->nb == UPF_FRAGMENTS_MAX)
		return UPF_FRAG_FULL;
	memmove(&p->piece[i + 1], &p->piece[i], (p->nb - i) * sizeof(p->piece[0]));
	p->piece[i] = f->piece;
	p->nb++;
	p->have += f->piece.bytes;
	if (!f->more)
		p->end = end;
	return UPF_FRAG_DROPS;
}

struct rte_mbuf *
upf_reassembly_take(struct upf_reassembly *r, struct rte_mbuf *m, uint64_t now_ns, uint64_t *drops,
		    uint64_t *used)
{
	struct upf_frag_packet *p;
	enum upf_frag_drop what;
	struct fragment f;

	upf_reassembly_expire(r, now_ns, drops);
	if (!read_fragment(m, &f)) {
		drops[UPF_FRAG_MALFORMED]++;
		rte_pktmbuf_free(m);
		return NULL;
	}
	p = find(r, &f.key);
	if (p == NULL)
		p = begin(r, &f.key, now_ns);
	if (p == NULL) {
		drops[UPF_FRAG_FULL]++;
		rte_pktmbuf_free(m);
		return NULL;
	}
	what = insert(p, &f);
	if (what == UPF_FRAG_DROPS) {
		r->held++;
		/* A header with options before the first fragment may make it too long. */
		if (p->end == 0 || p->have < p->end)
			return NULL;
		if (p->end + p->piece[0].payload <= UINT16_MAX)
			return join(r, p, used);
		drop(r, p, &drops[UPF_FRAG_MALFORMED]);
		return NULL;
	}
	drops[what]++;
	rte_pktmbuf_free(m);
	if (what != UPF_FRAG_DUPLICATE)
		drop(r, p, &drops[what]);
	return NULL;
}

void
upf_reassembly_expire(struct upf_reassembly *r, uint64_t now_ns, uint64_t *drops)
{
	while (r->oldest && upf_reassembly_due(r) <= now_ns)
		drop(r, at(r, r->oldest), &drops[UPF_FRAG_TIMEOUT]);
}

uint64_t
upf_reassembly_due(const struct upf_reassembly *r)
{
	return r->oldest ? at(r, r->oldest)->begun_ns + r->timeout_ns : UINT64_MAX;
}
