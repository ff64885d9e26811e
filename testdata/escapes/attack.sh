#!/usr/bin/env bash
# The attackers of attack.c for half an hour (or as many seconds as given) at two accounts and two levels: at once, or with "apart" one after the
# other, at the lowest priority. What came of four times 900 seconds is in attack.txt:
#
#   testdata/escapes/attack.sh 900 apart > testdata/escapes/attack.txt
set -euo pipefail
seconds=${1:-1800}
cd "$(dirname "$0")/../../cmd/toolhost"
attack() {
  TOOLHOST_ESCAPES_ATTACK=$seconds nice -n "$2" go test -count=1 -timeout $((seconds + 1200))s -run "$1" -v . |
    sed -E 's/^ *escapes_attack_linux_test.go:[0-9]+: //; s/^=== .*//; /^$/d'
}
if [ "${2:-}" = apart ]; then
  printf 'attackers for %s s each, one after the other, at the lowest priority beside other work, %s, %s processors, Linux %s\n' "$seconds" "$(date -u +%F)" "$(nproc)" "$(uname -r)"
  for who in 'root_full' 'user_full' 'root_landlock\+notify' 'user_landlock\+notify'; do
    attack "^TestAttack\$/^$who\$" 19
  done
else
  printf 'attackers for %s s, %s, %s processors, Linux %s\n' "$seconds" "$(date -u +%F)" "$(nproc)" "$(uname -r)"
  attack '^TestAttack$' 0
fi
