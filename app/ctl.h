/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_APP_CTL_H
#define AIRPATH_APP_CTL_H

/** `airpath ctl`: contexts of a gNB that runs. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "modules/ctl/ctl_arena.h"
#include "modules/gnb/gnb_client.h"

enum ctl_switch { CTL_DEFAULT, CTL_ON, CTL_OFF };

struct ctl_tunnel {
	char *address;
	uint32_t teid;
	uint32_t interface; /**< 0: the first one of the type */
};

struct ctl_drb {
	uint32_t id;
	uint32_t *qfis;
	unsigned qfis_count;
	bool is_default;
	enum ctl_switch sdap_ul, sdap_dl; /**< default on */
	uint32_t pdcp_sn_bits;
	int rlc; /**< RlcMode */
	uint32_t rlc_sn_bits;
	struct ctl_tunnel *du;
	uint32_t dl_count;
	uint32_t lcid, priority;
};

struct ctl_session {
	uint32_t id;
	struct ctl_tunnel *upf, *forwarding;
	struct ctl_drb *drbs;
	unsigned drbs_count;
};

/** Keys as hexadecimal digits. */
struct ctl_security {
	uint32_t nea, nia;
	char *key_enc, *key_int;
};

/** UEs ue … ue + count - 1: TEIDs of peers, and C-RNTIs, rise with them. */
struct ctl_context {
	uint32_t ue;
	uint32_t count;                /**< 0: 1 */
	uint32_t rnti;                 /**< role `gnb`; 0: it chooses */
	struct ctl_security *security; /**< of one UE */
	struct ctl_session *sessions;
	unsigned sessions_count;
};

struct ctl_file {
	struct ctl_context *contexts;
	unsigned contexts_count;
};

/** @return what the file says, or NULL with `err` filled. */
struct ctl_file *ctl_file_load(const char *path, struct ap_error *err);
void ctl_file_free(struct ctl_file *f);

/* --- ctl_text.c: what is said on the command line; @return 0 or -EINVAL with `err` filled ----- */

/** `ADDRESS/TEID[@INTERFACE]`. */
int ctl_text_tunnel(const char *text, struct ctl_tunnel *t, struct ap_error *err);

/** `id=4,qfi=9+8,du=ADDRESS/TEID,rlc=um,…` */
int ctl_text_drb(const char *text, struct ctl_drb *d, struct ap_error *err);

/** @return 0 or -EINVAL: no number up to `max`. */
int ctl_text_number(const char *text, uint32_t max, uint32_t *to);

/* --- ctl_pack.c: to messages, in an arena; NULL with `err` filled ------------------------------
 */

Airpath__Gnb__V1__Tunnel *ctl_pack_tunnel(struct ctl_arena *a, const struct ctl_tunnel *t,
					  uint32_t more, struct ap_error *err);
Airpath__Gnb__V1__Drb *ctl_pack_drb(struct ctl_arena *a, const struct ctl_drb *d, uint32_t more,
				    struct ap_error *err);

/** The i-th UE of a context. */
Airpath__Gnb__V1__BearerContext *ctl_pack_context(struct ctl_arena *a, const struct ctl_context *c,
						  uint32_t i, struct ap_error *err);

/* --- ctl_send.c ------------------------------------------------------------------------------- */

/** What became of contexts; failures are told on standard error, the first ten of them. */
struct ctl_tally {
	uint64_t done, failed;
};

/** Counts the results of one reply. */
void ctl_tally_add(struct ctl_tally *t, const Airpath__Gnb__V1__Results *r);

/** Sets up everything a file has. @return 0 or -errno with `err` filled. */
int ctl_send_file(struct gnb_client *cl, const struct ctl_file *f, struct ctl_tally *t,
		  struct ap_error *err);

/** Sends one request about contexts, counts. @return 0 or -errno with `err` filled. */
int ctl_send_one(struct gnb_client *cl, Airpath__Gnb__V1__Request *q, struct ctl_tally *t,
		 struct ap_error *err);

/* --- commands: @return exit status ------------------------------------------------------------ */

int ctl_list(struct gnb_client *cl, const uint32_t *ue, bool json);
int ctl_status(struct gnb_client *cl);
int ctl_events(struct gnb_client *cl);
int ctl_modify(struct gnb_client *cl, int argc, char **argv);
int ctl_delete(struct gnb_client *cl, int argc, char **argv);
int ctl_offload(struct gnb_client *cl, const char *percent);
int ctl_complete(struct gnb_client *cl);
int ctl_echo(struct gnb_client *cl, const char *seconds);

/** Says what came of `what`. */
int ctl_tell(const char *what, int rc, const struct ctl_tally *t, const struct ap_error *err);

struct ctl_churn {
	uint32_t ues;   /**< that come and go */
	uint32_t first; /**< UE id */
	uint32_t batch; /**< contexts a message */
	uint32_t seconds;
	uint32_t rate;            /**< changes a second; 0: as fast as they are answered */
	const _Atomic bool *stop; /**< ends it in place of `seconds`; may be NULL */
	_Atomic uint64_t *done;   /**< changes so far; may be NULL */
	const char *upf, *du;     /**< addresses of peers */
};

/**
 * UEs come, change and go; in the end none of them is left.
 * @param seconds it took
 * @return 0 or -errno with `err` filled
 */
int ctl_churn_run(struct gnb_client *cl, const struct ctl_churn *o, struct ctl_tally *t,
		  double *seconds, struct ap_error *err);
int ctl_churn(struct gnb_client *cl, const struct ctl_churn *o);

#endif
