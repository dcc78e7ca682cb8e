/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/meta.h"
#include "core/pkt.h"
#include "modules/fapi/fapi_reassembly.h"

/** One TB in a message. */
struct tb {
	uint32_t bytes;
	uint16_t rnti; /**< 0 in TX_Data.request, which does not say */
	uint16_t pad;  /**< bytes behind it that only align the next PDU */
};

/** A place in a chain. */
struct cursor {
	struct rte_mbuf *m;
	uint32_t off; /**< in `m`, ≤ its data_len */
};

/** Copies `len` bytes, which the chain must hold, and moves on. */
static void
cursor_read(struct cursor *c, void *to, uint32_t len)
{
	uint8_t *p = to;

	while (len > 0) {
		uint32_t n = RTE_MIN(len, c->m->data_len - c->off);

		memcpy(p, rte_pktmbuf_mtod_offset(c->m, const uint8_t *, c->off), n);
		p += n;
		len -= n;
		c->off += n;
		if (c->off == c->m->data_len && c->m->next != NULL)
			*c = (struct cursor){c->m->next, 0};
	}
}

static void
cursor_skip(struct cursor *c, uint32_t len)
{
	while (len > 0) {
		uint32_t n = RTE_MIN(len, c->m->data_len - c->off);

		len -= n;
		c->off += n;
		if (c->off == c->m->data_len && c->m->next != NULL)
			*c = (struct cursor){c->m->next, 0};
	}
}

/** cursor_skip() that frees the mbufs it has left behind. */
static void
cursor_eat(struct cursor *c, uint32_t len)
{
	while (len > 0) {
		uint32_t n = RTE_MIN(len, c->m->data_len - c->off);
		struct rte_mbuf *next = c->m->next;

		len -= n;
		c->off += n;
		if (c->off == c->m->data_len && next != NULL) {
			rte_pktmbuf_free_seg(c->m);
			*c = (struct cursor){next, 0};
		}
	}
}

static int
pdu_decode(uint16_t message_id, const uint8_t *p, struct tb *tb)
{
	struct fapi_rx_pdu rx;
	struct fapi_tx_pdu tx;
	int ret;

	if (message_id == FAPI_RX_DATA_INDICATION) {
		ret = fapi_rx_pdu_decode(p, FAPI_DATA_PDU_LEN, &rx);
		*tb = (struct tb){.bytes = rx.tb_bytes, .rnti = rx.rnti};
		return ret;
	}
	ret = fapi_tx_pdu_decode(p, FAPI_DATA_PDU_LEN, &tx);
	*tb = (struct tb){.bytes = tx.tb_bytes, .pad = -tx.tb_bytes % FAPI_DATA_PAD};
	return ret;
}

/**
 * Reads the body's headers and checks every length against the message.
 * @return PDUs, or -(enum codec_err)
 */
static int
body_decode(const struct fapi_message_rx *msg, struct fapi_data *d, struct tb *tb)
{
	struct cursor c = {msg->head, 0};
	uint32_t left = msg->bytes;
	uint8_t p[FAPI_DATA_PDU_LEN];

	if (left < FAPI_DATA_LEN || msg->nb_segs > UINT16_MAX)
		return -CODEC_SHORT;
	cursor_read(&c, p, FAPI_DATA_LEN);
	left -= FAPI_DATA_LEN;
	if (fapi_data_decode(p, FAPI_DATA_LEN, d) < 0)
		return -CODEC_RESERVED;
	if (d->pdus == 0 || d->pdus > FAPI_PDUS_MAX)
		return -CODEC_UNSUPPORTED;
	for (unsigned i = 0; i < d->pdus; i++) {
		int ret;

		if (left < FAPI_DATA_PDU_LEN)
			return -CODEC_SHORT;
		cursor_read(&c, p, FAPI_DATA_PDU_LEN);
		left -= FAPI_DATA_PDU_LEN;
		ret = pdu_decode(msg->message_id, p, &tb[i]);
		if (ret < 0)
			return ret;
		if (tb[i].bytes == 0 || tb[i].bytes > left)
			return -CODEC_CONTRADICTION;
		left -= tb[i].bytes;
		/* Behind the last TB the alignment may be there or not. */
		if (i + 1 == d->pdus)
			tb[i].pad = (uint16_t)RTE_MIN(left, FAPI_DATA_PAD - 1U);
		if (tb[i].pad > left || (i + 1 == d->pdus && tb[i].pad != left))
			return -CODEC_CONTRADICTION;
		left -= tb[i].pad;
		if (i + 1 < d->pdus)
			cursor_skip(&c, tb[i].bytes + tb[i].pad);
	}
	return d->pdus;
}

/** `m` becomes the packet of a TB. Everything else in its meta is another packet's past. */
static inline void
tb_mark(struct rte_mbuf *m, const struct fapi_reassembly *r, const struct fapi_data *d,
	const struct tb *tb)
{
	struct ap_ext *ext = ap_ext(m);
	struct ap_meta *meta = ap_meta(m);

	*meta = (struct ap_meta){.flags = meta->flags & AP_M_TIMED, .carrier = r->carrier};
	ext->tb_bytes = tb->bytes;
	ext->tb_offset = 0;
	ext->sfn = d->at.sfn;
	ext->slot = d->at.slot;
	ext->spare = tb->rnti;
}

/** Copies `len` bytes of the cursor's mbuf to the end of a TB. @return its tail, NULL: no mbuf. */
static struct rte_mbuf *
tb_copy(struct cursor *c, uint32_t len, struct rte_mempool *proto, struct rte_mbuf **head,
	struct rte_mbuf *tail)
{
	const uint32_t end = c->off + len;

	while (c->off < end) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(proto);
		uint32_t n;

		if (m == NULL) {
			c->off = end;
			return NULL;
		}
		n = RTE_MIN(end - c->off, (uint32_t)rte_pktmbuf_tailroom(m));
		cursor_read(c, rte_pktmbuf_mtod(m, uint8_t *), n);
		m->data_len = (uint16_t)n;
		if (*head == NULL)
			*head = m;
		else
			tail->next = m;
		tail = m;
	}
	return tail;
}

/**
 * Cuts `len` bytes at the cursor out of the message. An mbuf that the TB ends in goes to the
 * TB behind; the part before is copied, so that no TB shares a buffer with another.
 * @return the TB without meta, or NULL when there was no mbuf; the cursor is past it either way
 */
static struct rte_mbuf *
tb_cut(struct cursor *c, uint32_t len, struct rte_mempool *proto)
{
	struct rte_mbuf *head = NULL, *tail = NULL;
	uint32_t left = len;
	uint16_t segs = 0;

	while (left > 0) {
		struct rte_mbuf *m = c->m;
		const uint32_t rest = m->data_len - c->off;

		if (left < rest) {
			tail = tb_copy(c, left, proto, &head, tail);
			if (tail == NULL) {
				rte_pktmbuf_free(head);
				return NULL;
			}
			break;
		}
		m->data_off += c->off;
		m->data_len = (uint16_t)rest;
		*c = (struct cursor){m->next, 0};
		m->next = NULL;
		if (head == NULL)
			head = m;
		else
			tail->next = m;
		tail = m;
		left -= rest;
	}
	for (const struct rte_mbuf *m = head; m != NULL; m = m->next)
		segs++;
	head->nb_segs = segs;
	head->pkt_len = len;
	return head;
}

static void
take_several(struct fapi_reassembly *r, struct fapi_message_rx *msg, const struct fapi_data *d,
	     const struct tb *tb, struct fapi_rx_out *out)
{
	const struct tb *end = &tb[d->pdus - 1];
	const struct ap_ext ext = *ap_ext(msg->head);
	const uint8_t flags = ap_meta(msg->head)->flags;
	struct cursor c = {msg->head, 0};

	/* The alignment behind the last TB must not look like a part of its last mbuf. */
	if (end->pad > 0) {
		msg->head->pkt_len = msg->bytes;
		ap_pkt_trim(msg->head, end->pad);
	}
	cursor_eat(&c, FAPI_DATA_LEN);
	for (; tb <= end; tb++) {
		struct rte_mbuf *m;

		cursor_eat(&c, FAPI_DATA_PDU_LEN);
		m = tb_cut(&c, tb->bytes, r->proto);
		out->made++;
		if (m == NULL) {
			out->drops[FAPI_RX_NO_MBUF]++;
		} else {
			*ap_meta(m) = (struct ap_meta){.flags = flags};
			*ap_ext(m) = ext;
			tb_mark(m, r, d, tb);
			out->tb[out->nb++] = m;
		}
		if (tb < end)
			cursor_eat(&c, tb->pad);
	}
}

int
fapi_tb_take(struct fapi_reassembly *r, struct fapi_message_rx *msg, struct fapi_rx_out *out)
{
	struct tb tb[FAPI_PDUS_MAX];
	struct fapi_data d;
	struct rte_mbuf *m;
	int ret = body_decode(msg, &d, tb);

	if (unlikely(ret < 0))
		return ret;
	if (unlikely(ret > 1)) {
		take_several(r, msg, &d, tb, out);
		return 0;
	}
	m = msg->head;
	m->pkt_len = msg->bytes;
	m->nb_segs = (uint16_t)msg->nb_segs;
	if (unlikely(tb[0].pad > 0))
		ap_pkt_trim(m, tb[0].pad);
	m = ap_pkt_strip(m, FAPI_DATA_LEN + FAPI_DATA_PDU_LEN);
	tb_mark(m, r, &d, &tb[0]);
	out->made++;
	out->tb[out->nb++] = m;
	return 0;
}
