/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_malloc.h>

#include "core/node.h"
#include "core/pool.h"
#include "core/port_internal.h"

#define LINK_WAIT_MS 1000

static int
device_create(struct ap_port *p, const struct port_device *dev, struct ap_error *err)
{
	int ret;

	/* EAL may have been given the device on its own command line. */
	if (rte_eth_dev_get_port_by_name(dev->name, &p->id) == 0)
		return 0;
	ret = dev->vdev ? rte_eal_hotplug_add("vdev", dev->name, dev->args)
			: rte_dev_probe(dev->args);
	if (ret < 0)
		return ap_error_set(err, "port %s: %s (%s) does not open: %s", p->name, dev->driver,
				    dev->args, strerror(-ret));
	p->created = true;
	snprintf(p->device, sizeof(p->device), "%s", dev->name);
	if (rte_eth_dev_get_port_by_name(dev->name, &p->id) != 0)
		return ap_error_set(err, "port %s: %s is no Ethernet device", p->name, dev->name);
	return 0;
}

static void
device_destroy(struct ap_port *p)
{
	struct rte_eth_dev_info info;

	if (!p->created)
		return;
	if (rte_eth_dev_info_get(p->id, &info) == 0 && info.device != NULL)
		rte_dev_remove(info.device);
	p->created = false;
}

/**
 * Own and peer address. The other end of a tap is the kernel, which has the address the
 * PMD reports, so this end needs one of its own.
 */
static int
macs_setup(struct ap_port *p, struct ap_error *err)
{
	static const struct rte_ether_addr broadcast = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	const struct ap_cfg_port *conf = p->conf;
	struct rte_ether_addr peer = broadcast;

	rte_eth_macaddr_get(p->id, &p->mac);
	if (conf->preset == AP_PRESET_TAP) {
		peer = p->mac;
		p->mac.addr_bytes[0] |= RTE_ETHER_LOCAL_ADMIN_ADDR;
		p->mac.addr_bytes[5] ^= 1;
	}
	if (conf->mac != NULL) {
		if (rte_ether_unformat_addr(conf->mac, &p->mac) < 0 ||
		    !rte_is_valid_assigned_ether_addr(&p->mac))
			return ap_error_set(err,
					    "port %s: mac '%s' is no unicast Ethernet address "
					    "such as 02:00:00:00:00:01",
					    p->name, conf->mac);
		/* Ports are promiscuous, so a PMD that cannot change its filter does no harm. */
		if (conf->preset != AP_PRESET_TAP)
			rte_eth_dev_default_mac_addr_set(p->id, &p->mac);
	}
	if (conf->peer_mac != NULL && rte_ether_unformat_addr(conf->peer_mac, &peer) < 0)
		return ap_error_set(err,
				    "port %s: peer_mac '%s' is no Ethernet address such as "
				    "02:00:00:00:00:02",
				    p->name, conf->peer_mac);
	p->learn_peer = conf->peer_mac == NULL;
	ap_port_peer_mac_set(p, &peer);
	return 0;
}

static int
device_open(struct ap_port *p, enum ap_cfg_preset preset, struct ap_error *err)
{
	struct port_device dev = {.multi_seg = true, .tx_max_bytes = UINT32_MAX};
	int ret;

	if (preset == AP_PRESET_RING) {
		struct ap_cfg_pool tiny = {.name = p->device, .mbufs = 1};

		ret = port_ring_open(p, err);
		if (ret < 0)
			return ret;
		if (p->rx_pool == NULL)
			p->own_pool = ap_pool_create(&tiny, err);
		if (p->rx_pool == NULL && p->own_pool == NULL)
			return -ENOMEM;
		dev.driver = "net_ring";
		return port_configure(p, &dev, err);
	}
	ret = port_preset(p->conf, preset, p->mtu, &dev, err);
	if (ret == 0)
		ret = device_create(p, &dev, err);
	if (ret == 0)
		ret = port_configure(p, &dev, err);
	return ret;
}

/** AF_XDP needs the kernel, the interface and a pool fit for a UMEM; a packet socket does not. */
static int
fall_back(struct ap_port *p, struct ap_error *err)
{
	struct ap_error why = *err;
	int ret;

	device_destroy(p);
	err->text[0] = '\0';
	ret = device_open(p, AP_PRESET_AF_PACKET, err);
	snprintf(p->note, sizeof(p->note), "af_xdp did not open, using af_packet (%.180s)",
		 why.text);
	return ret;
}

static int
mtu_choose(struct ap_port *p, struct ap_error *err)
{
	const struct ap_cfg_port *conf = p->conf;
	int mtu = conf->mtu ? (int)conf->mtu : RTE_ETHER_MTU;

	if (conf->mtu != 0 && (conf->mtu < RTE_ETHER_MIN_MTU || conf->mtu > UINT16_MAX - 64))
		return ap_error_set(err, "port %s: mtu %u must be %u..%u", p->name, conf->mtu,
				    RTE_ETHER_MIN_MTU, UINT16_MAX - 64);
	if ((conf->preset == AP_PRESET_AF_PACKET || conf->preset == AP_PRESET_AF_XDP) &&
	    conf->iface != NULL) {
		mtu = port_iface_mtu(conf->iface, conf->mtu);
		if (mtu < 0)
			return ap_error_set(err, "port %s: MTU of interface %s: %s", p->name,
					    conf->iface, strerror(-mtu));
	}
	p->mtu = (uint16_t)RTE_MIN(mtu, UINT16_MAX - 64);
	return 0;
}

uint32_t
ap_port_room(const struct ap_cfg_port *conf)
{
	int mtu = conf->mtu ? (int)conf->mtu : RTE_ETHER_MTU;
	struct port_device dev = {0};
	struct ap_error err = {0};

	if (conf->mtu == 0 && conf->preset == AP_PRESET_AF_PACKET && conf->iface != NULL)
		mtu = RTE_MAX(port_iface_mtu(conf->iface, 0), RTE_ETHER_MTU);
	if (conf->preset == AP_PRESET_AF_PACKET)
		port_preset(conf, conf->preset, (uint16_t)RTE_MIN(mtu, UINT16_MAX - 64), &dev,
			    &err);
	return dev.rx_max_bytes
		       ? dev.rx_max_bytes
		       : (uint32_t)mtu + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + RTE_VLAN_HLEN;
}

static int
cfg_take(struct ap_port *p, const struct ap_port_cfg *cfg, struct ap_error *err)
{
	p->conf = cfg->conf;
	p->name = cfg->conf->name;
	p->framing = cfg->conf->framing;
	p->proxy_neigh = cfg->conf->proxy_neigh;
	p->queues = cfg->conf->queues ? (uint16_t)RTE_MIN(cfg->conf->queues, 0xffffU) : 1;
	p->burst = cfg->burst ? cfg->burst : AP_BURST;
	p->rx_pool = cfg->rx_pool;
	p->hdr_pool = cfg->hdr_pool;
	p->linear_pool = cfg->linear_pool ? cfg->linear_pool : cfg->rx_pool;
	p->interrupts = cfg->sleeps && (cfg->conf->preset == AP_PRESET_PCI ||
					cfg->conf->preset == AP_PRESET_DEVARGS);
	p->trusted_meta = cfg->conf->preset == AP_PRESET_RING;
	if (p->queues > AP_PORT_QUEUES_MAX)
		return ap_error_set(err, "port %s: %u queues, at most %u", p->name,
				    cfg->conf->queues, AP_PORT_QUEUES_MAX);
	if (p->burst > AP_PORT_BURST_MAX)
		return ap_error_set(err, "port %s: burst %u, at most %u", p->name, p->burst,
				    AP_PORT_BURST_MAX);
	return mtu_choose(p, err);
}

int
ap_port_open(struct ap_port **port, const struct ap_port_cfg *cfg, struct ap_error *err)
{
	struct ap_port *p = rte_zmalloc(cfg->conf->name, sizeof(*p), RTE_CACHE_LINE_SIZE);
	struct port_fds before;
	int ret;

	if (p == NULL)
		return ap_error_set(err, "port %s: out of memory", cfg->conf->name);
	port_fds_note(&before);
	ret = cfg_take(p, cfg, err);
	if (ret == 0) {
		ret = device_open(p, cfg->conf->preset, err);
		if (ret < 0 && cfg->conf->preset == AP_PRESET_AF_XDP)
			ret = fall_back(p, err);
	}
	if (ret == 0)
		ret = macs_setup(p, err);
	if (ret < 0) {
		ap_port_close(p);
		return ret;
	}
	port_fds_find(p, &before);
	*port = p;
	return 0;
}

static bool
link_up(const struct ap_port *p)
{
	struct rte_eth_link link = {0};

	return rte_eth_link_get_nowait(p->id, &link) < 0 || link.link_status == RTE_ETH_LINK_UP;
}

int
ap_port_start(struct ap_port *p, struct ap_error *err)
{
	enum ap_cfg_preset preset = p->conf->preset;
	int ret;

	if (preset == AP_PRESET_RING && port_ring_check(p, err) < 0)
		return -EINVAL;
	ret = rte_eth_dev_start(p->id);
	if (ret < 0 && p->interrupts && port_configure_plain(p, err) == 0)
		ret = rte_eth_dev_start(p->id);
	if (ret < 0)
		return ap_error_set(err, "port %s: %s does not start: %s", p->name, p->driver,
				    strerror(-ret));
	/* Not every PMD knows of it; then it has no filter either. */
	rte_eth_promiscuous_enable(p->id);
	p->can_count = rte_eth_rx_queue_count(p->id, 0) >= 0;
	if (preset != AP_PRESET_PCI && preset != AP_PRESET_DEVARGS)
		return 0;
	for (unsigned ms = 0; ms < LINK_WAIT_MS && !link_up(p); ms += 10)
		rte_delay_us_sleep(10000);
	if (!link_up(p))
		snprintf(p->note, sizeof(p->note), "link is down");
	return 0;
}

void
ap_port_stop(struct ap_port *p)
{
	rte_eth_dev_stop(p->id);
}

void
ap_port_close(struct ap_port *p)
{
	bool ring = p->rx_rings[0] != NULL;

	device_destroy(p);
	if (ring)
		port_ring_close(p);
	rte_mempool_free(p->own_pool);
	rte_free(p);
}

uint32_t
ap_port_in_flight(const struct ap_port *p)
{
	uint32_t n = 0;

	for (uint16_t q = 0; q < p->queues && p->tx_rings[q] != NULL; q++)
		n += rte_ring_count(p->tx_rings[q]);
	return n;
}
