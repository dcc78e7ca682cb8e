/* SPDX-License-Identifier: BSD-3-Clause */
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/port_internal.h"

/** Ethernet header and one VLAN tag. */
#define L2_BYTES (RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN)
/** Where the kernel puts a received frame in a TPACKET_V2 slot, and where it reads one to send. */
#define TPACKET_RX_OFFSET 66
#define TPACKET_TX_OFFSET 32
#define AF_PACKET_FRAMES 1024

static const char *const preset_names[] = {
	"null", "ring", "pcap", "tap", "af_packet", "af_xdp", "memif", "pci", "devargs",
};

static void __attribute__((format(printf, 2, 3)))
add_arg(struct port_device *dev, const char *fmt, ...)
{
	size_t len = strlen(dev->args);
	va_list ap;

	if (len > 0 && len + 1 < sizeof(dev->args))
		dev->args[len++] = ',';
	va_start(ap, fmt);
	vsnprintf(dev->args + len, sizeof(dev->args) - len, fmt, ap);
	va_end(ap);
}

static bool
has_arg(const struct ap_cfg_port *conf, const char *key)
{
	return conf->devargs != NULL && strstr(conf->devargs, key) != NULL;
}

static int
need(const struct ap_cfg_port *conf, enum ap_cfg_preset preset, const char *value, const char *key,
     struct ap_error *err)
{
	if (value != NULL && value[0] != '\0')
		return 0;
	return ap_error_set(err, "port %s: preset %s needs '%s'", conf->name, preset_names[preset],
			    key);
}

/** A kernel interface must be there: what a PMD says of a missing one only EAL's log has. */
static int
need_iface(const struct ap_cfg_port *conf, enum ap_cfg_preset preset, struct ap_error *err)
{
	if (need(conf, preset, conf->iface, "iface", err) < 0)
		return -EINVAL;
	if (if_nametoindex(conf->iface) == 0)
		return ap_error_set(err,
				    "port %s: there is no interface %s: create it first "
				    "(ip link add), or look in the right network namespace",
				    conf->name, conf->iface);
	return 0;
}

int
port_iface_mtu(const char *iface, uint32_t mtu)
{
	struct ifreq ifr = {0};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), ret = 0;

	if (fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", iface);
	if (mtu != 0) {
		ifr.ifr_mtu = (int)mtu;
		ret = ioctl(fd, SIOCSIFMTU, &ifr);
	}
	if (ret == 0)
		ret = ioctl(fd, SIOCGIFMTU, &ifr);
	ret = ret == 0 ? ifr.ifr_mtu : -errno;
	close(fd);
	return ret;
}

static int
preset_pcap(const struct ap_cfg_port *conf, struct port_device *dev, struct ap_error *err)
{
	if (conf->rx_file == NULL && conf->tx_file == NULL)
		return ap_error_set(err, "port %s: preset pcap needs 'rx_file', 'tx_file' or both",
				    conf->name);
	if (conf->infinite && conf->rx_file == NULL)
		return ap_error_set(err, "port %s: 'infinite' replays 'rx_file', which is missing",
				    conf->name);
	if (conf->rx_file != NULL && access(conf->rx_file, R_OK) != 0)
		return ap_error_set(err, "port %s: rx_file %s: %s", conf->name, conf->rx_file,
				    strerror(errno));
	if (conf->rx_file != NULL)
		add_arg(dev, "rx_pcap=%s", conf->rx_file);
	if (conf->tx_file != NULL)
		add_arg(dev, "tx_pcap=%s", conf->tx_file);
	if (conf->infinite)
		add_arg(dev, "infinite_rx=1");
	dev->driver = "net_pcap";
	dev->multi_seg = true;
	/* A replayed file is kept in mbufs and copied from the first segment only. */
	dev->chains_rx = !conf->infinite;
	dev->tx_max_bytes = UINT16_MAX;
	return 0;
}

/**
 * The PMD takes frame i at i · framesz, so a block must hold whole frames, and it copies what
 * the kernel left in a frame into the mbuf without looking at its room.
 */
static void
preset_af_packet(const struct ap_cfg_port *conf, uint16_t mtu, struct port_device *dev)
{
	uint32_t frame = RTE_ALIGN_CEIL(mtu + L2_BYTES + TPACKET_RX_OFFSET, 1024);

	add_arg(dev, "iface=%s,qpairs=%u,framesz=%u,blocksz=%u,framecnt=%u", conf->iface,
		conf->queues ? conf->queues : 1, frame, frame * 4, AF_PACKET_FRAMES);
	dev->driver = "net_af_packet";
	dev->rx_max_bytes = frame - TPACKET_RX_OFFSET;
	dev->tx_max_bytes = frame - TPACKET_TX_OFFSET;
}

static void
preset_memif(const struct ap_cfg_port *conf, uint16_t mtu, struct port_device *dev)
{
	add_arg(dev, "role=%s,socket=%s,socket-abstract=no", conf->server ? "server" : "client",
		conf->iface);
	if (!has_arg(conf, "bsize="))
		add_arg(dev, "bsize=%u", RTE_MAX(2048, RTE_ALIGN_CEIL(mtu + L2_BYTES, 1024)));
	dev->driver = "net_memif";
	dev->chains_rx = true;
	dev->tx_max_bytes = UINT16_MAX;
}

static int
preset_vdev(const struct ap_cfg_port *conf, enum ap_cfg_preset preset, uint16_t mtu,
	    struct port_device *dev, struct ap_error *err)
{
	switch (preset) {
	case AP_PRESET_NULL:
		dev->driver = "net_null";
		dev->multi_seg = true;
		dev->tx_max_bytes = UINT32_MAX;
		return 0;
	case AP_PRESET_PCAP:
		return preset_pcap(conf, dev, err);
	case AP_PRESET_TAP:
		dev->driver = "net_tap";
		add_arg(dev, "iface=%s", conf->iface ? conf->iface : conf->name);
		return 0;
	case AP_PRESET_AF_PACKET:
		if (need_iface(conf, preset, err) < 0)
			return -EINVAL;
		if (preset == conf->preset &&
		    (has_arg(conf, "framesz=") || has_arg(conf, "blocksz=")))
			return ap_error_set(err,
					    "port %s: framesz and blocksz follow from 'mtu': "
					    "leave them out of devargs",
					    conf->name);
		preset_af_packet(conf, mtu, dev);
		return 0;
	case AP_PRESET_AF_XDP:
		if (need_iface(conf, preset, err) < 0)
			return -EINVAL;
		dev->driver = "net_af_xdp";
		add_arg(dev, "iface=%s,start_queue=0,queue_count=%u", conf->iface,
			conf->queues ? conf->queues : 1);
		return 0;
	case AP_PRESET_MEMIF:
		if (need(conf, preset, conf->iface, "iface", err) < 0)
			return -EINVAL;
		preset_memif(conf, mtu, dev);
		return 0;
	default:
		return ap_error_set(err, "port %s: unknown preset %d", conf->name, preset);
	}
}

int
port_preset(const struct ap_cfg_port *conf, enum ap_cfg_preset preset, uint16_t mtu,
	    struct port_device *dev, struct ap_error *err)
{
	int ret;

	*dev = (struct port_device){.driver = preset_names[preset]};
	if (preset == AP_PRESET_PCI || preset == AP_PRESET_DEVARGS) {
		const char *base = preset == AP_PRESET_PCI ? conf->address : conf->devargs;

		ret = need(conf, preset, base, preset == AP_PRESET_PCI ? "address" : "devargs",
			   err);
		if (ret < 0)
			return ret;
		snprintf(dev->name, sizeof(dev->name), "%.*s", (int)strcspn(base, ","), base);
		snprintf(dev->args, sizeof(dev->args), "%s", base);
		if (preset == AP_PRESET_PCI && conf->devargs != NULL)
			add_arg(dev, "%s", conf->devargs);
		return 0;
	}
	ret = preset_vdev(conf, preset, mtu, dev, err);
	if (ret < 0)
		return ret;
	dev->vdev = true;
	snprintf(dev->name, sizeof(dev->name), "%s_%s", dev->driver, conf->name);
	/* A preset that stands in for another does not know the other's arguments. */
	if (conf->devargs != NULL && preset == conf->preset)
		add_arg(dev, "%s", conf->devargs);
	if (strlen(dev->args) >= sizeof(dev->args) - 1)
		return ap_error_set(err, "port %s: devargs are over %zu characters", conf->name,
				    sizeof(dev->args) - 2);
	return 0;
}
