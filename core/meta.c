/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_errno.h>

#include "core/meta.h"

int ap_ext_offset = -1;

int
ap_meta_register(void)
{
	static const struct rte_mbuf_dynfield field = {
		.name = "airpath_ext",
		.size = sizeof(struct ap_ext),
		.align = _Alignof(struct ap_ext),
	};

	ap_ext_offset = rte_mbuf_dynfield_register(&field);
	return ap_ext_offset < 0 ? -rte_errno : 0;
}
