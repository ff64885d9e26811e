#!/bin/bash
# What the table of secrets finds in Go's tree and in 200 packages of npm: how many places the log would cover, by kind, and every file that
# commands and tools would not read. Packages are fetched with npm pack, by the names in packages.txt, and nothing of them is run.
#
#	testdata/secrets/packages.sh [DIR]  > testdata/secrets/packages.out      DIR keeps the packages for the next time
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$(mktemp -d)}
mkdir -p "$dir/packed" "$dir/open"
(cd "$dir/packed" && sed -E 's/-([0-9]+\.[^-]*(-.*)?)$/@\1/' "$here/packages.txt" | while read -r name; do
	[ -e "${name/@/-}.tgz" ] || echo "$name"
done | xargs -r -n 10 npm pack --silent --ignore-scripts > /dev/null)
for file in "$dir"/packed/*.tgz; do
	to=$dir/open/$(basename "$file" .tgz)
	[ -d "$to" ] || { mkdir "$to" && tar xzf "$file" -C "$to"; }
done
for tree in "$(go env GOROOT)/src" "$dir/open"; do
	if [ "$tree" = "$dir/open" ]; then echo "200 packages of npm"; else echo "the source of $(go version | cut -d' ' -f3)"; fi
	echo "places that the log covers, by kind:"
	(cd "$here/../.." && go run ./testdata/secrets/find "$tree") | cut -f1 | sort | uniq -c
	echo "files that are not read:"
	(cd "$here/../.." && go run ./testdata/secrets/masks "$tree")
done
