/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_CONFIG_CHECK_H
#define AIRPATH_CORE_CONFIG_CHECK_H

/** What the checks of a deployment share; between the files config*.c. */

#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"

/** Gives a number that was left out its default; one that is 0 in the file stays 0. */
#define DEFAULT(field, value)                                                                      \
	do {                                                                                       \
		if ((field) == 0 && !config_says_zero(cfg, &(field)))                              \
			(field) = (value);                                                         \
	} while (0)

/** Ends the calling check with a message about `at`: ap_config_bad(). */
#define BAD(at, ...) return ap_config_bad(cfg, at, err, __VA_ARGS__)

static inline bool
power_of_2(uint32_t x)
{
	return x != 0 && (x & (x - 1)) == 0;
}

/** Notes that `size` B at `at` are of `line`. @return 0 or -ENOMEM. */
int config_mark(struct ap_config *cfg, const void *at, size_t size, size_t line);

/** Adds lines to what is told and not refused. @return 0 or -ENOMEM. */
int config_warn(struct ap_config *cfg, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * Two stacks that a phy joins: security, bearers, addresses. @param one the gNB where there is one
 * @return 0, or -EINVAL with a line for each difference in `err`
 */
int config_pair(struct ap_config *cfg, const struct ap_cfg_ue *one, const struct ap_cfg_ue *other,
		struct ap_error *err);

/** @return whether `number`, a member of the deployment, stands as 0 in the file. */
bool config_says_zero(const struct ap_config *cfg, const void *number);

/**
 * As yaml_check(), and looks for numbers that are 0 and not left out: they are kept or, where 0 is
 * no value, refused. @return 0 or -EINVAL with `err` filled.
 */
int config_yaml_check(struct ap_config *cfg, const char *text, size_t len, struct ap_error *err);

/** Fills in defaults and checks all values. @return 0 or -EINVAL with `err` filled. */
int config_finish(struct ap_config *cfg, struct ap_error *err);

/** Fills in defaults and checks one ue. @return 0 or -EINVAL with `err` filled. */
int config_ue_finish(const struct ap_config *cfg, struct ap_cfg_ue *ue, struct ap_error *err);

/** The same for a gnb, and for a phy with one. */
int config_gnb_finish(const struct ap_config *cfg, struct ap_cfg_gnb *gnb, struct ap_error *err);
int config_phy_gnb_finish(const struct ap_config *cfg, struct ap_cfg_phy *phy,
			  struct ap_error *err);

/** What a phy with a gNB, and the ues and gnbs at its ring ports, must agree on. */
int config_phy_gnb_join(struct ap_config *cfg, struct ap_cfg_phy *phy, struct ap_error *err);

/** The same for a upf. */
int config_upf_finish(const struct ap_config *cfg, struct ap_cfg_upf *upf, struct ap_error *err);

/** The same for all interfaces of a upf: config_upf_interface.c. */
int config_upf_interfaces_finish(const struct ap_config *cfg, const struct ap_cfg_upf *upf,
				 struct ap_error *err);

/** @return whether `address` lies in the prefix. */
bool config_prefix_holds(const uint8_t *prefix, uint8_t bits, const uint8_t *address);

/** @return whether an address of the interface has `gateway` on its link and is another one. */
bool config_on_link(const struct ap_cfg_upf_interface *i, const uint8_t *gateway, int octets);

/** @return whether a host can have it: not unspecified, loopback, multicast nor, in IPv4, of class
 * E. */
bool config_is_host(const uint8_t *address, int octets);

/** @return whether `text` is an Ethernet address that one station can have: not 0, no group's. */
bool config_is_station(const char *text);

/** @return whether an interface of the upf has the address as its own, but in a network apart from
 * that of `seen_by`; NULL: in any. */
bool config_is_ours(const struct ap_cfg_upf *upf, const struct ap_cfg_upf_interface *seen_by,
		    const uint8_t *address, int octets);

/** @return whether a link, a route or a gateway of the upf leads there. */
bool config_reaches(const struct ap_cfg_upf *upf, const uint8_t *address, int octets);

/** @return whether all bits behind the prefix are 0. */
bool config_prefix_is_network(const uint8_t *address, uint8_t bits, int octets);

/** @return queues that upfs want of a port unless the deployment says, 0: it is of no upf. */
uint32_t config_upf_queues(const struct ap_config *cfg, const char *port);

/** Routes and neighbours of a upf, or of a gNB's port side. */
int config_edge_finish(const struct ap_config *cfg, const struct ap_cfg_upf *upf,
		       struct ap_error *err);

/** Fills in defaults and checks one gnb_header: config_gnb.c. */
int config_gnb_header_finish(const struct ap_config *cfg, struct ap_cfg_gnb_header *gnb,
			     struct ap_error *err);

/** The same for a smartnic, after the gnb_headers: config_smartnic.c. */
int config_smartnic_finish(const struct ap_config *cfg, struct ap_cfg_smartnic *nic,
			   struct ap_error *err);

/** As config_upf_queues(), of gnb_headers. */
uint32_t config_gnb_header_queues(const struct ap_config *cfg, const char *port);
/** The same for all entries of `power`, and that lcores name one of them. */
int config_power_finish(const struct ap_config *cfg, struct ap_error *err);

/** The same for the HARQ settings of a ue or a phy. */
int config_harq_finish(const struct ap_config *cfg, const char *role, const char *name,
		       struct ap_cfg_harq *h, struct ap_error *err);

#endif
