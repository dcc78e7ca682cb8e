/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_version.h>

#include "bench/json.h"
#include "bench/result.h"

#define KEY_LEN 32
#define TEXT_LEN 64
#define CELLS_MAX 96
#define EMULATIONS_MAX 8

enum cell_kind {
	CELL_INT,
	CELL_NUM,
	CELL_STR,
	CELL_NULL,
	CELL_BOOL,
};

struct cell {
	char key[KEY_LEN];
	enum cell_kind kind;
	bool json_only;
	int digits;
	int64_t i;
	double d;
	char s[TEXT_LEN];
};

struct row {
	struct cell cells[CELLS_MAX];
	unsigned n;
};

struct bench_result {
	const char *name;
	const char *path;
	FILE *json;
	bool json_only;
	struct row *rows;
	unsigned nb_rows;
	char emulations[EMULATIONS_MAX][TEXT_LEN];
	unsigned nb_emulations;
};

struct bench_result *
bench_result_open(const char *name, const char *json)
{
	struct bench_result *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->name = name;
	r->path = json;
	/* Now, not after minutes of measuring. */
	if (json != NULL)
		r->json = strcmp(json, "-") == 0 ? stdout : fopen(json, "w");
	if (json != NULL && r->json == NULL) {
		fprintf(stderr, "bench %s: %s: %s\n", name, json, strerror(errno));
		free(r);
		return NULL;
	}
	return r;
}

void
bench_emulation(struct bench_result *r, const char *what)
{
	for (unsigned i = 0; i < r->nb_emulations; i++)
		if (strcmp(r->emulations[i], what) == 0)
			return;
	if (r->nb_emulations < EMULATIONS_MAX)
		snprintf(r->emulations[r->nb_emulations++], TEXT_LEN, "%s", what);
}

void
bench_row(struct bench_result *r)
{
	struct row *rows = realloc(r->rows, (r->nb_rows + 1) * sizeof(*rows));

	if (rows == NULL) {
		fprintf(stderr, "bench %s: out of memory\n", r->name);
		exit(1);
	}
	r->rows = rows;
	r->rows[r->nb_rows++].n = 0;
	r->json_only = false;
}

void
bench_json_only(struct bench_result *r, bool only)
{
	r->json_only = only;
}

static struct cell *
cell_add(struct bench_result *r, const char *key, enum cell_kind kind)
{
	struct row *row = &r->rows[r->nb_rows - 1];
	struct cell *c = &row->cells[row->n < CELLS_MAX ? row->n++ : CELLS_MAX - 1];

	*c = (struct cell){.kind = kind, .json_only = r->json_only};
	snprintf(c->key, sizeof(c->key), "%s", key);
	return c;
}

void
bench_int(struct bench_result *r, const char *key, int64_t value)
{
	cell_add(r, key, CELL_INT)->i = value;
}

void
bench_num(struct bench_result *r, const char *key, double value, int digits)
{
	struct cell *c = cell_add(r, key, isfinite(value) ? CELL_NUM : CELL_NULL);

	c->d = value;
	c->digits = digits;
}

void
bench_str(struct bench_result *r, const char *key, const char *value)
{
	struct cell *c = cell_add(r, key, value ? CELL_STR : CELL_NULL);

	snprintf(c->s, sizeof(c->s), "%s", value ? value : "");
}

void
bench_bool(struct bench_result *r, const char *key, bool value)
{
	cell_add(r, key, CELL_BOOL)->i = value;
}

/* --- the table ------------------------------------------------------------------------------- */

static void
cell_text(const struct cell *c, char *buf, size_t size)
{
	switch (c->kind) {
	case CELL_INT:
		snprintf(buf, size, "%" PRId64, c->i);
		break;
	case CELL_NUM:
		snprintf(buf, size, "%.*f", c->digits, c->d);
		break;
	case CELL_STR:
		snprintf(buf, size, "%s", c->s);
		break;
	case CELL_BOOL:
		snprintf(buf, size, "%s", c->i ? "yes" : "no");
		break;
	default:
		snprintf(buf, size, "-");
	}
}

static const struct cell *
cell_find(const struct row *row, const char *key)
{
	for (unsigned i = 0; i < row->n; i++)
		if (strcmp(row->cells[i].key, key) == 0)
			return &row->cells[i];
	return NULL;
}

/** Columns a terminal uses: bytes that start a UTF-8 character. */
static int
text_width(const char *s)
{
	int n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void
column_print(FILE *f, const char *text, int width, bool left)
{
	int pad = width - text_width(text);

	fprintf(f, "%*s%s%*s  ", left ? 0 : pad, "", text, left ? pad : 0, "");
}

static void
table_print(const struct bench_result *r, FILE *f)
{
	const struct row *head = &r->rows[0];
	int width[CELLS_MAX] = {0};
	char text[TEXT_LEN];

	for (unsigned c = 0; c < head->n; c++) {
		width[c] = text_width(head->cells[c].key);
		for (unsigned i = 0; i < r->nb_rows; i++) {
			const struct cell *cell = cell_find(&r->rows[i], head->cells[c].key);

			if (cell == NULL)
				continue;
			cell_text(cell, text, sizeof(text));
			if (text_width(text) > width[c])
				width[c] = text_width(text);
		}
	}
	for (unsigned c = 0; c < head->n; c++)
		if (!head->cells[c].json_only)
			column_print(f, head->cells[c].key, width[c],
				     head->cells[c].kind == CELL_STR);
	fputc('\n', f);
	for (unsigned i = 0; i < r->nb_rows; i++) {
		for (unsigned c = 0; c < head->n; c++) {
			const struct cell *cell = cell_find(&r->rows[i], head->cells[c].key);

			if (head->cells[c].json_only)
				continue;
			snprintf(text, sizeof(text), "-");
			if (cell != NULL)
				cell_text(cell, text, sizeof(text));
			column_print(f, text, width[c], head->cells[c].kind == CELL_STR);
		}
		fputc('\n', f);
	}
}

/* --- the document ---------------------------------------------------------------------------- */

static void
cpu_model(char *buf, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(buf, size, "unknown");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || colon == NULL)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(buf, size, "%s", colon + 2);
		break;
	}
	if (f != NULL)
		fclose(f);
}

static void
host_write(const struct bench_result *r, struct json *j)
{
	struct utsname u;
	char model[128];

	cpu_model(model, sizeof(model));
	json_object(j, "host");
	json_str(j, "cpu", model);
	json_int(j, "cores", sysconf(_SC_NPROCESSORS_ONLN));
	json_int(j, "tsc_hz", (int64_t)rte_get_tsc_hz());
	json_bool(j, "hugepages", rte_eal_has_hugepages() != 0);
	json_str(j, "dpdk", rte_version());
	json_str(j, "kernel", uname(&u) == 0 ? u.release : NULL);
	json_array(j, "emulations");
	for (unsigned i = 0; i < r->nb_emulations; i++)
		json_str(j, NULL, r->emulations[i]);
	json_array_end(j);
	json_object_end(j);
}

static void
cell_write(struct json *j, const struct cell *c)
{
	switch (c->kind) {
	case CELL_INT:
		json_int(j, c->key, c->i);
		break;
	case CELL_NUM:
		json_num(j, c->key, c->d);
		break;
	case CELL_STR:
		json_str(j, c->key, c->s);
		break;
	case CELL_BOOL:
		json_bool(j, c->key, c->i != 0);
		break;
	default:
		json_str(j, c->key, NULL);
	}
}

static void
document_write(const struct bench_result *r)
{
	struct json j = {.f = r->json};

	json_object(&j, NULL);
	json_str(&j, "bench", r->name);
	host_write(r, &j);
	json_array(&j, "rows");
	for (unsigned i = 0; i < r->nb_rows; i++) {
		json_object(&j, NULL);
		for (unsigned c = 0; c < r->rows[i].n; c++)
			cell_write(&j, &r->rows[i].cells[c]);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
}

int
bench_result_close(struct bench_result *r)
{
	int ret = 0;

	if (r->nb_rows > 0)
		table_print(r, r->json == stdout ? stderr : stdout);
	if (r->json != NULL) {
		document_write(r);
		if (fflush(r->json) != 0 || ferror(r->json))
			ret = -EIO;
		if (r->json != stdout && fclose(r->json) != 0)
			ret = -EIO;
		if (ret < 0)
			fprintf(stderr, "bench %s: %s was not written\n", r->name, r->path);
	}
	free(r->rows);
	free(r);
	return ret;
}
