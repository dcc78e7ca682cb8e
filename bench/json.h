/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_JSON_H
#define AIRPATH_BENCH_JSON_H

/** Writes one JSON document (RFC 8259) to a stream. Single thread. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 16

struct json {
	FILE *f;
	unsigned depth;
	bool more[JSON_DEPTH_MAX]; /**< a value was written at this depth: the next one needs a
				      comma */
};

/* `key` is NULL inside arrays and for the outermost value. */

void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);
/** NULL becomes null. Bytes outside ASCII pass as they are: text is UTF-8. */
void json_str(struct json *j, const char *key, const char *value);
void json_int(struct json *j, const char *key, int64_t value);
/** With 9 significant digits (15 from 1e9 on); infinity and NaN become null. */
void json_num(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);

#endif
