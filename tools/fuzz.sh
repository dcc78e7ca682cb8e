#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/fuzz.sh SECONDS [smoke]: builds the fuzzers and runs each for SECONDS.
# build-fuzz/corpus/NAME grows; smoke: begins anew each time, in build-fuzz/smoke.
set -u
cd "$(dirname "$0")/.."

seconds=$1
mode=${2:-long}

tools/build-asan.sh || exit 1

out=build-fuzz
mkdir -p $out
rm -rf $out/smoke
export ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-14

run() { # run FUZZER
	name=$(basename "$1" | sed 's/^fuzz_//')
	# A fuzzer writes what it finds to the first folder: never to the seeds.
	corpus=$out/corpus/$name
	[ "$mode" != smoke ] || corpus=$out/smoke/$name
	mkdir -p "$corpus"
	seeds=""
	[ -d "tests/vectors/$name" ] && seeds=tests/vectors/$name
	log=$out/$name.log
	# shellcheck disable=SC2086 # empty ones must vanish
	if "$1" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=10 -print_final_stats=1 \
		-artifact_prefix="$out/$name-" $corpus $seeds >"$log" 2>&1; then
		printf 'fuzz %-16s %10s runs  cov %s\n' "$name" \
			"$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
			"$(sed -n 's/.*DONE *cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1)"
	else
		tail -n 40 "$log"
		echo "fuzz $name FAILED: $log"
		return 1
	fi
}

status=0
found=0
before=
# Two at a time.
for fuzzer in build-asan/fuzz_*; do
	[ -f "$fuzzer" ] && [ -x "$fuzzer" ] || continue
	found=$((found + 1))
	run "$fuzzer" &
	[ -z "$before" ] || wait "$before" || status=1
	before=$!
done
[ -z "$before" ] || wait "$before" || status=1
# Go's fuzzers keep what they learn in Go's cache.
for target in pfcp:FuzzDecode n4:FuzzDatagram apps:FuzzFile store:FuzzPages; do
	found=$((found + 1))
	log=$out/go-${target#*:}.log
	# At the end of its time Go may call the worker it stops a failure; a finding names its input.
	if tools/go.sh test -C control -run '^$' -fuzz "^${target#*:}\$" -fuzztime "${seconds}s" \
		"./${target%:*}" >"$log" 2>&1 ||
		{ grep -q '^ *context deadline exceeded$' "$log" && ! grep -q 'Failing input' "$log"; }; then
		printf 'fuzz %-16s %10s runs\n' "${target%:*}" "$(sed -n 's/.*execs: \([0-9]*\).*/\1/p' "$log" | tail -n 1)"
	else
		tail -n 40 "$log"
		echo "fuzz $target FAILED: $log"
		status=1
	fi
done
[ $found -gt 0 ] || {
	echo "no fuzzers were built"
	exit 1
}
echo "fuzz: $found fuzzers, $seconds s each, $([ $status = 0 ] && echo 'no findings' || echo 'FINDINGS')"
exit $status
