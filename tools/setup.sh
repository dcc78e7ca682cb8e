#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Brings a fresh Debian 12 to where airpath builds and tests; does nothing where all is there.
# AIRPATH_SETUP=skip leaves the machine alone (other distributions: see tools/packages.txt).
set -eu
cd "$(dirname "$0")/.."

HUGEPAGES_WANTED=1024 # of 2 MiB

say() { echo "setup: $*"; }
die() { echo "setup: $*" >&2; exit 1; }

missing_packages() {
	command -v dpkg-query >/dev/null || die "no dpkg here: install the packages of tools/packages.txt \
by hand, then AIRPATH_SETUP=skip make ..."
	installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
	grep -v '^#' tools/packages.txt | while read -r package; do
		echo "$installed" | grep -qx "$package" || echo "$package"
	done
}

# A machine that has just started may be updating itself: wait for it, here and with
# DPkg::Lock::Timeout, which is of no use here.
update_lists() {
	for _ in $(seq 60); do
		error=$(LC_ALL=C apt-get update -q 2>&1 >/dev/null) && return 0
		case $error in
		*"Could not get lock"*) sleep 5 ;;
		*) break ;;
		esac
	done
	echo "$error" >&2
	say "apt-get update failed; trying with the lists at hand"
}

install_packages() {
	missing=$(missing_packages | tr '\n' ' ')
	[ -n "$missing" ] || return 0
	[ "$(id -u)" = 0 ] || die "missing packages; run as root: apt-get install --no-install-recommends $missing"
	say "installing $missing"
	export DEBIAN_FRONTEND=noninteractive
	update_lists
	log=$(mktemp)
	# shellcheck disable=SC2086 # a list of names
	apt-get install -q -y -o DPkg::Lock::Timeout=600 --no-install-recommends $missing >"$log" 2>&1 || {
		tail -n 30 "$log" >&2
		die "apt-get failed; the whole log is $log"
	}
	rm -f "$log"
}

make_venv() {
	# pip does not start where the folder was moved or Python became another.
	cmp -s tools/requirements.txt .venv/requirements.txt && .venv/bin/pip --version >/dev/null 2>&1 &&
		return 0
	say "Python packages into .venv"
	python=/usr/bin/python3
	[ -x $python ] || python=python3
	$python -m venv --clear .venv
	.venv/bin/pip install --quiet --disable-pip-version-check -r tools/requirements.txt
	cp tools/requirements.txt .venv/requirements.txt
}

# Debian 12's Go is older than control/go.mod wants.
make_go() {
	tools/go.sh version >/dev/null 2>&1 && return 0
	say "Go into .go"
	/usr/bin/python3 -m venv --clear .go
	.go/bin/pip install --quiet --disable-pip-version-check -r tools/go-requirements.txt
	tools/go.sh version >/dev/null || die "Go of tools/go-requirements.txt is older than control/go.mod wants"
}

# Hugepages make memory faster, not possible: without them the program runs with --no-huge.
reserve_hugepages() {
	have=$(awk '/^HugePages_Total/{print $2}' /proc/meminfo)
	[ "${have:-0}" -ge $HUGEPAGES_WANTED ] && return 0
	wanted=$(awk -v max=$HUGEPAGES_WANTED \
		'/^MemTotal/{n = int($2 / 2048 / 4); print n < max ? n : max}' /proc/meminfo)
	[ "${have:-0}" -ge "$wanted" ] && return 0
	if ! sysctl -q -w vm.nr_hugepages="$wanted" 2>/dev/null; then
		say "warning: cannot reserve hugepages (have ${have:-0}); airpath will run with --no-huge"
		return 0
	fi
	have=$(awk '/^HugePages_Total/{print $2}' /proc/meminfo)
	[ "$have" -ge "$wanted" ] || say "warning: got $have of $wanted hugepages"
}

[ "${AIRPATH_SETUP:-}" = skip ] && exit 0
install_packages
make_venv
make_go
reserve_hugepages
