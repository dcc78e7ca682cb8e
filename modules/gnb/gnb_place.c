/* SPDX-License-Identifier: BSD-3-Clause */
/** Places of UEs, see gnb_place.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/be.h"
#include "core/clock.h"
#include "modules/gnb/gnb_place.h"
#include "modules/gnb/gnb_watch.h"
#include "modules/pdcp/pdcp_rx.h"
#include "modules/pdcp/pdcp_security.h"
#include "modules/pdcp/pdcp_tx.h"
#include "modules/rlc/rlc_tx.h"
#include "modules/ue/ue_pdcp.h"

#define QUIET_NS (50 * AP_NS_PER_MS) /* what was sent has come by then */

struct place {
	bool taken;
	bool keyed;               /**< its entities have had keys of a context */
	uint32_t renewed;         /**< Σ 1 << bearer: anew under the present keys */
	uint32_t set_up;          /**< Σ 1 << bearer: of the context that has it */
	uint64_t left_ns;         /**< keyed: since when nothing is sent */
	struct gnb_ue_spec radio; /**< of the context that has it, or had it last */
};

struct gnb_places {
	struct ue *stack;
	const struct ap_plan *plan;
	struct gnb_radio radio;
	struct gnb_watch *watch;                /**< of every bearer of the stack */
	struct gnb_drb_spec drbs[GNB_DRBS_MAX]; /**< as the deployment has them; bearer: which */
	struct place place[];
};

static const struct gnb_drb_spec *
drb(void *arg, unsigned id)
{
	const struct gnb_places *p = arg;

	for (unsigned i = 0; i < p->stack->cfg->bearers_count; i++)
		if (p->drbs[i].id == id)
			return &p->drbs[i];
	return NULL;
}

static uint32_t
count(void *arg, uint32_t bearer)
{
	const struct gnb_places *p = arg;

	/* The worker's word, whole. */
	return (uint32_t)__atomic_load_n(&p->stack->l2.pdcp_tx[bearer].TX_NEXT, __ATOMIC_RELAXED);
}

static unsigned
look(void *arg, uint32_t bearer, struct gnb_report *reports)
{
	struct gnb_places *p = arg;

	return gnb_watch_look(&p->watch[bearer], &p->stack->l2, bearer, reports);
}

/* --- who is where ----------------------------------------------------------------------------- */

static int
choose(const struct gnb_places *p, struct gnb_session_spec *s, char *why, unsigned size)
{
	const struct l2 *l2 = &p->stack->l2;
	uint32_t u = 0;

	if (s->radio.rnti) {
		u = l2_ue_of_rnti(l2, s->radio.rnti);
		if (u == L2_NO_UE) {
			snprintf(why, size, "C-RNTI %u is none of this gNB's, %u..%u",
				 s->radio.rnti, l2->rnti, l2->rnti + l2->nb_ues - 1);
			return -EINVAL;
		}
		snprintf(why, size, "C-RNTI %u is another UE's", s->radio.rnti);
	} else {
		while (u < l2->nb_ues && p->place[u].taken)
			u++;
		snprintf(why, size, "all %u places of UEs are taken", l2->nb_ues);
	}
	if (u == l2->nb_ues || p->place[u].taken)
		return -EBUSY;
	s->ue = u;
	s->radio.rnti = (uint16_t)(l2->rnti + u);
	return 0;
}

/* --- keys ------------------------------------------------------------------------------------- */

/** Nothing was numbered, and nothing received. */
static bool
pristine(const struct l2 *l2, uint32_t bearer)
{
	return l2->pdcp_tx[bearer].TX_NEXT == 0 && l2->pdcp_rx[bearer].RX_NEXT == 0 &&
	       rlc_tx_held(&l2->rlc_tx[bearer]) == 0;
}

static bool
keys_repeat(const struct gnb_ue_spec *a, const struct gnb_ue_spec *b)
{
	return (a->nea && a->nea == b->nea && !memcmp(a->key_enc, b->key_enc, PDCP_KEY_LEN)) ||
	       (a->nia && a->nia == b->nia && !memcmp(a->key_int, b->key_int, PDCP_KEY_LEN));
}

/** Whether a fresh context may have the keys it has, or none. */
static int
keys_check(const struct gnb_places *p, const struct place *at, const struct gnb_session_spec *s,
	   char *why, unsigned size)
{
	const uint32_t first = s->ue * p->stack->cfg->bearers_count;

	if (!s->radio.given && at->keyed) {
		snprintf(why, size, "C-RNTI %u had keys of a context: give security, with new keys",
			 s->radio.rnti);
		return -EACCES;
	}
	if (!s->radio.given)
		return 0;
	if ((s->radio.nea || s->radio.nia) && p->stack->l2.pools.pdcp == NULL) {
		snprintf(
			why, size,
			"security: the role's own in the deployment has NEA0 and NIA0, so there is "
			"no room for ciphered PDUs");
		return -EACCES;
	}
	for (unsigned i = 0; i < s->nb_drbs; i++) {
		const uint32_t k = s->drbs[i].bearer - first;

		if (p->stack->cfg->bearers[k].pdcp.integrity && s->radio.nia == 0) {
			snprintf(why, size, "DRB %u has integrity protection: nia 1..3 is needed",
				 s->drbs[i].id);
			return -EACCES;
		}
		if (!pristine(&p->stack->l2, s->drbs[i].bearer) &&
		    keys_repeat(&s->radio, &at->radio)) {
			snprintf(why, size,
				 "security: keys that C-RNTI %u had already: COUNT would begin "
				 "again under them",
				 s->radio.rnti);
			return -EACCES;
		}
	}
	return 0;
}

/** A key object of either direction's; NULL where the DRB needs none. */
static int
key_of(const struct gnb_places *p, const struct ue_bearer *b, const struct gnb_ue_spec *r,
       struct pdcp_keys *keys, struct ap_error *err)
{
	struct pdcp_security_cfg cfg = {.nea = r->nea, .nia = r->nia};
	struct pdcp_security_key *key = NULL;
	int rc;

	memcpy(cfg.key_enc, r->key_enc, PDCP_KEY_LEN);
	memcpy(cfg.key_int, r->key_int, PDCP_KEY_LEN);
	rc = ue_key_create(p->stack, b->cfg, &cfg, &key, err);
	explicit_bzero(&cfg, sizeof(cfg));
	*keys = (struct pdcp_keys){key ? pdcp_security_crypto(key) : NULL, key};
	return rc;
}

/** The keys of one direction that are not in use any more, or never came to be. */
static void
key_free(void *key, const struct pdcp_security *used)
{
	if (key != used->keys)
		pdcp_security_key_destroy(key);
}

/** A DRB begins anew. */
static int
renew(struct gnb_places *p, const struct place *at, const struct gnb_session_spec *s,
      const struct gnb_drb_spec *d, char *why, unsigned size)
{
	const struct pdcp_security *rx = &p->stack->l2.pdcp_rx[d->bearer].sec;
	const struct pdcp_security *tx = &p->stack->l2.pdcp_tx[d->bearer].sec;
	const bool quiet = at->left_ns && ap_clock_ns() - at->left_ns > QUIET_NS;
	void *old_rx = rx->keys, *old_tx = tx->keys;
	struct ue_bearer b = {.count = d->count};
	struct ap_error err = {0};
	int rc;

	ue_bearer_find(&b, p->plan, p->stack, d->bearer);
	rc = key_of(p, &b, &s->radio, &b.rx_keys, &err);
	if (rc == 0)
		rc = key_of(p, &b, &s->radio, &b.tx_keys, &err);
	if (rc == 0)
		rc = ue_pdcp_renew(&b, !quiet && !pristine(&p->stack->l2, d->bearer));
	key_free(b.rx_keys.keys, rx);
	key_free(b.tx_keys.keys, tx);
	key_free(old_rx, rx);
	key_free(old_tx, tx);
	p->stack->keys_asked[d->bearer] = 0;
	if (rc < 0)
		snprintf(why, size, "DRB %u: %.80s", d->id, err.text[0] ? err.text : strerror(-rc));
	return rc;
}

/** DRBs that the context's keys have not seen begin anew under them. */
static int
begin(struct gnb_places *p, struct place *at, const struct gnb_session_spec *s, char *why,
      unsigned size)
{
	const uint32_t first = s->ue * p->stack->cfg->bearers_count;

	for (unsigned i = 0; i < s->nb_drbs; i++) {
		const struct gnb_drb_spec *d = &s->drbs[i];
		const uint32_t bit = 1U << (d->bearer - first);
		const bool anew = s->radio.given && !(at->renewed & bit);
		int rc = 0;

		if (d->count && d->set_count && !anew) {
			snprintf(why, size, "DRB %u: dl_count: COUNT runs on without new keys",
				 d->id);
			return -EINVAL;
		}
		if (anew)
			rc = renew(p, at, s, d, why, size);
		if (rc < 0)
			return rc;
		at->renewed |= bit;
	}
	return 0;
}

/** DRBs that the context did not have are watched from now on. */
static void
watch(void *arg, const struct gnb_session_spec *s)
{
	struct gnb_places *p = arg;
	struct place *at = &p->place[s->ue];
	const uint32_t first = s->ue * p->stack->cfg->bearers_count;
	uint32_t now = 0;

	for (unsigned i = 0; i < s->nb_drbs; i++) {
		const uint32_t bearer = s->drbs[i].bearer, bit = 1U << (bearer - first);

		if (!(at->set_up & bit))
			gnb_watch_begin(&p->watch[bearer], &p->stack->l2, bearer);
		now |= bit;
	}
	at->set_up = now;
}

/* --- sessions --------------------------------------------------------------------------------- */

static int
enter(void *arg, struct gnb_session_spec *s, bool fresh, char *why, unsigned size)
{
	struct gnb_places *p = arg;
	struct place *at;
	int rc = fresh ? choose(p, s, why, size) : 0;

	if (rc < 0)
		return rc;
	at = &p->place[s->ue];
	for (unsigned i = 0; i < s->nb_drbs; i++)
		s->drbs[i].bearer =
			s->ue * p->stack->cfg->bearers_count + drb(p, s->drbs[i].id)->bearer;
	if (!fresh)
		return begin(p, at, s, why, size);
	rc = keys_check(p, at, s, why, size);
	if (rc < 0)
		return rc;
	at->renewed = 0;
	at->keyed |= s->radio.given;
	if (s->radio.given)
		at->radio = s->radio;
	rc = begin(p, at, s, why, size);
	at->taken = rc == 0;
	at->set_up = 0;
	return rc;
}

/** Under keys of a context that has gone nothing more is sent. */
static void
leave(void *arg, const struct gnb_session_spec *s)
{
	struct gnb_places *p = arg;
	struct place *at = &p->place[s->ue];
	const uint32_t nb = p->stack->cfg->bearers_count;

	at->taken = false;
	if (!s->radio.given)
		return;
	for (uint32_t i = 0; i < nb; i++)
		rlc_tx_suspend(&p->stack->l2.rlc_tx[s->ue * nb + i], true);
	at->left_ns = ap_clock_ns();
}

/* --- life ------------------------------------------------------------------------------------- */

static void
drb_fill(struct gnb_drb_spec *to, const struct ap_cfg_bearer *b, uint32_t i)
{
	*to = (struct gnb_drb_spec){
		.id = (uint8_t)b->id,
		.sdap_dl = b->sdap.dl_header == AP_CFG_ON,
		.sdap_ul = b->sdap.ul_header == AP_CFG_ON,
		.pdcp_sn_bits = b->pdcp.sn_bits,
		.rlc_mode = (uint8_t)b->rlc.mode,
		.rlc_sn_bits = b->rlc.sn_bits,
		.bearer = i,
		.lcid = b->lcid,
		.priority = b->mac.priority,
	};
}

/** The role's own keys, of the UE at a place: what its entities have at first. */
static void
keys_fill(const struct ap_cfg_security *s, uint32_t u, struct gnb_ue_spec *to)
{
	*to = (struct gnb_ue_spec){.nea = s->nea, .nia = s->nia};
	if (s->nea && ap_config_key(s->key_enc, to->key_enc) == 0)
		be32_put(to->key_enc + 12, be32_get(to->key_enc + 12) ^ u);
	if (s->nia && ap_config_key(s->key_int, to->key_int) == 0)
		be32_put(to->key_int + 12, be32_get(to->key_int + 12) ^ u);
}

struct gnb_places *
gnb_places_create(struct ue *stack, const struct ap_plan *plan)
{
	const struct ap_cfg_ue *cfg = stack->cfg;
	struct gnb_places *p = calloc(1, sizeof(*p) + cfg->count * sizeof(p->place[0]));

	if (p)
		p->watch = calloc(cfg->count * cfg->bearers_count, sizeof(*p->watch));
	if (p == NULL || p->watch == NULL) {
		free(p);
		return NULL;
	}
	p->stack = stack;
	p->plan = plan;
	p->radio = (struct gnb_radio){.drb = drb,
				      .enter = enter,
				      .begin = watch,
				      .leave = leave,
				      .count = count,
				      .look = look,
				      .arg = p};
	for (uint32_t i = 0; i < cfg->bearers_count; i++)
		drb_fill(&p->drbs[i], &cfg->bearers[i], i);
	for (uint32_t u = 0; u < cfg->count; u++)
		keys_fill(&cfg->security, u, &p->place[u].radio);
	return p;
}

void
gnb_places_destroy(struct gnb_places *p)
{
	if (p == NULL)
		return;
	free(p->watch);
	explicit_bzero(p->place, p->stack->cfg->count * sizeof(p->place[0]));
	free(p);
}

const struct gnb_radio *
gnb_places_radio(const struct gnb_places *p)
{
	return &p->radio;
}
