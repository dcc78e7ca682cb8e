#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The S0 loopback: uplink looped into downlink by the PHY emulator, every packet checked by the
# generator. First both directions on one lcore for each packet size, then the 17 L-cores.
set -eu
cd "$(dirname "$0")/.."

out=bench/out
mkdir -p $out
build/airpath bench ue-loopback --demo --json $out/demo.json
.venv/bin/python bench/plot.py $out
