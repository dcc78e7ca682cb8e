#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/build.sh DIR [meson options]: configures DIR once, then builds it.
set -eu
cd "$(dirname "$0")/.."

dir=$1
shift
if [ ! -f "$dir/build.ninja" ]; then
	log=$(mktemp)
	meson setup "$dir" "$@" >"$log" 2>&1 || {
		cat "$log" >&2
		rm -f "$log"
		exit 1
	}
	rm -f "$log"
fi
ninja -C "$dir" --quiet
