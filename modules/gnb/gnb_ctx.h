/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_CTX_H
#define AIRPATH_GNB_CTX_H

/**
 * Contexts of a gNB: PDU sessions and their DRBs, as packets find them by TEID.
 *
 * A TEID we choose is generation (8) | index (20) | slot (4). Slot 15 is the N3 tunnel of the
 * session, downlink; 0..7 is the F1-U tunnel of its DRB in that slot, uplink. Generations begin
 * with 1, so no TEID is 0. A packet touches one line of the session and one of the DRB.
 *
 * A row belongs to the worker that gnb_worker_of() names: it alone writes it, the control thread
 * asks it to by messages (gnb_msg.h). Others may read counters, which are then a moment old.
 * No graph, clock, lock or system call in here.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#define GNB_SESSIONS_MAX (1U << 20)
#define GNB_SESSIONS_DEFAULT 65536
#define GNB_DRBS_MAX 8 /**< of a session: slots 0..7 */
#define GNB_SLOT_N3 15 /**< slot of a TEID that is the session's own */
#define GNB_NO_DRB 15  /**< in the map of QFIs: none takes it */
#define GNB_QFI_MAX 63

/* --- TEIDs ------------------------------------------------------------------------------------ */

static inline uint32_t
gnb_teid(uint8_t generation, uint32_t index, unsigned slot)
{
	return (uint32_t)generation << 24 | index << 4 | slot;
}

static inline uint32_t
gnb_teid_index(uint32_t teid)
{
	return teid >> 4 & (GNB_SESSIONS_MAX - 1);
}

static inline unsigned
gnb_teid_slot(uint32_t teid)
{
	return teid & 15;
}

/** @return the TEID of another tunnel of the same session. */
static inline uint32_t
gnb_teid_with_slot(uint32_t teid, unsigned slot)
{
	return (teid & ~15U) | slot;
}

/** Which of `n` workers, or virtual functions, has a session: even over consecutive indices. */
static inline unsigned
gnb_worker_of(uint32_t index, unsigned n)
{
	return (unsigned)(uint16_t)(index * 40503U) * n >> 16;
}

/* --- header formats --------------------------------------------------------------------------- */

enum gnb_rlc_mode { GNB_RLC_UM, GNB_RLC_TM, GNB_RLC_AM }; /* numbers of enum ap_cfg_rlc_mode */

/**
 * What stands before an SDU on the lower side: RLC, PDCP and SDAP headers, one word of at most 7
 * octets, of which the last one is nearest to the SDU. There are GNB_FORMATS of them.
 */
struct gnb_format {
	uint64_t bits;      /**< constant: D/C of RLC AM and of PDCP */
	uint32_t sn_mask;   /**< of PDCP's SN in COUNT */
	uint32_t rlc_mask;  /**< of RLC's SN; 0: UM and TM have none in a complete SDU */
	uint8_t sn_shift;   /**< where PDCP's SN stands in the word */
	uint8_t rlc_shift;  /**< where RLC's stands */
	uint8_t sdap_mask;  /**< 0x7F: an SDAP downlink header of RQI and QFI; 0: none */
	uint8_t dl_bytes;   /**< of the word: RLC + PDCP + SDAP downlink */
	uint8_t ul_bytes;   /**< likewise uplink */
	uint8_t rlc_bytes;  /**< 0 with TM, and where PDCP PDUs are what crosses */
	uint8_t pdcp_bytes; /**< 2: SN of 12 bits; 3: 18 */
	uint8_t sdap_ul;    /**< 1: uplink SDUs have an SDAP header */
};
_Static_assert(sizeof(struct gnb_format) == 24, "small: all of them stay in L1");

#define GNB_FORMATS 32
extern const struct gnb_format gnb_formats[GNB_FORMATS];

/**
 * The headers of a downlink SDU: SDAP (TS 37.324 §6.2.2.2), PDCP (TS 38.323 §6.2.2), RLC of a
 * complete SDU (TS 38.322 §6.2.2).
 * @param sdap RQI << 6 | QFI
 * @return the word: its low dl_bytes octets, first octet in the highest
 */
static inline uint64_t
gnb_header_word(const struct gnb_format *f, uint32_t count, uint32_t rlc_sn, uint8_t sdap)
{
	return f->bits | (uint64_t)(count & f->sn_mask) << f->sn_shift |
	       (uint64_t)(rlc_sn & f->rlc_mask) << f->rlc_shift | (sdap & f->sdap_mask);
}

/* --- rows ------------------------------------------------------------------------------------- */

enum gnb_session_flag {
	GNB_SESSION_UL_STOPPED = 1 << 0, /**< the UPF sent an Error Indication: TS 29.281 §7.3.1 */
};

/** A PDU session. All 0: there is none. */
struct gnb_session {
	/* worker: rw, by messages alone; but flags */
	uint32_t teid;    /**< ours, with GNB_SLOT_N3; 0: free */
	uint32_t ul_teid; /**< of the UPF */
	uint16_t upf;     /**< peer, index in struct upf_peers */
	uint8_t flags;    /**< enum gnb_session_flag */
	uint8_t nb_drbs;
	uint32_t forward_teid; /**< where downlink packets are forwarded to after a handover */
	uint16_t forward;      /**< peer; 0: nowhere */
	uint8_t pdu_session;   /**< PDU session ID, 1..255 */
	uint8_t default_slot;  /**< the map has it for every QFI no DRB names; GNB_NO_DRB: none */
	uint32_t ue;           /**< role `gnb`: index of its UE */
	uint8_t slot_of[32];   /**< slot by QFI, 4 bits each, low first; GNB_NO_DRB: none */
	uint8_t spare[8];
} __rte_cache_aligned;
_Static_assert(sizeof(struct gnb_session) == 64, "one line");

/** @return slot of the DRB that takes a QoS flow, or GNB_NO_DRB. `qfi` 0..63. */
static inline unsigned
gnb_slot_of_qfi(const struct gnb_session *s, unsigned qfi)
{
	return s->slot_of[qfi >> 1] >> (qfi & 1) * 4 & 15;
}

enum gnb_drb_owner {
	GNB_OWNER_NIC,  /**< the SmartNIC program numbers its packets */
	GNB_OWNER_HOST, /**< we do: tx_next and rlc_tx_next are true */
};

enum gnb_drb_flag {
	GNB_DRB_NOTIFIED = 1 << 0, /**< GNB_REPORT_COUNT_NOTIFY was sent */
	GNB_DRB_LIMITED = 1 << 1,  /**< GNB_REPORT_COUNT_LIMIT was sent */
};

/** What a message changes of a DRB. */
struct gnb_drb_config {
	union {
		uint32_t du_teid; /**< role `gnb_header` */
		uint32_t bearer;  /**< role `gnb`: index of its entities */
	};
	uint16_t du;    /**< peer, index in struct upf_peers */
	uint8_t format; /**< index in gnb_formats */
	uint8_t id;     /**< DRB ID 1..32; 0: there is none */
	uint8_t ul_qfi; /**< QFI of uplink SDUs without an SDAP header */
	uint8_t spare[3];
};

/** A DRB. config.id 0: there is none. */
struct gnb_drb {
	/* worker: rw */
	uint32_t tx_next;     /**< COUNT of the next downlink SDU, TS 38.323 §7.1 */
	uint32_t rlc_tx_next; /**< TX_Next of RLC AM, TS 38.322 §7.1: counts on, the SN is masked */
	uint32_t processed;   /**< packets numbered here since the NIC handed the DRB over */
	uint8_t owner;        /**< enum gnb_drb_owner */
	uint8_t flags;        /**< enum gnb_drb_flag */
	uint16_t spare;
	uint64_t dl_packets, dl_bytes; /**< SDUs that left, and their octets */
	uint64_t ul_packets, ul_bytes;
	uint32_t drops; /**< of either direction, once the DRB was known */
	/* worker: rw, by messages alone */
	struct gnb_drb_config config;
} __rte_cache_aligned;
_Static_assert(sizeof(struct gnb_drb) == 64, "one line");

/** COUNT from which new keys are asked for: packets still go. GNB_COUNT_MAX: none is sent. */
#define GNB_COUNT_NOTIFY (UINT32_MAX - (1U << 24) + 1)
#define GNB_COUNT_MAX UINT32_MAX

struct gnb_table {
	struct gnb_session *sessions; /**< capacity + 1: the last one is nobody */
	struct gnb_drb *drbs;         /**< drbs_per_session of each */
	uint32_t capacity;
	uint8_t drb_shift; /**< log2 of drbs_per_session */
};

/**
 * @param capacity sessions, 1..GNB_SESSIONS_MAX
 * @param drbs_per_session 1, 2, 4 or 8
 * @return NULL without memory or with numbers out of range. EAL is up.
 */
struct gnb_table *gnb_table_create(uint32_t capacity, unsigned drbs_per_session, int socket);
void gnb_table_destroy(struct gnb_table *t);

/** Any TEID: to be fetched, then asked by gnb_session_is(). */
static inline struct gnb_session *
gnb_session_at(const struct gnb_table *t, uint32_t teid)
{
	return &t->sessions[RTE_MIN(gnb_teid_index(teid), t->capacity)];
}

/** @return whether the session is that of a TEID of any of its tunnels. */
static inline bool
gnb_session_is(const struct gnb_session *s, uint32_t teid)
{
	return s->teid == (teid | GNB_SLOT_N3);
}

/** @param slot of gnb_slot_of_qfi(), or of a TEID and below drbs_per_session */
static inline struct gnb_drb *
gnb_drb_at(const struct gnb_table *t, uint32_t teid, unsigned slot)
{
	return &t->drbs[((size_t)gnb_teid_index(teid) << t->drb_shift) + slot];
}

static inline unsigned
gnb_drbs_per_session(const struct gnb_table *t)
{
	return 1U << t->drb_shift;
}

/* --- changes ---------------------------------------------------------------------------------- */

/** A DRB as the control thread says it. Peers are indices in struct upf_peers. */
struct gnb_drb_spec {
	uint8_t id;    /**< 1..32 */
	uint8_t slot;  /**< below drbs_per_session */
	uint64_t qfis; /**< Σ 1 << QFI; 0 is for the default DRB alone */
	bool is_default;
	bool sdap_dl, sdap_ul; /**< SDAP headers */
	bool no_rlc;           /**< PDCP PDUs are what crosses: `split: pdcp`, and role `gnb` */
	uint8_t pdcp_sn_bits;  /**< 12 or 18 */
	uint8_t rlc_mode;      /**< enum gnb_rlc_mode */
	uint8_t rlc_sn_bits;   /**< UM: 6 or 12; AM: 12 or 18 */
	union {
		uint32_t du_teid;
		uint32_t bearer; /**< role `gnb` */
	};
	uint16_t du;
	uint8_t lcid;     /**< role `gnb`: 4..32 */
	uint8_t priority; /**< role `gnb`: 1..16 */
	bool set_count;   /**< `count` replaces TX_NEXT; a new DRB takes it always */
	uint32_t count;   /**< of the next downlink SDU */
	uint32_t rlc_sn;  /**< likewise, RLC AM */
};

/** What role `gnb` is told of the UE. */
struct gnb_ue_spec {
	bool given;       /**< algorithms and keys; else they are the role's */
	uint8_t nea, nia; /**< 0..3 */
	uint8_t key_enc[16], key_int[16];
	uint16_t rnti;           /**< C-RNTI; 0: chosen here */
	uint32_t buffer_packets; /**< downlink, that wait; 0: the role's */
};

struct gnb_session_spec {
	uint32_t teid; /**< with GNB_SLOT_N3 */
	uint32_t ul_teid;
	uint32_t forward_teid;
	uint32_t ue; /**< role `gnb`: index of the UE */
	uint16_t upf;
	uint16_t forward;
	uint8_t pdu_session;
	uint8_t flags; /**< enum gnb_session_flag */
	uint8_t nb_drbs;
	struct gnb_ue_spec radio;
	struct gnb_drb_spec drbs[GNB_DRBS_MAX];
};

/** Rows of one session, ready to be copied. */
struct gnb_image {
	struct gnb_session session;
	uint8_t set_count; /**< slots whose TX_NEXT is replaced even if the DRB is there */
	struct gnb_drb drbs[GNB_DRBS_MAX]; /**< by slot */
} __rte_cache_aligned;

/**
 * Makes rows of what was said.
 * @param why filled with what is wrong, for people
 * @return 0 or -EINVAL
 */
int gnb_image_make(const struct gnb_session_spec *spec, unsigned drbs_per_session,
		   struct gnb_image *image, char *why, unsigned size);

/**
 * Puts a session in place, or changes it: of DRBs that stay (same ID, same slot) numbering and
 * counters run on. The worker of the session, or whoever is alone with the table.
 */
void gnb_session_set(struct gnb_table *t, const struct gnb_image *image);

/** The session goes, if it is that of the TEID. @return whether it was. As above. */
bool gnb_session_clear(struct gnb_table *t, uint32_t teid);

#endif
