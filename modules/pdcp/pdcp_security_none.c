/* SPDX-License-Identifier: BSD-3-Clause */

/* Stands in for pdcp_security.c where the multi-buffer library does not exist. */

#include <errno.h>

#include "modules/pdcp/pdcp_security.h"

const struct pdcp_crypto pdcp_multi_buffer;

int
pdcp_security_key_create(const struct pdcp_security_cfg *cfg, struct pdcp_security_key **key)
{
	(void)cfg;
	(void)key;
	return -ENOTSUP;
}

void
pdcp_security_key_destroy(struct pdcp_security_key *key)
{
	(void)key;
}
