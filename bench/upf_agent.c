/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bench/upf_agent_impl.h"

#define UNDER_WAY 4   /**< messages */
#define ANSWER_S 30   /**< a unit that says nothing for so long has died */
#define SHOW_EVERY 64 /**< messages */

/** What an Apply does, message by message. */
struct job {
	uint32_t n, done;
	const char *what;
	void (*fill)(void *arg, uint32_t i, struct upf_agent_session *s);
	void (*usage)(void *arg, uint32_t i, const struct upf_agent_usage *u);
	void *arg;
};

int
upf_agent_put(struct upf_agent *a, upf_agent_request *r, struct ap_error *err)
{
	size_t n = airpath__upf__v1__request__get_packed_size(r);

	if (n > sizeof(a->buffer))
		return ap_error_set(err, "a message of %zu octets", n);
	airpath__upf__v1__request__pack(r, a->buffer);
	if (send(a->fd, a->buffer, n, MSG_NOSIGNAL) != (ssize_t)n)
		return ap_error_set(err, "socket of the upf: %s", strerror(errno));
	return 0;
}

static int
ack(struct upf_agent *a, uint64_t event, struct ap_error *err)
{
	Airpath__Upf__V1__EventAck body = AIRPATH__UPF__V1__EVENT_ACK__INIT;
	upf_agent_request r = AIRPATH__UPF__V1__REQUEST__INIT;

	body.event = event;
	r.seq = ++a->seq;
	r.body_case = AIRPATH__UPF__V1__REQUEST__BODY_ACK;
	r.ack = &body;
	return upf_agent_put(a, &r, err);
}

/** Of an application set. */
static int
done_take(struct upf_agent *a, const Airpath__Upf__V1__ApplicationsDone *d)
{
	a->done = (struct upf_agent_done){.generation = d->generation,
					  .application = d->failed_application,
					  .pfd = d->failed_pfd,
					  .memory = d->memory_bytes,
					  .build_ms = d->build_ms,
					  .rules = d->rules};
	snprintf(a->done.error, sizeof(a->done.error), "%s", d->error);
	return 0;
}

int
upf_agent_take(struct upf_agent *a, int ms, struct ap_error *err)
{
	struct pollfd p = {.fd = a->fd, .events = POLLIN};
	ssize_t n;

	if (a->answer)
		airpath__upf__v1__answer__free_unpacked(a->answer, NULL);
	a->answer = NULL;
	if (poll(&p, 1, ms) != 1)
		return ms ? ap_error_set(err, "the upf says nothing for %d s", ANSWER_S) : -EAGAIN;
	n = recv(a->fd, a->buffer, sizeof(a->buffer), 0);
	if (n <= 0)
		return ap_error_set(err, "the upf closed its socket");
	a->answer = airpath__upf__v1__answer__unpack(NULL, (size_t)n, a->buffer);
	if (a->answer == NULL)
		return ap_error_set(err, "the upf sent what is no Answer");
	if (a->answer->body_case == AIRPATH__UPF__V1__ANSWER__BODY_EVENT)
		return ack(a, a->answer->event->number, err);
	if (a->answer->body_case == AIRPATH__UPF__V1__ANSWER__BODY_APPLICATIONS_DONE)
		return done_take(a, a->answer->applications_done);
	return a->answer->body_case == AIRPATH__UPF__V1__ANSWER__BODY_REPLY;
}

const upf_agent_reply *
upf_agent_wait(struct upf_agent *a, struct ap_error *err)
{
	int rc;

	do
		rc = upf_agent_take(a, ANSWER_S * 1000, err);
	while (rc == 0);
	if (rc < 0)
		return NULL;
	if (a->answer->reply->error[0] != '\0') {
		ap_error_set(err, "the upf: %s", a->answer->reply->error);
		return NULL;
	}
	return a->answer->reply;
}

int
upf_agent_idle(struct upf_agent *a, struct ap_error *err)
{
	int rc;

	do
		rc = upf_agent_take(a, 0, err);
	while (rc >= 0);
	return rc == -EAGAIN ? 0 : rc;
}

static int
hello(struct upf_agent *a, struct ap_error *err)
{
	Airpath__Upf__V1__Hello body = AIRPATH__UPF__V1__HELLO__INIT;
	upf_agent_request r = AIRPATH__UPF__V1__REQUEST__INIT;
	const upf_agent_reply *answer;

	body.protocol = 1;
	body.agent = "airpath bench upf";
	r.seq = ++a->seq;
	r.body_case = AIRPATH__UPF__V1__REQUEST__BODY_HELLO;
	r.hello = &body;
	answer = upf_agent_put(a, &r, err) == 0 ? upf_agent_wait(a, err) : NULL;
	if (answer == NULL)
		return -EIO;
	return answer->body_case == AIRPATH__UPF__V1__REPLY__BODY_WELCOME
		       ? 0
		       : ap_error_set(err, "the upf bids no welcome");
}

struct upf_agent *
upf_agent_open(const char *path, struct ap_error *err)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct upf_agent *a = calloc(1, sizeof(*a));
	int room = 8 * UPF_AGENT_MESSAGE_MAX;

	if (a == NULL) {
		ap_error_set(err, "out of memory");
		return NULL;
	}
	strncpy(to.sun_path, path, sizeof(to.sun_path) - 1);
	a->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	setsockopt(a->fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	if (a->fd < 0 || connect(a->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		ap_error_set(err, "%s: %s", path, strerror(errno));
	else if (hello(a, err) == 0)
		return a;
	upf_agent_close(a);
	return NULL;
}

void
upf_agent_close(struct upf_agent *a)
{
	if (a == NULL)
		return;
	if (a->answer)
		airpath__upf__v1__answer__free_unpacked(a->answer, NULL);
	if (a->fd >= 0)
		close(a->fd);
	free(a);
}

static uint32_t
interface(const Airpath__Upf__V1__Welcome *w, const char *name)
{
	for (size_t i = 0; i < w->n_interfaces; i++)
		if (strcmp(w->interfaces[i]->name, name) == 0)
			return w->interfaces[i]->index;
	return 0;
}

int
upf_agent_config(struct upf_agent *a, const char *access, const char *core, uint32_t pool,
		 unsigned pool_bits, uint32_t checkpoint_ms, struct ap_error *err)
{
	Airpath__Upf__V1__Config body = AIRPATH__UPF__V1__CONFIG__INIT;
	Airpath__Upf__V1__Pool ues = AIRPATH__UPF__V1__POOL__INIT, *pools[1] = {&ues};
	upf_agent_request r = AIRPATH__UPF__V1__REQUEST__INIT;

	a->access = interface(a->answer->reply->welcome, access);
	a->core = interface(a->answer->reply->welcome, core);
	if (a->access == 0 || a->core == 0)
		return ap_error_set(err, "the upf has no interfaces %s and %s", access, core);
	ues.address = (ProtobufCBinaryData){4, (uint8_t *)&pool};
	ues.prefix_bits = pool_bits;
	ues.interface = a->core;
	body.n_pools = 1;
	body.pools = pools;
	body.checkpoint_ms = checkpoint_ms;
	body.refilled = true;
	r.seq = ++a->seq;
	r.body_case = AIRPATH__UPF__V1__REQUEST__BODY_CONFIG;
	r.config = &body;
	return upf_agent_put(a, &r, err) == 0 && upf_agent_wait(a, err) != NULL ? 0 : -EIO;
}

/** The next operation, where there is room for it. @return it or NULL */
static Airpath__Upf__V1__Op *
op_make(struct upf_agent *a, const struct job *j, uint32_t i, unsigned *plain, unsigned *policed)
{
	struct upf_agent_session s = {0};

	if (*plain == UPF_AGENT_OPS || *policed == UPF_AGENT_POLICED)
		return NULL;
	if (j->fill == NULL) {
		upf_agent_ask(&a->ops[*plain], i + 1);
		return &a->ops[(*plain)++].op;
	}
	j->fill(j->arg, i, &s);
	if (s.policies) {
		upf_agent_policies_set(&a->policies[*policed], &s, a->access, a->core);
		return &a->policies[(*policed)++].op;
	}
	upf_agent_set(&a->ops[*plain], &s, a->access, a->core);
	return &a->ops[(*plain)++].op;
}

/** Sends operations from `from` on. @return how many, or -errno */
static int
apply(struct upf_agent *a, const struct job *j, uint32_t from, struct ap_error *err)
{
	Airpath__Upf__V1__Apply body = AIRPATH__UPF__V1__APPLY__INIT;
	Airpath__Upf__V1__Op *ops[UPF_AGENT_OPS + UPF_AGENT_POLICED];
	upf_agent_request r = AIRPATH__UPF__V1__REQUEST__INIT;
	unsigned plain = 0, policed = 0;
	uint32_t n = 0;

	while (from + n < j->n && (ops[n] = op_make(a, j, from + n, &plain, &policed)) != NULL)
		n++;
	body.n_ops = n;
	body.ops = ops;
	r.seq = ++a->seq;
	r.body_case = AIRPATH__UPF__V1__REQUEST__BODY_APPLY;
	r.apply = &body;
	return upf_agent_put(a, &r, err) == 0 ? (int)n : -EIO;
}

static int
result(const struct job *j, uint32_t i, const Airpath__Upf__V1__OpResult *r, struct ap_error *err)
{
	struct upf_agent_usage u = {0};

	if (r->status != AIRPATH__UPF__V1__STATUS__OK)
		return ap_error_set(err, "session %u: the upf: %s (status %d, rule %u)", i + 1,
				    r->error, (int)r->status, r->failed_id);
	if (j->usage == NULL)
		return 0;
	for (size_t k = 0; k < r->n_reports; k++) {
		const Airpath__Upf__V1__Usage *use = r->reports[k]->usage;
		const uint32_t id = r->reports[k]->urr_id;

		if (use == NULL)
			continue;
		if (id > 0 && id <= UPF_LOAD_RATING_GROUPS) {
			u.group[id - 1].octets[UPF_WIRE_UP] += use->ul_bytes;
			u.group[id - 1].octets[UPF_WIRE_DOWN] += use->dl_bytes;
		}
		u.octets[UPF_WIRE_UP] += use->ul_bytes;
		u.octets[UPF_WIRE_DOWN] += use->dl_bytes;
		u.packets[UPF_WIRE_UP] += use->ul_packets;
		u.packets[UPF_WIRE_DOWN] += use->dl_packets;
	}
	j->usage(j->arg, i, &u);
	return 0;
}

/** Takes one answer. @return 0, or -errno with `err` filled */
static int
answer_take(struct upf_agent *a, struct job *j, struct ap_error *err)
{
	const upf_agent_reply *r = upf_agent_wait(a, err);
	int rc = r ? 0 : -EIO;

	if (r && r->body_case != AIRPATH__UPF__V1__REPLY__BODY_RESULT)
		return ap_error_set(err, "the upf answers an Apply by something else");
	for (size_t i = 0; rc == 0 && i < r->result->n_results; i++)
		rc = result(j, j->done++, r->result->results[i], err);
	return rc;
}

static int
run(struct upf_agent *a, struct job *j, struct trial_progress *progress, struct ap_error *err)
{
	uint32_t sent = 0, messages = 0;
	int rc = 0;

	while (rc >= 0 && j->done < j->n) {
		if (sent < j->n && sent - j->done < UNDER_WAY * UPF_AGENT_OPS) {
			rc = apply(a, j, sent, err);
			sent += rc > 0 ? (uint32_t)rc : 0;
			continue;
		}
		rc = answer_take(a, j, err);
		if (++messages % SHOW_EVERY == 0)
			trial_progress_show(progress, "%s %u of %u", j->what, j->done, j->n);
	}
	return rc < 0 ? rc : 0;
}

int
upf_agent_install(struct upf_agent *a, uint32_t n,
		  void (*fill)(void *arg, uint32_t i, struct upf_agent_session *s), void *arg,
		  struct trial_progress *progress, struct ap_error *err)
{
	struct job j = {.n = n, .what = "sessions installed:", .fill = fill, .arg = arg};

	return run(a, &j, progress, err);
}

int
upf_agent_query(struct upf_agent *a, uint32_t n,
		void (*fn)(void *arg, uint32_t i, const struct upf_agent_usage *u), void *arg,
		struct trial_progress *progress, struct ap_error *err)
{
	struct job j = {.n = n, .what = "sessions queried:", .usage = fn, .arg = arg};

	return run(a, &j, progress, err);
}
