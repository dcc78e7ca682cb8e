#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The unit tests and the fuzzers with ASan and UBSan, in build-asan.
set -eu
cd "$(dirname "$0")/.."

CC=clang-14 tools/build.sh build-asan -Dfuzz=true -Dapp=false -Dwerror=false -Dbuildtype=debugoptimized \
	-Db_sanitize=address,undefined -Db_lundef=false \
	-Dc_args="['-fsanitize=fuzzer-no-link', '-fno-sanitize-recover=undefined']"
