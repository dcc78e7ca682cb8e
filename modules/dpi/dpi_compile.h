/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_COMPILE_H
#define AIRPATH_DPI_COMPILE_H

/**
 * Texts and expressions to serialized Vectorscan databases. Nothing stops Vectorscan's compiler
 * once it runs, and what an expression costs is known for sure only when it has been compiled. So
 * a process of its own compiles, and is ended when it takes more than is allowed.
 */

#include "modules/dpi/dpi_set.h"

struct dpi_expression {
	const char *text;
	uint32_t id;   /**< what the database says when it matches */
	uint32_t rule; /**< for errors */
	bool caseless;
	bool every; /**< matches are told wherever they end, not once */
};

struct dpi_job {
	const struct dpi_expression *expressions;
	uint32_t nb;  /**< at least one */
	bool literal; /**< texts as they stand; no expressions */
	const struct dpi_limits *limits;
};

struct dpi_compiled {
	char *octets; /**< for hs_deserialize_database(); the caller frees it */
	size_t len;
};

/**
 * Compiles in the process that dpi_compile_with() named, else in this thread, where a time limit is
 * noticed only afterwards.
 * @return 0; -EINVAL: an expression is malformed; -E2BIG: costs too much; -ENOMEM; -EIO: the
 *         process cannot be had
 */
int dpi_compile(const struct dpi_job *job, struct dpi_compiled *out, struct dpi_error *err);

/* --- between the two processes: dpi_compile_apart.c, dpi_compile.c ------------------------------
 */

enum dpi_answer_what {
	DPI_COMPILES, /* the expression `index`, or DPI_NO_RULE: all together */
	DPI_REFUSES,  /* the expression `index`, because of the text that follows */
	DPI_BIG,      /* the same, because it costs too much */
	DPI_COMPILED, /* the database follows */
};

struct dpi_answer {
	uint32_t what, index;
	uint64_t len; /* octets that follow */
};

struct dpi_request {
	uint32_t nb, literal;
	struct dpi_limits limits;
	/* then of each expression this, and its text with a final 0 */
};

struct dpi_request_expression {
	uint32_t id, rule;
	uint32_t caseless, every, len;
	uint32_t pad;
};

/** Where a compilation is: called before an expression is compiled. */
typedef void (*dpi_compile_at)(void *arg, uint32_t index);

/** In this thread. `err->rule` is an index of the job's expressions. */
int dpi_compile_here(const struct dpi_job *job, dpi_compile_at at, void *arg,
		     struct dpi_compiled *out, struct dpi_error *err);
/** In a process of `program`. `err->rule` is an index of the job's expressions. */
int dpi_compile_apart(const char *program, const struct dpi_job *job, struct dpi_compiled *out,
		      struct dpi_error *err);

#endif
