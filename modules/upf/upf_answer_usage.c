/* SPDX-License-Identifier: BSD-3-Clause */
/** Usage as the agent is told of it, whether it asked or a worker reports. */
#include "modules/upf/upf_answer_usage.h"

void
upf_answer_usage(UpfUsage *to, const struct upf_usage_report *r)
{
	airpath__upf__v1__usage__init(to);
	to->ul_bytes = r->bytes[UPF_UL];
	to->dl_bytes = r->bytes[UPF_DL];
	to->total_bytes = to->ul_bytes + to->dl_bytes;
	to->ul_packets = r->packets[UPF_UL];
	to->dl_packets = r->packets[UPF_DL];
	to->total_packets = to->ul_packets + to->dl_packets;
	to->duration_ms = r->duration_ms;
	to->start_unix_ms = r->start_ms;
	to->end_unix_ms = r->end_ms;
	to->first_unix_ms = r->first_ms;
	to->last_unix_ms = r->last_ms;
	to->events = r->events;
	to->quota_ul_bytes = r->quota_bytes[UPF_UL];
	to->quota_dl_bytes = r->quota_bytes[UPF_DL];
	to->quota_total_bytes = to->quota_ul_bytes + to->quota_dl_bytes;
	to->quota_duration_ms = r->quota_duration_ms;
	to->quota_events = r->quota_events;
}

struct usage_report {
	UpfUsageReport pb;
	UpfUsage usage;
};

/** Application Detection Information in the arena, or NULL. */
static Airpath__Upf__V1__ApplicationDetected *
detected_fill(struct ctl_arena *a, struct upf_detected *d)
{
	struct {
		Airpath__Upf__V1__ApplicationDetected pb;
		Airpath__Upf__V1__Filter flow;
		Airpath__Upf__V1__Prefix ends[2];
		Airpath__Upf__V1__PortRange ports[2], *lists[2];
	} *to = ctl_arena_alloc(a, sizeof(*to));
	const size_t octets = d->version == 4 ? 4 : 16;

	if (to == NULL)
		return NULL;
	airpath__upf__v1__application_detected__init(&to->pb);
	to->pb.application = d->app;
	if (d->version == 0)
		return &to->pb;
	airpath__upf__v1__filter__init(&to->flow);
	to->pb.flow = &to->flow;
	to->flow.protocol = d->proto;
	for (unsigned i = 0; i < 2; i++) {
		airpath__upf__v1__prefix__init(&to->ends[i]);
		to->ends[i].address = (ProtobufCBinaryData){octets, i == 0 ? d->src : d->dst};
		to->ends[i].bits = (uint32_t)(8 * octets);
		airpath__upf__v1__port_range__init(&to->ports[i]);
		to->ports[i].first = to->ports[i].last = d->ports[i];
		to->lists[i] = &to->ports[i];
	}
	to->flow.source = &to->ends[0];
	to->flow.destination = &to->ends[1];
	to->flow.n_source_ports = to->flow.n_destination_ports = d->has_ports;
	to->flow.source_ports = &to->lists[0];
	to->flow.destination_ports = &to->lists[1];
	return &to->pb;
}

UpfUsageReport **
upf_answer_usage_reports(struct ctl_arena *a, const struct upf_usage_report *from,
			 struct upf_detected *detected, size_t nb)
{
	struct usage_report *reports = ctl_arena_alloc(a, (nb + 1) * sizeof(*reports));
	UpfUsageReport **list = ctl_arena_alloc(a, (nb + 1) * sizeof(UpfUsageReport *));

	for (size_t i = 0; reports && list && i < nb; i++) {
		airpath__upf__v1__usage_report__init(&reports[i].pb);
		reports[i].pb.urr_id = from[i].urr_id;
		reports[i].pb.triggers = from[i].triggers;
		reports[i].pb.usage = &reports[i].usage;
		if (detected && detected[i].app != 0)
			reports[i].pb.detected = detected_fill(a, &detected[i]);
		upf_answer_usage(&reports[i].usage, &from[i]);
		list[i] = &reports[i].pb;
	}
	return reports ? list : NULL;
}
