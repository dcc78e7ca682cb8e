/* SPDX-License-Identifier: BSD-3-Clause */

/* Re-establishment and data recovery of the transmitting entity, TS 38.323 §5.1.2 and §5.5. */

#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/pkt.h"
#include "modules/pdcp/pdcp_control.h"
#include "modules/rlc/rlc_control.h"

/** A PDU that came back from RLC. */
struct again {
	struct rte_mbuf *m; /**< NULL: freed since */
	uint32_t enter_us;
	uint32_t count;
	bool data;
};

struct list {
	struct again *pdus;
	unsigned nb;
	enum pdcp_format format;
};

static void
take(void *arg, struct rte_mbuf *m, uint32_t enter_us)
{
	struct list *l = arg;

	l->pdus[l->nb++] = (struct again){.m = m, .enter_us = enter_us};
}

/**
 * COUNTs from SNs: TX_NEXT follows the newest, each older one lies less than the SN space before
 * the one behind it.
 */
static void
find_counts(struct list *l, uint64_t TX_NEXT)
{
	const uint64_t mask = (1ULL << pdcp_sn_bits(l->format)) - 1;
	uint64_t behind = TX_NEXT;

	for (unsigned i = l->nb; i-- > 0;) {
		struct again *a = &l->pdus[i];
		uint8_t buf[PDCP_HDR_MAX];
		const uint8_t *p = rte_pktmbuf_read(a->m, 0, pdcp_hdr_len(l->format), buf);

		a->data = p != NULL && pdcp_is_data(l->format, p);
		if (!a->data)
			continue;
		behind -= 1 + ((behind - 1 - pdcp_hdr_sn(l->format, p)) & mask);
		a->count = (uint32_t)behind;
	}
}

/** Runs protect or verify over the data PDUs of the list; what fails is freed. */
static void
crypt(struct list *l, const struct pdcp_security *sec,
      void (*run)(struct pdcp_secured *pdus, uint16_t nb))
{
	struct pdcp_batch b = {0};
	unsigned from[PDCP_CRYPTO_BATCH];

	for (unsigned i = 0; i < l->nb; i++) {
		if (l->pdus[i].m != NULL && l->pdus[i].data) {
			from[b.nb] = i;
			pdcp_batch_add(&b, l->pdus[i].m, NULL, sec, l->pdus[i].count);
		}
		if (b.nb == 0 || (b.nb < PDCP_CRYPTO_BATCH && i + 1 < l->nb))
			continue;
		run(b.pdus, b.nb);
		for (unsigned k = 0; k < b.nb; k++) {
			l->pdus[from[k]].m = b.pdus[k].failed ? NULL : b.pdus[k].m;
			if (b.pdus[k].failed)
				rte_pktmbuf_free(b.pdus[k].m);
		}
		b.nb = 0;
	}
}

/** PDUs become SDUs again, and these PDUs with new COUNTs. */
static void
number_anew(struct pdcp_tx *e, struct list *l)
{
	const uint32_t submitted = e->submitted;
	uint64_t drops[PDCP_TX_DROPS] = {0};

	for (unsigned i = 0; i < l->nb; i++) {
		struct again *a = &l->pdus[i];

		if (a->m == NULL || !a->data)
			continue;
		if (e->sec.mac_i_len)
			ap_pkt_trim(a->m, e->sec.mac_i_len);
		a->m = ap_pkt_strip(a->m, (uint16_t)pdcp_hdr_len(e->format));
		a->count = (uint32_t)e->TX_NEXT;
		if (pdcp_tx_pre_process(e, &a->m, 1, drops) == 0)
			a->m = NULL;
	}
	e->submitted = submitted; /* submit() counts */
}

/** Into the RLC queue, each with the time it first came there. */
static void
submit(struct pdcp_tx *e, struct rlc_tx *rlc, const struct list *l, bool data,
       struct pdcp_resubmitted *r)
{
	uint64_t drops[RLC_TX_DROPS] = {0};

	for (unsigned i = 0; i < l->nb; i++) {
		struct again *a = &l->pdus[i];

		if (a->m == NULL || a->data != data)
			continue;
		e->submitted++;
		r->again += rlc_tx_push(rlc, &a->m, 1, a->enter_us * AP_NS_PER_US, drops);
	}
}

static int
take_back(struct pdcp_tx *e, struct rlc_tx *rlc, struct list *l, struct pdcp_resubmitted *r)
{
	*l = (struct list){.format = e->format};
	l->pdus = calloc(rlc_tx_held(rlc) + 1, sizeof(*l->pdus));
	if (l->pdus == NULL)
		return -ENOMEM;
	r->taken += rlc_tx_take_unconfirmed(rlc, take, l);
	/* Nothing is under way any more: whatever a cut may once have dropped, all room is free. */
	e->submitted = rlc_tx_taken(rlc);
	find_counts(l, e->TX_NEXT);
	return 0;
}

/** A status report is "the first PDCP PDU for the transmission" (§5.4.1). */
static void
submit_all(struct pdcp_tx *e, struct rlc_tx *rlc, struct list *l, struct pdcp_resubmitted *r)
{
	submit(e, rlc, l, false, r);
	submit(e, rlc, l, true, r);
	free(l->pdus);
}

int
pdcp_tx_reestablish(struct pdcp_tx *e, struct rlc_tx *rlc, enum pdcp_drb_mode mode,
		    const struct pdcp_keys *keys, struct pdcp_resubmitted *r)
{
	struct list l;

	if (take_back(e, rlc, &l, r) < 0)
		return -ENOMEM;
	if (e->sec.crypto)
		crypt(&l, &e->sec, e->sec.crypto->verify);
	/* for UM DRBs, set TX_NEXT to the initial value */
	if (mode == PDCP_DRB_UM) {
		e->TX_NEXT = 0;
		e->limit = pdcp_count_limit(e->count_notify);
	}
	/* apply the ciphering and integrity protection algorithms and keys provided by upper
	 * layers */
	e->sec.crypto = keys->crypto;
	e->sec.keys = keys->keys;
	/* for UM DRBs, for each PDCP SDU already associated with a PDCP SN but for which a
	 * corresponding PDU has not previously been submitted to lower layers: consider the PDCP
	 * SDUs as received from upper layer; perform transmission in ascending order of the COUNT
	 * value associated prior to the re-establishment without restarting the discardTimer.
	 * for AM DRBs, from the first PDCP SDU for which the successful delivery has not been
	 * confirmed by lower layers, perform retransmission or transmission in ascending order of
	 * the COUNT values associated prior to the re-establishment: perform integrity protection
	 * and ciphering using the COUNT value associated with this PDCP SDU */
	if (mode == PDCP_DRB_UM)
		number_anew(e, &l);
	if (e->sec.crypto)
		crypt(&l, &e->sec, e->sec.crypto->protect);
	submit_all(e, rlc, &l, r);
	return 0;
}

int
pdcp_tx_recover(struct pdcp_tx *e, struct rlc_tx *rlc, struct pdcp_resubmitted *r)
{
	struct list l;

	if (take_back(e, rlc, &l, r) < 0)
		return -ENOMEM;
	/* perform retransmission of all the PDCP Data PDUs previously submitted to re-established
	 * or released AM RLC entity in ascending order of the associated COUNT values for which the
	 * successful delivery has not been confirmed by lower layers */
	submit_all(e, rlc, &l, r);
	return 0;
}

static void
discard(void *arg, struct rte_mbuf *m, uint32_t enter_us)
{
	(void)arg;
	(void)enter_us;
	rte_pktmbuf_free(m);
}

void
pdcp_tx_renew(struct pdcp_tx *e, struct rlc_tx *rlc, const struct pdcp_keys *keys, uint32_t count,
	      struct pdcp_resubmitted *r)
{
	r->taken += rlc_tx_take_unconfirmed(rlc, discard, NULL);
	e->submitted = rlc_tx_taken(rlc);
	e->TX_NEXT = count;
	e->limit = pdcp_count_limit(e->count_notify);
	e->sec.crypto = keys->crypto;
	e->sec.keys = keys->keys;
}
