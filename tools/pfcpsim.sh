#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds what tests play an SMF with: build/pfcpsim/pfcpsim and build/pfcpsim/pfcpctl.
set -eu
cd "$(dirname "$0")/.."

tools/go.sh build -C tests/pfcpsim -trimpath -o ../../build/pfcpsim/ \
	github.com/omec-project/pfcpsim/cmd/pfcpsim github.com/omec-project/pfcpsim/cmd/pfcpctl
