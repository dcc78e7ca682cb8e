/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_CONTROL_IMPL_H
#define AIRPATH_GNB_CONTROL_IMPL_H

/** What the files of the control thread share. All of it belongs to that thread, under `lock`. */

#include <pthread.h>
#include <stdatomic.h>

#include "api/gnb.pb-c.h"
#include "modules/ctl/ctl_arena.h"
#include "modules/ctl/ctl_events.h"
#include "modules/ctl/ctl_server.h"
#include "modules/gnb/gnb_control.h"
#include "modules/gnb/gnb_ids.h"
#include "modules/upf/upf_ids.h"
#include "modules/upf/upf_remote.h"

#define GNB_UNDER_WAY_MAX 512 /**< messages at one worker: less than its rings hold */
#define GNB_SEND_QUEUE_MAX 64 /**< answers that wait for a client before its requests do */
#define GNB_EVENTS_MAX 4096
#define GNB_CONTROL_WORKERS_MAX 64
#define GNB_PDU_SESSIONS_MAX 16 /**< of a UE; TS 24.501 has 15 */
#define GNB_PDU_SESSION_ID_MAX 255

typedef Airpath__Gnb__V1__Request GnbRequest;
typedef Airpath__Gnb__V1__Answer GnbAnswer;
typedef Airpath__Gnb__V1__Reply GnbReply;
typedef Airpath__Gnb__V1__Event GnbEvent;
typedef Airpath__Gnb__V1__Tunnel GnbTunnel;
typedef Airpath__Gnb__V1__Drb GnbDrb;
typedef Airpath__Gnb__V1__PduSession GnbPduSession;
typedef Airpath__Gnb__V1__Cause GnbCause;
#define GNB_CAUSE(name) AIRPATH__GNB__V1__CAUSE__##name

/** A PDU session as it was asked for. Every peer in `spec` is a use of it. */
struct gnb_entry {
	uint32_t ue_id;
	uint32_t next;                /**< index + 1 of the UE's next session; 0: last */
	struct gnb_session_spec spec; /**< last: room for drbs_per_session of its `drbs` */
};

/** A context of a request. */
struct gnb_item {
	uint32_t ue_id;
	uint32_t cause; /**< GnbCause */
	char error[120];
	struct gnb_msg *first, *last; /**< what workers did */
};

/** A request whose answer waits for workers, or for those before it. */
struct gnb_request {
	struct gnb_request *next;
	uint64_t seq;
	uint64_t connection; /**< that it came by */
	unsigned waiting;    /**< messages at workers */
	unsigned nb_items;
	struct ctl_packed *ready; /**< answers of another kind are packed at once */
	struct gnb_item items[];
};

struct gnb_control {
	struct gnb_control_cfg cfg;
	pthread_mutex_t lock; /**< the thread holds it while it works; telemetry while it looks */
	pthread_t thread;
	bool started;
	bool alone; /**< workers do not run yet: their messages are done here */
	_Atomic bool stop;
	uint64_t instance;
	struct gnb_ids ids;
	struct gnb_entry **entry; /**< by index */
	struct upf_ids ues;       /**< ue_id + 1 to index + 1 of its first session */
	struct upf_remotes remotes;
	uint32_t nb_drbs;
	uint32_t offload_percent;
	struct ctl_events events;
	struct ctl_arena arena;
	struct gnb_request *first, *last; /**< in the order they came */
	uint32_t *under_way;              /**< messages at each worker */
	unsigned all_under_way;
	void (*pause)(struct gnb_control *c); /**< while workers have taken nothing */
	struct gnb_control_stats stats;
	uint64_t events_connection;    /**< where events go; 0: nowhere */
	uint32_t look_at;              /**< role `gnb`: session whose bearers are looked at next */
	uint64_t look_ns;              /**< when some were last */
	bool greeted[CTL_CLIENTS_MAX]; /**< by place of the client */
	struct ctl_server server;
};

static inline unsigned
gnb_control_worker(const struct gnb_control *c, uint32_t teid)
{
	return gnb_worker_of(gnb_teid_index(teid), c->cfg.nb_workers);
}

/* gnb_control.c */

/** Takes what workers have done. @return whether there was something. */
bool gnb_control_replies(struct gnb_control *c);

/** Waits for everything under way and answers it. */
void gnb_control_finish(struct gnb_control *c);

/** Room at the worker, or replies are taken until there is. */
void gnb_control_send(struct gnb_control *c, struct gnb_request *r, struct gnb_msg *m);

/* gnb_entry.c: sessions by UE */

/** @return room for an entry, zeroed, or NULL. */
struct gnb_entry *gnb_entry_make(const struct gnb_control *c);

/** Its peers are not used any more, the entry is freed. NULL is nothing. */
void gnb_entry_free(struct gnb_control *c, struct gnb_entry *e);

/** @return the same session, with uses of its own, or NULL. */
struct gnb_entry *gnb_entry_copy(struct gnb_control *c, const struct gnb_entry *e);

/** @return the UE's first session, or NULL: there is no such UE. */
struct gnb_entry *gnb_ue_first(const struct gnb_control *c, uint32_t ue_id);
struct gnb_entry *gnb_ue_next(const struct gnb_control *c, const struct gnb_entry *e);
struct gnb_entry *gnb_ue_find(const struct gnb_control *c, uint32_t ue_id, uint32_t pdu_session);

/** `now` is there from now on in place of `old`; either may be NULL. @return 0 or -ENOMEM: nothing
 * changed. */
int gnb_ue_replace(struct gnb_control *c, struct gnb_entry *old, struct gnb_entry *now);

/* gnb_decode.c: from messages to entries */

/** @return -1 with the item failed. */
int __attribute__((format(printf, 4, 5)))
gnb_fail(struct gnb_control *c, struct gnb_item *item, GnbCause cause, const char *fmt, ...);

/** A tunnel to a peer, which counts a use. `what` names it. @return 0 or -1, failed. */
int gnb_decode_tunnel(struct gnb_control *c, struct gnb_item *item, const char *what,
		      const GnbTunnel *t, uint32_t interfaces, uint16_t *peer, uint32_t *teid);

/** A new DRB of the entry, in a free slot. @return 0 or -1, failed. */
int gnb_decode_drb(struct gnb_control *c, struct gnb_item *item, struct gnb_entry *e,
		   const GnbDrb *d);

/** @return Σ 1 << QFI, or 0 with the item failed where one is out of range or twice; *ok says. */
uint64_t gnb_decode_qfis(struct gnb_control *c, struct gnb_item *item, unsigned drb,
			 const uint32_t *qfis, size_t nb, bool *ok);

/** @return 0 or -1, failed. */
int gnb_decode_ue(struct gnb_control *c, struct gnb_item *item, struct gnb_ue_spec *to,
		  const Airpath__Gnb__V1__SecurityInformation *security,
		  const Airpath__Gnb__V1__UeF1 *f1);

/* gnb_change.c: what is under way when they return is answered when it is done */

/** A context of nobody's request, `item` says what became of it. */
void gnb_change_preset(struct gnb_control *c, struct gnb_item *item,
		       const Airpath__Gnb__V1__BearerContext *q);

void gnb_change_setup(struct gnb_control *c, struct gnb_request *r,
		      const Airpath__Gnb__V1__BearerContextSetupRequest *q);
void gnb_change_modify(struct gnb_control *c, struct gnb_request *r,
		       const Airpath__Gnb__V1__BearerContextModificationRequest *q);
void gnb_change_release(struct gnb_control *c, struct gnb_request *r,
			const Airpath__Gnb__V1__BearerContextReleaseCommand *q);

/** A worker has done with a message: what the session was before is out of use. */
void gnb_change_done(struct gnb_control *c, struct gnb_msg *m);

void gnb_msg_free(struct gnb_msg *m);

/* gnb_request.c */

/** A message of a client. */
void gnb_request_take(struct gnb_control *c, struct ctl_client *client, const uint8_t *data,
		      size_t bytes);

/* gnb_answer.c */

struct ctl_packed *gnb_answer_reply(GnbReply *reply);
struct ctl_packed *gnb_answer_error(uint64_t seq, const char *text);
struct ctl_packed *gnb_answer_done(uint64_t seq);
struct ctl_packed *gnb_answer_welcome(struct gnb_control *c, uint64_t seq);
struct ctl_packed *gnb_answer_status(struct gnb_control *c, uint64_t seq);

/** Sends the results of a request, in several messages when one does not hold them. */
void gnb_answer_results(struct gnb_control *c, struct ctl_client *client,
			const struct gnb_request *r);

/* gnb_view.c */

struct ctl_packed *gnb_answer_contexts(struct gnb_control *c, uint64_t seq,
				       const Airpath__Gnb__V1__ContextQuery *q);

/* gnb_event.c */

/** Makes events of what workers report. @return whether there was something. */
bool gnb_events_take(struct gnb_control *c);

/* gnb_telemetry.c */

/** Telemetry knows the control thread until it is taken out again. */
void gnb_telemetry_add(struct gnb_control *c);
void gnb_telemetry_del(const struct gnb_control *c);

#endif
