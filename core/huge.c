/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/huge.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>

void *
ap_huge_alloc(size_t bytes)
{
	const size_t whole = RTE_ALIGN_CEIL(bytes, AP_HUGE_PAGE);
	size_t before;
	uint8_t *p;

	if (whole < bytes || whole + AP_HUGE_PAGE < whole)
		return NULL;
	p = mmap(NULL, whole + AP_HUGE_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	before = (size_t) - (uintptr_t)p & (AP_HUGE_PAGE - 1);
	if (before != 0)
		(void)munmap(p, before);
	p += before;
	(void)munmap(p + whole, AP_HUGE_PAGE - before);
	/* Where the kernel has none it works without. */
	(void)madvise(p, whole, MADV_HUGEPAGE);
	return p;
}

void *
ap_huge_table(size_t bytes)
{
	const size_t align = bytes < AP_HUGE_PAGE / 8 ? RTE_CACHE_LINE_SIZE : AP_HUGE_PAGE;
	const size_t whole = RTE_ALIGN_CEIL(bytes + (bytes == 0), align);
	void *p = whole < bytes ? NULL : aligned_alloc(align, whole);

	if (p == NULL)
		return NULL;
	if (align == AP_HUGE_PAGE)
		(void)madvise(p, whole, MADV_HUGEPAGE);
	return memset(p, 0, bytes);
}

void
ap_huge_free(void *p, size_t bytes)
{
	if (p != NULL)
		(void)munmap(p, RTE_ALIGN_CEIL(bytes, AP_HUGE_PAGE));
}
