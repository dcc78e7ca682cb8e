#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/soak.sh SEEDS [FIRST [SECONDS]]: model tests over many seeds, a failing one is named by the
# test; then, with SECONDS, a UPF whose sessions come and go for so long, and whose memory is flat.
set -u
cd "$(dirname "$0")/.."

seeds=$1
first=${2:-1}
seconds=${3:-0}
status=0
for test in build/test_rlc_am_model; do
	echo "soak $(basename "$test"): seeds $first to $((first + seeds - 1))"
	"$test" "$seeds" "$first" || status=1
done
if [ "$seconds" -gt 0 ]; then
	echo "soak UPF churn: $seconds s"
	SOAK_SECONDS=$seconds .venv/bin/pytest -q tests/e2e/test_upf_churn.py || status=1
fi
exit $status
