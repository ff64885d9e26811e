#!/usr/bin/env bash
# Runs the tests that meet the file system's permissions as an ordinary user: root passes where others are refused.
# It compiles them first, since an ordinary user may have no Go, and runs them in a copy that the user can read.
set -euo pipefail
cd "$(dirname "$0")/.."
user=${1:-daemon} # not nobody: tests give files to that one
if [ "$(id -u)" -ne 0 ]; then
  echo "as-user.sh: not root already: the ordinary test run has shown this"
  exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src" "$dir/home"
tar --exclude=.git -cf - . | tar -xf - -C "$dir/src"
chmod -R a+rX "$dir"
chmod 1777 "$dir/home"
packages=(permissions/protect persist sandbox sandbox/notify settings tools/files tools/search tools/shell tools/workspace)
mkdir "$dir/tests"
go test -c -o "$dir/tests/" "${packages[@]/#/./}"
chmod -R a+rx "$dir/tests"
for package in "${packages[@]}"; do
  (cd "$dir/src/$package" && runuser -u "$user" -- env -i PATH="$PATH" HOME="$dir/home" TMPDIR="$dir/home" \
    "$dir/tests/$(basename "$package").test" -test.short -test.timeout 600s)
done
