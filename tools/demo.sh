#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The S0 loopback: uplink looped into downlink by the PHY emulator, every packet checked by the
# generator. First both directions on one lcore for each packet size, then the 17 L-cores. Then a
# UPF with a session over PFCP and kernel hosts on both sides.
set -u
cd "$(dirname "$0")/.."

out=bench/out/demo
mkdir -p $out
status=0
busy=0
say() { printf '\n== %s\n' "$*"; }
# A bench that lost packets (3) says something of the machine; one that failed of airpath.
measure() {
	"$@"
	case $? in
	0) ;;
	3) busy=1 ;;
	*) status=1 ;;
	esac
}

say "up and down fused on one lcore"
measure build/airpath bench ue-loopback --seconds 0.5 --profile zero-copy \
	--json $out/ue-loopback.json
say "the 17 L-cores of the paper as threads of this machine, with what each node costs"
measure build/airpath bench ue-loopback --deployment deploy/ue-loopback-pipeline.yaml --size 1024 \
	--seconds 1 --profile paper --nodes --json $out/pipeline.json
say "result"
.venv/bin/python bench/demo.py $out/ue-loopback.json $out/pipeline.json || status=1
echo
echo "JSON and pictures:"
.venv/bin/python bench/plot.py $out || status=1
ls $out/*.json
say "a UPF: data plane, agent, a session over PFCP, traffic in network namespaces"
.venv/bin/python bench/demo_upf.py || status=1
[ $busy = 0 ] || echo "a bench above found no rate without loss: is something else using the CPUs?"
[ $status = 0 ] || echo "FAILED: see above what did"
exit $status
