/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The engine on DPDK's crypto devices. Integrity and ciphering are operations of their own,
 * for a MAC-I is ciphered with the data, which few devices do in one. A call returns when
 * the device has given back every operation.
 */

#include <stddef.h>

#include "codec/pdcp.h"
#include "modules/pdcp/pdcp_cryptodev.h"

/* Polls in which the device neither takes nor gives, before it is given up: 10 to 100 ms. */
#define POLLS_IDLE 1000000

static inline const struct pdcp_cryptodev_key *
key_of(const struct pdcp_secured *p)
{
	return p->sec->keys;
}

static inline struct pdcp_op_extra *
extra_of(struct rte_crypto_op *op)
{
	return rte_crypto_op_ctod_offset(op, struct pdcp_op_extra *, CRYPTODEV_EXTRA);
}

/** @return how many operations the device took; all that it took are done unless q->nb_out > 0. */
static uint16_t
operate(struct pdcp_cryptodev_queue *q, struct rte_crypto_op **ops, uint16_t nb)
{
	struct rte_crypto_op *back[CRYPTODEV_PDUS];
	uint16_t sent = 0, done = 0;

	for (uint32_t idle = 0; done < nb && idle < POLLS_IDLE; idle++) {
		uint16_t s = 0, d;

		if (sent < nb)
			s = rte_cryptodev_enqueue_burst(q->dev, q->qp, ops + sent, nb - sent);
		d = rte_cryptodev_dequeue_burst(q->dev, q->qp, back, CRYPTODEV_PDUS);
		sent += s;
		done += d;
		if (s + d > 0)
			idle = 0;
	}
	q->nb_out = sent - done;
	return sent;
}

/** @return false while operations of an earlier call are with the device. */
static bool
is_back(struct pdcp_cryptodev_queue *q)
{
	struct rte_crypto_op *back[CRYPTODEV_PDUS];

	if (likely(q->nb_out == 0))
		return true;
	q->nb_out -= rte_cryptodev_dequeue_burst(q->dev, q->qp, back, q->nb_out);
	if (q->nb_out > 0)
		return false;
	rte_pktmbuf_free_bulk(q->held, q->nb_held);
	q->nb_held = 0;
	return true;
}

/** Runs one operation for each of the PDUs `which`, the one of the same index. */
static void
run_ops(struct pdcp_cryptodev_queue *q, struct pdcp_secured *pdus, const uint16_t *which,
	uint16_t nb)
{
	struct rte_crypto_op *ops[CRYPTODEV_PDUS];
	uint16_t sent;

	for (uint16_t i = 0; i < nb; i++)
		ops[i] = q->ops[which[i]];
	sent = operate(q, ops, nb);
	for (uint16_t i = 0; i < nb; i++)
		if (unlikely(ops[i]->status != RTE_CRYPTO_OP_STATUS_SUCCESS))
			pdus[which[i]].failed = PDCP_SECURITY_DEVICE;
	if (likely(q->nb_out == 0))
		return;
	/* Which operations came back is not known: the device may still write to any of these. */
	for (uint16_t i = 0; i < sent; i++) {
		pdus[which[i]].failed = PDCP_SECURITY_DEVICE;
		rte_mbuf_refcnt_update(pdus[which[i]].m, 1);
		q->held[q->nb_held++] = pdus[which[i]].m;
	}
}

static void
op_prepare(struct rte_crypto_op *op, struct rte_mbuf *m, void *session)
{
	op->status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	op->sym->m_src = m;
	op->sym->m_dst = NULL;
	op->sym->session = session;
}

static void
auth_prepare(struct rte_crypto_op *op, const struct pdcp_secured *p)
{
	struct rte_crypto_sym_op *sym = op->sym;
	const uint32_t bytes = p->m->pkt_len - p->sec->mac_i_len;

	op_prepare(op, p->m, key_of(p)->auth);
	sym->auth.data.offset = 0;
	/* AES counts bytes, the others bits. */
	sym->auth.data.length = pdcp_key_of(p)->nia == PDCP_NIA2 ? bytes : bytes * 8;
	sym->auth.digest.data = (uint8_t *)extra_of(op)->mac_i;
	sym->auth.digest.phys_addr = rte_crypto_op_ctophys_offset(
		op, CRYPTODEV_EXTRA + offsetof(struct pdcp_op_extra, mac_i));
	if (pdcp_key_of(p)->nia != PDCP_NIA2)
		pdcp_stream_iv(p, extra_of(op)->iv_int);
}

static void
cipher_prepare(struct rte_crypto_op *op, const struct pdcp_secured *p)
{
	struct rte_crypto_sym_op *sym = op->sym;
	const uint32_t clear = p->sec->clear_len, bytes = p->m->pkt_len - clear;
	const bool aes = pdcp_key_of(p)->nea == PDCP_NEA2;

	op_prepare(op, p->m, key_of(p)->cipher);
	sym->cipher.data.offset = aes ? clear : clear * 8;
	sym->cipher.data.length = aes ? bytes : bytes * 8;
	pdcp_cipher_iv(p, extra_of(op)->iv_enc);
}

/** Computes the MAC-I, and writes it or compares it. */
static void
integrity(struct pdcp_cryptodev_queue *q, struct pdcp_secured *pdus, uint16_t nb, bool verify)
{
	uint64_t saved[CRYPTODEV_PDUS];
	uint16_t which[CRYPTODEV_PDUS], n = 0;

	for (uint16_t i = 0; i < nb; i++) {
		struct pdcp_secured *p = &pdus[i];

		if (p->failed || !pdcp_has_integrity(p))
			continue;
		if (pdcp_key_of(p)->nia == PDCP_NIA2) {
			uint8_t *prefix = (uint8_t *)rte_pktmbuf_prepend(p->m, CMAC_PREFIX);

			memcpy(&saved[i], prefix, CMAC_PREFIX);
			pdcp_cmac_prefix(p, prefix);
		}
		auth_prepare(q->ops[i], p);
		which[n++] = i;
	}
	if (n == 0)
		return;
	run_ops(q, pdus, which, n);
	for (uint16_t j = 0; j < n; j++) {
		const uint16_t i = which[j];
		struct pdcp_secured *p = &pdus[i];
		const uint32_t *mac_i = extra_of(q->ops[i])->mac_i;
		uint8_t *at =
			rte_pktmbuf_mtod_offset(p->m, uint8_t *, p->m->pkt_len - PDCP_MAC_I_LEN);

		if (pdcp_key_of(p)->nia == PDCP_NIA2) {
			memcpy(rte_pktmbuf_mtod(p->m, void *), &saved[i], CMAC_PREFIX);
			rte_pktmbuf_adj(p->m, CMAC_PREFIX);
		}
		if (p->failed)
			continue;
		if (!verify)
			memcpy(at, mac_i, PDCP_MAC_I_LEN);
		else if (memcmp(at, mac_i, PDCP_MAC_I_LEN) != 0)
			p->failed = PDCP_SECURITY_MAC_I;
	}
}

static void
cipher(struct pdcp_cryptodev_queue *q, struct pdcp_secured *pdus, uint16_t nb)
{
	uint16_t which[CRYPTODEV_PDUS], n = 0;

	for (uint16_t i = 0; i < nb; i++) {
		const struct pdcp_secured *p = &pdus[i];

		if (p->failed || pdcp_key_of(p)->nea == PDCP_NEA0 ||
		    p->m->pkt_len == p->sec->clear_len)
			continue;
		cipher_prepare(q->ops[i], p);
		which[n++] = i;
	}
	if (n == 0)
		return;
	run_ops(q, pdus, which, n);
}

/** Makes the PDU one segment that may be written, with room for the prefix. */
static void
place(struct pdcp_secured *p)
{
	if (unlikely(p->m->pkt_len > EIA3_MAX + PDCP_MAC_I_LEN) && pdcp_has_integrity(p) &&
	    pdcp_key_of(p)->nia == PDCP_NIA3)
		p->failed = PDCP_SECURITY_TOO_LONG;
	else if (!pdcp_stays(p->m))
		pdcp_move(p);
}

/** PDUs whose keys are of one device. */
static void
burst(struct pdcp_secured *pdus, uint16_t nb, bool verify)
{
	struct pdcp_cryptodev_queue *q = key_of(pdus)->device->queues[rte_lcore_id()];

	if (unlikely(!is_back(q))) {
		for (uint16_t i = 0; i < nb; i++)
			pdus[i].failed = PDCP_SECURITY_DEVICE;
		return;
	}
	for (uint16_t i = 0; i < nb; i++)
		place(&pdus[i]);
	if (!verify)
		integrity(q, pdus, nb, false);
	if (q->nb_out == 0)
		cipher(q, pdus, nb);
	if (verify && q->nb_out == 0)
		integrity(q, pdus, nb, true);
	/* Half of the work is none: nothing goes on in clear. */
	for (uint16_t i = 0; q->nb_out > 0 && i < nb; i++)
		if (!pdus[i].failed)
			pdus[i].failed = PDCP_SECURITY_DEVICE;
}

static void
run(struct pdcp_secured *pdus, uint16_t nb, bool verify)
{
	for (uint16_t i = 0, n; i < nb; i += n) {
		const struct pdcp_cryptodev_device *d = key_of(&pdus[i])->device;

		for (n = 1; n < CRYPTODEV_PDUS && i + n < nb; n++)
			if (key_of(&pdus[i + n])->device != d)
				break;
		burst(pdus + i, n, verify);
	}
}

static void
protect(struct pdcp_secured *pdus, uint16_t nb)
{
	run(pdus, nb, false);
}

static void
verify(struct pdcp_secured *pdus, uint16_t nb)
{
	run(pdus, nb, true);
}

const struct pdcp_crypto pdcp_cryptodev = {.name = "cryptodev",
					   .protect = protect,
					   .verify = verify,
					   .key_create = pdcp_cryptodev_key_create,
					   .key_destroy = pdcp_cryptodev_key_destroy};
