/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include "core/config.h"
#include "modules/pdcp/pdcp_engine.h"

/** The default first. */
static const struct pdcp_crypto *const engines[] = {
#ifdef AIRPATH_IPSEC_MB
	&pdcp_multi_buffer,
#endif
	&pdcp_cryptodev,
};

const struct pdcp_crypto *
pdcp_security_engine(const char *name)
{
	for (unsigned i = 0; i < RTE_DIM(engines); i++)
		if (name == NULL || strcmp(name, engines[i]->name) == 0)
			return engines[i];
	return NULL;
}

int
pdcp_security_key_create(const struct pdcp_security_cfg *cfg, struct pdcp_security_key **key,
			 struct ap_error *err)
{
	const struct pdcp_crypto *engine = cfg->engine ? cfg->engine : pdcp_security_engine(NULL);
	struct ap_error unread = {0};
	int rc;

	if (err == NULL)
		err = &unread;
	if (cfg->nea > PDCP_NEA3 || cfg->nia > PDCP_NIA3 || cfg->pool == NULL)
		return ap_error_set(err, "impossible algorithm, or no pool");
	rc = engine->key_create(cfg, key, err);
	if (rc < 0)
		return rc;
	(*key)->crypto = engine;
	(*key)->pool = cfg->pool;
	(*key)->room = rte_pktmbuf_data_room_size(cfg->pool) - RTE_PKTMBUF_HEADROOM;
	if ((*key)->name[0] == '\0')
		snprintf((*key)->name, sizeof((*key)->name), "%s", engine->name);
	return 0;
}

void
pdcp_security_key_destroy(struct pdcp_security_key *key)
{
	if (key != NULL)
		key->crypto->key_destroy(key);
}

const struct pdcp_crypto *
pdcp_security_crypto(const struct pdcp_security_key *key)
{
	return key->crypto;
}

const char *
pdcp_security_name(const struct pdcp_security_key *key)
{
	return key->name;
}
