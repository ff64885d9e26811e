#!/usr/bin/env bash
# Compares what a typical command costs to classify, beside an older commit: testdata/classify/typical.sh COMMIT [TURNS, 5] [TIMES, 5000]
#
# Both run in turns, each command by itself, on one processor. What is printed is processor time in µs for one command, which other work on
# the machine disturbs less than the clock: the median of the turns and the least, without what the start of the test takes.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'git worktree remove --force "$scratch/old"; rm -rf "$scratch"' EXIT
git worktree add -q --detach "$scratch/old" "$1"
(cd "$scratch/old" && go test -c -o "$scratch/before" ./classify)
go test -c -o "$scratch/now" ./classify
TIMEFORMAT='%U %S'
spent() { # BINARY COMMAND TIMES: µs of processor time
  { time GOMAXPROCS=1 "$1" -test.run '^$' -test.bench "Typical/$2" -test.benchtime "$3x" >/dev/null; } 2>&1 | awk '{ printf "%d\n", ($1 + $2) * 1e6 }'
}
for command in 0 1 2 3 4 5; do
  for turn in $(seq "${2:-5}"); do
    for which in before now; do
      start=$(spent "$scratch/$which" "$command" 1)
      all=$(spent "$scratch/$which" "$command" "${3:-5000}")
      echo "$which $(((all - start) * 10 / ${3:-5000}))"
    done
  done | sort -k1,1 -k2,2n | awk -v command="$command" '
    { list[$1, ++count[$1]] = $2 / 10 }
    END {
      for (which in count) middle[which] = list[which, int((count[which] + 1) / 2)]
      printf "%s: before %.1f (least %.1f), now %.1f (least %.1f), ratio %.2f\n", command, middle["before"], list["before", 1], middle["now"], list["now", 1], middle["now"] / middle["before"]
    }'
done
