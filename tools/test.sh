#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Everything `make test` runs, after the release build. Goes on after a failure and says at
# the end what failed.
set -u
cd "$(dirname "$0")/.."

failed=""
step() {
	name=$1
	shift
	echo
	echo "== $name"
	start=$(date +%s)
	if "$@"; then verdict=ok; else
		verdict=FAILED
		failed="$failed $name"
	fi
	summary="${summary:-}$(printf '  %-10s %-6s %4d s' "$name" "$verdict" $(($(date +%s) - start)))
"
}

unit() { meson test -C build --print-errorlogs --no-rebuild 2>&1 | grep -v '^$'; }

# The packages without tests say nothing worth reading.
go_tests() {
	log=$(mktemp)
	tools/go.sh test -C control ./... >"$log" 2>&1
	verdict=$?
	if [ $verdict = 0 ]; then tail -n 20 "$log" | grep -v 'no test files'; else cat "$log"; fi
	rm -f "$log"
	return $verdict
}

# One build serves the unit tests here and the fuzzers of the next step.
sanitizers() {
	tools/build-asan.sh || return
	ASAN_OPTIONS=detect_leaks=1:abort_on_error=1 ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-14 \
		LSAN_OPTIONS=suppressions="$PWD/tools/lsan.supp":print_suppressions=0 \
		UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
		meson test -C build-asan --print-errorlogs --no-rebuild --timeout-multiplier 5
}

python_tests() { tools/pfcpsim.sh && .venv/bin/pytest; }

step unit unit
step go go_tests
step sanitizers sanitizers
step fuzz tools/fuzz.sh 5 smoke
step pytest python_tests

echo
echo "make test:"
printf '%s' "$summary"
[ -z "$failed" ] || {
	echo "FAILED:$failed"
	exit 1
}
echo "all passed"
