#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/upfpb.sh [check]: makes control/upfpb from api/upf.proto; check: says whether it is that.
set -eu
cd "$(dirname "$0")/.."

plugin=$(tools/go.sh tool -C control -n google.golang.org/protobuf/cmd/protoc-gen-go)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
protoc -I api --plugin="$plugin" --go_out="$out" --go_opt=module=airpath/control api/upf.proto
if [ "${1:-}" = check ]; then
	diff -ru "$out/upfpb" control/upfpb
else
	cp "$out/upfpb/"*.go control/upfpb/
fi
