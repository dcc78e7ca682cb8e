/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_H
#define AIRPATH_BENCH_H

/**
 * One driver a paper's table or figure. Each returns 0 only if the run was valid:
 * nothing corrupted, every packet accounted for.
 */

int bench_ue_loopback(int argc, char **argv); /* starts EAL itself */
int bench_cut(int argc, char **argv);         /* starts EAL itself */
int bench_mac_build(int argc, char **argv);
int bench_rlc_am(int argc, char **argv);
int bench_pdcp(int argc, char **argv);  /* where the multi-buffer library exists */
int bench_gnb(int argc, char **argv);   /* starts EAL itself */
int bench_upf(int argc, char **argv);   /* starts EAL itself */
int bench_power(int argc, char **argv); /* starts EAL itself */
int bench_port_limits(int argc, char **argv);

#endif
