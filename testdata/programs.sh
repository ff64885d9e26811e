#!/usr/bin/env bash
# The long form of TestWorkPrograms: programs that stay (servers, agents and daemons) are started, used, reloaded, found and ended over the calls
# of a session, as root and as an ordinary user. Installs those that are missing, from Debian and from the registry of node packages; what
# cannot be installed is skipped, and said. The output of a run is in programs.txt:
#
#   testdata/programs.sh [ROW]          all rows, or those whose names match the pattern
#
# TOOLHOST_NODE_DIR keeps the node packages for the next run.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TOOLHOST_NODE_DIR=${TOOLHOST_NODE_DIR:-$scratch}
missing=()
while read -r program package; do
  command -v "$program" >/dev/null || missing+=("$package")
done <<'LIST'
nginx nginx
caddy caddy
gunicorn gunicorn
uvicorn uvicorn
redis-server redis-server
memcached memcached
ssh-agent openssh-client
gpg-agent gpg-agent
emacs emacs-nox
screen screen
tmux tmux
watchman watchman
sccache sccache
gradle gradle
node nodejs
npm npm
lsof lsof
ss iproute2
curl curl
LIST
if [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" -eq 0 ]; then
  export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 # no server of a package is started
  apt-get update -qq
  for package in "${missing[@]}"; do
    apt-get install -y -qq --no-install-recommends "$package" </dev/null >/dev/null 2>&1 || echo "$package cannot be installed"
  done
fi
mkdir -p "$TOOLHOST_NODE_DIR/programs"
(cd "$TOOLHOST_NODE_DIR/programs" && npm install --no-audit --no-fund --loglevel=error vite turbo >/dev/null 2>&1) || echo "node packages cannot be installed"
export TOOLHOST_LONG=1 CGO_ENABLED=0
printf '%s, %s processors, Linux %s\n' "$(date -u +%F)" "$(nproc)" "$(uname -r)"
nice go test -count=1 -timeout 60m -v -run "^TestWorkPrograms\$/^all\$/${1:-.}" ./cmd/toolhost | grep -vE '^=== (RUN|PAUSE|CONT)'
