#!/usr/bin/env bash
# First `go build` in a new copy of a small project: plain, and in the sandbox, whose cache starts empty. Usage: clone.sh TOOLHOST [ROUNDS]
set -euo pipefail
toolhost=$(realpath "$1") rounds=${2:-5}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_STATE_HOME=$dir/state TIMEFORMAT='%R s, CPU %U + %S s'
copy() {
  mkdir "$dir/$1"
  printf 'module example.com/h\n\ngo 1.24\n' >"$dir/$1/go.mod"
  printf 'package main\n\nimport (\n\t"encoding/json"\n\t"net/http"\n\t"os"\n)\n\nfunc main() { _ = json.NewEncoder(os.Stdout).Encode(http.StatusText(200)) }\n' >"$dir/$1/main.go"
  cd "$dir/$1"
}
copy first && go build -o "$dir/x" .
for i in $(seq "$rounds"); do
  copy "plain$i"
  echo "plain:   $({ time bash -c "go build -o $dir/x ." >/dev/null; } 2>&1)"
  copy "sandbox$i"
  echo "sandbox: $("$toolhost" call shell --mode sandboxed --allow Shell \
    '{"command":"export TIMEFORMAT=\"%R s, CPU %U + %S s\"; time go build -o /tmp/x . ","timeout_ms":300000}' 2>/dev/null | grep CPU)"
done
