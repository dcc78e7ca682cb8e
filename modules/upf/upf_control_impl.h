/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_CONTROL_IMPL_H
#define AIRPATH_UPF_CONTROL_IMPL_H

/** What the files of the control thread share. All of it belongs to that thread, under `lock`. */

#include <pthread.h>
#include <stdatomic.h>

#include "api/upf.pb-c.h"
#include "modules/upf/upf.h"
#include "modules/ctl/ctl_arena.h"
#include "modules/ctl/ctl_events.h"
#include "modules/ctl/ctl_server.h"
#include "modules/upf/upf_apps.h"
#include "modules/upf/upf_compile.h"
#include "modules/upf/upf_control.h"
#include "modules/upf/upf_ids.h"
#include "modules/upf/upf_macs.h"
#include "modules/upf/upf_msg.h"
#include "modules/upf/upf_remote.h"

#define UPF_MESSAGE_MAX CTL_MESSAGE_MAX
#define UPF_EVENTS_MAX 65536
#define UPF_TOLD_MAX 65536
#define UPF_UNDER_WAY_MAX 512           /**< messages at one worker: less than its rings hold */
#define UPF_HELLO_NS (10 * AP_NS_PER_S) /**< a client has to have become the agent in */
#define UPF_SEND_QUEUE_MAX 64           /**< replies that wait for the socket before requests do */

typedef Airpath__Upf__V1__OpResult UpfOpResult;
typedef Airpath__Upf__V1__Request UpfRequest;
typedef Airpath__Upf__V1__Answer UpfAnswer;

/** An operation of an Apply. */
struct upf_op {
	uint32_t status;
	uint32_t failed_kind, failed_id;
	char error[96];
	struct upf_msg *msg; /**< what the worker answered, or NULL */
};

/** A request whose answer waits for workers, or for those before it. */
struct upf_request {
	struct upf_request *next;
	uint64_t seq;
	uint64_t connection; /**< that it came by */
	unsigned waiting;    /**< operations at workers */
	unsigned nb_ops;
	struct ctl_packed *ready; /**< answers of another kind are packed at once */
	struct upf_op ops[];
};

/** TSC cycles of a worker with and without packets, as they were. */
struct upf_load_mark {
	uint64_t busy, idle;
};

struct upf_control {
	struct upf *upf;
	pthread_mutex_t lock; /**< the thread holds it while it works; telemetry while it looks */
	pthread_t thread;
	bool started;
	_Atomic bool stop;
	uint64_t instance;
	bool greeted, configured; /**< Hello and Config of this connection were taken */
	struct upf_compiler *compiler;
	struct upf_ids ids;
	struct upf_remotes remotes;
	struct upf_macs macs;
	struct upf_apps apps;
	struct ctl_events events;
	struct ctl_events told; /**< usage of answers, as Told; sent to the next agent alone */
	struct ctl_arena arena;
	struct upf_request *first, *last; /**< in the order they came */
	uint32_t *under_way;              /**< messages at each worker */
	unsigned all_under_way;
	void (*pause)(struct upf_control *c); /**< while workers have taken nothing */
	struct upf_control_stats stats;
	uint64_t load_ns, load_due_ns; /**< between Loads, 0: none; when the next is due */
	struct upf_load_mark load_marks[2 * UPF_ROLE_WORKERS_MAX]; /**< as upf->steers */
	struct ctl_client *agent; /**< who said Hello, or may: others are refused once it has */
	struct ctl_server server;
};

/* upf_control.c */

/** Takes what workers have done, finishes requests. @return whether there was something. */
bool upf_control_replies(struct upf_control *c);

/** Takes what workers have done, or leaves them the CPU, which they may share. */
void upf_control_await(struct upf_control *c);

/** Waits for everything under way and answers it. */
void upf_control_finish(struct upf_control *c);

/* upf_socket.c */

/** @return 0 or -errno with `err` filled. */
int upf_socket_listen(struct upf_control *c, struct ap_error *err);

/**
 * Who sends a message is the agent if none is greeted, or that one is gone; else it is told so.
 * @return whether the message is the agent's
 */
bool upf_socket_admit(struct upf_control *c, struct ctl_client *client, const uint8_t *data,
		      size_t bytes);

/** Sends replies, then events, until the socket takes no more. */
void upf_socket_flush(struct upf_control *c);

/* upf_load.c */

/** Load is told every so many ms from now on; 0: never. */
void upf_load_start(struct upf_control *c, uint32_t every_ms);

/** Tells Load if it is time. */
void upf_load_tell(struct upf_control *c);

/* upf_request.c */

/** A message of the agent. */
void upf_request_take(struct upf_control *c, const uint8_t *data, size_t bytes);

/* upf_operation.c */

/** Does the operations: what is for workers is under way when it returns. */
void upf_request_apply(struct upf_control *c, struct upf_request *r,
		       const Airpath__Upf__V1__Apply *apply);

/** A worker has done with a message: takes back memory, keeps the result. */
void upf_request_done(struct upf_control *c, struct upf_msg *m);

void upf_msg_free(struct upf_control *c, struct upf_msg *m);

/** Gives a message to a worker, as soon as there is room: replies are taken until then. */
void upf_worker_send(struct upf_control *c, unsigned worker, struct upf_msg *m);

/* upf_answer.c */

struct ctl_packed *upf_answer_error(uint64_t seq, const char *text);
struct ctl_packed *upf_answer_done(uint64_t seq);
struct ctl_packed *upf_answer_welcome(struct upf_control *c, uint64_t seq);
struct ctl_packed *upf_answer_list(struct upf_control *c, uint64_t seq,
				   const Airpath__Upf__V1__List *list);

/**
 * Keeps the usage in the results of an Apply and sends them, in several messages when one does not
 * hold them.
 * @param here who asked is connected still
 */
void upf_answer_results(struct upf_control *c, const struct upf_request *r, bool here);

/* upf_answer_reports.c */

/** @return 0 or -ENOMEM. */
int upf_answer_macs(struct upf_control *c);

/** Makes events and checkpoints of what workers report. @return whether there was something. */
bool upf_answer_reports(struct upf_control *c);

#endif
