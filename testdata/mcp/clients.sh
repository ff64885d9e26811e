#!/usr/bin/env bash
# Drives `toolhost serve` with clients that others wrote: the TypeScript SDK's in both negotiation modes, over stdio and
# over HTTP (clients.mjs), the inspector's command line, and our own example in TypeScript.
#
#   testdata/mcp/clients.sh [TOOLHOST]     that binary; else it is built
#
# TOOLHOST_NODE_DIR keeps the node packages for the next run. Exit codes: 0 all passed, 1 something failed,
# 77 something cannot be installed here.
set -euo pipefail
cd "$(dirname "$0")"
. ./lib.sh
usage "$@"
need node npm go
npm_install client @modelcontextprotocol/client@2.4.0
npm_install inspector @modelcontextprotocol/inspector@2.12.0
toolhost=$(binary "${1:-}")
export HOME=$work/home XDG_STATE_HOME=$work/state
mkdir "$HOME"

# repo NAME makes a directory to work in.
repo() {
  mkdir -p "$work/$1"
  printf 'first\nthe needle is here\nlast\n' > "$work/$1/notes.txt"
  seq -f 'line %g' 60000 > "$work/$1/large.txt"
  echo "$work/$1"
}

# driven MODE REPO TOOLHOST|URL runs the TypeScript client.
driven() {
  timeout 300 node clients.mjs "$1" "$packages/client/node_modules" "$2" "$3"
}

runs=()
for mode in legacy modern; do
  driven "$mode" "$(repo "stdio-$mode")" "$toolhost" & # all at once: they wait more than they work
  runs+=($!)
  over_http=$(repo "http-$mode")
  serve_http "$toolhost" "$over_http"
  driven "$mode" "$over_http" "$url" &
  runs+=($!)
done
for run in "${runs[@]}"; do wait "$run" || failures=$((failures + 1)); done

# The example in TypeScript, compiled as its readers would.
npm_install typescript typescript@5.9.3 @types/node@20.19.24
example() {
  local dir=$packages/typescript
  cp "$root/examples/typescript/client.mts" "$dir/"
  "$dir/node_modules/.bin/tsc" --strict --target es2022 --module nodenext --types node --typeRoots "$dir/node_modules/@types" --outDir "$dir/out" "$dir/client.mts" &&
    (cd "$(repo example)" && timeout 120 node "$dir/out/client.mjs" "$toolhost" > "$work/example.txt")
}
check 'the example in TypeScript' example
check 'the example in TypeScript: its prompt was answered' grep -q 'answer: created hello.txt' "$work/example.txt"
check 'the example in TypeScript: its job ended' grep -q 'job: ended' "$work/example.txt"

inspected=$(repo inspected)

# inspect ERA ARGUMENTS… runs the inspector's command line and keeps what it prints.
inspect() {
  timeout 120 "$packages/inspector/node_modules/.bin/mcp-inspector" --cli "$toolhost" serve --workspace "$inspected" --protocol-era "$1" --format json "${@:2}" < /dev/null > "$work/inspected.json"
}

# shows PROGRAM looks at what the inspector printed: a JavaScript condition over its result.
shows() {
  node -e 'const text = require("fs").readFileSync(process.argv[1], "utf8"); const all = JSON.parse(text); const result = all.result ?? all;
    if (!eval(process.argv[2])) { console.log("not so: " + process.argv[2] + "\n" + text.slice(0, 2000)); process.exit(1); }' "$work/inspected.json" "$1"
}

for era in legacy modern; do
  check "inspector, $era: tools/list" inspect "$era" --method tools/list
  check "inspector, $era: names the tools" shows '["read", "grep", "shell"].every(name => result.tools.some(tool => tool.name === name))'
  check "inspector, $era: schemas fit every client" inspect "$era" --method tools/list --strict
  check "inspector, $era: tools/call" inspect "$era" --method tools/call --tool-name read --tool-arg path=notes.txt
  check "inspector, $era: shows the text" shows 'JSON.stringify(result).includes("the needle is here")'
done
finish
