/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/upf_load.h"
#include "codec/ip.h"

#define TEXT_MAX 64 /**< of a rule */
#define NETS 0x40000000U
#define NET_BITS 20 /**< each is within one of its own */
#define OF_KINDS 20 /**< names in turn: see kind_of() */
#define REGEX_EVERY 50

/** Where the next text goes. */
struct writer {
	char *at;
};

static const char *put(struct writer *w, uint16_t *len, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static const char *
put(struct writer *w, uint16_t *len, const char *fmt, ...)
{
	char *text = w->at;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, UPF_LOAD_REQUEST_MAX, fmt, args);
	va_end(args);
	w->at += n + 1;
	if (len)
		*len = (uint16_t)n;
	return text;
}

static void
request(struct writer *w, struct upf_load_name *n, const char *host, const char *path)
{
	n->host = put(w, &n->host_len, "%s", host);
	n->request = put(w, &n->request_len,
			 "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: airpath-bench/1\r\n"
			 "Accept: */*\r\nCookie: ",
			 path, host);
}

/** By the share of each kind. */
static enum upf_load_kind
kind_of(uint32_t i)
{
	const uint32_t k = i % OF_KINDS;

	return k < 12   ? UPF_LOAD_HOST
	       : k < 17 ? UPF_LOAD_SUFFIX
	       : k < 18 ? UPF_LOAD_HOST_PATTERN
			: UPF_LOAD_URL_PATTERN;
}

/** A word that no other name has: words of one length, their numbers in them. */
static void
word(char to[TEXT_MAX], uint64_t seed, uint32_t i)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint64_t r = upf_load_mix(seed ^ (uint64_t)i << 20);
	unsigned n = 3 + (unsigned)(r >> 60) % 4;

	for (unsigned k = 0; k < n; k++, r >>= 5)
		to[k] = letters[r % 32];
	snprintf(to + n, TEXT_MAX - n, "-%07x", i);
}

static void
name_make(struct writer *w, struct upf_load_name *n, uint32_t i, uint64_t seed)
{
	char own[TEXT_MAX], host[3 * TEXT_MAX], path[3 * TEXT_MAX];
	const uint64_t r = upf_load_mix(seed + i);

	word(own, seed, i);
	n->kind = (uint8_t)kind_of(i);
	n->app = upf_load_app(i);
	snprintf(path, sizeof(path), "/item/%04x/index.html?n=%u", (unsigned)(r & 0xFFFF),
		 (unsigned)(r >> 32) % 1000);
	switch (n->kind) {
	case UPF_LOAD_HOST:
		n->text = put(w, NULL, "www%u.%s.test", (unsigned)(r >> 16) % 100, own);
		request(w, n, n->text, path);
		break;
	case UPF_LOAD_SUFFIX:
		n->text = put(w, NULL, "%s.example", own);
		snprintf(host, sizeof(host), "s%u.%s", (unsigned)(r >> 16) % 1000, n->text);
		request(w, n, host, path);
		break;
	case UPF_LOAD_HOST_PATTERN:
		n->text = put(w, NULL, "cdn-%s-", own);
		snprintf(host, sizeof(host), "a.%seu.net.test", n->text);
		request(w, n, host, path);
		break;
	default:
		n->regex = i / OF_KINDS % REGEX_EVERY == 0;
		n->text = put(w, NULL, n->regex ? "/%s/[a-z]{1,8}/[0-9]+" : "/%s/", own);
		snprintf(path, sizeof(path), "/app/%s/track/%u.js", own, (unsigned)(r >> 40));
		request(w, n, "api.shared.test", path);
	}
}

/** In turn any, TCP to HTTP's port, UDP to one port, UDP. */
static struct upf_load_net
net_make(uint32_t i, uint32_t first_rule, uint64_t seed)
{
	const uint64_t r = upf_load_mix(seed + i);
	const uint8_t bits = (uint8_t)(NET_BITS + (r >> 32) % (33 - NET_BITS));

	return (struct upf_load_net){
		.address = (NETS + (i << (32 - NET_BITS)) +
			    ((uint32_t)r & ((1U << (32 - NET_BITS)) - 1))) &
			   (uint32_t)(UINT64_MAX << (32 - bits)),
		.bits = bits,
		.protocol = i % 4 == 0   ? 0
			    : i % 4 == 1 ? IP_PROTO_TCP
					 : IP_PROTO_UDP,
		.port = i % 4 == 1   ? UPF_LOAD_PORT_HTTP
			: i % 4 == 2 ? UPF_LOAD_PORT_UDP
				     : 0,
		.app = upf_load_app(first_rule + i),
	};
}

static void
unlisted_make(struct writer *w, struct upf_load_name *n, uint32_t i, uint64_t seed)
{
	const uint64_t r = upf_load_mix(~seed + i);
	char host[TEXT_MAX], path[TEXT_MAX];

	snprintf(host, sizeof(host), "unlisted%u.other.test", i);
	snprintf(path, sizeof(path), "/%08x", (unsigned)r);
	n->text = "";
	request(w, n, host, path);
}

struct upf_load *
upf_load_make(uint32_t names, uint32_t nets, uint64_t seed)
{
	struct upf_load *l = calloc(1, sizeof(*l));
	const uint32_t all = names + UPF_LOAD_UNLISTED;
	struct writer w;

	if (l == NULL)
		return NULL;
	l->nb_names = names;
	l->nb_nets = nets;
	l->names = calloc(all, sizeof(*l->names));
	l->nets = calloc(nets + 1, sizeof(*l->nets));
	l->text = malloc((size_t)all * (2 * TEXT_MAX + UPF_LOAD_REQUEST_MAX));
	if (l->names == NULL || l->nets == NULL || l->text == NULL) {
		upf_load_free(l);
		return NULL;
	}
	w.at = l->text;
	seed = upf_load_mix(seed);
	for (uint32_t i = 0; i < names; i++)
		name_make(&w, &l->names[i], i, seed);
	for (uint32_t i = 0; i < UPF_LOAD_UNLISTED; i++)
		unlisted_make(&w, &l->names[names + i], i, seed);
	for (uint32_t i = 0; i < nets; i++)
		l->nets[i] = net_make(i, names, seed);
	return l;
}

void
upf_load_free(struct upf_load *l)
{
	if (l == NULL)
		return;
	free(l->names);
	free(l->nets);
	free(l->text);
	free(l);
}
