/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_LOOP_ROW_H
#define AIRPATH_BENCH_LOOP_ROW_H

/**
 * One row of `bench ue-loopback`: a profile and a packet size, from the probe of what the device
 * takes to the measurement at its highest loss-free rate. Control thread.
 */

#include "bench/loop.h"
#include "bench/result.h"
#include "core/config.h"

struct loop_profile {
	const char *name;
	enum ap_cfg_copy copy;
	enum ap_cfg_strategy strategy;
};

struct loop_options {
	struct bench_common common;
	const char *deployment;
	const char *profile;
	const char *copier;
	const char *strategy;
	struct bench_uints sizes;
	unsigned tb_bytes; /**< 0: from the probe */
	const char *numerology;
	double rate_mpps; /**< 0: search */
	unsigned steps;   /**< rows at rates rising to the one found */
	double phy_loss;
	double soft_loss;
	bool harq;
	const char *rlc; /**< um, am or tm; NULL: the deployment's */
	unsigned nea;    /**< 0..3 */
	unsigned nia;    /**< 0..3 */
	bool nodes;
};

struct loop_row {
	const struct loop_profile *profile;
	uint32_t size;
	uint32_t tb_bytes;
	unsigned load_percent; /**< of the highest loss-free rate */
	unsigned lcores;
	char copier[96];
	const char *framing;
	enum ap_cfg_rlc_mode rlc; /**< of the first bearer */
	uint8_t nea, nia;
	enum ap_cfg_copy copy;
	enum ap_cfg_strategy strategy;
	struct loop_trial max, at80;
	bool balanced;
};

/** The device under test, up and running. */
struct loop_device {
	struct ap_config *cfg;
	struct ap_plan *plan;
	struct loop *loop;
};

/** Deployment of a row: the file, with what the options and the row say. @return NULL with `err`.
 */
struct ap_config *loop_row_config(const struct loop_options *o, const struct loop_row *r,
				  struct ap_error *err);

/** EAL is up. @return 0, or -EINVAL after a message. */
int loop_device_up(struct loop_device *d, const struct loop_options *o, const struct loop_row *r,
		   struct ap_error *err);

/** @return true when the books balanced. */
bool loop_device_down(struct loop_device *d, FILE *nodes, struct ap_error *err);

/**
 * Sets r->tb_bytes, searches the highest loss-free rate, fills r->max and r->at80.
 * @return 0 or -errno
 */
int loop_row_measure(const struct loop_options *o, struct loop_row *r, struct loop_device *d);

#endif
