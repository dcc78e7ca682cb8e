/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <rte_bus_vdev.h>
#include <rte_malloc.h>

#include "core/config.h"
#include "modules/pdcp/pdcp_cryptodev.h"

#define DESCRIPTORS (4 * CRYPTODEV_PDUS)

static struct pdcp_cryptodev_device *devices[RTE_CRYPTO_MAX_DEVS];

/** A PCI device has a name for each service: its address, `_` and the service. */
static int
find(const char *name)
{
	const size_t len = strlen(name);
	const bool address = strchr(name, ':') != NULL;

	for (uint8_t id = 0; id < RTE_CRYPTO_MAX_DEVS; id++) {
		struct rte_cryptodev_info info;
		const char *it;

		if (!rte_cryptodev_is_valid_dev(id))
			continue;
		it = rte_cryptodev_name_get(id);
		rte_cryptodev_info_get(id, &info);
		if ((info.feature_flags & RTE_CRYPTODEV_FF_SYMMETRIC_CRYPTO) &&
		    strncmp(it, name, len) == 0 && (it[len] == '\0' || (address && it[len] == '_')))
			return id;
	}
	return -1;
}

static int
device_find(struct pdcp_cryptodev_device *d, struct ap_error *err)
{
	char args[48];
	int rc = 0, id = find(d->name);

	if (id < 0 && strncmp(d->name, "crypto_", 7) == 0) {
		snprintf(args, sizeof(args), "max_nb_queue_pairs=%u", rte_lcore_count());
		rc = rte_vdev_init(d->name, args);
		d->made = rc == 0;
		id = find(d->name);
	}
	if (id < 0)
		return ap_error_set(err, "cryptodev %s: no such device%s%s", d->name,
				    rc < 0 ? ": " : "", rc < 0 ? strerror(-rc) : "");
	d->id = (uint8_t)id;
	return 0;
}

static int
queue_make(struct pdcp_cryptodev_device *d, unsigned lcore, int socket)
{
	struct rte_cryptodev_qp_conf conf = {.nb_descriptors = DESCRIPTORS};
	struct pdcp_cryptodev_queue *q =
		rte_zmalloc("pdcp_cryptodev_queue", sizeof(*q), RTE_CACHE_LINE_SIZE);

	if (q == NULL)
		return -ENOMEM;
	d->queues[lcore] = q;
	q->dev = d->id;
	q->qp = (uint16_t)rte_lcore_index((int)lcore);
	if (rte_crypto_op_bulk_alloc(d->ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC, q->ops,
				     CRYPTODEV_PDUS) == 0)
		return -ENOMEM;
	for (unsigned i = 0; i < CRYPTODEV_PDUS; i++)
		q->ops[i]->sess_type = RTE_CRYPTO_OP_WITH_SESSION;
	return rte_cryptodev_queue_pair_setup(d->id, q->qp, &conf, socket);
}

static int
device_start(struct pdcp_cryptodev_device *d, struct ap_error *err)
{
	const unsigned lcores = rte_lcore_count();
	int socket = rte_cryptodev_socket_id(d->id), rc;
	struct rte_cryptodev_config conf = {.socket_id = socket,
					    .nb_queue_pairs = (uint16_t)lcores};
	struct rte_cryptodev_info info;
	char name[RTE_MEMPOOL_NAMESIZE];
	unsigned lcore;

	rte_cryptodev_info_get(d->id, &info);
	/* 0: no limit */
	if (info.max_nb_queue_pairs != 0 && info.max_nb_queue_pairs < lcores)
		return ap_error_set(err, "cryptodev %s: %u queue pairs for %u lcores", d->name,
				    info.max_nb_queue_pairs, lcores);
	snprintf(name, sizeof(name), "pdcp_ops%u", d->id);
	d->ops = rte_crypto_op_pool_create(name, RTE_CRYPTO_OP_TYPE_SYMMETRIC,
					   lcores * CRYPTODEV_PDUS, 0, sizeof(struct pdcp_op_extra),
					   socket);
	rc = d->ops ? rte_cryptodev_configure(d->id, &conf) : -ENOMEM;
	d->configured = d->ops != NULL && rc == 0;
	RTE_LCORE_FOREACH(lcore)
	{
		if (rc == 0)
			rc = queue_make(d, lcore, socket);
	}
	if (rc == 0)
		rc = rte_cryptodev_start(d->id);
	return rc == 0 ? 0 : ap_error_set(err, "cryptodev %s: %s", d->name, strerror(-rc));
}

struct pdcp_cryptodev_device *
pdcp_cryptodev_open(const char *name, struct ap_error *err)
{
	struct pdcp_cryptodev_device **slot = NULL, *d;

	for (unsigned i = 0; i < RTE_DIM(devices); i++) {
		if (devices[i] != NULL && strcmp(devices[i]->name, name) == 0)
			return devices[i];
		if (devices[i] == NULL && slot == NULL)
			slot = &devices[i];
	}
	d = slot ? rte_zmalloc("pdcp_cryptodev", sizeof(*d), 0) : NULL;
	if (d == NULL) {
		ap_error_set(err, "cryptodev %s: out of memory", name);
		return NULL;
	}
	*slot = d;
	snprintf(d->name, sizeof(d->name), "%s", name);
	if (device_find(d, err) < 0 || device_start(d, err) < 0) {
		pdcp_cryptodev_close(d);
		return NULL;
	}
	return d;
}

void
pdcp_cryptodev_close(struct pdcp_cryptodev_device *d)
{
	if (d->configured) {
		rte_cryptodev_stop(d->id);
		rte_cryptodev_close(d->id);
	}
	for (unsigned i = 0; i < RTE_MAX_LCORE; i++)
		if (d->queues[i] != NULL) {
			rte_pktmbuf_free_bulk(d->queues[i]->held, d->queues[i]->nb_held);
			rte_free(d->queues[i]);
		}
	for (unsigned i = 0; i < d->nb_pools; i++)
		rte_mempool_free(d->sessions[i]);
	rte_mempool_free(d->ops);
	if (d->made)
		rte_vdev_uninit(d->name);
	for (unsigned i = 0; i < RTE_DIM(devices); i++)
		if (devices[i] == d)
			devices[i] = NULL;
	rte_free(d);
}
