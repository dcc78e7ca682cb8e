/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>

#include "modules/dpi/dpi_look.h"
#include "tests/fuzz/fuzz_dpi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct flow {
	struct dpi_scan *scan;
	uint32_t first;
	uint16_t port;
	uint8_t ip_proto;
	bool kept;
};

static enum dpi_verdict
look(struct flow *f, const struct dpi_segment *g, uint8_t *host, struct dpi_name *n)
{
	enum dpi_verdict v;

	if (!f->kept) {
		v = dpi_look_first(&f->first, f->ip_proto, f->port, g, host, n);
		if (f->first >> DPI_FIRST_BITS != 0)
			abort();
		if (v != DPI_KEEP)
			return v;
		dpi_scan_begin(f->scan, f->ip_proto, f->port, f->first, g->seq);
		f->kept = true;
	}
	return dpi_look(f->scan, g, n);
}

/**
 * A flow's packets, each behind a header of four octets: what it is, where in the stream, and how
 * long. The verdict comes after DPI_SCAN_PACKETS at the latest, and is the same where the flow gets
 * a scan only once it needs one.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct flow late;
	static struct dpi_scan *scan;
	size_t at = 1, packets = 0;
	enum dpi_verdict v = DPI_MORE;

	if (size == 0)
		return 0;
	if (scan == NULL) {
		scan = malloc(dpi_scan_bytes());
		late.scan = malloc(dpi_scan_bytes());
		if (scan == NULL || late.scan == NULL || dpi_look_init() != 0)
			abort();
	}
	late.ip_proto = data[0] & 1 ? IPPROTO_TCP : IPPROTO_UDP;
	late.port = data[0] & 2 ? 53 : 443;
	late.first = 0;
	late.kept = false;
	dpi_scan_begin(scan, late.ip_proto, late.port, 0, 0);
	while (v == DPI_MORE && size - at >= 4) {
		const uint8_t *h = data + at;
		struct dpi_segment g = {.data = h + 4,
					.len = h[3],
					.seq = (uint32_t)((h[1] & 0x7F) << 8 | h[2]) - 16,
					.syn = h[0] & 1,
					.from_ue = !(h[0] & 2)};
		uint8_t host[DPI_HOST_MAX];
		struct dpi_name n, m;

		at += 4;
		if (g.len > size - at)
			g.len = (uint32_t)(size - at);
		at += g.len;
		v = dpi_look(scan, &g, &n);
		fuzz_dpi_check(v, &n);
		if (look(&late, &g, host, &m) != v ||
		    (v == DPI_FOUND && (m.host_len != n.host_len || m.path_len != n.path_len ||
					memcmp(m.host, n.host, n.host_len) != 0)))
			abort();
		packets++;
	}
	if (packets > DPI_SCAN_PACKETS || (packets == DPI_SCAN_PACKETS && v == DPI_MORE))
		abort();
	return 0;
}
