#!/usr/bin/env bash
# Has system calls of a scripted session fail, one in each run: testdata/faults/syscalls.sh [RUNS; default 60] [SEED]
# In every run one system call fails with one error from its Nth time on, for a while or for good, in every thread of the host and in
# what it starts. The host must end by itself and within its time, with an exit code of its own and no trace of a crash, answer every
# line that it read, and write nothing else. At the end, what each error was called is listed: one class for each cause is wanted.
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=${1:-60} RANDOM=${2:-1}
command -v strace >/dev/null || { echo 'system calls: skipped: no strace'; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
[ -n "${TOOLHOST:-}" ] || { TOOLHOST=$dir/toolhost; CGO_ENABLED=0 go build -o "$TOOLHOST" ./cmd/toolhost; }
strace -qq -o "$dir/probe" -e trace=none true 2>/dev/null || { echo 'system calls: skipped: ptrace is not permitted'; exit 77; }

# name errors; of what a host does for its calls. The Go runtime itself cannot live without memory and threads, see TestForkingJobsStarveNoHost.
cases=(
  'openat EMFILE ENFILE ENOSPC EIO EROFS' 'openat2 EMFILE ENOSPC EIO EROFS' 'write ENOSPC EIO' 'pwrite64 ENOSPC EIO' 'fsync EIO ENOSPC' 'fdatasync EIO'
  'renameat EIO EROFS ENOSPC' 'renameat2 EIO EROFS ENOSPC' 'mkdirat ENOSPC EROFS EMFILE' 'unlinkat EIO EROFS' 'ftruncate EIO' 'fallocate ENOSPC'
  'fstat EIO' 'newfstatat EIO' 'getdents64 EIO' 'pipe2 EMFILE' 'socketpair EMFILE' 'memfd_create EMFILE' 'flock ENOLCK' 'fchmod EROFS' 'statx EIO'
)
lines() {
  local i=0 tool input
  while IFS=' ' read -r tool input; do
    i=$((i + 1))
    printf '{"jsonrpc":"2.0","id":%d,"method":"agenttool/invoke","params":{"id":"c%d","tool":"%s","input":%s,"timeout_ms":20000}}\n' $i $i "$tool" "$input"
  done <<'LINES'
write {"path":"new","content":"one\n"}
read {"path":"old"}
edit {"path":"old","old_string":"needle","new_string":"thread"}
grep {"pattern":"thread"}
glob {"pattern":"*"}
shell {"command":"cat old"}
shell {"command":"echo more > made; ls"}
write {"path":"sub/deep","content":"two\n"}
read {"path":"new"}
LINES
}
sent=$(lines | wc -l) wrong=0
: >"$dir/classes"
bad() {
  wrong=$((wrong + 1))
  printf 'WRONG: %s: %s\n' "$fault" "$*"
}
for ((run = 0; run < runs; run++)); do
  read -r -a words <<<"${cases[run % ${#cases[@]}]}"
  errno=${words[1 + RANDOM % (${#words[@]} - 1)]}
  fault="${words[0]}:error=$errno:when=$((1 + RANDOM % 25))$([ $((RANDOM % 2)) = 0 ] && echo + || echo "..$((20 + RANDOM % 40))")"
  home=$dir/$run
  mkdir -p "$home/ws" "$home/run"
  echo 'a needle' >"$home/ws/old"
  status=0
  : >"$home/out"
  { # the input stays open until all is answered: its end cancels calls that have not begun
    lines
    for ((tick = 0; tick < 300; tick++)); do
      [ "$(grep -c '^{"jsonrpc":"2.0","id":[0-9]' "$home/out" || true)" -lt $sent ] && printf "\n" || break # fails when it has ended
      sleep 0.1
    done
  } 2>/dev/null | HOME=$home XDG_STATE_HOME=$home/state XDG_CONFIG_HOME=$home/config XDG_RUNTIME_DIR=$home/run timeout -k 5 120 \
    strace -f -qq -o /dev/null -e "trace=${words[0]}" -e "inject=$fault" "$TOOLHOST" serve --workspace "$home/ws" --mode accept_edits --allow Shell --drain 20s \
    >"$home/out" 2>"$home/err" || status=$?
  case $status in
    0 | 1 | 2) ;;
    124 | 137) bad "it hung" ;;
    *) bad "exit code $status: $(head -c 300 "$home/err")" ;;
  esac
  ! grep -qE '^(panic|fatal error|runtime:|SIG[A-Z]+:|goroutine )' "$home/err" || bad "it crashed: $(head -c 300 "$home/err")"
  grep -vq '^{"jsonrpc":"2.0".*}$' "$home/out" && case ${words[0]} in write) ;; *) bad "it wrote something else: $(grep -v '^{"jsonrpc"' "$home/out" | head -c 200)" ;; esac
  answers=$(grep -c '^{"jsonrpc":"2.0","id":[0-9]' "$home/out" || true)
  # a host that could not start, whose input or output failed, answers less, and says so
  [ "$answers" = $sent ] || [ $status != 0 ] || bad "$answers of $sent lines were answered, and nothing was said"
  grep -o '"error_class":"[a-z_]*","error_code":"[a-z_]*"' "$home/out" | sed "s/^/$errno /; s/\"error_class\":\"//; s/\",\"error_code\":\"/\//; s/\"$//" >>"$dir/classes" || true
  rm -rf "$home"
done
printf '%d runs, %d wrong; what errors were called, by cause:\n' "$runs" $wrong
sort "$dir/classes" | uniq -c | sort -k2,2 -k1,1nr
[ $wrong = 0 ]
