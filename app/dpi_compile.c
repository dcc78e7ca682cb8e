/* SPDX-License-Identifier: BSD-3-Clause */
/* airpath dpi-compile: the process that compiles patterns for one that runs, and is ended by it
 * when they take too much. Nobody types it. */
#include <stdio.h>
#include <unistd.h>

#include "app/app.h"
#include "modules/dpi/dpi_set.h"

int
app_dpi_compile(int argc, char **argv)
{
	(void)argv;
	if (argc > 1 || isatty(STDIN_FILENO)) {
		fprintf(stderr, "airpath dpi-compile: started by a UPF, to compile its rules\n");
		return 2;
	}
	return dpi_compile_main();
}
