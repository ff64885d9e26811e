#!/usr/bin/env bash
# Runs the MCP project's conformance suite against toolhost's /mcp (testdata/conformance-server), for the revisions
# 2025-11-25 and 2026-07-28: all scenarios that they require of a server, and those that are run without being required
# (tasks, headers, schemas). What is known to fail stands in expected-failures.tsv, with the reason; any other failure or
# warning fails, and so does an entry of that list that passes.
#
#   testdata/mcp/conformance.sh [SCENARIO]     one scenario, with what the suite says of it
#
# TOOLHOST_NODE_DIR keeps the node packages for the next run. Exit codes: 0 as expected, 1 not so, 77 something cannot be
# installed here.
set -euo pipefail
cd "$(dirname "$0")"
. ./lib.sh
usage "$@"
need node npm go
npm_install conformance @modelcontextprotocol/conformance@0.2.0-alpha.12
node=node
if [ "$(node -p 'parseInt(process.versions.node)')" -lt 22 ]; then
  npm_install node node@22.23.3
  node=$packages/node/node_modules/.bin/node
fi
suite=$packages/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js
build conformance-server ./testdata/conformance-server

"$work/conformance-server" 127.0.0.1:0 > "$work/url" 2> "$work/server.log" &
started+=($!)
until_there "$work/url"
url=$(cat "$work/url")

# judged REVISION runs what the revision requires and compares it with what is expected.
judged() {
  timeout 300 "$node" "$suite" server --url "$url" --requirements "$1" --output-dir "$work/$1" > "$work/$1.log" 2>&1 || true # it judges otherwise
  "$node" "$suite" list --requirements "$1" > "$work/$1.list"
  node judge.mjs "$1" "$work/$1" expected-failures.tsv "$work/$1.list"
}

revisions=(2025-11-25 2026-07-28)
if [ -n "${1:-}" ]; then
  for revision in "${revisions[@]}"; do
    timeout 120 "$node" "$suite" server --url "$url" --spec-version "$revision" --scenario "$1" || failures=1
  done
  finish
  exit
fi
runs=()
for revision in "${revisions[@]}"; do
  judged "$revision" & # both at once: they wait more than they work
  runs+=($!)
done
for run in "${runs[@]}"; do wait "$run" || failures=$((failures + 1)); done
if [ "$failures" -gt 0 ] && [ -s "$work/server.log" ]; then tail -n 30 "$work/server.log"; fi
finish
