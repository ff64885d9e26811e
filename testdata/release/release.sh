#!/usr/bin/env bash
# Builds a release: static binaries for Linux on amd64 and arm64 with manual pages and completions, their checksums, and a list of all
# that they contain (SBOM, CycloneDX).
#
#	bash testdata/release/release.sh [DIR]		DIR: where the release goes, dist unless given; files there of the same names are replaced
#
# The same commit and the same Go give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(realpath -m "${1:-dist}")
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CGO_ENABLED=0 GOFLAGS=-trimpath
version=$(sed -n 's/^const release = "\(.*\)"$/\1/p' cmd/toolhost/version.go)
[ -n "$version" ] || { echo 'release: cmd/toolhost/version.go names no release' >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || echo 'release: the working tree has changes that are not committed: the version says so' >&2
made=$(git log -1 --format=%ct)

mkdir -p "$work/man" "$work/completions"
go test ./cmd/toolhost -count=1 -run '^TestManPages$' -man "$work/man" >/dev/null
go build -o "$work/native" ./cmd/toolhost
for shell in bash zsh fish; do "$work/native" completion "$shell" >"$work/completions/toolhost.$shell"; done

for arch in amd64 arm64; do
  name=toolhost-$version-linux-$arch
  mkdir -p "$work/$name"
  GOOS=linux GOARCH=$arch go build -ldflags '-s -w' -o "$work/$name/toolhost" ./cmd/toolhost
  cp -r README.md LICENSE NOTICE CHANGELOG.md docs "$work/man" "$work/completions" "$work/$name"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rwX,go=rX --mtime="@$made" -C "$work" -c "$name" | gzip -n9 >"$out/$name.tar.gz"
  go run ./testdata/release "$work/$name/toolhost" "$version" >"$out/$name.cdx.json"
done
cd "$out"
sha256sum "toolhost-$version"-linux-*.tar.gz "toolhost-$version"-linux-*.cdx.json >SHA256SUMS
ls -l "$out"
