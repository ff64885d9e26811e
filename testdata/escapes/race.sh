#!/usr/bin/env bash
# The race of a link for a directory at its full length, 100,000 rounds (or as many as given): minutes, so not in every
# test run, which has a twentieth of it.
set -euo pipefail
cd "$(dirname "$0")/../../cmd/toolhost"
TOOLHOST_ESCAPES_ROUNDS=${1:-100000} go test -count=1 -timeout 60m -run 'TestEscapes/race' -v .
