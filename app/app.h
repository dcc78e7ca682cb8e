/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_APP_H
#define AIRPATH_APP_H

/** Subcommands of the `airpath` program; one file each. They return an exit status. */

int app_run(int argc, char **argv);
int app_check(int argc, char **argv);
int app_bench(int argc, char **argv);
int app_ctl(int argc, char **argv);
int app_show(int argc, char **argv);
int app_dpi_compile(int argc, char **argv);

#endif
