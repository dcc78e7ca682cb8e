/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CTL_SERVER_H
#define AIRPATH_CTL_SERVER_H

/**
 * A control socket: UNIX SOCK_SEQPACKET, one packet one message, a bounded number of clients.
 * Answers wait in order where a client does not read them. One thread, which waits on `epoll`:
 * data of an event is CTL_LISTENER, or the client's place in `clients`.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/config.h"
#include "modules/ctl/ctl_packed.h"

#define CTL_MESSAGE_MAX 196608 /**< octets; both ends set SO_SNDBUF for it */
#define CTL_CLIENTS_MAX 16
#define CTL_LISTENER UINT64_MAX

struct ctl_send;

struct ctl_client {
	int fd;      /**< -1: nobody is here */
	uint64_t nb; /**< number of the connection, from 1: never again */
	struct ctl_send *first, *last;
	unsigned nb_send;  /**< answers that wait for the socket */
	uint64_t stuck_ns; /**< since when it takes none of them, 0: it does */
	bool deaf;         /**< nothing is read from it: too many answers wait */
	bool admitted;     /**< the user has said who it is: it stays as long as it wants */
	uint64_t since_ns; /**< when it came */
	void *data;        /**< the user's, NULL at first */
};

struct ctl_server {
	char who[96]; /**< in messages for people: `upf NAME` */
	const char *peer;
	char path[108];
	int listener, epoll;
	bool bound;
	unsigned max;         /**< clients at once; one more is turned away */
	unsigned send_max;    /**< answers that wait before no more is read; 0: no bound */
	uint64_t patience_ns; /**< after which who takes none of its answers is hung up on */
	uint64_t idle_ns;     /**< after which who is not admitted is, and makes room; 0: never */
	struct ctl_client clients[CTL_CLIENTS_MAX];
	uint64_t connections;
	uint64_t bad_messages;
	/** A connection ended. May be NULL. */
	void (*closed)(void *arg, struct ctl_client *client);
	void *arg;
	uint8_t buf[CTL_MESSAGE_MAX]; /**< of ctl_receive() */
};

/**
 * @param who in messages for people: kind and name of the role
 * @param peer what clients are, likewise
 * @return 0 or -errno; ctl_server_fini() is right after either
 */
int ctl_server_init(struct ctl_server *s, const char *who, const char *peer, const char *path,
		    unsigned max);

/** Binds; a stale socket is replaced. @return 0 or -errno with `err` filled. */
int ctl_server_listen(struct ctl_server *s, struct ap_error *err);

/** Says good-bye to all; the socket's file goes. */
void ctl_server_close(struct ctl_server *s);
void ctl_server_fini(struct ctl_server *s);

/**
 * Where there is no room and `idle_ns` is set, the oldest that is not admitted makes it.
 * @return the new client, or NULL.
 */
struct ctl_client *ctl_accept(struct ctl_server *s);

/** @param why for people, NULL: nothing is wrong */
void ctl_hang_up(struct ctl_server *s, struct ctl_client *client, const char *why);

/** @return octets of a whole message in s->buf; 0: nothing now, or the connection ended. */
size_t ctl_receive(struct ctl_server *s, struct ctl_client *client);

/** Hangs up on who was not admitted for `idle_ns`. */
void ctl_expire(struct ctl_server *s);

/** @return the client of a connection, or NULL: it is gone. */
struct ctl_client *ctl_client_of(struct ctl_server *s, uint64_t nb);

/** Queues an answer, which is freed. NULL, and a client that is gone, are nothing. */
void ctl_send(struct ctl_client *client, struct ctl_packed *p);

/** @return whether the other end is closed, as it is when its process has died. */
bool ctl_gone(const struct ctl_client *client);

/** @return the process at the other end, 0: none that is seen from here. */
int ctl_pid(const struct ctl_client *client);

/**
 * Sends what is queued, and looks after who does not read: `epoll` is silent about it while
 * `send_max` answers wait, and after `patience_ns` without any progress it is hung up on.
 * @return whether all of it went and the client is there still.
 */
bool ctl_flush(struct ctl_server *s, struct ctl_client *client);

/** Sends `p`, which stays the caller's. @return whether it went. */
bool ctl_transmit(struct ctl_server *s, struct ctl_client *client, const struct ctl_packed *p);

#endif
