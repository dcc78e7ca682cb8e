/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_REDIRECT_H
#define AIRPATH_UPF_REDIRECT_H

/**
 * Redirection of HTTP, TS 29.244 §5.4.7, §8.2.20: whoever asks is told another URL, and the server
 * that nobody asked more. Nothing is kept: segments without payload pass, so the connection is one
 * with the server; that with the request holds all that an answer needs. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "codec/ip.h"

#define UPF_REDIRECT_URL_MAX 1000 /**< octets; with it the answer is one packet of 1280 */
#define UPF_REDIRECT_TEXT_MAX (UPF_REDIRECT_URL_MAX + 128)
/** IPv6 and TCP headers with timestamps before the text. */
#define UPF_REDIRECT_ANSWER_MAX (40 + 32 + UPF_REDIRECT_TEXT_MAX)
#define UPF_REDIRECT_RESET_MAX (40 + 20)

/** A segment of TCP with a request, or with what should be one. */
struct upf_request {
	bool v6;
	bool http;
	bool timestamps; /**< option of RFC 7323: `ts_value` and `ts_echo` are there */
	uint8_t src[16], dst[16];
	uint16_t src_port, dst_port;
	uint32_t seq, ack;
	uint32_t next; /**< sequence number behind the segment */
	uint32_t ts_value, ts_echo;
};

/**
 * Whether a packet of a redirected lane goes on as it is: a segment of TCP without payload.
 * @param ip the packet, of which `len` octets are there
 */
bool upf_redirect_passes(const uint8_t *ip, uint32_t len);

/** Reads a packet that does not pass. @return whether it can be answered: `r->http`. */
bool upf_request_read(const uint8_t *ip, uint32_t len, struct upf_request *r);

/** @return whether a URL may stand in a Location: visible ASCII, 1..UPF_REDIRECT_URL_MAX octets. */
bool upf_redirect_url_ok(const char *url);

/** Writes the answer's text. @return its octets. */
unsigned upf_redirect_text(const char *url, char out[UPF_REDIRECT_TEXT_MAX]);

/** Writes the server's answer to the UE, which closes. @return octets of the packet. */
unsigned upf_redirect_answer(const struct upf_request *r, const char *text, unsigned len,
			     uint8_t out[UPF_REDIRECT_ANSWER_MAX]);

/** Writes what makes the server forget the connection. @return octets of the packet. */
unsigned upf_redirect_reset(const struct upf_request *r, uint8_t out[UPF_REDIRECT_RESET_MAX]);

#endif
