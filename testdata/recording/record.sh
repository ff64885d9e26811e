#!/usr/bin/env bash
# Records docs/recording.svg: a real session of the real program in a terminal, as pictures that follow each other.
#
#	bash testdata/recording/record.sh		needs tmux and git
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD work=$(mktemp -d)
terminal() { tmux -L "recording$$" "$@"; }
trap 'terminal kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$work"/{bin,home,state,run,project,frames}
chmod 700 "$work/run"
CGO_ENABLED=0 go build -o "$work/bin/toolhost" ./cmd/toolhost
go build -o "$work/draw" ./testdata/recording

export PATH=$work/bin:$PATH HOME=$work/home XDG_STATE_HOME=$work/state XDG_RUNTIME_DIR=$work/run
cd "$work/project"
git init -q .
git config user.name you
git config user.email you@example.com
printf 'package main\n\nfunc main() {\n\tprintln("TODO")\n}\n' >main.go
git add -A
git commit -qm 'a program'

# seen waits until the screen has a text.
seen() {
  for _ in $(seq 100); do
    ! terminal capture-pane -p | grep -qF -- "$1" || return 0
    sleep 0.1
  done
  echo "recording: the screen never showed: $1" >&2
  terminal capture-pane -p >&2
  exit 1
}

# show waits until the screen has a text, and keeps the screen as the next picture.
frames=0
show() {
  seen "$1"
  sleep 0.3
  terminal capture-pane -ep >"$work/frames/$((frames += 1))"
}
run() { terminal send-keys -l "$1"; terminal send-keys Enter; }

terminal new-session -d -x 92 -y 24 "env PS1='\$ ' bash --norc --noprofile"
run "toolhost check 'git status && sudo rm -rf build' --deny 'Shell(rm *)'"
show 'denied by cli_arg'
run 'clear; toolhost approve'
seen 'nothing waits'
toolhost call shell '{"command":"sed -i s/TODO/hello/ main.go && git commit -am greeting"}' >"$work/called" 2>&1 &
show 'git commit -am greeting'
terminal send-keys y
show 'you allowed it once'
wait
terminal send-keys q
run 'clear; git log --oneline; toolhost log show | cut -c1-90; toolhost log verify | cut -c1-90'
show ': ok:'
"$work/draw" "$work"/frames/* >"$root/docs/recording.svg"
