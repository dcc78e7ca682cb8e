/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_PDCP_RX_RIG_H
#define AIRPATH_PDCP_RX_RIG_H

/** A receiving entity, PDUs that carry their COUNT, and what it delivered of them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "modules/pdcp/pdcp_rx.h"
#include "modules/pdcp/pdcp_tx.h"
#include "test_eal.h"

#define MS AP_NS_PER_MS
#define OUT_MAX 8192

static struct rte_mempool *pool;
static uint64_t drops[PDCP_RX_DROPS];
static uint64_t used;
static uint32_t out[OUT_MAX]; /* what the SDUs delivered since expect() carry */
static unsigned nb_out;

static inline void
deliver(void *arg, struct rte_mbuf **sdus, uint16_t nb)
{
	(void)arg;
	for (uint16_t i = 0; i < nb; i++) {
		assert_int_equal(sdus[i]->pkt_len, sizeof(uint32_t));
		rte_memcpy(&out[nb_out++], rte_pktmbuf_mtod(sdus[i], void *), sizeof(uint32_t));
		rte_pktmbuf_free(sdus[i]);
	}
}

static const struct pdcp_rx_sink sink = {.deliver = deliver, .drops = drops, .used = &used};

static inline struct pdcp_rx_cfg
config(uint8_t sn_size, uint32_t t_Reordering)
{
	return (struct pdcp_rx_cfg){
		.pdcp_SN_Size = sn_size, .t_Reordering = t_Reordering, .rb_identity = 1};
}

static inline void
start(struct pdcp_rx *e, const struct pdcp_rx_cfg *cfg, uint64_t count)
{
	memset(drops, 0, sizeof(drops));
	nb_out = 0;
	used = 0;
	assert_int_equal(pdcp_rx_init(e, cfg), 0);
	e->RX_NEXT = e->RX_DELIV = count;
}

/** A Data PDU whose SDU is its COUNT. */
static inline struct rte_mbuf *
pdu(const struct pdcp_rx *e, uint32_t count)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	pdcp_hdr_put(e->format, (uint8_t *)rte_pktmbuf_append(m, pdcp_hdr_len(e->format)), count);
	memcpy(rte_pktmbuf_append(m, sizeof(count)), &count, sizeof(count));
	*ap_meta(m) = (struct ap_meta){0};
	return m;
}

static inline void
receive(struct pdcp_rx *e, uint64_t now, uint64_t count)
{
	struct rte_mbuf *m = pdu(e, (uint32_t)count);

	pdcp_rx_receive(e, &m, 1, now, &sink);
}

/** The SDUs delivered since last asked are `nb` with the COUNTs given. */
static inline void
expect(unsigned nb, ...)
{
	va_list ap;

	assert_int_equal(nb_out, nb);
	va_start(ap, nb);
	for (unsigned i = 0; i < nb; i++)
		assert_int_equal(out[i], va_arg(ap, uint32_t));
	va_end(ap);
	nb_out = 0;
}

static inline void
stop(struct pdcp_rx *e)
{
	pdcp_rx_fini(e);
	assert_pool_full(pool);
}

static bool starved;

static inline void
starve(struct pdcp_secured *pdus, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++)
		pdus[i].failed = starved ? PDCP_SECURITY_NO_MBUF : PDCP_SECURITY_OK;
}

static inline void
receive_secured(struct pdcp_rx *e, uint32_t sn)
{
	static struct pdcp_batch b;
	struct rte_mbuf *m = pdu(e, sn);
	uint32_t count;

	assert_true(pdcp_rx_pre_process(e, m, &count, &sink));
	pdcp_batch_add(&b, m, e, &e->sec, count);
	pdcp_rx_verify(&b, 0, &sink);
}

static inline int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("pdcp", 1023, 512);
	return pool ? 0 : -1;
}

#endif
