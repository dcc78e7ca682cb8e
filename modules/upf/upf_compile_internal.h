/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_COMPILE_INTERNAL_H
#define AIRPATH_UPF_COMPILE_INTERNAL_H

/** What the files of the compiler share; see upf_compile.h. */

#include "core/slab.h"
#include "modules/upf/upf_compile.h"
#include "modules/upf/upf_ethernet.h"
#include "modules/upf/upf_filter.h"
#include "modules/upf/upf_profile.h"
#include "modules/upf/upf_redirect.h"

#define UPF_GROUPS_MAX (UPF_RULES_MAX * UPF_INTERFACES_MAX)

typedef Airpath__Upf__V1__Pdr UpfPdr;
typedef Airpath__Upf__V1__Far UpfFar;
typedef Airpath__Upf__V1__Qer UpfQer;
typedef Airpath__Upf__V1__Urr UpfUrr;
typedef Airpath__Upf__V1__Bar UpfBar;
typedef Airpath__Upf__V1__Filter UpfFilter;
typedef Airpath__Upf__V1__Prefix UpfPrefix;

#define UPF_KIND(k) AIRPATH__UPF__V1__RULE_KIND__RULE_##k

/** A group before it has its place in the rules. */
struct upf_new_group {
	struct upf_filter_set *filters;
	uint32_t teid, interfaces;
	uint16_t nb, first; /**< of `lanes` */
	uint8_t reads;
	bool flow;
};

/** What one compilation needs, kept for the next. */
struct upf_work {
	const UpfSession *m;
	struct upf_compile_error *e;
	uint8_t ip4[4], ip6[8];
	bool has_ip4, has_ip6;
	uint8_t ip6_bits;
	const UpfPdr *pdrs[UPF_RULES_MAX];  /**< by precedence */
	uint32_t interfaces[UPF_RULES_MAX]; /**< by which packets of the PDR come, 1 << index */
	struct upf_framed_route framed[UPF_FRAMED_MAX];
	unsigned nb_groups, nb_group_lanes, nb_framed, nb_filter_rules;
	struct upf_new_group groups[UPF_GROUPS_MAX];
	uint8_t group_lanes[UPF_GROUPS_MAX];
	struct upf_filter_rule filter_rules[UPF_FILTER_RULES_MAX];
	/** Rules of frames: of w->pdrs[i] from first[i] to first[i + 1]. */
	struct upf_ethernet_rule ethernet_rules[UPF_ETHERNET_RULES_MAX];
	uint16_t ethernet_first[UPF_RULES_MAX + 1];
};

struct upf_compiler {
	struct upf_compiler_config c;
	struct upf_filter_sets *sets;
	struct upf_profiles *profiles;
	struct ap_slab *slab; /**< rules, and lanes of sessions with many */
	struct upf_work work;
};

/** Says why the message is refused. @return -1 */
int upf_refuse(struct upf_work *w, uint32_t kind, uint32_t id, const char *text);

/** Memory ran out. @return -1 */
int upf_refuse_memory(struct upf_work *w);

/** Numbers, addresses, tunnels; sorts the PDRs. @return 0 or -1 */
int upf_compile_check(struct upf_compiler *c);

/** Groups and their filter sets from w->pdrs. @return 0 or -1; groups made are to be put. */
int upf_compile_groups(struct upf_compiler *c);

/** Rules of PDR w->pdrs[i] as the `order`-th of its group go to w->filter_rules. */
int upf_compile_filters(struct upf_work *w, unsigned i, uint8_t order);

/** Rules of one filter of packets, whatever the UE's address, go to w->filter_rules. */
int upf_compile_ip_filter(struct upf_work *w, const UpfPdr *pdr, UpfFilter *f);

/** Of an Ethernet session: w->ethernet_rules from w->pdrs. @return 0 or -1 */
int upf_compile_ethernet(struct upf_compiler *c);

int upf_compile_fars(struct upf_compiler *c, struct upf_rules *r);
int upf_compile_qers(struct upf_compiler *c, struct upf_rules *r);
int upf_compile_urrs(struct upf_compiler *c, struct upf_rules *r);

/** PDRs and lanes; what they name is there. */
int upf_compile_pdrs(struct upf_compiler *c, struct upf_rules *r);

/** Which lanes need no lookup; lanes, groups and tunnels are there. */
void upf_compile_only(struct upf_compiler *c, struct upf_rules *r);

/** Whether few URRs need what `u` says: struct upf_urr_more. */
bool upf_urr_wants_more(const UpfUrr *u);

/** Whether a FAR answers HTTP requests with another URL. */
static inline bool
upf_far_redirects(const UpfFar *m)
{
	return m->forwarding && m->forwarding->redirect_url && m->forwarding->redirect_url[0];
}

#endif
