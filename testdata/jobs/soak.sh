#!/usr/bin/env bash
# Starts, answers, kills and cancels commands at random, with the race detector in the host, and fails if in the end a process,
# a descriptor, a socket or a file is left that should not be. The seed is printed; a run is repeated, as far as it can be, by it.
#
#   testdata/jobs/soak.sh [DURATION] [SEED]      3m unless said otherwise
#
# It needs cgo for the race detector. TOOLHOST_SOAK and TOOLHOST_SEED are how the test itself is told.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CGO_ENABLED=1 TOOLHOST_SOAK="${1:-3m}" TOOLHOST_SEED="${2:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}"
echo "soak: $TOOLHOST_SOAK, seed $TOOLHOST_SEED"
exec go test -race ./cmd/toolhost -count=1 -run '^TestJobsSoak$' -timeout 2h -v
