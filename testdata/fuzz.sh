#!/usr/bin/env bash
# Runs every fuzz target for a while:
#   testdata/fuzz.sh [TIME, such as 10m; default 30s] [TARGETS AT ONCE; default 2] [DIRECTORY; default .] [PART, such as 0/9; default all]
# Part 0/9 are the first package of nine, the tenth, and so on.
# Each target has one worker. An input that fails is left in its package's testdata/fuzz, to be kept as a test, and the exit code is 3;
# every other failure has 1. Inputs that are only interesting are not made smaller: that takes most of a short run.
set -euo pipefail
cd "$(dirname "$0")/.."
limit=${1:-30s} together=${2:-2} below=${3:-.} part=${4:-0/1}
bin=$(mktemp -d)
export found=$bin/found
trap 'rm -rf "$bin"' EXIT

# Prints one line for a target: its name and what its run came to, or all that it said if it failed.
fuzz() {
  local package=$1 target=$2 limit=$3 program=$4 said
  # The go command at times takes the end of the time for a failure, without an input that fails.
  if said=$(cd "$package" && GOMAXPROCS=1 "$program" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$limit" -test.fuzzminimizetime 20x \
    -test.parallel 1 -test.fuzzcachedir "$(go env GOCACHE)/fuzz/${package#./}" 2>&1) ||
    { grep -q '^    context deadline exceeded$' <<<"$said" && ! grep -q 'Failing input\|seed corpus\|panic' <<<"$said"; }; then
    printf '%s %s: %s\n' "$package" "$target" "$(grep -o 'execs: [0-9]*' <<<"$said" | tail -1)"
  else
    printf '%s %s: FAILED\n%s\n' "$package" "$target" "$said"
    echo "$package $target" >>"$found"
  fi
}
export -f fuzz

grep -rl --include='*_test.go' '^func Fuzz' "$below" | xargs -n1 dirname | sort -u | awk -v part="${part%/*}" -v of="${part#*/}" 'NR % of == part' >"$bin/packages"
build() { # the instrumented test of a package
  go test -c -fuzz . -ldflags '-s -w' -o "$2/$(tr / _ <<<"${1#./}").test" "$1"
}
export -f build
xargs -I{} -P "$together" bash -c 'build {} '"$bin" <"$bin/packages"
while read -r package; do
  grep -ho '^func Fuzz[A-Za-z0-9_]*' "$package"/*_test.go | sed 's/^func //' | while read -r target; do
    printf '%s %s %s %s\n' "$package" "$target" "$limit" "$bin/$(tr / _ <<<"${package#./}").test"
  done
done <"$bin/packages" | xargs -L1 -P "$together" bash -c 'fuzz "$@"' fuzz
if [ -e "$found" ]; then
  printf 'An input fails, which is in testdata/fuzz of its package:\n%s\n' "$(cat "$found")"
  exit 3
fi
