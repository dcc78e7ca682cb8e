/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of SmartNICs. */
#include <errno.h>
#include <string.h>

#include "core/config_check.h"

#define VFS_MAX 16
#define AT "smartnic %s: "
#define WHERE nic->name

static int
port_finish(const struct ap_config *cfg, const struct ap_cfg_smartnic *nic, const char *key,
	    char *const *at, struct ap_error *err)
{
	const struct ap_cfg_port *port = ap_config_port(cfg, *at);

	if (port == NULL)
		BAD(at, AT "%s: there is no port '%s'", WHERE, key, *at);
	if (port->framing != AP_FRAMING_RAW)
		BAD(&port->framing, AT "%s: port %s: framing must be raw", WHERE, key, *at);
	return 0;
}

/** The gNB's ends and ours: as many, and others. */
static int
vfs_finish(const struct ap_config *cfg, const struct ap_cfg_smartnic *nic,
	   const struct ap_cfg_gnb_header *gnb, struct ap_error *err)
{
	const struct ap_cfg_port *end;

	if (nic->vfs_count != gnb->vfs_count || nic->vfs_count > VFS_MAX)
		BAD(&nic->vfs,
		    AT "vfs: %u, but gnb_header %s has %u: as many are needed, at most %d", WHERE,
		    nic->vfs_count, nic->gnb, gnb->vfs_count, VFS_MAX);
	for (unsigned v = 0; v < nic->vfs_count; v++) {
		if (port_finish(cfg, nic, "vfs", &nic->vfs[v], err) < 0)
			return -EINVAL;
		for (unsigned k = 0; k < gnb->vfs_count; k++)
			if (strcmp(nic->vfs[v], gnb->vfs[k]) == 0)
				BAD(&nic->vfs[v],
				    AT "vfs[%u]: port %s is the gNB's end: name the other one of "
				       "the ring pair",
				    WHERE, v, nic->vfs[v]);
		for (unsigned k = 0; k < v; k++)
			if (strcmp(nic->vfs[v], nic->vfs[k]) == 0)
				BAD(&nic->vfs[v], AT "vfs[%u]: port %s is there twice", WHERE, v,
				    nic->vfs[v]);
		end = ap_config_port(cfg, gnb->vfs[v]);
		if (end && end->preset == AP_PRESET_RING && strcmp(end->peer, nic->vfs[v]) != 0)
			BAD(&nic->vfs[v],
			    AT "vfs[%u]: %s, but vfs[%u] of gnb_header %s is %s, whose other end "
			       "is %s",
			    WHERE, v, nic->vfs[v], v, nic->gnb, gnb->vfs[v], end->peer);
	}
	return 0;
}

/** @return whether the gNB has an interface of which the program takes G-PDUs. */
static bool
has_n3(const struct ap_cfg_gnb_header *gnb)
{
	uint8_t address[16], bits;

	for (unsigned i = 0; i < gnb->edge.interfaces_count; i++) {
		const struct ap_cfg_upf_interface *in = &gnb->edge.interfaces[i];

		for (unsigned a = 0; a < in->addresses_count; a++)
			if (in->side == AP_GNB_N3 && in->vlan == 0 &&
			    ap_config_prefix(in->addresses[a], address, &bits) == 4)
				return true;
	}
	return false;
}

int
config_smartnic_finish(const struct ap_config *cfg, struct ap_cfg_smartnic *nic,
		       struct ap_error *err)
{
	const struct ap_cfg_gnb_header *gnb = NULL;

	for (unsigned i = 0; i < cfg->gnb_header_count; i++)
		if (strcmp(cfg->gnb_header[i].edge.name, nic->gnb) == 0)
			gnb = &cfg->gnb_header[i];
	if (gnb == NULL)
		BAD(&nic->gnb, AT "gnb: there is no gnb_header '%s'", WHERE, nic->gnb);
	for (unsigned i = 0; i < cfg->smartnic_count && &cfg->smartnic[i] != nic; i++)
		if (strcmp(cfg->smartnic[i].gnb, nic->gnb) == 0)
			BAD(&nic->gnb, AT "gnb: %s has smartnic %s already", WHERE, nic->gnb,
			    cfg->smartnic[i].name);
	if (!has_n3(gnb))
		BAD(&nic->gnb,
		    AT "gnb: %s has no n3 interface with an IPv4 address and without VLAN: the "
		       "program takes no other packets",
		    WHERE, nic->gnb);
	if (nic->offload_percent > 100)
		BAD(&nic->offload_percent, AT "offload_percent %u must be 0..100", WHERE,
		    nic->offload_percent);
	if (nic->mark == AP_SMARTNIC_MARK_SENDER && nic->offload_percent)
		BAD(&nic->offload_percent,
		    AT "offload_percent is for mark share: with mark sender packets say", WHERE);
	if (port_finish(cfg, nic, "wire", &nic->wire, err) < 0)
		return -EINVAL;
	return vfs_finish(cfg, nic, gnb, err);
}
