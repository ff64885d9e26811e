# Homes of people who use an agent: what agents.sh and terminals.sh share. It is sourced after lib.sh, not run.

# The versions that are tried.
declare -A package=(
  [claude]=@anthropic-ai/claude-code@2.1.328 [codex]=@openai/codex@0.169.0 [gemini]=@google/gemini-cli@0.61.0
  [qwen]=@qwen-code/qwen-code@0.24.4 [opencode]=opencode-ai@1.18.33 [copilot]=@github/copilot@1.0.102
)

# at NAME is where a client has its home and its repository.
at() { echo "$work/$1"; }

# terminal has the variables that say what a person sits at.
terminal=(TERM=dumb CI=1)

# person CLIENT sets $person, which runs a command as the person of a client, in the repository.
person() {
  local home=$(at "$1")/home
  person=(env -C "$(at "$1")/repo" -i PATH="$packages/$1/node_modules/.bin:$work/bin:$PATH" HOME="$home" "${terminal[@]}"
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

# inhabit CLIENT makes its home and repository, and starts its model, which makes the calls of $work/calls.json.
inhabit() {
  local client=$1 dir=$(at "$1")
  mkdir -p "$dir/repo" "$dir/home"
  git init -q "$dir/repo"
  printf 'first\nthe "needle" is here:\t<a> & b\nlast\n' > "$dir/repo/notes.txt"
  node models.mjs "$work/calls.json" "$dir/given.json" > "$dir/port" &
  started+=($!)
  until_there "$dir/port"
  (cd "$dir/repo" && HOME_OF=$dir/home "before_$client" "$(cat "$dir/port")")
}

# given CLIENT PROGRAM looks at what its model was given: a JavaScript condition over offered and outputs.
given() {
  node -e 'const { offered, outputs } = JSON.parse(require("fs").readFileSync(process.argv[1])); const own = new RegExp(process.argv[3]);
    if (!eval(process.argv[2])) { console.log("not so: " + process.argv[2] + "\n" + JSON.stringify({ offered, outputs }, null, 1)); process.exit(1); }' "$(at "$1")/given.json" "$2" "${own:-}"
}
