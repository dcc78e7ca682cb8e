/* SPDX-License-Identifier: BSD-3-Clause */

/* HTTP/1 requests: method, target and Host, RFC 9112 §2.2, §3, §5. */

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "modules/dpi/dpi_parse.h"

#define METHOD_MAX 24 /* the longest registered one has 17 octets */

/** Octets that are read, line by line. */
struct lines {
	const uint8_t *at;
	const uint8_t *end;
};

struct text {
	const uint8_t *at;
	uint32_t len;
};

/** The next line without its end, which may be a bare LF (§2.2). @return false: not all there. */
static bool
line_next(struct lines *l, struct text *line)
{
	const uint8_t *lf = memchr(l->at, '\n', (size_t)(l->end - l->at));

	if (lf == NULL)
		return false;
	line->at = l->at;
	line->len = (uint32_t)(lf - l->at);
	if (line->len > 0 && lf[-1] == '\r')
		line->len--;
	l->at = lf + 1;
	return true;
}

/** Takes host and port of an authority; userinfo of a URI is not the host's. */
static enum dpi_verdict
authority(struct text t, uint8_t *host, struct dpi_name *out)
{
	const uint8_t *at = memrchr(t.at, '@', t.len);
	uint32_t i;

	if (at != NULL) {
		t.len -= (uint32_t)(at + 1 - t.at);
		t.at = at + 1;
	}
	i = t.len;
	while (i > 0 && t.at[i - 1] >= '0' && t.at[i - 1] <= '9')
		i--;
	if (i > 0 && t.at[i - 1] == ':')
		t.len = i - 1;
	/* Colons are of ports and of addresses in brackets, RFC 3986 §3.2.2. */
	if (t.len > 0 && t.at[0] != '[' && memchr(t.at, ':', t.len) != NULL)
		return DPI_BAD;
	return dpi_host_take(t.at, t.len, host, out);
}

/** Skips "http://" and the like, RFC 9112 §3.2.2. @return false: not a target in absolute form. */
static bool
scheme_skip(struct text *t)
{
	static const struct {
		const char *text;
		uint32_t len;
	} schemes[] = {{"http://", 7}, {"https://", 8}, {"ws://", 5}, {"wss://", 6}};

	for (unsigned i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		if (t->len >= schemes[i].len &&
		    strncasecmp((const char *)t->at, schemes[i].text, schemes[i].len) == 0) {
			t->at += schemes[i].len;
			t->len -= schemes[i].len;
			return true;
		}
	}
	return false;
}

/** Splits a target in absolute form; its host counts and Host does not. */
static enum dpi_verdict
absolute(struct text t, uint8_t *host, struct dpi_name *out)
{
	uint32_t n = 0;

	while (n < t.len && t.at[n] != '/' && t.at[n] != '?')
		n++;
	out->path = t.at + n;
	out->path_len = (uint16_t)(t.len - n);
	return authority((struct text){t.at, n}, host, out);
}

static bool
is_version(const uint8_t *v)
{
	uint64_t is, want;

	memcpy(&is, v, sizeof(is));
	memcpy(&want, "HTTP/1.", sizeof(want)); /* and a 0 */
	is ^= want;
	memcpy(&want, (const uint8_t[8]){[7] = 0xFF}, sizeof(want));
	return (is & ~want) == 0 && v[7] >= '0' && v[7] <= '9';
}

/** A target is visible octets: anything else is a second space or worse, §3. */
static bool
is_target(struct text t)
{
	return t.len > 0 && t.len <= UINT16_MAX && dpi_all_visible(t.at, t.len);
}

/**
 * The request line. @return DPI_MORE: go on with the fields, which name the host; else the verdict.
 * @param modern HTTP/1.1 or later
 */
static enum dpi_verdict
request_line(struct text line, uint32_t method, uint8_t *host, struct dpi_name *out, bool *modern)
{
	struct text target = {line.at + method + 1, line.len - method - 1};

	if (target.len < 10 || target.at[target.len - 9] != ' ' ||
	    !is_version(target.at + target.len - 8))
		return DPI_NONE;
	*modern = line.at[line.len - 1] != '0';
	out->proto = DPI_HTTP;
	target.len -= 9;
	if (!is_target(target))
		return DPI_BAD;
	if (method == 7 && memcmp(line.at, "CONNECT", 7) == 0)
		return authority(target, host, out);
	if (target.at[0] == '/' || (target.at[0] == '*' && target.len == 1)) {
		out->path = target.at;
		out->path_len = (uint16_t)target.len;
		return DPI_MORE;
	}
	/* rtsp:// and others speak no HTTP/1. */
	return scheme_skip(&target) ? absolute(target, host, out) : DPI_BAD;
}

/** The value of Host. */
static enum dpi_verdict
host_value(struct text f, uint8_t *host, struct dpi_name *out)
{
	bool colons;

	while (f.len > 0 && (f.at[0] == ' ' || f.at[0] == '\t'))
		f.at++, f.len--;
	while (f.len > 0 && (f.at[f.len - 1] == ' ' || f.at[f.len - 1] == '\t'))
		f.len--;
	/* Nearly all are a name and nothing else. */
	if (f.len > 1 && f.len <= DPI_HOST_MAX && dpi_host_copy(f.at, f.len, host, &colons) &&
	    !colons) {
		out->host = host;
		out->host_len = (uint16_t)(f.len - (host[f.len - 1] == '.'));
		return DPI_FOUND;
	}
	if (memchr(f.at, '@', f.len) != NULL)
		return DPI_BAD;
	return authority(f, host, out);
}

/** @param f of 5 octets and more */
static inline bool
is_host_field(struct text f)
{
	uint32_t name, want;

	memcpy(&name, f.at, sizeof(name));
	memcpy(&want, "host", sizeof(want));
	return (name | 0x20202020) == want && f.at[4] == ':';
}

/** Reads fields up to Host. */
static enum dpi_verdict
fields(struct lines *l, bool modern, uint8_t *host, struct dpi_name *out)
{
	struct text f;

	while (line_next(l, &f)) {
		const uint8_t *colon;

		if (f.len >= 5 && is_host_field(f))
			return host_value((struct text){f.at + 5, f.len - 5}, host, out);
		/* A request of HTTP/1.1 without Host is answered with 400, §3.2. */
		if (f.len == 0)
			return modern ? DPI_BAD : DPI_NONE;
		if (f.at[0] == ' ' || f.at[0] == '\t')
			continue; /* folded, §5.2 */
		colon = memchr(f.at, ':', f.len);
		if (colon == NULL || colon == f.at || colon[-1] == ' ' || colon[-1] == '\t')
			return DPI_BAD;
	}
	return DPI_MORE;
}

/** @return octets of the method in front of its space, 0: not all there, -1: not a method. */
static int
method_len(const struct lines *l)
{
	uint32_t n = 0, len = (uint32_t)(l->end - l->at);

	while (n < len && ((l->at[n] >= 'A' && l->at[n] <= 'Z') || (n > 0 && l->at[n] == '-')))
		n++;
	if (n > METHOD_MAX || (n < len && (n == 0 || l->at[n] != ' ')))
		return -1;
	return n == len ? 0 : (int)n;
}

enum dpi_verdict
dpi_http(const uint8_t *data, uint32_t len, uint8_t host[DPI_HOST_MAX], struct dpi_name *out)
{
	struct lines l = {data, data + len};
	struct text line;
	bool modern;
	enum dpi_verdict v;
	int method;

	*out = (struct dpi_name){0};
	/* One empty line in front is passed over, §2.2. */
	if (l.at < l.end && *l.at == '\r')
		l.at++;
	if (l.at < l.end && *l.at == '\n')
		l.at++;
	else if (l.at > data && l.at < l.end)
		return DPI_NONE;
	method = method_len(&l);
	if (method < 0)
		return DPI_NONE;
	if (method == 0 || !line_next(&l, &line))
		return DPI_MORE;
	v = request_line(line, (uint32_t)method, host, out, &modern);
	return v == DPI_MORE ? fields(&l, modern, host, out) : v;
}
