#!/usr/bin/env bash
# Shows that two states of the code find out the same: testdata/classify/same.sh COMMIT [LINES, 200000]
#
# All facts of every row of the corpora, of these rows as other commands run them, of the tests' texts, and of so many lines that
# classify/differential_lines_test.go makes, are compared with those of an older commit. It prints the texts whose facts differ, and how
# many texts there were, and fails if there are any.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'git worktree remove --force "$scratch/old"; rm -rf "$scratch"' EXIT
git worktree add -q --detach "$scratch/old" "$1"
cp classify/dump_test.go "$scratch/old/classify/"
facts() { # DIRECTORY FILE
  (cd "$1/classify" && CLASSIFY_DUMP=$2 CLASSIFY_DUMP_LINES=$3 go test -count=1 -timeout 1h -run '^TestDumpFacts$' . >/dev/null)
}
facts "$scratch/old" "$scratch/before" "${2:-200000}"
facts . "$scratch/now" "${2:-200000}"
differ=$(diff "$scratch/before" "$scratch/now" | grep '^>' | tee /dev/stderr | wc -l || true)
echo "$(wc -l <"$scratch/now") texts, $differ differ"
cmp "$scratch/before" "$scratch/now"
