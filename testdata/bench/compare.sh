#!/usr/bin/env bash
# Compares what ripgrep and ours find of every pattern of patterns.txt: the same files, lines and line numbers, whether
# they are searched in full or with an index. What differs is printed, unless known.tsv says why.
#
#   testdata/bench/compare.sh [TREE…]        mid and linux unless said otherwise; NAME=DIRECTORY is any other
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/corpora.sh"
mkdir -p "$work"
ripgrep
programs
trees=()
[ $# -gt 0 ] || set -- mid linux
for tree in "$@"; do
	if [[ "$tree" != *=* ]]; then
		"${tree}_tree"
		tree=$tree=$work/$tree
	fi
	trees+=("$tree")
done
"$work/race" -rg "$rg" -driver "$work/driver" -known "$here/known.tsv" -patterns "$here/patterns.txt" "${trees[@]}"
