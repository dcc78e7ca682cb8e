#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Both compilers with -Werror, Python style, licence lines; file lengths are reported only.
set -u
cd "$(dirname "$0")/.."

status=0
step() {
	name=$1
	shift
	if "$@"; then echo "lint: $name ok"; else
		echo "lint: $name FAILED"
		status=1
	fi
}

sources() { git ls-files --cached --others --exclude-standard "$@" | while read -r f; do
	[ -f "$f" ] && echo "$f"
done; }

spdx() {
	bad=$(sources '*.c' '*.h' '*.py' '*.sh' '*.yaml' '*meson.build' meson_options.txt Makefile .ci/run |
		while read -r f; do head -n 2 "$f" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' || echo "$f"; done)
	[ -z "$bad" ] || {
		echo "no SPDX line: $bad"
		return 1
	}
}

long_files() {
	sources '*.c' '*.h' '*.py' '*.sh' | xargs wc -l | awk '$2 != "total" && $1 > 300' | sort -rn
}

clang_format() { sources '*.c' '*.h' | xargs clang-format-14 --dry-run -Werror; }

clang_build() { CC=clang-14 tools/build.sh build-clang -Dfuzz=false; }

step gcc tools/build.sh build
step clang clang_build
step ruff-check .venv/bin/ruff check --quiet .
step ruff-format .venv/bin/ruff format --quiet --check .
step clang-format clang_format
step spdx spdx
long=$(long_files)
[ -z "$long" ] || printf 'lint: files above 300 lines (a report, not a failure):\n%s\n' "$long"
exit $status
