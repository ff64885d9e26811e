#!/usr/bin/env bash
# Prints what `echo hi` costs as a call of toolhost, without a sandbox and in the full one, beside `bash -c 'echo hi'`: medians
# in ms, and how many times bash's. They take turns in one run, so that a busy machine is busy for each of them.
#
#   testdata/jobs/bench.sh [ROUNDS]                                500 unless said otherwise
#   DESKTOP_COMMANDER=…/dist/index.js testdata/jobs/bench.sh       beside Desktop Commander, too
#   TOOLHOST_TIMED=1 testdata/jobs/bench.sh                        fails above 3 ms without and 7 ms with the sandbox
#
# With TOOLHOST_TIMED=1 it also shows what 300 MB of output cost the host and the calls beside it.
set -euo pipefail
cd "$(dirname "$0")/../.."
timeout 300 go test ./cmd/toolhost -run '^$' -bench '^BenchmarkShellEcho$' -benchtime "${1:-500}x"
if [ -n "${TOOLHOST_TIMED:-}" ]; then
  timeout 300 go test ./cmd/toolhost -count=1 -run '^TestJobOutput300MB$' -v | grep -E 'MB in|^(ok|FAIL|---|    ---)'
fi
