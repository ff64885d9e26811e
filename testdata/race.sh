#!/usr/bin/env bash
# Runs every test of every package with the race detector, end-to-end tests included: testdata/race.sh [PACKAGE…; default ./...]
#
# .ci/run has the packages in which goroutines meet, and the sessions in which clients, answers, calls and jobs do. This is the long form. It
# takes half an hour on two processors, and needs cgo.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=1
[ $# -gt 0 ] || set -- ./...
printf '%s, %s processors, Linux %s\n' "$(date -u +%F)" "$(nproc)" "$(uname -r)"
go test -race -count=1 -vet=off -timeout 2h "$@" | grep -v 'no test files'
