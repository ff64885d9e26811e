#!/usr/bin/env bash
# Compares generated command lines with real bash: testdata/classify/differential.sh [LINES, 10000000] [SEED, 1]
#
# Lines that are believed run in bash, which finds no programs and records each command that it would run: all of them must be among the
# parts that the classifier names. Lines that are not believed must run nothing that rules that forbid do not see. The output of the long
# runs is in differential.txt; a short one is among the tests, TestBashRunsNothingUnseen.
set -euo pipefail
cd "$(dirname "$0")/../.."
printf 'bash %s, lines %s, seed %s\n' "$(bash -c 'echo $BASH_VERSION')" "${1:-10000000}" "${2:-1}"
TOOLHOST_DIFFERENTIAL=${1:-10000000} TOOLHOST_DIFFERENTIAL_SEED=${2:-1} \
  nice go test -count=1 -timeout 24h -run TestBashRunsNothingUnseen -v ./classify
