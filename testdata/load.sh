#!/usr/bin/env bash
# Runs all tests again and again on a machine that others load: testdata/load.sh [RUNS, 10] [LOAD, 20] [PACKAGE…; default ./...]
#
# So many loops compete with the tests for the processors: a test that depends on being quick fails. It prints a line for each run, what
# failed in it before that, and fails if a run has. Ten runs take hours.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
runs=${1:-10} load=${2:-20}
packages=("${@:3}")
[ ${#packages[@]} -gt 0 ] || packages=(./...)
printf '%s, %s processors, load %s, commit %s\n' "$(date -u +%F)" "$(nproc)" "$load" "$(git rev-parse --short HEAD)"
go test -run '^$' "${packages[@]}" >/dev/null # compiled while little else runs
busy=()
trap 'kill "${busy[@]}"' EXIT
for ((i = 0; i < load; i++)); do
  while kill -0 $$ 2>/dev/null; do for ((j = 0; j < 1000000; j++)); do :; done; done &
  busy+=($!)
done
failed=0 log=$(mktemp)
for ((run = 1; run <= runs; run++)); do
  start=$SECONDS verdict=green
  go test -count=1 -timeout 2h "${packages[@]}" >"$log" 2>&1 || { verdict=RED failed=1; grep -vE '^(ok|\?) ' "$log" || true; }
  printf 'run %d: %s, %d packages, %d s, load %s\n' "$run" "$verdict" "$(grep -c '^ok ' "$log")" $((SECONDS - start)) "$(cut -d ' ' -f 1 /proc/loadavg)"
done
rm "$log"
exit $failed
