/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_errno.h>
#include <rte_mbuf_dyn.h>

#include "modules/p4/p4_host.h"

uint64_t p4_aside;

int
p4_host_init(void)
{
	static const struct rte_mbuf_dynflag flag = {.name = "airpath_p4_aside"};
	int bit;

	if (p4_aside)
		return 0;
	bit = rte_mbuf_dynflag_register(&flag);
	if (bit < 0)
		return -rte_errno;
	p4_aside = 1ULL << bit;
	return 0;
}
