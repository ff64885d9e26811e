#!/usr/bin/env bash
# The attackers of attack.c for half an hour (or as many seconds as given) at two accounts and two levels at once. What came
# of 420 seconds is in attack.txt:
#
#   testdata/escapes/attack.sh 420 > testdata/escapes/attack.txt
set -euo pipefail
seconds=${1:-1800}
cd "$(dirname "$0")/../../cmd/toolhost"
printf 'attackers for %s s, %s, %s processors, Linux %s\n' "$seconds" "$(date -u +%F)" "$(nproc)" "$(uname -r)"
TOOLHOST_ESCAPES_ATTACK=$seconds go test -count=1 -timeout $((seconds + 1200))s -run '^TestAttack$' -v . |
  sed -E 's/^ *escapes_attack_linux_test.go:[0-9]+: //; s/^=== .*//; /^$/d'
