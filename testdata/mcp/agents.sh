#!/usr/bin/env bash
# Sets real agents up with `toolhost setup`, and has each do a task against a stand-in for its model on loopback (models.mjs): it reads a
# file, edits it, which a person allows in toolhost approve, and runs commands. Homes, settings and repositories are temporary; nothing but
# loopback is reached after the installation.
#
#   testdata/mcp/agents.sh [TOOLHOST [CLIENT…]]     that binary, those clients; else it is built, and all are tried
#
# TOOLHOST_NODE_DIR keeps the node packages for the next run. Exit codes: 0 all passed, 1 something failed,
# 77 not five of them can be installed here.
set -euo pipefail
cd "$(dirname "$0")"
. ./lib.sh
. ./homes.sh
usage "$@"
need node npm go
clients=("${@:2}")
[ ${#clients[@]} -gt 0 ] || clients=(claude codex gemini qwen opencode copilot)

# What each other client has before setup.
before_gemini() {
  mkdir -p .gemini
  printf '{\n  // mine\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n' > .gemini/settings.json
}
before_qwen() {
  mkdir -p "$HOME_OF/.qwen"
  printf '{\n  // mine\n  "security": {"auth": {"selectedType": "openai"}},\n  "$version": 4\n}\n' > "$HOME_OF/.qwen/settings.json"
}
before_opencode() {
  cat > opencode.json <<JSON
{
  "provider": { // a stand-in
    "stub": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://127.0.0.1:$1/v1", "apiKey": "x"}, "models": {"stub": {}}}
  }
}
JSON
}
before_copilot() { mkdir -p "$HOME_OF/.copilot"; printf '{"mcpServers": {}}\n' > "$HOME_OF/.copilot/mcp-config.json"; }

# How each client runs a task to its end. $1 is the port.
run_claude() { in_home claude ANTHROPIC_BASE_URL="http://127.0.0.1:$1" ANTHROPIC_API_KEY=x CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 claude -p go; }
run_codex() { in_home codex codex exec --skip-git-repo-check --ephemeral go; }
run_gemini() { in_home gemini GEMINI_API_KEY=x GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$1" GEMINI_CLI_TRUST_WORKSPACE=true gemini -m gemini-2.5-pro -p go; }
run_qwen() { in_home qwen OPENAI_API_KEY=x OPENAI_BASE_URL="http://127.0.0.1:$1/v1" OPENAI_MODEL=stub qwen -p go; }
run_opencode() { in_home opencode OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 opencode run --model stub/stub go; }
run_copilot() {
  local excluded
  excluded=$(sed -n "s/.*--excluded-tools '\([^']*\)'.*/\1/p" "$(at copilot)/setup.log")
  in_home copilot COPILOT_OFFLINE=true COPILOT_MODEL=stub COPILOT_PROVIDER_BASE_URL="http://127.0.0.1:$1/v1" \
    copilot -p go --allow-tool toolhost --excluded-tools "$excluded"
}

# Names of a client's own tools that must not be offered any more.
own='^(Bash|Read|Edit|Write|Glob|Grep|shell|exec_command|write_stdin|local_shell|run_shell_command|read_file|write_file|replace|edit|bash|read|write|grep|view|create)$'

# The task: what the model calls.
cat > "$work/calls.json" <<'JSON'
[
  {"tool": "read", "arguments": {"path": "notes.txt"}},
  {"tool": "edit", "arguments": {"path": "notes.txt", "old_string": "needle", "new_string": "thread"}},
  {"tool": "shell", "arguments": {"command": "touch made"}},
  {"tool": "shell", "arguments": {"command": "wc -l notes.txt"}},
  {"tool": "grep", "arguments": {"pattern": "thread", "output_mode": "content"}}
]
JSON

# prepare CLIENT makes its home and repository, and starts its model and its person, who thinks for two seconds: by then a client that
# shows forms where nobody sees them has declined.
prepare() {
  local client=$1 dir=$(at "$1") person
  inhabit "$client"
  cp -r "$dir/repo" "$dir/repo.before"
  cp -r "$dir/home" "$dir/home.before"
  person "$client"
  "${person[@]}" node "$PWD/approver.mjs" "$toolhost" "$dir/asked.txt" 2 > "$dir/approver.log" 2>&1 &
  started+=($!)
}

# task CLIENT sets it up and has it work. What it writes goes to files beside its home.
task() {
  local client=$1 dir=$(at "$1")
  in_home "$client" toolhost setup "$client" --yes > "$dir/setup.log" 2>&1
  timeout 300 bash -c "$(declare -f); $(declare -p work packages); run_$client $(cat "$dir/port")" < /dev/null > "$dir/run.log" 2>&1
}

# undone CLIENT takes the set-up back, and compares the files.
undone() {
  local client=$1 dir=$(at "$1") file
  in_home "$client" toolhost setup "$client" --undo --yes
  for file in repo/.mcp.json repo/.claude repo/.gemini repo/opencode.json home/.codex/config.toml home/.copilot/mcp-config.json home/.qwen/settings.json; do
    if [ -e "$dir/${file/\//.before/}" ]; then
      diff -r "$dir/${file/\//.before/}" "$dir/$file"
    elif [ -e "$dir/$file" ]; then
      echo "$file was left"
      return 1
    fi
  done
}

# judge CLIENT checks what came of the task.
judge() {
  local client=$1 dir=$(at "$1")
  check "$client: setup starts the server" grep -q 'lists 9 tools, and glob works' "$dir/setup.log"
  check "$client: the tools are ours" given "$client" '["read","edit","write","shell","grep"].every(name => offered.some(o => o.includes("toolhost") && o.endsWith(name)))'
  check "$client: and not its own" given "$client" '!offered.some(name => own.test(name))'
  check "$client: text arrives as it is" given "$client" 'outputs[0].includes("the \"needle\" is here:\t<a> & b")'
  check "$client: a command that reads runs" given "$client" '/3 notes.txt/.test(outputs[3])'
  check "$client: an edit asks, and is done" grep -q thread "$dir/repo/notes.txt"
  check "$client: a command asks, and runs" test -e "$dir/repo/made"
  check "$client: grep finds the change" given "$client" '/"thread" is here/.test(outputs[4])'
  check "$client: undo restores the files" undone "$client"
}

for client in "${clients[@]}"; do
  (npm_install "$client" ${package[$client]}) > "$work/install-$client.log" 2>&1 &
done
toolhost=$(binary "${1:-}")
mkdir -p "$work/bin"
ln -s "$toolhost" "$work/bin/toolhost"
wait
tried=()
for client in "${clients[@]}"; do
  if [ -x "$packages/$client/node_modules/.bin/$client" ]; then
    prepare "$client"
    tried+=("$client")
  else
    printf 'skip  %s cannot be installed: %s\n' "$client" "$(cat "$work/install-$client.log")"
  fi
done
[ ${#tried[@]} -ge $((${#clients[@]} < 5 ? ${#clients[@]} : 5)) ] || missing 'fewer than five clients can be installed'
runs=()
for client in "${tried[@]}"; do
  task "$client" &
  runs+=("$! $client")
done
for run in "${runs[@]}"; do
  wait "${run% *}" || { printf 'note  %s ended with an error:\n' "${run#* }"; tail -n 5 "$(at "${run#* }")/run.log" | sed 's/^/      /'; }
done
for client in "${tried[@]}"; do judge "$client"; done
finish
