/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_string_fns.h>

#include "core/pool.h"
#include "core/port_internal.h"

#define DESCRIPTORS 1024

/** Bytes a PMD counts on top of the MTU when it compares with its longest frame. */
static uint32_t
overhead(const struct rte_eth_dev_info *info)
{
	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		return info->max_rx_pktlen - info->max_mtu;
	return RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
}

static bool
is_packet_socket(const struct port_device *dev)
{
	return strcmp(dev->driver, "net_af_packet") == 0;
}

/**
 * The MTU that goes to the PMD. af_packet and memif report 1518 B but carry what their
 * slots hold: they are not asked.
 */
static int
mtu_setup(struct ap_port *p, const struct port_device *dev, const struct rte_eth_dev_info *info,
	  struct rte_eth_conf *conf, struct ap_error *err)
{
	if (is_packet_socket(dev) || dev->chains_rx)
		return 0;
	if (p->mtu + overhead(info) > info->max_rx_pktlen)
		return ap_error_set(err, "port %s: mtu %u: %s takes at most %u", p->name, p->mtu,
				    info->driver_name, info->max_rx_pktlen - overhead(info));
	conf->rxmode.mtu = p->mtu;
	return 0;
}

/** Frames must fit an mbuf, or the PMD must spread them over several. */
static int
room_setup(struct ap_port *p, const struct port_device *dev, const struct rte_eth_dev_info *info,
	   struct rte_eth_conf *conf, struct ap_error *err)
{
	uint32_t frame = dev->rx_max_bytes ? dev->rx_max_bytes : p->mtu + overhead(info);
	uint32_t room;

	if (p->rx_rings[0] != NULL)
		return 0;
	if (p->rx_pool == NULL)
		return ap_error_set(err, "port %s: no pool for received packets: set 'pool'",
				    p->name);
	room = ap_pool_room(p->rx_pool);
	if (dev->chains_rx || room >= frame)
		return 0;
	if (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) {
		conf->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
		return 0;
	}
	return ap_error_set(err,
			    "port %s: frames of %u B can arrive, an mbuf of pool %s holds %u B "
			    "and %s does not use several: raise data_room or lower mtu",
			    p->name, frame, p->rx_pool->name, room, info->driver_name);
}

static int
queues_setup(struct ap_port *p, struct ap_error *err)
{
	uint16_t nb_rx = DESCRIPTORS, nb_tx = DESCRIPTORS;
	struct rte_mempool *pool = p->rx_pool ? p->rx_pool : p->own_pool;
	int socket = rte_eth_dev_socket_id(p->id), ret;

	ret = rte_eth_dev_adjust_nb_rx_tx_desc(p->id, &nb_rx, &nb_tx);
	for (uint16_t q = 0; q < p->queues && ret == 0; q++) {
		ret = rte_eth_rx_queue_setup(p->id, q, nb_rx, (unsigned)socket, NULL, pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(p->id, q, nb_tx, (unsigned)socket, NULL);
	}
	if (ret < 0)
		return ap_error_set(err, "port %s: %s: queue setup: %s", p->name, p->driver,
				    strerror(-ret));
	return 0;
}

int
port_configure(struct ap_port *p, const struct port_device *dev, struct ap_error *err)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(p->id, &info);

	if (ret < 0)
		return ap_error_set(err, "port %s: device info: %s", p->name, strerror(-ret));
	strlcpy(p->driver, info.driver_name, sizeof(p->driver));
	if (p->queues > info.max_rx_queues || p->queues > info.max_tx_queues)
		return ap_error_set(err, "port %s: %u queues, %s has %u", p->name, p->queues,
				    p->driver, RTE_MIN(info.max_rx_queues, info.max_tx_queues));
	if (mtu_setup(p, dev, &info, &conf, err) < 0 || room_setup(p, dev, &info, &conf, err) < 0)
		return -EINVAL;
	conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	p->tx_multi_seg = conf.txmode.offloads != 0 || dev->multi_seg;
	p->tx_max_bytes = dev->tx_max_bytes ? dev->tx_max_bytes : p->mtu + overhead(&info);
	if (p->queues > 1 && info.flow_type_rss_offloads != 0) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
			info.flow_type_rss_offloads &
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP);
	}
	conf.intr_conf.rxq = p->interrupts;
	ret = rte_eth_dev_configure(p->id, p->queues, p->queues, &conf);
	if (ret < 0 && p->interrupts) {
		p->interrupts = false;
		conf.intr_conf.rxq = 0;
		ret = rte_eth_dev_configure(p->id, p->queues, p->queues, &conf);
	}
	if (ret < 0)
		return ap_error_set(err, "port %s: %s refuses its configuration: %s", p->name,
				    p->driver, strerror(-ret));
	return queues_setup(p, err);
}

int
port_configure_plain(struct ap_port *p, struct ap_error *err)
{
	struct rte_eth_conf conf;
	int ret = rte_eth_dev_conf_get(p->id, &conf);

	p->interrupts = false;
	conf.intr_conf.rxq = 0;
	if (ret == 0)
		ret = rte_eth_dev_configure(p->id, p->queues, p->queues, &conf);
	return ret < 0 ? ret : queues_setup(p, err);
}
