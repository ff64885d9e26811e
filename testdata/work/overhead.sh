#!/usr/bin/env bash
# Prints what everyday commands cost in the sandbox, beside the same command outside it: the best of several runs each, in ms.
# What a program writes is looked at file by file, so that many small files are the worst case.
#
#   testdata/work/overhead.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5}
dir=$(mktemp -d "${HOME:-/var/tmp}/toolhost-overhead-XXXXXX") # not below /tmp, where commands see something else
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/toolhost" ./cmd/toolhost
export XDG_STATE_HOME="$dir/state"
mkdir -p "$dir/ws/many" "$dir/ws/module"
cd "$dir/ws"
for i in $(seq 2000); do echo "$i" > "many/f$i"; done
git init -q . && git -c user.name=x -c user.email=x@example.com -c core.safecrlf=false commit -q --allow-empty -m start && git add -A
(cd module && printf 'module example.com/m\ngo 1.21\n' > go.mod && printf 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println() }\n' > m.go)

# best COMMAND… prints the shortest time in ms.
best() {
  local least=999999999999 start end
  for _ in $(seq "$rounds"); do
    start=$(date +%s%N)
    "$@" > /dev/null 2>&1
    end=$(date +%s%N)
    least=$((end - start < least ? end - start : least))
  done
  awk "BEGIN { printf \"%.1f\", $least / 1e6 }"
}

printf '%-44s %10s %10s %8s\n' command outside inside ratio
while IFS= read -r line; do
  [ -n "$line" ] || continue
  outside=$(best bash -c "$line")
  inside=$(best "$dir/toolhost" sandbox --quiet -- bash -c "$line")
  awk -v c="$line" -v o="$outside" -v i="$inside" 'BEGIN { printf "%-44.44s %10s %10s %8.2f\n", c, o, i, i / o }'
done <<'LINES'
true
cp -r many copy; rm -rf copy
cp -r many copy
rm -rf copy; tar cf - many | tar xf - -C /tmp
git status --short
git add -A; git write-tree
for i in $(seq 200); do echo x > f; done
for i in $(seq 100); do /bin/true; done
cd module; go build -o m .
cd module; go build -a -o m .
python3 -c 'import json, http.server'
LINES
