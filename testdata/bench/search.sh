#!/usr/bin/env bash
# Measures searches in a started host against ripgrep 15 and fd, in turns, on the same trees with a warm page cache, and
# checks that they find the same. Prints medians and ratios.
#
#   testdata/bench/search.sh [--write] [ROUNDS [TREE…]]     7 rounds on small, mid and linux unless said otherwise
#   testdata/bench/search.sh --short                        one round on this machine's Go sources, and all patterns on a part of them
#
# It fails if something else is found, whatever the times. The short form takes 20 seconds where little else runs.
# --write puts the tables into BENCHMARKS.md. What it needs is fetched once, see corpora.sh; without ripgrep it exits with 77.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/corpora.sh"
short= write=
while [[ "${1:-}" == --* ]]; do
	case $1 in
	--short) short=yes ;;
	--write) write=$here/../../BENCHMARKS.md ;;
	*) echo "search.sh: no option $1" >&2 && exit 2 ;;
	esac
	shift
done
rounds=${1:-7}
[ $# -eq 0 ] || shift
mkdir -p "$work"
ripgrep
programs
if [ -n "$short" ]; then
	sources=$(go env GOROOT)/src
	race=(timeout 300 "$work/race" -rg "$rg" -driver "$work/driver" -known "$here/known.tsv")
	"${race[@]}" -rounds 1 "go=$sources"
	"${race[@]}" -patterns "$here/patterns.txt" "net=$sources/net"
	exit
fi
fd_find
program toolhost ./cmd/toolhost
trees=()
[ $# -gt 0 ] || set -- small mid linux
for tree in "$@"; do
	"${tree}_tree"
	trees+=("$tree=$work/$tree")
done
"$work/race" -rg "$rg" -fd "$fd" -driver "$work/driver" -toolhost "$work/toolhost" -rounds "$rounds" -known "$here/known.tsv" -write "$write" "${trees[@]}"
