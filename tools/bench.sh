#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/bench.sh [brief]: runs every bench into bench/out, draws the plots and fills in
# docs/benchmarks.md. brief: short runs that only show that each bench works; docs stay as they are.
# BENCH_RUNS (5): so often gNB, UPF and governors are measured; medians count.
set -u
cd "$(dirname "$0")/.."

mode=${1:-full}
out=bench/out
[ "$mode" = brief ] && out=bench/out/brief
runs=${BENCH_RUNS:-5}
[ "$mode" = brief ] && runs=1
mkdir -p $out/runs

status=0
# several FILE ARGUMENTS...: the median of so many runs.
several() {
	file=$1
	shift
	all=
	for i in $(seq "$runs"); do
		one=$out/runs/$(basename "$file" .json).$i.json
		echo
		echo "== airpath bench $* ($i of $runs)"
		if build/airpath bench "$@" --json "$one"; then
			all="$all $one"
		else
			echo "bench $* FAILED"
			status=1
		fi
	done
	# shellcheck disable=SC2086 # a list of files
	[ -z "$all" ] || .venv/bin/python bench/median.py "$file" $all || status=1
}

bench() {
	name=$1
	shift
	echo
	echo "== airpath bench $name $*"
	build/airpath bench "$name" --json "$out/$name.json" "$@" || {
		echo "bench $name FAILED"
		status=1
	}
}

# The loopback with other RLC modes and security; NAME tells its rows apart.
l2() {
	file=$out/ue-loopback-l2.$1.json
	shift
	echo
	echo "== airpath bench ue-loopback $*"
	build/airpath bench ue-loopback --size 1024 --json "$file" "$@" || {
		echo "bench ue-loopback $* FAILED"
		status=1
	}
}

# The forwarding unit with other numbers of sessions and steering; NAME tells its rows apart.
upf() {
	name=$1
	shift
	several "$out/upf.$name.json" upf "$@"
}

# S2's load model: DPI and charging beside plain sessions; NAME tells its rows apart.
upf_dpi() {
	name=$1
	shift
	several "$out/upf-dpi.$name.json" upf --dpi "$@"
}

# Power of another device, or with packets that do not come in slots; NAME tells its rows apart.
power() {
	file=$out/power.$1.json
	shift
	echo
	echo "== airpath bench power $*"
	build/airpath bench power --json "$file" "$@" || {
		echo "bench power $* FAILED"
		status=1
	}
}

# The management unit, with a forwarding unit that it starts.
n4() {
	echo
	echo "== airpath-n4 bench $*"
	build/airpath-n4 bench --json $out/n4.json "$@" || {
		echo "bench n4 $* FAILED"
		status=1
	}
}

if [ "$mode" = brief ]; then
	bench cut --seconds 0.2
	bench port-limits --seconds 1
	bench mac-build --seconds 1
	bench pdcp --sizes 1024 --seconds 0.05
	bench rlc-am --sizes 1024 --seconds 0.1
	bench ue-loopback --size 1024 --seconds 1
	l2 am-nea2 --rlc am --nea 2 --profile zero-copy --seconds 1
	several $out/gnb.json gnb --ues 4096 --seconds 0.2
	several $out/gnb-live.json gnb --live --ues 4096 --seconds 0.5
	several $out/upf.json upf --sessions 2000 --bytes 64 --seconds 0.5
	upf software --sessions 2000 --bytes 64 --seconds 0.5 --steering software
	upf_dpi 10 --sessions 1000 --packets-per-flow 10 --rules 2000 --flow-rules 500 --seconds 0.5 --swap 1
	n4 --sessions 2000 --serial 200
	bench power --sessions 500 --loads 0,10,100 --seconds 0.3 --tries 1
else
	bench cut
	bench port-limits
	bench mac-build
	bench pdcp
	bench rlc-am
	bench ue-loopback
	l2 am --rlc am --profile zero-copy
	for nea in 1 2 3; do
		l2 am-nea$nea --rlc am --nea $nea --profile zero-copy
		l2 am-nia$nea --rlc am --nia $nea --profile zero-copy
	done
	l2 am-nea2-nia2 --rlc am --nea 2 --nia 2 --profile zero-copy
	l2 am-loss --rlc am --phy-loss 0.01 --profile zero-copy
	several $out/gnb.json gnb --size 128,512,1400 --seconds 3
	several $out/gnb-live.json gnb --live --size 128 --seconds 3
	several $out/upf.json upf --sessions 6000 --active 6000 --seconds 3
	upf 600k-6k --sessions 600000 --active 6000 --seconds 3
	upf 600k --sessions 600000 --active 600000 --seconds 3
	upf software --sessions 6000 --active 6000 --seconds 3 --steering software
	upf_dpi 100 --sessions 600000 --active 6000 --packets-per-flow 100 --seconds 3 --swap 3
	upf_dpi 10 --sessions 600000 --active 6000 --packets-per-flow 10 --seconds 3
	upf_dpi software-100 --packets-per-flow 100 --seconds 3 --steering software
	upf_dpi software-10 --packets-per-flow 10 --seconds 3 --steering software
	n4 --sessions 100000
	several $out/power.json power --tries 2
	power even --slot-us 0
	power upf --device upf
fi
.venv/bin/python bench/plot.py $out || status=1
[ "$mode" = brief ] || .venv/bin/python bench/report.py $out docs/benchmarks.md || status=1
exit $status
