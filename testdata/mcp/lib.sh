# What the scripts here share. It is sourced, not run.
#
# Node packages are installed when they are needed, into $TOOLHOST_NODE_DIR, or a directory that is gone afterwards.
# Nothing of them is kept in the repository. A script that cannot get what it needs says so and exits with 77.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d "${HOME:-/var/tmp}/toolhost-mcp-XXXXXX") # not below /tmp, where commands see something else
packages=${TOOLHOST_NODE_DIR:-$work/node}
failures=0
started=() # the processes that clean ends

clean() {
  local pid
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
  pkill -f "^$work/" || true # what clients leave running of their own
  wait
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM

# missing WHAT… ends the script: it could not be tried.
missing() {
  printf 'skip  %s\n' "$*"
  exit 77
}

# need PROGRAM… ends the script where one of them is not there.
need() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || missing "$program is not installed"
  done
}

# npm_install NAME PACKAGE@VERSION… makes $packages/NAME/node_modules, once, also where several scripts need it at a time.
npm_install() {
  mkdir -p "$packages"
  (flock 9 && npm_once "$@") 9> "$packages/$1.lock" || exit
}

npm_once() {
  local dir=$packages/$1 log=$work/npm-$1.log
  shift
  [ "$(cat "$dir/installed" 2>/dev/null)" != "$*" ] || return 0
  rm -rf "$dir"
  mkdir -p "$dir"
  (cd "$dir" && echo '{"private":true}' > package.json && timeout 300 npm install --no-audit --no-fund --no-save --loglevel=error "$@") > "$log" 2>&1 9>&- ||
    missing "npm could not install $*: $(tail -n 1 "$log")"
  echo "$*" > "$dir/installed"
}

# build NAME PACKAGE builds $work/NAME.
build() {
  (cd "$root" && CGO_ENABLED=0 go build -o "$work/$1" "$2")
}

# binary [PATH] prints the path of the toolhost that is tried: a copy of the one that was named, by whose path clean finds it, or a new one.
binary() {
  if [ -n "$1" ]; then
    cp "$1" "$work/toolhost"
  else
    build toolhost ./cmd/toolhost
  fi && echo "$work/toolhost"
}

# until_there FILE waits until a file has something in it.
until_there() {
  local i
  for i in $(seq 600); do
    [ -s "$1" ] && return
    sleep 0.1
  done
  echo "$1: nothing came within a minute" >&2
  return 1
}

# ended COMMAND waits until no process below this one has that command line.
ended() {
  local i
  for i in $(seq 600); do
    pgrep -f -- "^$1" > /dev/null || return 0
    sleep 0.1
  done
  pgrep -af -- "^$1"
  return 1
}

# serve_http TOOLHOST REPO starts a server over HTTP and sets $url, which is that of MCP, and TOOLHOST_TOKEN.
serve_http() {
  local said=$work/http-$(basename "$2").json
  (cd "$2" && exec "$1" serve --http 127.0.0.1:0) > "$said" 2> "$said.log" &
  started+=($!)
  until_there "$said"
  url=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).mcp' "$said")
  TOOLHOST_TOKEN=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).token' "$said")
  export TOOLHOST_TOKEN
}

# check NAME COMMAND… runs a command and prints one line: ok, or what it wrote.
check() {
  local name=$1 log=$work/check.log
  shift
  if "$@" > "$log" 2>&1; then
    printf 'ok    %s\n' "$name"
  else
    printf 'FAIL  %s\n' "$name"
    sed 's/^/      /' "$log" | tail -n 25
    failures=$((failures + 1))
  fi
}

# finish is the end of a script.
finish() {
  [ "$failures" -eq 0 ] || { printf '%d checks failed\n' "$failures"; exit 1; }
}

# usage prints the comment at the head of the script that was called with --help.
usage() {
  case ${1:-} in
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  esac
}
