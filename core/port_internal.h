/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_PORT_INTERNAL_H
#define AIRPATH_CORE_PORT_INTERNAL_H

/** What the files of core/port*.c share. Control thread. */

#include "core/port.h"

#define PORT_ARGS_LEN 512
#define PORT_FDS_MAX 8192

/** What a preset comes to. */
struct port_device {
	const char *driver;              /**< PMD name for messages */
	char name[RTE_ETH_NAME_MAX_LEN]; /**< vdev or PCI name */
	char args[PORT_ARGS_LEN];        /**< "" for none */
	bool vdev;      /**< hot-plugged on the vdev bus as name + args; else probed by devargs */
	bool multi_seg; /**< the PMD sends chains although it does not say so */
	bool chains_rx; /**< the PMD receives long frames into chains although it does not say so */
	uint32_t rx_max_bytes; /**< longest frame the PMD copies without looking at room, 0: it
				  looks */
	uint32_t tx_max_bytes; /**< longest frame it sends, 0: up to the MTU it reports */
};

/**
 * Checks the fields a preset needs and writes its devargs. Not for AP_PRESET_RING.
 * @param preset conf->preset, or what it falls back to
 * @param mtu B of IP
 * @return 0 or -EINVAL with `err` filled
 */
int port_preset(const struct ap_cfg_port *conf, enum ap_cfg_preset preset, uint16_t mtu,
		struct port_device *dev, struct ap_error *err);

/** MTU, offloads, room for frames, queues. @return 0 or -errno with `err` filled. */
int port_configure(struct ap_port *p, const struct port_device *dev, struct ap_error *err);

/** Makes the ethdev of one end of a ring pair. @return 0 or -errno with `err` filled. */
int port_ring_open(struct ap_port *p, struct ap_error *err);

/** Gives the rings back; the last end frees them with what is inside. */
void port_ring_close(struct ap_port *p);

/** @return 0 when the other end is open. */
int port_ring_check(const struct ap_port *p, struct ap_error *err);

/** File descriptors of this process at a moment. */
struct port_fds {
	uint8_t open[PORT_FDS_MAX / 8];
};

void port_fds_note(struct port_fds *f);

/** Finds the descriptors that packets come by, among those opened since `before`. */
void port_fds_find(struct ap_port *p, const struct port_fds *before);

/** Gives up interrupts, with which the port did not start. @return 0 or -errno */
int port_configure_plain(struct ap_port *p, struct ap_error *err);

/**
 * Gets the MTU of a kernel interface, after setting it to `mtu` unless that is 0.
 * @return MTU or -errno
 */
int port_iface_mtu(const char *iface, uint32_t mtu);

#endif
