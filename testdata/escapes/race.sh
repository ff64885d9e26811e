#!/usr/bin/env bash
# The races of a link for a directory and of a name whose bytes change at their full length, 100,000 rounds and a fifth of it (or as
# given): minutes, so not in every test run, which has a small part of it.
set -euo pipefail
cd "$(dirname "$0")/../../cmd/toolhost"
TOOLHOST_ESCAPES_ROUNDS=${1:-100000} go test -count=1 -timeout 60m -run 'TestEscapes/race|TestEscapes/attempts/(names_of_which|attributes_by_names_that_change)' -v .
