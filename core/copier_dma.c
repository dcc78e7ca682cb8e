/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_string_fns.h>

#include "core/copier_dma.h"

#define SKELETON "dma_skeleton"
#define CAPA_NEEDED (RTE_DMA_CAPA_MEM_TO_MEM | RTE_DMA_CAPA_OPS_COPY)

/* control: rw. Who uses a dmadev; NULL: free. */
static const char *owners[RTE_DMADEV_DEFAULT_MAX];

static bool
is_skeleton(const char *name)
{
	return strncmp(name, SKELETON, strlen(SKELETON)) == 0;
}

/** A PCI engine appears as `address-qN`, one dmadev a queue. */
static bool
name_matches(const char *dev_name, const char *wanted)
{
	size_t len = strlen(wanted);

	return strncmp(dev_name, wanted, len) == 0 &&
	       (dev_name[len] == '\0' || dev_name[len] == '-');
}

/**
 * @param wanted device name or PCI address, NULL: any engine but the skeleton driver
 * @param busy set to the owner of a device that matches but is taken
 * @return dmadev id or -1
 */
static int16_t
find_device(const char *wanted, const char **busy)
{
	struct rte_dma_info info;
	int16_t dev;

	RTE_DMA_FOREACH_DEV(dev)
	{
		if (dev >= (int16_t)RTE_DIM(owners) || rte_dma_info_get(dev, &info) < 0)
			continue;
		if (wanted ? !name_matches(info.dev_name, wanted) : is_skeleton(info.dev_name))
			continue;
		if ((info.dev_capa & CAPA_NEEDED) != CAPA_NEEDED)
			continue;
		if (owners[dev] == NULL)
			return dev;
		*busy = owners[dev];
	}
	return -1;
}

/** Makes a device of the skeleton driver: a thread that copies with rte_memcpy. */
static int16_t
create_skeleton(const char *wanted, struct ap_error *err)
{
	char name[RTE_DEV_NAME_MAX_LEN];
	const char *args = "";
	int ret = -EEXIST;
	size_t len;

	if (wanted != NULL) {
		len = strcspn(wanted, ",");
		snprintf(name, sizeof(name), "%.*s", (int)len, wanted);
		args = wanted[len] == ',' ? wanted + len + 1 : "";
		ret = rte_eal_hotplug_add("vdev", name, args);
	} else {
		for (unsigned i = 0; i < RTE_DIM(owners) && ret == -EEXIST; i++) {
			snprintf(name, sizeof(name), SKELETON "_ap%u", i);
			/* EAL calls it success when the device is there already. */
			if (rte_dma_get_dev_id_by_name(name) < 0)
				ret = rte_eal_hotplug_add("vdev", name, "");
		}
	}
	if (ret < 0) {
		ap_error_set(err, "dma device %s: %s: is DPDK's dma_skeleton driver installed?",
			     name, strerror(-ret));
		return -1;
	}
	return (int16_t)rte_dma_get_dev_id_by_name(name);
}

static int16_t
pick_device(struct dma_engine *e, const char *wanted, struct ap_error *err)
{
	bool any = wanted == NULL || strcmp(wanted, "auto") == 0;
	const char *busy = NULL;
	int16_t dev = find_device(any ? NULL : wanted, &busy);

	if (dev >= 0)
		return dev;
	if (!any && busy != NULL) {
		ap_error_set(err, "dma device %s already copies for %s: name another, or auto",
			     wanted, busy);
		return -1;
	}
	if (any || is_skeleton(wanted)) {
		dev = create_skeleton(any ? NULL : wanted, err);
		e->created = dev >= 0;
		return dev;
	}
	/* Not known at EAL start: perhaps it was bound to its driver since. */
	if (rte_dev_probe(wanted) == 0)
		dev = find_device(wanted, &busy);
	if (dev < 0)
		ap_error_set(err,
			     "dma device %s: no such memory-to-memory dmadev: bind it to its "
			     "driver (dpdk-devbind.py, accel-config), or use auto",
			     wanted);
	return dev;
}

static int
start_device(struct dma_engine *e, const struct rte_dma_info *info, uint32_t descs,
	     struct ap_error *err)
{
	struct rte_dma_conf conf = {.nb_vchans = 1};
	struct rte_dma_vchan_conf vchan = {.direction = RTE_DMA_DIR_MEM_TO_MEM};
	int ret;

	vchan.nb_desc = RTE_MIN(RTE_MAX(descs, (uint32_t)info->min_desc), (uint32_t)info->max_desc);
	ret = rte_dma_configure(e->dev, &conf);
	if (ret == 0)
		ret = rte_dma_vchan_setup(e->dev, 0, &vchan);
	if (ret == 0)
		ret = rte_dma_start(e->dev);
	if (ret < 0)
		ap_error_set(err, "dma device %s does not start: %s", e->device, strerror(-ret));
	return ret;
}

int
dma_engine_open(struct dma_engine *e, const char *device, uint32_t descs, const char *owner,
		struct ap_error *err)
{
	struct rte_dma_info info;
	int ret;

	*e = (struct dma_engine){.dev = -1};
	e->dev = pick_device(e, device, err);
	if (e->dev < 0)
		return -ENODEV;
	ret = rte_dma_info_get(e->dev, &info);
	if (ret < 0)
		return ret;
	strlcpy(e->device, info.dev_name, sizeof(e->device));
	snprintf(e->name, sizeof(e->name), "dma: %s%s", e->device,
		 is_skeleton(e->device) ? " (skeleton driver: emulation)" : "");
	e->sva = info.dev_capa & RTE_DMA_CAPA_SVA;
	ret = start_device(e, &info, descs, err);
	if (ret < 0) {
		if (e->created)
			rte_eal_hotplug_remove("vdev", e->device);
		return ret;
	}
	owners[e->dev] = owner;
	return 0;
}

void
dma_engine_close(struct dma_engine *e)
{
	rte_dma_stop(e->dev);
	owners[e->dev] = NULL;
	if (e->created)
		rte_eal_hotplug_remove("vdev", e->device);
}

static inline rte_iova_t
address(const struct dma_engine *e, const struct rte_mbuf *m)
{
	return e->sva ? rte_pktmbuf_mtod(m, rte_iova_t) : rte_mbuf_data_iova(m);
}

bool
dma_engine_copy(struct dma_engine *e, struct rte_mbuf *dst, const struct rte_mbuf *src,
		uint32_t *ops)
{
	rte_iova_t to = address(e, dst);

	*ops = 0;
	if (rte_dma_burst_capacity(e->dev, 0) < src->nb_segs)
		return false;
	for (const struct rte_mbuf *s = src; s != NULL; s = s->next) {
		if (s->data_len == 0)
			continue;
		if (rte_dma_copy(e->dev, 0, address(e, s), to, s->data_len, 0) < 0)
			return false;
		to += s->data_len;
		(*ops)++;
	}
	return true;
}

uint32_t
dma_engine_completed(struct dma_engine *e, bool *failed)
{
	enum rte_dma_status_code status;
	bool error = false;
	uint16_t last;
	uint32_t n = rte_dma_completed(e->dev, 0, UINT16_MAX, &last, &error);

	*failed = false;
	if (!error)
		return n;
	/* It stopped before an operation that failed: that one is taken by its status. */
	if (rte_dma_completed_status(e->dev, 0, 1, &last, &status) == 1) {
		*failed = status != RTE_DMA_STATUS_SUCCESSFUL;
		n++;
	}
	return n;
}
