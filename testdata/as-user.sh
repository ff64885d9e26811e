#!/usr/bin/env bash
# Runs the tests that meet the file system's permissions as an ordinary user: root passes where others are refused.
# It compiles them first, since an ordinary user may have no Go.
set -euo pipefail
cd "$(dirname "$0")/.."
user=${1:-nobody}
if [ "$(id -u)" -ne 0 ]; then
  echo "as-user.sh: not root already: the ordinary test run has shown this"
  exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
for package in persist tools/files tools/search tools/shell tools/workspace; do
  name=${package//\//-}
  go test -c -o "$dir/$name.test" "./$package"
  mkdir -p "$dir/$name"
  cp -r "$package/." "$dir/$name/"
  mkdir -p "$dir/tmp-$name" && chmod 1777 "$dir/tmp-$name"
  chmod -R a+rX "$dir/$name" "$dir/$name.test"
  (cd "$dir/$name" && runuser -u "$user" -- env -i PATH="$PATH" HOME="$dir/tmp-$name" TMPDIR="$dir/tmp-$name" \
    "$dir/$name.test" -test.short -test.timeout 120s)
done
