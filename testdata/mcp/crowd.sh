#!/usr/bin/env bash
# 50 clients of the TypeScript SDK at once over HTTP, 40 calls each, in both negotiation modes: none is refused (crowd.mjs).
# A run is kept in crowd.txt.
#
#   testdata/mcp/crowd.sh [TOOLHOST]     that binary; else it is built
#
# TOOLHOST_NODE_DIR keeps the node packages for the next run. Exit codes: 0 all answered, 1 some were not,
# 77 something cannot be installed here.
set -euo pipefail
cd "$(dirname "$0")"
. ./lib.sh
usage "$@"
need node npm go
npm_install client @modelcontextprotocol/client@2.4.0
toolhost=$(binary "${1:-}")
export HOME=$work/home XDG_STATE_HOME=$work/state
mkdir "$HOME"
for mode in legacy modern; do
  repo=$work/$mode
  mkdir "$repo"
  printf 'first\nthe needle is here\nlast\n' > "$repo/notes.txt"
  serve_http "$toolhost" "$repo"
  timeout 300 node crowd.mjs "$mode" "$packages/client/node_modules" "$url" 50 40 || failures=$((failures + 1))
done
finish
