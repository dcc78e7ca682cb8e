#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/soak.sh SEEDS [FIRST]: model tests over many seeds; a failing seed is named by the test.
set -u
cd "$(dirname "$0")/.."

seeds=$1
first=${2:-1}
status=0
for test in build/test_rlc_am_model; do
	echo "soak $(basename "$test"): seeds $first to $((first + seeds - 1))"
	"$test" "$seeds" "$first" || status=1
done
exit $status
