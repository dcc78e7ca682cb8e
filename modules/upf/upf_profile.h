/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_PROFILE_H
#define AIRPATH_UPF_PROFILE_H

/**
 * Profiles of meters, one for all QERs of the same rate and burst: upf_mbr_profile() and
 * upf_gbr_profile(), counted. Control thread; workers read profiles.
 */

#include <stdint.h>

#include <rte_meter.h>

struct upf_profiles;

/** @return NULL without memory. */
struct upf_profiles *upf_profiles_create(int socket);
/** No profile is in use. */
void upf_profiles_destroy(struct upf_profiles *p);
/** @return different profiles in use. */
unsigned upf_profiles_count(const struct upf_profiles *p);

/** Counts a use. @return NULL for a rate out of range or without memory. */
struct rte_meter_srtcm_profile *upf_profile_mbr(struct upf_profiles *p, uint64_t kbps,
						uint64_t burst);
struct rte_meter_trtcm_profile *upf_profile_gbr(struct upf_profiles *p, uint64_t gbr_kbps,
						uint64_t mbr_kbps, uint64_t burst);

/** Ends a use of what one of the two gave. */
void upf_profile_put(struct upf_profiles *p, void *profile);

#endif
