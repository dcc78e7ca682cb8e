/* SPDX-License-Identifier: BSD-3-Clause */

/* Host names and domains as rules have them. */

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "modules/dpi/dpi_hosts.h"

#define LABEL_MAX 63

static bool
is_host_octet(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* [2001:db8::1], as HTTP's Host has it. */
static bool
is_ip6_literal(const char *s, size_t len)
{
	if (len < 4 || s[0] != '[' || s[len - 1] != ']')
		return false;
	for (size_t i = 1; i < len - 1; i++)
		if (!isxdigit((unsigned char)s[i]) && s[i] != ':' && s[i] != '.')
			return false;
	return true;
}

static const char *
labels_wrong(const char *s, size_t len)
{
	size_t label = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && s[i] != '.') {
			if (!is_host_octet(s[i]))
				return (s[i] & 0x80)
					       ? "not ASCII: an international name is written "
						 "xn--..."
					       : "a host name has letters, digits, '-', '_' and "
						 "'.' only";
			label++;
			continue;
		}
		if (label == 0)
			return "an empty label: two dots in a row, or one at the start";
		if (label > LABEL_MAX)
			return "a label of more than 63 octets";
		label = 0;
	}
	return NULL;
}

int
dpi_host_normal(const char *text, bool is_suffix, char *out, const char **why)
{
	size_t len = text ? strlen(text) : 0;

	*why = NULL;
	if (is_suffix && len > 1 && text[0] == '.') {
		text++;
		len--;
	}
	if (len > 1 && text[len - 1] == '.')
		len--;
	if (len == 0)
		*why = "no host name";
	else if (len > DPI_HOST_MAX)
		*why = "longer than a host name can be";
	else if (!is_ip6_literal(text, len))
		*why = labels_wrong(text, len);
	if (*why)
		return -EINVAL;
	for (size_t i = 0; i < len; i++)
		out[i] = (char)tolower((unsigned char)text[i]);
	return (int)len;
}
