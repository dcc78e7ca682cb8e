/* SPDX-License-Identifier: BSD-3-Clause */
/** Contexts of a gNB, see gnb_ctx.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>

#include "modules/gnb/gnb_ctx.h"

/* --- header formats --------------------------------------------------------------------------- */

/** What RLC puts before a complete SDU: TS 38.322 §6.2.2.3, §6.2.2.4. */
enum rlc_kind { RLC_NONE, RLC_UM, RLC_AM12, RLC_AM18 };

#define FORMAT(rlc, pdcp18, dl, ul) ((rlc) << 3 | (pdcp18) << 2 | (dl) << 1 | (ul))

/* Octets, and the word: RLC, then PDCP, then SDAP in its low octets. */
#define RLC_BYTES(rlc) ((rlc) == RLC_NONE ? 0 : (rlc) == RLC_UM ? 1 : (rlc) == RLC_AM12 ? 2 : 3)
#define PDCP_BYTES(p18) (2 + (p18))
#define BELOW_RLC(p18, dl) (8 * (PDCP_BYTES(p18) + (dl)))
#define RLC_DC(rlc, p18, dl)                                                                       \
	((rlc) >= RLC_AM12 ? 0x80ULL << (8 * (RLC_BYTES(rlc) - 1) + BELOW_RLC(p18, dl)) : 0)
#define PDCP_DC(p18, dl) (0x80ULL << (8 * (PDCP_BYTES(p18) - 1 + (dl))))

#define F(rlc, p18, dl, ul)                                                                        \
	[FORMAT(rlc, p18, dl, ul)] = {                                                             \
		.bits = RLC_DC(rlc, p18, dl) | PDCP_DC(p18, dl),                                   \
		.sn_mask = (p18) ? 0x3FFFF : 0xFFF,                                                \
		.rlc_mask = (rlc) == RLC_AM18   ? 0x3FFFF                                          \
			    : (rlc) == RLC_AM12 ? 0xFFF                                            \
						: 0,                                               \
		.sn_shift = 8 * (dl),                                                              \
		.rlc_shift = BELOW_RLC(p18, dl),                                                   \
		.sdap_mask = (dl) ? 0x7F : 0,                                                      \
		.dl_bytes = RLC_BYTES(rlc) + PDCP_BYTES(p18) + (dl),                               \
		.ul_bytes = RLC_BYTES(rlc) + PDCP_BYTES(p18) + (ul),                               \
		.rlc_bytes = RLC_BYTES(rlc),                                                       \
		.pdcp_bytes = PDCP_BYTES(p18),                                                     \
		.sdap_ul = (ul),                                                                   \
	}
#define F_UL(rlc, p18, dl) F(rlc, p18, dl, 0), F(rlc, p18, dl, 1)
#define F_SDAP(rlc, p18) F_UL(rlc, p18, 0), F_UL(rlc, p18, 1)
#define F_PDCP(rlc) F_SDAP(rlc, 0), F_SDAP(rlc, 1)

const struct gnb_format gnb_formats[GNB_FORMATS] = {
	F_PDCP(RLC_NONE),
	F_PDCP(RLC_UM),
	F_PDCP(RLC_AM12),
	F_PDCP(RLC_AM18),
};

static uint8_t
format_of(const struct gnb_drb_spec *d)
{
	unsigned rlc = d->no_rlc || d->rlc_mode == GNB_RLC_TM ? RLC_NONE
		       : d->rlc_mode == GNB_RLC_UM            ? RLC_UM
		       : d->rlc_sn_bits == 12                 ? RLC_AM12
							      : RLC_AM18;

	return (uint8_t)FORMAT(rlc, d->pdcp_sn_bits == 18, d->sdap_dl, d->sdap_ul);
}

/* --- the table -------------------------------------------------------------------------------- */

struct gnb_table *
gnb_table_create(uint32_t capacity, unsigned drbs_per_session, int socket)
{
	struct gnb_table *t;

	if (capacity == 0 || capacity > GNB_SESSIONS_MAX || drbs_per_session == 0 ||
	    drbs_per_session > GNB_DRBS_MAX || !rte_is_power_of_2(drbs_per_session))
		return NULL;
	t = rte_zmalloc_socket("gnb_table", sizeof(*t), RTE_CACHE_LINE_SIZE, socket);
	if (t == NULL)
		return NULL;
	t->capacity = capacity;
	t->drb_shift = (uint8_t)rte_log2_u32(drbs_per_session);
	t->sessions = rte_zmalloc_socket("gnb_sessions", (capacity + 1ULL) * sizeof(*t->sessions),
					 RTE_CACHE_LINE_SIZE, socket);
	t->drbs = rte_zmalloc_socket("gnb_drbs",
				     (size_t)capacity * drbs_per_session * sizeof(*t->drbs),
				     RTE_CACHE_LINE_SIZE, socket);
	if (t->sessions && t->drbs)
		return t;
	gnb_table_destroy(t);
	return NULL;
}

void
gnb_table_destroy(struct gnb_table *t)
{
	if (t == NULL)
		return;
	rte_free(t->sessions);
	rte_free(t->drbs);
	rte_free(t);
}

/* --- images ----------------------------------------------------------------------------------- */

struct making {
	char *why;
	unsigned size;
};

static int __attribute__((format(printf, 2, 3)))
refuse(const struct making *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->why, m->size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static bool
rlc_is_sound(const struct gnb_drb_spec *d)
{
	switch (d->rlc_mode) {
	case GNB_RLC_TM:
		return true;
	case GNB_RLC_UM: /* TS 38.322 §6.2.3.3 */
		return d->rlc_sn_bits == 6 || d->rlc_sn_bits == 12;
	case GNB_RLC_AM:
		return d->rlc_sn_bits == 12 || d->rlc_sn_bits == 18;
	default:
		return false;
	}
}

static int
drb_check(const struct making *m, const struct gnb_drb_spec *d, unsigned drbs_per_session,
	  const struct gnb_image *image)
{
	if (d->id < 1 || d->id > 32)
		return refuse(m, "DRB ID %u is not 1..32", d->id);
	if (d->slot >= drbs_per_session || image->drbs[d->slot].config.id != 0)
		return refuse(m, "DRB %u has no slot of its own", d->id);
	for (unsigned i = 0; i < drbs_per_session; i++)
		if (image->drbs[i].config.id == d->id)
			return refuse(m, "DRB %u is there twice", d->id);
	if (d->pdcp_sn_bits != 12 && d->pdcp_sn_bits != 18)
		return refuse(m, "DRB %u: PDCP SN of %u bits is not 12 or 18", d->id,
			      d->pdcp_sn_bits);
	if (!rlc_is_sound(d))
		return refuse(m, "DRB %u: RLC mode %u has no SN of %u bits", d->id, d->rlc_mode,
			      d->rlc_sn_bits);
	if (d->qfis == 0 && !d->is_default)
		return refuse(m, "DRB %u takes no QoS flow and is not the default DRB", d->id);
	/* TS 37.324 §5.2.1: which flow a packet is of is told by the header, or by the DRB. */
	if (!d->sdap_ul && (d->is_default || __builtin_popcountll(d->qfis) != 1))
		return refuse(m,
			      "DRB %u has several QoS flows, or is the default one: it needs the "
			      "uplink SDAP header",
			      d->id);
	return 0;
}

static void
map_put(struct gnb_session *s, unsigned qfi, unsigned slot)
{
	unsigned shift = (qfi & 1) * 4;

	s->slot_of[qfi >> 1] = (uint8_t)((s->slot_of[qfi >> 1] & ~(15U << shift)) | slot << shift);
}

static int
drb_put(const struct making *m, const struct gnb_drb_spec *d, struct gnb_image *image,
	uint64_t *mapped)
{
	struct gnb_drb *row = &image->drbs[d->slot];

	if (d->qfis & *mapped)
		return refuse(m, "QFI %d is mapped to DRB %u and to another one",
			      __builtin_ctzll(d->qfis & *mapped), d->id);
	*mapped |= d->qfis;
	for (unsigned qfi = 0; qfi <= GNB_QFI_MAX; qfi++)
		if (d->qfis >> qfi & 1)
			map_put(&image->session, qfi, d->slot);
	*row = (struct gnb_drb){
		.tx_next = d->count,
		.rlc_tx_next = d->rlc_sn,
		.owner = GNB_OWNER_HOST,
		.config = {.du_teid = d->du_teid,
			   .du = d->du,
			   .format = format_of(d),
			   .id = d->id,
			   .ul_qfi = d->qfis ? (uint8_t)__builtin_ctzll(d->qfis) : 0},
	};
	if (d->set_count)
		image->set_count |= (uint8_t)(1U << d->slot);
	return 0;
}

int
gnb_image_make(const struct gnb_session_spec *spec, unsigned drbs_per_session,
	       struct gnb_image *image, char *why, unsigned size)
{
	const struct making m = {why, size};
	struct gnb_session *s = &image->session;
	uint64_t mapped = 0;

	*image = (struct gnb_image){
		.session = {.teid = spec->teid,
			    .ul_teid = spec->ul_teid,
			    .upf = spec->upf,
			    .flags = spec->flags,
			    .nb_drbs = spec->nb_drbs,
			    .forward_teid = spec->forward_teid,
			    .forward = spec->forward,
			    .pdu_session = spec->pdu_session,
			    .default_slot = GNB_NO_DRB,
			    .ue = spec->ue},
	};
	memset(s->slot_of, GNB_NO_DRB << 4 | GNB_NO_DRB, sizeof(s->slot_of));
	if (spec->nb_drbs == 0 || spec->nb_drbs > drbs_per_session)
		return refuse(&m, "%u DRBs, where a PDU session has 1..%u here", spec->nb_drbs,
			      drbs_per_session);
	for (unsigned i = 0; i < spec->nb_drbs; i++) {
		const struct gnb_drb_spec *d = &spec->drbs[i];
		int rc = drb_check(&m, d, drbs_per_session, image);

		if (rc == 0 && d->is_default && s->default_slot != GNB_NO_DRB)
			rc = refuse(&m, "DRB %u is a second default DRB", d->id);
		if (rc == 0)
			rc = drb_put(&m, d, image, &mapped);
		if (rc < 0)
			return rc;
		if (d->is_default)
			s->default_slot = d->slot;
	}
	for (unsigned qfi = 0; qfi <= GNB_QFI_MAX; qfi++)
		if (!(mapped >> qfi & 1))
			map_put(s, qfi, s->default_slot);
	return 0;
}

/* --- changes ---------------------------------------------------------------------------------- */

/** What runs on in a DRB that stays. */
static void
carry_over(struct gnb_drb *to, const struct gnb_drb *from, bool set_count)
{
	const struct gnb_drb said = *to;

	*to = *from;
	to->config = said.config;
	if (set_count) {
		to->tx_next = said.tx_next;
		to->rlc_tx_next = said.rlc_tx_next;
		to->flags = said.flags;
		to->owner = said.owner;
	}
}

void
gnb_session_set(struct gnb_table *t, const struct gnb_image *image)
{
	struct gnb_session *s = &t->sessions[gnb_teid_index(image->session.teid)];
	struct gnb_drb *drbs = gnb_drb_at(t, image->session.teid, 0);
	bool same = s->teid == image->session.teid;

	for (unsigned i = 0; i < gnb_drbs_per_session(t); i++) {
		struct gnb_drb row = image->drbs[i];

		if (same && row.config.id != 0 && row.config.id == drbs[i].config.id)
			carry_over(&row, &drbs[i], image->set_count >> i & 1);
		drbs[i] = row;
	}
	*s = image->session;
}

bool
gnb_session_clear(struct gnb_table *t, uint32_t teid)
{
	struct gnb_session *s = gnb_session_at(t, teid);

	if (!gnb_session_is(s, teid))
		return false;
	memset(s, 0, sizeof(*s));
	memset(gnb_drb_at(t, teid, 0), 0, sizeof(struct gnb_drb) << t->drb_shift);
	return true;
}
