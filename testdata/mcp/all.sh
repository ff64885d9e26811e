#!/usr/bin/env bash
# Tries all front doors as others do: the conformance suite, clients, six real agents, the terminals of two, fifty clients at once, and the
# page of toolhost approve in a browser. .ci/run has the suite, the clients and two of the agents.
#
#   testdata/mcp/all.sh [TOOLHOST]     that binary; else it is built
#
# TOOLHOST_NODE_DIR keeps the node packages for the next run. Exit codes: 0 all passed, 1 something failed. What cannot be installed here is
# said.
set -euo pipefail
cd "$(dirname "$0")"
. ./lib.sh
usage "$@"
toolhost=$(binary "${1:-}")
export TOOLHOST_NODE_DIR=$packages

# door NAME COMMAND… tries one, and prints how long it took.
door() {
  local name=$1 start=$SECONDS status=0
  shift
  printf '== %s\n' "$name"
  "$@" || status=$?
  [ $status -eq 0 ] || [ $status -eq 77 ] || failures=$((failures + 1))
  printf '== %s: %d s\n' "$name" $((SECONDS - start))
}

page() (
  command -v chromium >/dev/null || missing 'chromium is not installed'
  cd "$root" && go run ./testdata/page -program "$toolhost"
)

door 'MCP conformance' ./conformance.sh
door 'MCP clients' ./clients.sh "$toolhost"
door 'a real agent' ./codex.sh "$toolhost"
door 'six real agents' ./agents.sh "$toolhost"
door 'terminals of agents' ./terminals.sh "$toolhost"
door 'fifty clients' ./crowd.sh "$toolhost"
door 'page in a browser' page
finish
