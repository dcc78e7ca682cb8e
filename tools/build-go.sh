#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the management unit: build/airpath-n4.
set -eu
cd "$(dirname "$0")/.."

version=$(git describe --always --dirty 2>/dev/null || echo unknown)
tools/go.sh build -C control -trimpath -ldflags "-X main.version=$version" \
	-o ../build/airpath-n4 ./cmd/airpath-n4
