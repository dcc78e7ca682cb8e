/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * How a port tells a sleeping lcore that packets came: by its driver's file descriptors (packet and
 * AF_XDP sockets, tap), by a NIC's RX interrupt, or not at all. Ring ports: governor_setup.c.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/port_internal.h"

static bool
noted(const struct port_fds *f, int fd)
{
	return f->open[fd / 8] & 1U << fd % 8;
}

/** Calls `fn` for every descriptor below PORT_FDS_MAX, lowest first. */
static void
each_fd(void (*fn)(void *arg, int fd), void *arg)
{
	struct port_fds now = {0};
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		int fd = atoi(e->d_name);

		if (e->d_name[0] != '.' && fd < PORT_FDS_MAX && fd != dirfd(dir))
			now.open[fd / 8] |= (uint8_t)(1U << fd % 8);
	}
	if (dir != NULL)
		closedir(dir);
	for (int fd = 0; fd < PORT_FDS_MAX; fd++)
		if (noted(&now, fd))
			fn(arg, fd);
}

static void
note(void *arg, int fd)
{
	struct port_fds *f = arg;

	f->open[fd / 8] |= (uint8_t)(1U << fd % 8);
}

void
port_fds_note(struct port_fds *f)
{
	memset(f, 0, sizeof(*f));
	each_fd(note, f);
}

/** @return whether it is a socket that a port receives on. */
static bool
is_rx_socket(int fd)
{
	struct sockaddr_ll bound = {0};
	socklen_t len = sizeof(bound);
	int domain;
	socklen_t domain_len = sizeof(domain);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_len) < 0)
		return false;
	if (domain == AF_XDP)
		return true;
	/* net_af_packet has one more for itself, which is bound to no interface. */
	return domain == AF_PACKET &&
	       getsockname(fd, (struct sockaddr *)(void *)&bound, &len) == 0 &&
	       bound.sll_ifindex != 0;
}

static bool
is_tap(int fd)
{
	char link[32], to[64] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, to, sizeof(to) - 1) > 0 && strcmp(to, "/dev/net/tun") == 0;
}

struct find {
	struct ap_port *p;
	const struct port_fds *before;
};

static void
find(void *arg, int fd)
{
	struct find *f = arg;

	if (!noted(f->before, fd) && f->p->nb_rx_fds < RTE_DIM(f->p->rx_fds) &&
	    (is_rx_socket(fd) || is_tap(fd)))
		f->p->rx_fds[f->p->nb_rx_fds++] = fd;
}

void
port_fds_find(struct ap_port *p, const struct port_fds *before)
{
	struct find f = {p, before};

	each_fd(find, &f);
}

/** @return whether packets of the queue end sleeps. */
static bool
watch_fds(const struct ap_port *p, uint16_t queue, struct ap_sleep *s)
{
	bool watched = false;
	int rc;

	/* The drivers open them in the order of queues; where it is unclear, all of them count. */
	for (uint16_t i = 0; i < p->nb_rx_fds; i++) {
		if (p->nb_rx_fds == p->queues && i != queue)
			continue;
		rc = ap_sleep_watch(s, p->rx_fds[i], false);
		watched |= rc == 0 || rc == -EEXIST;
	}
	return watched;
}

/** An interrupt that comes before it is let through may be lost, so the queue must tell as well. */
static bool
watch_interrupt(const struct ap_port *p, uint16_t queue, struct ap_sleep *s)
{
	int fd =
		p->interrupts && p->can_count ? rte_eth_dev_rx_intr_ctl_q_get_fd(p->id, queue) : -1;

	if (fd < 0 || rte_eth_dev_rx_intr_enable(p->id, queue) < 0)
		return false;
	rte_eth_dev_rx_intr_disable(p->id, queue);
	return ap_sleep_watch(s, fd, true) == 0;
}

enum ap_wake
ap_port_wake(struct ap_port *p, uint16_t queue, struct ap_sleep *s)
{
	if (watch_fds(p, queue, s))
		return AP_WAKE_EPOLL;
	return watch_interrupt(p, queue, s) ? AP_WAKE_INTERRUPT : AP_WAKE_TIME;
}

void
ap_port_interrupt(const struct ap_port *p, uint16_t queue, bool on)
{
	if (on)
		rte_eth_dev_rx_intr_enable(p->id, queue);
	else
		rte_eth_dev_rx_intr_disable(p->id, queue);
}
