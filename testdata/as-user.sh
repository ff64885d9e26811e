#!/usr/bin/env bash
# Runs the tests whose outcome may depend on the user as an ordinary one: root passes where others are refused. These are all tests of the
# packages that start commands, and of the others those whose file deals with users or permissions. The end-to-end tests change the user
# themselves. The tests are compiled first, since an ordinary user may have no Go, and run in a copy that the user can read.
set -euo pipefail
cd "$(dirname "$0")/.."
export user=${1:-daemon} # not nobody: tests give files to that one
if [ "$(id -u)" -ne 0 ]; then
  echo "as-user.sh: not root already: the ordinary test run has shown this"
  exit 0
fi
dir=$(mktemp -d)
export dir
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src" "$dir/tests" "$dir/home"
tar --exclude=.git -cf - . | tar -xf - -C "$dir/src"
chmod -R a+rX "$dir"
chmod 1777 "$dir/home"

whole='sandbox sandbox/notify tools/shell'
others=$(grep -rlE --include='*_test.go' 'Gete?uid\(|Chmod\(|Chown\(|ErrPermission|EACCES|EPERM|Credential\{' \
  permissions persist sandbox settings tools wire host | xargs -n1 dirname | sort -u | grep -vxF "${whole// /$'\n'}")

# tests prints a pattern of the tests of a package that are run.
tests() {
  [[ " $whole " == *" $1 "* ]] && echo . && return
  grep -lE 'Gete?uid\(|Chmod\(|Chown\(|ErrPermission|EACCES|EPERM|Credential\{' "$1"/*_test.go |
    xargs grep -hoE '^func Test[A-Za-z0-9_]+' | sed 's/^func //' | grep -v '^TestMain$' | paste -sd '|' | sed 's/.*/^(&)$/'
}

# Long tests that give the same result for every user are left out, and so are the known inputs of fuzz targets.
export long='^(TestGitReadersRunNothing|TestLocalesThatSplitBytes|TestRefineUnderLoad|TestRefineManyNames|Fuzz.*)$'

run() { # the tests of a package that a pattern matches
  local package=$1 said
  if said=$(cd "$dir/src/$package" && runuser -u "$user" -- env -i PATH="$PATH" HOME="$dir/home" TMPDIR="$dir/home" \
    "$dir/tests/${package##*/}.test" -test.short -test.timeout 20m -test.run "$2" -test.skip "$long" 2>&1); then
    echo "ok $package"
  else
    printf 'FAILED %s\n%s\n' "$package" "$said"
    return 1
  fi
}
export -f run

# One build of all takes a quarter of the time of one after the other. Their last names differ, else go test says so.
go test -c -ldflags "-s -w" -o "$dir/tests/" $(printf './%s ' $whole $others)
chmod -R a+rX "$dir/tests"
for package in $whole $others; do
  printf '%s\n%s\n' "$package" "$(tests "$package")"
done >"$dir/list"
xargs -a "$dir/list" -d '\n' -n2 -P4 bash -c 'run "$@"' run
