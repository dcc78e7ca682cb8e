/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_PORT_H
#define AIRPATH_CORE_PORT_H

/**
 * Ports: any ethdev, opened from a deployment's `ports` entry.
 *
 * A preset becomes devargs (port_preset.c), or a pair of crossed in-process rings
 * (port_ring.c), or a PCI device already bound to its driver. Opening, starting,
 * stopping and closing are the control thread's; each queue belongs to one lcore.
 */

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "core/config.h"
#include "core/governor.h"

#define AP_PORT_BURST_MAX 256
#define AP_PORT_RING_SIZE 4096 /**< descriptors of a ring port unless the configuration says */
#define AP_PORT_QUEUES_MAX 32

struct ap_port_cfg {
	const struct ap_cfg_port *conf; /**< kept by reference until the port is closed */
	struct rte_mempool *rx_pool;    /**< received mbufs; a ring port needs none */
	struct rte_mempool
		*hdr_pool; /**< Ethernet headers before shared buffers; framing ethernet */
	struct rte_mempool
		*linear_pool; /**< copies for a PMD that sends one segment; default rx_pool */
	uint16_t burst;       /**< packets a visit takes, 1..AP_PORT_BURST_MAX, 0: AP_BURST */
	bool sleeps;          /**< an lcore that polls it may sleep: wants interrupts of a NIC */
};

struct ap_port {
	/* constant once open; every lcore: ro */
	const char *name;
	uint16_t id;     /**< ethdev port id */
	uint16_t queues; /**< RX queues, and as many TX queues */
	uint16_t burst;
	enum ap_cfg_framing framing;
	bool trusted_meta; /**< mbufs come from another node of this process: their meta holds */
	bool proxy_neigh;
	bool tx_multi_seg; /**< the PMD sends chains */
	bool can_count;    /**< ap_port_rx_waiting() works: a governor may ask it */
	bool learn_peer;   /**< no peer_mac was configured: port_rx takes it from received frames */
	uint16_t mtu;      /**< B of IP */
	uint32_t tx_max_bytes; /**< longest frame the PMD takes */
	struct rte_ether_addr mac;
	struct rte_mempool *rx_pool;
	struct rte_mempool *hdr_pool;
	struct rte_mempool *linear_pool;
	struct rte_ring
		*rx_rings[AP_PORT_QUEUES_MAX]; /**< ring port: what this end receives from */
	struct rte_ring *tx_rings[AP_PORT_QUEUES_MAX];
	const struct ap_cfg_port *conf;
	char driver[32]; /**< PMD, e.g. "net_af_packet" */
	char note[256];  /**< what a person should know (fallback, link down), or "" */

	/* control: rw before the walk */
	struct ap_sleep *tx_sleep[AP_PORT_QUEUES_MAX]; /**< ring port: of who receives what this
							  end sends; NULL: does not sleep */
	int rx_fds[AP_PORT_QUEUES_MAX]; /**< of the driver, readable while packets wait */
	uint16_t nb_rx_fds;
	bool interrupts; /**< configured with RX interrupts */
	char device[RTE_ETH_NAME_MAX_LEN];
	bool created;                 /**< the device was made here and goes with the port */
	struct rte_mempool *own_pool; /**< of a ring port without rx_pool: ethdev wants one */
	uint16_t rx_nodes;            /**< port_rx instances */

	/* the lcore that receives: rw, others: ro */
	_Atomic uint64_t peer_mac __rte_cache_aligned; /**< as in memory, first 6 bytes */
};

/**
 * @return data room an mbuf needs for whatever can arrive at a port that is not open yet, B.
 * Looks at the kernel interface's MTU where `conf` leaves it out.
 */
uint32_t ap_port_room(const struct ap_cfg_port *conf);

/**
 * Creates and configures the device; nothing is received yet.
 * @param err filled on failure: which port, what failed, what to do
 * @return 0 or -errno
 */
int ap_port_open(struct ap_port **port, const struct ap_port_cfg *cfg, struct ap_error *err);

/** Both ends of a ring pair must be open. Waits up to a second for a NIC's link. */
int ap_port_start(struct ap_port *port, struct ap_error *err);

void ap_port_stop(struct ap_port *port);

/** Frees the port; of a ring pair, the end closed last frees packets still inside. */
void ap_port_close(struct ap_port *port);

/** @return packets inside the rings this port sends into, sent and not yet received; else 0. */
uint32_t ap_port_in_flight(const struct ap_port *port);

/** @return packets waiting in an RX queue, or -ENOTSUP where the driver cannot tell. */
static inline int
ap_port_rx_waiting(const struct ap_port *p, uint16_t queue)
{
	if (p->rx_rings[0] != NULL)
		return (int)rte_ring_count(p->rx_rings[queue]);
	return p->can_count ? rte_eth_rx_queue_count(p->id, queue) : -ENOTSUP;
}

/**
 * Has what comes to an RX queue end the sleeps of who polls it. Not for ring ports. Control thread,
 * the port has started. @return how, AP_WAKE_TIME where the driver has no way.
 */
enum ap_wake ap_port_wake(struct ap_port *port, uint16_t queue, struct ap_sleep *s);

/** Lets a queue's RX interrupt come, or not. Worker that polls it. */
void ap_port_interrupt(const struct ap_port *port, uint16_t queue, bool on);

/** Wakes who receives what was sent to a TX queue of a ring port, after it was sent. */
static inline void
ap_port_kick(const struct ap_port *p, uint16_t queue)
{
	if (p->tx_sleep[queue] != NULL)
		ap_sleep_wake(p->tx_sleep[queue]);
}

/** @return packets a TX queue takes now, or UINT32_MAX where the driver cannot tell. */
static inline uint32_t
ap_port_tx_room(const struct ap_port *p, uint16_t queue)
{
	return p->tx_rings[0] != NULL ? rte_ring_free_count(p->tx_rings[queue]) : UINT32_MAX;
}

static inline void
ap_port_peer_mac_get(const struct ap_port *p, struct rte_ether_addr *mac)
{
	uint64_t v = atomic_load_explicit(&p->peer_mac, memory_order_relaxed);

	__builtin_memcpy(mac, &v, sizeof(*mac));
}

/** Worker that receives, or control before the walk. */
static inline void
ap_port_peer_mac_set(struct ap_port *p, const struct rte_ether_addr *mac)
{
	uint64_t v = 0;

	__builtin_memcpy(&v, mac, sizeof(*mac));
	if (v != atomic_load_explicit(&p->peer_mac, memory_order_relaxed))
		atomic_store_explicit(&p->peer_mac, v, memory_order_relaxed);
}

#endif
