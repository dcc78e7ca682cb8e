#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/go.sh ARGS: the go command, new enough for control/go.mod: that of PATH, else the one
# tools/setup.sh puts into .go. Exit status 127 where there is neither.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

wanted=$(sed -n 's/^go //p' "$root/control/go.mod")

new_enough() {
	have=$(cd / && GOTOOLCHAIN=local "$1" version 2>/dev/null | sed -n 's/^go version go\([0-9.]*\).*/\1/p')
	[ -n "$have" ] && [ "$(printf '%s\n%s\n' "$wanted" "$have" | sort -V | head -n 1)" = "$wanted" ]
}

for go in "$(command -v go || true)" "$root/.go/bin/go"; do
	if [ -x "$go" ] && new_enough "$go"; then
		export GOTOOLCHAIN=local GOFLAGS="${GOFLAGS:--buildvcs=false}"
		exec "$go" "$@"
	fi
done
echo "go $wanted or newer is neither in PATH nor in .go: run make setup" >&2
exit 127
