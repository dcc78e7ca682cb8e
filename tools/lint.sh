#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Both compilers with -Werror, Python and Go style, licence lines; file lengths are reported only.
set -u
cd "$(dirname "$0")/.."

failed=
step() {
	name=$1
	shift
	if "$@"; then echo "lint: $name ok"; else
		echo "lint: $name FAILED"
		failed="$failed $name"
	fi
}

# Without a list of files every check of them would pass.
git ls-files >/dev/null || exit 1

sources() { git ls-files --cached --others --exclude-standard "$@" | while read -r f; do
	[ -f "$f" ] && echo "$f"
done; }

spdx() {
	bad=$(sources '*.c' '*.h' '*.py' '*.go' '*.proto' '*.sh' '*.yaml' '*meson.build' meson_options.txt Makefile .ci/run |
		while read -r f; do head -n 2 "$f" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' || echo "$f"; done)
	[ -z "$bad" ] || {
		echo "no SPDX line: $bad"
		return 1
	}
}

long_files() {
	sources '*.c' '*.h' '*.py' '*.go' '*.sh' | grep -v '^control/upfpb/' | xargs wc -l | awk '$2 != "total" && $1 > 300' | sort -rn
}

clang_format() { sources '*.c' '*.h' | xargs clang-format-14 --dry-run -Werror; }

gofmt() {
	bad=$(sources '*.go' | xargs "$(tools/go.sh env GOROOT)/bin/gofmt" -l)
	[ -z "$bad" ] || {
		echo "not as gofmt writes it: $bad"
		return 1
	}
}

go_vet() { tools/go.sh vet -C control ./...; }

staticcheck() {
	tool=$(tools/go.sh tool -C tools/staticcheck -n honnef.co/go/tools/cmd/staticcheck) || return
	PATH=$(tools/go.sh env GOROOT)/bin:$PATH
	(cd control && "$tool" ./...)
}

clang_build() { CC=clang-14 tools/build.sh build-clang -Dfuzz=false; }

step gcc tools/build.sh build
step clang clang_build
step ruff-check .venv/bin/ruff check --quiet .
step ruff-format .venv/bin/ruff format --quiet --check .
step clang-format clang_format
step gofmt gofmt
step go-vet go_vet
step staticcheck staticcheck
step upfpb tools/upfpb.sh check
step spdx spdx
long=$(long_files)
[ -z "$long" ] || printf 'lint: files above 300 lines (a report, not a failure):\n%s\n' "$long"
[ -z "$failed" ] || {
	echo "lint: failed:$failed; what each said stands above"
	exit 1
}
