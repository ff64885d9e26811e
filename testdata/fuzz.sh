#!/usr/bin/env bash
# Runs every fuzz target for a while, one after the other: testdata/fuzz.sh [TIME, such as 10m; default 30s]
set -euo pipefail
cd "$(dirname "$0")/.."
limit=${1:-30s}
grep -rl --include='*_test.go' '^func Fuzz' . | sort | while read -r file; do
  package=./$(dirname "${file#./}")
  grep -o '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //' | while read -r target; do
    printf '== %s %s\n' "$package" "$target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$limit" "$package" | tail -2
  done
done
