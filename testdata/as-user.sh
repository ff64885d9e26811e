#!/usr/bin/env bash
# Runs toolhost and its tests as an ordinary user, made for it, with a home in /home that holds what a developer's does: root passes where
# others are refused, and a home below /tmp is treated otherwise. In short: the README's first command and a command in the sandbox with each
# place for XDG_RUNTIME_DIR; all tests of the packages that start commands, of the others those whose file deals with users or permissions, and
# of the end-to-end tests those that once failed for such a user. Nothing in the home may differ afterwards.
#
#	bash testdata/as-user.sh            in CI
#	bash testdata/as-user.sh --all      the README's second command whole, with each place (an hour)
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(id -u)" -ne 0 ]; then
  echo "as-user.sh: not root already: the ordinary test run has shown this"
  exit 0
fi
export user=toolhost-test-$$
useradd -m -s /bin/bash "$user"
dir=$(mktemp -d)
home=/home/$user
export dir home
leave() {
  pkill -KILL -u "$user" || true # its processes end with its sessions; a failed test may have left one
  userdel -r "$user" 2>/dev/null || true
  rm -rf "$dir" "/run/user/$uid"
}
uid=$(id -u "$user")
trap leave EXIT
mkdir "$dir/src" "$dir/tests" "$dir/tmp"
git ls-files -z 2>/dev/null | tar --null -T - -cf - 2>/dev/null | tar -xf - -C "$dir/src" || tar --exclude=.git -cf - . | tar -xf - -C "$dir/src"
chmod -R a+rX "$dir"
chmod 1777 "$dir/tmp"
mkdir -p "/run/user/$uid"
chown "$user" "/run/user/$uid"
chmod 700 "/run/user/$uid"

# as runs a command as the user, with the place for XDG_RUNTIME_DIR first ("" for none).
as() {
  local runtime=$1
  shift
  runuser -u "$user" -- env -i PATH="$PATH" HOME="$home" USER="$user" LANG=C.UTF-8 TMPDIR="$dir/tmp" GOCACHE="$dir/tmp/gocache" GOPATH="$dir/tmp/go" \
    GOFLAGS=-modcacherw GOPROXY="$(go env GOPROXY)" ${runtime:+XDG_RUNTIME_DIR="$runtime"} "$@"
}
export -f as
as "" bash -c "umask 077; cd; mkdir -p .run .config/pip .ssh go/pkg/sumdb projects $dir/tmp/run
  printf '[user]\n\tname = Ada\n\temail = ada@example.com\n[credential]\n\thelper = store\n[alias]\n\ttokens = log\n' >.gitconfig
  printf 'registry=http://127.0.0.1:9/\nlogs-dir=/nowhere\n' >.npmrc
  printf '[global]\nindex-url = http://ada:secret@127.0.0.1:9/simple\n' >.config/pip/pip.conf
  printf 'not a key\n' >.ssh/id_ed25519; ln -s .run link"
places=("" "$home/.run" "$dir/tmp/run" "/run/user/$uid")

# listing prints the names, kinds, sizes and times in the home, but for the telemetry that go itself keeps.
listing() { (cd "$home" && find . -path ./.config/go -prune -o -path ./.config -o -path ./.run/toolhost -prune -o -path ./.run -o -path ./.local -prune -o -path . -o -printf '%p %y %s %T@\n' | sort); }

go build -o "$dir/tests/toolhost" ./cmd/toolhost
go build -o "$dir/tests/agent" ./testdata/agent
chmod -R a+rX "$dir/tests"
listing >"$dir/before"
for place in "${places[@]}"; do
  (cd "$dir/src" && as "$place" "$dir/tests/agent" "$dir/tests/toolhost" >"$dir/said" 2>&1) || { echo "FAILED agent, XDG_RUNTIME_DIR=$place"; cat "$dir/said"; exit 1; }
  [ "$(cd "$home/projects" && as "$place" XDG_STATE_HOME="$dir/tmp/state" "$dir/tests/toolhost" call --mode sandboxed shell 'echo ran')" = ran ] ||
    { echo "FAILED: no command runs with XDG_RUNTIME_DIR=$place"; exit 1; }
  echo "ok agent and a command, XDG_RUNTIME_DIR=$place"
done

same() { # that the home is as it was
  listing >"$dir/after"
  diff "$dir/before" "$dir/after" || { echo "FAILED: the home differs"; exit 1; }
}

if [ "${1:-}" = --all ]; then
  chown -R "$user" "$dir/src"
  for place in "${places[@]}"; do
    (cd "$dir/src" && time as "$place" bash -c "$(sed -n "s/^    \(go test .*\)$/\1/p" README.md | head -1)")
    same
  done
  exit 0
fi

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
  if said=$(cd "$dir/src/$package" && as "$home/.run" "$dir/tests/${package##*/}.test" -test.short -test.timeout 20m -test.run "$2" -test.skip "$long" 2>&1); then
    echo "ok $package"
  else
    printf 'FAILED %s\n%s\n' "$package" "$said"
    return 1
  fi
}
export -f run

# One build of all takes a quarter of the time of one after the other. Their last names differ, else go test says so.
end_to_end='^(TestReadersDoNotAsk|TestSessions|TestRulesShow|TestApprovalsGrants|TestPackageStaysOpen|TestPushesStayOpen|TestApprovedIsGranted|TestWallPathRule|TestHelloMakesNothing|TestScripts|TestSecretsOfProjects|TestCutViews|TestSecretsOfHistory|TestHistoryQuestionsRunNothing|TestHistoryIsJudgedAtStart)$'
go test -c -ldflags "-s -w" -o "$dir/tests/" $(printf './%s ' $whole $others cmd/toolhost)
chmod -R a+rX "$dir/tests"
for package in $whole $others; do
  printf '%s\n%s\n' "$package" "$(tests "$package")"
done >"$dir/list"
printf 'cmd/toolhost\n%s\n' "$end_to_end" >>"$dir/list"
xargs -a "$dir/list" -d '\n' -n2 -P4 bash -c 'run "$@"' run
same
