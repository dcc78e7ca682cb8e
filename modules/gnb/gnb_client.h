/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_CLIENT_H
#define AIRPATH_GNB_CLIENT_H

/** A client's end of the control socket (api/gnb.proto): what `airpath ctl` and tests speak by. */

#include <stdbool.h>
#include <stdint.h>

#include "api/gnb.pb-c.h"
#include "core/config.h"

#define GNB_CLIENT_TIMEOUT_MS 10000

struct gnb_client {
	int fd;
	uint64_t seq;                    /**< of the last request */
	Airpath__Gnb__V1__Answer *hello; /**< whose reply has the Welcome */
};

/**
 * Connects and says Hello. @param events they come here from now on
 * @return 0 or -errno with `err` filled; gnb_client_close() is right after either
 */
int gnb_client_open(struct gnb_client *cl, const char *path, bool events, struct ap_error *err);
void gnb_client_close(struct gnb_client *cl);

static inline const Airpath__Gnb__V1__Welcome *
gnb_client_welcome(const struct gnb_client *cl)
{
	return cl->hello->reply->welcome;
}

/** Sends a request, whose seq is filled in. @return 0 or -errno with `err` filled. */
int gnb_client_send(struct gnb_client *cl, Airpath__Gnb__V1__Request *q, struct ap_error *err);

/** @return what comes next, to be freed; NULL with `err` filled: nothing in time, or the end. */
Airpath__Gnb__V1__Answer *gnb_client_receive(struct gnb_client *cl, int timeout_ms,
					     struct ap_error *err);

/**
 * Sends a request and waits for its reply; events meanwhile are lost.
 * @return the reply, to be freed, or NULL with `err` filled: also when the request was refused
 */
Airpath__Gnb__V1__Answer *gnb_client_ask(struct gnb_client *cl, Airpath__Gnb__V1__Request *q,
					 struct ap_error *err);

void gnb_client_free(Airpath__Gnb__V1__Answer *a);

#endif
