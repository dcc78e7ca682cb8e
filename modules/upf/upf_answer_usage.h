/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_ANSWER_USAGE_H
#define AIRPATH_UPF_ANSWER_USAGE_H

/** Usage in messages to the agent: of results (upf_answer.c) and of reports. */

#include "modules/upf/upf_control_impl.h"
#include "modules/upf/upf_report.h"

typedef Airpath__Upf__V1__UsageReport UpfUsageReport;
typedef Airpath__Upf__V1__Usage UpfUsage;

void upf_answer_usage(UpfUsage *to, const struct upf_usage_report *r);

/**
 * @param detected as many as `from`, which must stay as the reports do; app 0: nothing; or NULL
 * @return `nb` reports in the arena, or NULL without memory
 */
UpfUsageReport **upf_answer_usage_reports(struct ctl_arena *a, const struct upf_usage_report *from,
					  struct upf_detected *detected, size_t nb);

#endif
