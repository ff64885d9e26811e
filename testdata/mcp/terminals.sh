#!/usr/bin/env bash
# Sits at the terminals of Claude Code and of Codex, in tmux, and answers what toolhost asks there: the dialog has the command, the reason
# and the sandbox, at most two keys allow it, and one refuses the next call. Then toolhost approve is open, its person thinks for some
# seconds, and `claude -p` and `codex exec` wait for the answer. Models, homes and settings are as in agents.sh.
#
#   testdata/mcp/terminals.sh [TOOLHOST]     that binary; else it is built
#
# TOOLHOST_NODE_DIR keeps the node packages for the next run. Exit codes: 0 all passed, 1 something failed,
# 77 a client cannot be installed here.
set -euo pipefail
cd "$(dirname "$0")"
. ./lib.sh
. ./homes.sh
usage "$@"
need node npm go tmux
for client in claude codex; do npm_install $client ${package[$client]}; done
toolhost=$(binary "${1:-}")
mkdir -p "$work/bin"
ln -s "$toolhost" "$work/bin/toolhost"
cat > "$work/calls.json" <<'JSON'
[
  {"tool": "shell", "arguments": {"command": "touch made"}},
  {"tool": "edit", "arguments": {"path": "notes.txt", "old_string": "needle", "new_string": "thread"}},
  {"tool": "shell", "arguments": {"command": "wc -l notes.txt"}}
]
JSON
# tmux is that of $client. Each has a server of its own: one that is killed may take the next session with it.
tmux() { command tmux -f /dev/null -S "$work/tmux-$client" "$@"; }
trap 'for client in claude codex; do tmux kill-server 2>/dev/null || true; done; clean' EXIT

# settled CLIENT answers beforehand what it asks at its first start.
settled_claude() {
  printf '{"hasCompletedOnboarding": true, "customApiKeyResponses": {"approved": ["x"]}, "projects": {"%s": {"hasTrustDialogAccepted": true}}}\n' "$PWD" > "$HOME_OF/.claude.json"
}
settled_codex() {
  sed -i /approval_policy/d "$HOME_OF/.codex/config.toml"
  printf '[projects."%s"]\ntrust_level = "trusted"\n' "$PWD" >> "$HOME_OF/.codex/config.toml"
}

model_of() { printf 'ANTHROPIC_BASE_URL=http://127.0.0.1:%s ANTHROPIC_API_KEY=x CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1' "$(cat "$(at "$1")/port")"; }

# seen TEXT… waits for one of some texts on the screen, and prints the screen if none comes.
seen() {
  local i
  for i in $(seq 300); do
    tmux capture-pane -p -t at | grep -qF "${@/#/-e}" && return
    sleep 0.1
  done
  tmux capture-pane -p -t at
  return 1
}

# head_has TEXT… looks for texts in the first four lines below the head of the dialog, as the terminal shows them.
head_has() {
  local head text
  head=$(tmux capture-pane -p -t at | grep -A3 -E '^ *(shell|edit)  ?│')
  for text in "$@"; do grep -qF -- "$text" <<< "$head" || { tmux capture-pane -p -t at; return 1; }; done
}

# keys KEY… presses keys as a person does, one after the other.
keys() {
  local key
  for key in "$@"; do tmux send-keys -t at "$key"; sleep 0.7; done
}

made() {
  local i
  for i in $(seq 100); do
    [ -e "$(at "$1")/repo/made" ] && return
    sleep 0.1
  done
  tmux capture-pane -p -t at
  return 1
}

# turned N reports whether N turns have ended, by the last word of the model.
turned() { [ "$(tmux capture-pane -p -S - -t at | grep -cE '(^|[^[:alnum:]])done *$')" -ge "$1" ]; }

# start CLIENT starts its terminal, and says go until the client has asked its model with toolhost's tools: on its first turn its servers
# may still be starting. It says so again only when the turn is over: the keys would answer a dialog.
start() {
  local client=$1 person i j
  person "$client"
  tmux new-session -d -s at -x 100 -y 30 "${person[@]}" $(model_of "$client") "$client"
  seen '›' '❯'
  for i in 1 2 3 4 5; do
    keys go Enter
    for j in $(seq 300); do
      [ ! -s "$(at "$client")/given.json" ] || return 0
      ! turned "$i" || break
      sleep 0.1
    done
  done
  tmux capture-pane -p -t at
  return 1
}

# at_terminal CLIENT KEYS answers two dialogs: the first with the keys that allow, the second with Escape.
at_terminal() {
  local client=$1 terminal=(TERM=screen-256color)
  check "$client: it starts, and calls" start "$client"
  check "$client: a dialog asks" seen 'touch made'
  check "$client: with command, reason and sandbox" head_has 'touch made' 'Why you are asked' 'Sandbox: workspace (level full)'
  keys $2
  check "$client: $2 allows it" made "$client"
  check "$client: the next dialog asks about an edit" seen 'notes.txt −the "needle" is here'
  keys Escape
  check "$client: Escape refuses it" seen_done "$client" 'outputs.length === 3 && /dismissed|declined|rejected/.test(outputs[1])'
  check "$client: and nothing was changed" grep -q needle "$(at "$client")/repo/notes.txt"
  tmux kill-server
}

seen_done() {
  local i
  for i in $(seq 100); do
    given "$@" > /dev/null && return
    sleep 0.1
  done
  given "$@"
}

run_claude() { in_home claude $(model_of claude) claude -p go; }
run_codex() { in_home codex codex exec --skip-git-repo-check --ephemeral go; }

asked_both() {
  test -e "$1/repo/made" -a "$(wc -l < "$1/asked.txt")" -ge 2 || { ls "$1/repo"; cat "$1/asked.txt" "$1/approver.log"; return 1; }
}

# waits CLIENT runs a task in which nobody sits at the client's terminal, but at toolhost approve.
waits() {
  local client=$1 dir=$(at "$1") person
  rm -f "$dir/repo/made" "$dir/given.json"
  person "$client"
  "${person[@]}" node "$PWD/approver.mjs" "$toolhost" "$dir/asked.txt" 4 > "$dir/approver.log" 2>&1 &
  started+=($!)
  check "$client: runs to its end without its terminal" timeout 120 bash -c "$(declare -f); $(declare -p work packages terminal); run_$client < /dev/null"
  check "$client: and waits for toolhost approve" given "$client" '/thread/.test(outputs[1]) && /3 notes.txt/.test(outputs[2])'
  check "$client: which was asked about both" asked_both "$dir"
}

for client in claude codex; do
  inhabit $client
  (cd "$(at $client)/repo" && HOME_OF=$(at $client)/home settled_$client)
  check "$client: setup" in_home $client toolhost setup $client --yes
done
at_terminal claude 'Enter Enter'
at_terminal codex 'Enter'
for client in claude codex; do waits $client; done
finish
