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
usage "$@"
need node npm go
declare -A package=(
  [claude]=@anthropic-ai/claude-code@2.1.328 [codex]=@openai/codex@0.169.0 [gemini]=@google/gemini-cli@0.61.0
  [qwen]=@qwen-code/qwen-code@0.24.4 [opencode]=opencode-ai@1.18.33 [copilot]=@github/copilot@1.0.102
)
clients=("${@:2}")
[ ${#clients[@]} -gt 0 ] || clients=(claude codex gemini qwen opencode copilot)

# at NAME is where a client has its home and its repository.
at() { echo "$work/$1"; }

# person CLIENT sets $person, which runs a command as the person of a client, in the repository.
person() {
  local home=$(at "$1")/home
  person=(env -C "$(at "$1")/repo" -i PATH="$packages/$1/node_modules/.bin:$work/bin:$PATH" HOME="$home" TERM=dumb CI=1
    HTTPS_PROXY=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.1,localhost no_proxy=127.0.0.1,localhost)
}

# in_home CLIENT COMMAND… runs one.
in_home() {
  local person
  person "$1"
  "${person[@]}" "${@:2}"
}

# What each client has before setup: a model on loopback, and a setting of the person. $1 is the port.
before_claude() {
  mkdir -p .claude
  printf '{\n  "cleanupPeriodDays": 7\n}\n' > .claude/settings.json
  printf '{"projects": {"%s": {"hasTrustDialogAccepted": true}}}\n' "$PWD" > "$HOME_OF/.claude.json"
}
before_codex() {
  mkdir -p "$HOME_OF/.codex"
  cat > "$HOME_OF/.codex/config.toml" <<TOML
model = "stub" # a stand-in
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.stub]
name = "stub"
base_url = "http://127.0.0.1:$1/v1"
wire_api = "responses"
TOML
}
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

# prepare CLIENT makes its home and repository, and starts its model and its person.
prepare() {
  local client=$1 dir=$(at "$1") port
  mkdir -p "$dir/repo" "$dir/home"
  git init -q "$dir/repo"
  printf 'first\nthe "needle" is here:\t<a> & b\nlast\n' > "$dir/repo/notes.txt"
  node models.mjs "$work/calls.json" "$dir/given.json" > "$dir/port" &
  started+=($!)
  until_there "$dir/port"
  port=$(cat "$dir/port")
  (cd "$dir/repo" && HOME_OF=$dir/home "before_$client" "$port")
  cp -r "$dir/repo" "$dir/repo.before"
  cp -r "$dir/home" "$dir/home.before"
  person "$client"
  "${person[@]}" node "$PWD/approver.mjs" "$toolhost" "$dir/asked.txt" > "$dir/approver.log" 2>&1 &
  started+=($!)
}

# task CLIENT sets it up and has it work. What it writes goes to files beside its home.
task() {
  local client=$1 dir=$(at "$1")
  in_home "$client" toolhost setup "$client" --yes > "$dir/setup.log" 2>&1
  timeout 120 bash -c "$(declare -f); $(declare -p work packages); run_$client $(cat "$dir/port")" < /dev/null > "$dir/run.log" 2>&1
}

# given CLIENT PROGRAM looks at what its model was given: a JavaScript condition over offered and outputs.
given() {
  node -e 'const { offered, outputs } = JSON.parse(require("fs").readFileSync(process.argv[1])); const own = new RegExp(process.argv[3]);
    if (!eval(process.argv[2])) { console.log("not so: " + process.argv[2] + "\n" + JSON.stringify({ offered, outputs }, null, 1)); process.exit(1); }' "$(at "$1")/given.json" "$2" "$own"
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

# asked CLIENT N COMMAND… checks a call that asks: COMMAND shows that it ran. Clients that show forms decline them where nobody is at
# their terminal, if toolhost approve was not faster: then the call was refused, with the rule that would allow it.
asked() {
  case $1 in
    claude | codex | copilot) given "$1" "/(declined|dismissed)/.test(outputs[$2]) && /a rule|the rules/.test(outputs[$2])" && return ;;
  esac
  "${@:3}"
}

# judge CLIENT checks what came of the task.
judge() {
  local client=$1 dir=$(at "$1")
  check "$client: setup starts the server" grep -q 'lists 9 tools, and glob works' "$dir/setup.log"
  check "$client: the tools are ours" given "$client" '["read","edit","write","shell","grep"].every(name => offered.some(o => o.includes("toolhost") && o.endsWith(name)))'
  check "$client: and not its own" given "$client" '!offered.some(name => own.test(name))'
  check "$client: text arrives as it is" given "$client" 'outputs[0].includes("the \"needle\" is here:\t<a> & b")'
  check "$client: a command that reads runs" given "$client" '/3 notes.txt/.test(outputs[3])'
  check "$client: an edit asks, and is done" asked "$client" 1 grep -q thread "$dir/repo/notes.txt"
  check "$client: a command asks, and runs" asked "$client" 2 test -e "$dir/repo/made"
  check "$client: grep finds the change" asked "$client" 1 given "$client" '/"thread" is here/.test(outputs[4])'
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
