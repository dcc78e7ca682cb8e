/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CTL_PACKED_H
#define AIRPATH_CTL_PACKED_H

/** A message as it goes over a control socket. */

#include <stdint.h>
#include <stdlib.h>

#include <protobuf-c/protobuf-c.h>

struct ctl_packed {
	uint32_t bytes;
	uint8_t data[];
};

/** @return the message packed, to be freed; NULL without memory. */
static inline struct ctl_packed *
ctl_pack(const ProtobufCMessage *m)
{
	size_t bytes = protobuf_c_message_get_packed_size(m);
	struct ctl_packed *p = malloc(sizeof(*p) + bytes);

	if (p == NULL)
		return NULL;
	p->bytes = (uint32_t)bytes;
	protobuf_c_message_pack(m, p->data);
	return p;
}

#endif
