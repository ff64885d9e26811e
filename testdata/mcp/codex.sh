#!/usr/bin/env bash
# Lets the Codex CLI call toolhost's tools over MCP. A stub on loopback plays the model (model.mjs): it makes Codex call
# read, grep and shell, and keeps what the model is given back. Home directory and settings are temporary; nothing but
# loopback is reached after the installation.
#
#   testdata/mcp/codex.sh [TOOLHOST]     that binary; else it is built
#
# TOOLHOST_NODE_DIR keeps the node packages for the next run. Exit codes: 0 all passed, 1 something failed,
# 77 Codex cannot be installed here.
set -euo pipefail
cd "$(dirname "$0")"
. ./lib.sh "$@"
usage "$@"
need node npm go
npm_install codex @openai/codex@0.169.0
codex=$packages/codex/node_modules/.bin/codex
timeout 120 "$codex" --version >/dev/null 2>&1 || missing "the Codex CLI does not run on this machine"
toolhost=$(binary "${1:-}")

mkdir -p "$work/home" "$work/repo"
printf 'first\nthe needle is here\nlast\n' > "$work/repo/notes.txt"

# model_says CALLS starts a model that makes these calls, and names its port in $port.
model_says() {
  echo "$1" > "$work/calls.json"
  rm -f "$work/port" "$work/given.json"
  node model.mjs "$work/calls.json" "$work/given.json" > "$work/port" &
  started+=($!)
  until_there "$work/port"
  port=$(cat "$work/port")
}

# codex_runs CALLS SETTINGS runs Codex until the model has made all calls.
codex_runs() {
  model_says "$1"
  cat > "$work/home/config.toml" <<TOML
model = "stub"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.stub]
name = "stub"
base_url = "http://127.0.0.1:$port/v1"
wire_api = "responses"
$2
TOML
  env -i PATH="$PATH" HOME="$work/home" CODEX_HOME="$work/home" TOOLHOST_TOKEN="${TOOLHOST_TOKEN:-}" HTTPS_PROXY=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.1 \
    timeout 180 "$codex" exec --skip-git-repo-check --ephemeral -C "$work/repo" 'go' < /dev/null > "$work/codex.log" 2>&1 ||
    { tail -n 20 "$work/codex.log"; return 1; }
}

# given PROGRAM looks at what the model was given: a JavaScript condition over tools and outputs, a list of texts.
given() {
  node -e 'const { tools, outputs } = JSON.parse(require("fs").readFileSync(process.argv[1]));
    if (!eval(process.argv[2])) { console.log("not so: " + process.argv[2] + "\n" + JSON.stringify({ tools, outputs }, null, 1)); process.exit(1); }' "$work/given.json" "$1"
}

# What toolhost tells users of Codex to write, and the same without that Codex leaves approval to toolhost.
snippet=$("$toolhost" mcp-config codex 2>/dev/null)
careful=$(grep -v approval_mode <<< "$snippet")

# logged TEXT looks for a text in the logs of all sessions.
logged() {
  grep -rqF -- "$1" "$work/home/.local/state" || { echo "no log has $1"; return 1; }
}

call() { printf '{"namespace":"mcp__toolhost","name":"%s","arguments":%s}' "$1" "$2"; }

check 'Codex runs to its end' codex_runs "[$(call read '{"path":"notes.txt"}'),$(call grep '{"pattern":"needle"}'),$(call shell '{"command":"wc -l notes.txt"}')]" "$careful"
check 'the model sees the tools' given '["read","grep","shell","edit","write","glob"].every(name => tools.mcp__toolhost.includes(name))'
check 'read runs without approval' given 'outputs[0].includes("the needle is here")'
check 'grep runs without approval' given 'outputs[1].includes("notes.txt") && outputs[1].includes("needle")'
check 'a large text comes once' given 'outputs[0].split("the needle is here").length === 2'
check 'shell waits for approval by Codex' given '/approval/.test(outputs[2])'

check 'Codex leaves approval to toolhost' codex_runs "[$(call shell '{"command":"wc -l notes.txt"}'),$(call shell '{"command":"touch made"}'),$(call read '{"path":"absent.txt"}'),$(call read '{"path":"notes.txt"}')]" "$snippet"
check 'shell that only reads runs' given '/3 notes.txt/.test(outputs[0])'
check 'shell that writes is refused, with the rule that would allow it' given '/Shell\(touch/.test(outputs[1])'
check 'and has not run' test ! -e "$work/repo/made"
check 'a failure is told as one' given '/absent.txt/.test(outputs[2]) && !/needle/.test(outputs[2])'
check 'the session goes on after it' given 'outputs[3].includes("the needle is here")'
check 'no process is left' ended "$toolhost serve"
check 'the log has the id that the model gave the call' logged '"native_call_id":"call_1"'

export HOME=$work/home
serve_http "$toolhost" "$work/repo"
check 'Codex reaches toolhost over HTTP' codex_runs "[$(call read '{"path":"notes.txt"}'),$(call shell '{"command":"wc -l notes.txt"}')]" "$("$toolhost" mcp-config codex --http "$url" 2>/dev/null)"
check 'and calls it' given 'outputs[0].includes("the needle is here") && /3 notes.txt/.test(outputs[1])'
finish
