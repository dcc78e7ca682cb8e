/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_RESULT_H
#define AIRPATH_BENCH_RESULT_H

/**
 * What a bench found: rows that become a table for people and one JSON document,
 * `{"bench": …, "host": {…}, "rows": […]}`. Units stand in key names. Also the options
 * that benches share. Control thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* --- options ---------------------------------------------------------------------------------- */

enum bench_opt_kind {
	BENCH_OPT_FLAG,  /**< value: bool * */
	BENCH_OPT_UINT,  /**< value: unsigned * */
	BENCH_OPT_NUM,   /**< value: double *, > 0 */
	BENCH_OPT_STR,   /**< value: const char ** */
	BENCH_OPT_UINTS, /**< value: struct bench_uints *; comma-separated */
};

struct bench_uints {
	unsigned v[32];
	unsigned n;
};

struct bench_opt {
	const char *name; /**< without the dashes; NULL ends a list */
	enum bench_opt_kind kind;
	void *value; /**< holds the default */
	const char *help;
};

/** Options of every bench. */
struct bench_common {
	double seconds;
	const char *json; /**< file, "-": standard output, NULL: none */
};

/**
 * Parses `--name value` and `--name=value`.
 * @param about one line on what the bench measures
 * @param own the bench's own options, ended by a NULL name; may be NULL
 * @return 0: go on; 1: help was printed, exit with 0; -EINVAL: a message was printed, exit with 2
 */
int bench_options(int argc, char **argv, const char *about, struct bench_common *common,
		  const struct bench_opt *own);

/**
 * @param given NULL: `usual`, in this folder or beside the program's build folder
 * @return a path that lives as long as the program
 */
const char *bench_deployment(const char *given, const char *usual);

/* --- rows ------------------------------------------------------------------------------------- */

struct bench_result;

/**
 * @param name of the bench
 * @param json bench_common.json
 * @return NULL after a message when out of memory or the file cannot be written
 */
struct bench_result *bench_result_open(const char *name, const char *json);

/** Names an emulation that ran, e.g. "dma: dma_skeleton0 (…)"; once each. */
void bench_emulation(struct bench_result *r, const char *what);

/** Starts a row. Its first row decides the table's columns and their order. */
void bench_row(struct bench_result *r);
void bench_int(struct bench_result *r, const char *key, int64_t value);
/** @param digits behind the point, in the table. NaN: null, "-" in the table. */
void bench_num(struct bench_result *r, const char *key, double value, int digits);
/** NULL: null, "-" in the table. */
void bench_str(struct bench_result *r, const char *key, const char *value);
void bench_bool(struct bench_result *r, const char *key, bool value);

/** From now on values go to JSON only (true) or to both. Holds until the next row. */
void bench_json_only(struct bench_result *r, bool only);

/**
 * Prints the table (to standard error when JSON goes to standard output), writes the
 * document, frees `r`. @return 0, or -errno after a message when the file was not written.
 */
int bench_result_close(struct bench_result *r);

#endif
