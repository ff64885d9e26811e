#!/usr/bin/env bash
# Measures the commands of toolhost log on a session of 100,000 records: 14,300 reads of a file of 6 bytes, by toolhost serve itself.
# Then the size of one such read, the first line and all of log show, one call with and without the index, and verify. The session is in
# a directory that is gone afterwards. Times are the best of the rounds: a log is read from the page cache.
#
#   testdata/bench/log.sh
#   TOOLHOST_BENCH_CALLS=1000 TOOLHOST_BENCH_ROUNDS=3 testdata/bench/log.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
calls=${TOOLHOST_BENCH_CALLS:-14300} rounds=${TOOLHOST_BENCH_ROUNDS:-5}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$dir/toolhost" ./cmd/toolhost
mkdir "$dir/ws" "$dir/home"
export HOME=$dir/home XDG_STATE_HOME=$dir/state XDG_CONFIG_HOME=$dir/config XDG_RUNTIME_DIR=$dir/run TZ=UTC
cd "$dir/ws"
printf 'hello\n' > a.txt
seq "$calls" | sed 's/.*/{"jsonrpc":"2.0","id":&,"method":"agenttool\/invoke","params":{"id":"q&","tool":"read","input":{"path":"a.txt"}}}/' > "$dir/requests"
"$dir/toolhost" serve --drain 10m < "$dir/requests" > /dev/null
log=$(echo "$dir"/state/toolhost/sessions/*/log.jsonl)
bytes=$(stat -c %s "$log") records=$(wc -l < "$log")

# best prints the least wall clock time and the least processor time that a command took, in milliseconds.
TIMEFORMAT='%R %U %S'
best() {
	for _ in $(seq "$rounds"); do
		[ -z "${before:-}" ] || eval "$before"
		{ time eval "$1" > /dev/null 2>&1; } 2>&1
	done | awk '{ cpu = $2 + $3; if (NR == 1 || $1 < wall) wall = $1; if (NR == 1 || cpu < least) least = cpu } END { printf "%d %d", 1000 * wall, 1000 * least }'
}
row() { printf '| %s | %d | %d |\n' "$1" $2; }

toolhost=$dir/toolhost index=$(dirname "$log")/calls.idx
printf '%d records, %d bytes: %d bytes for a read\n\n' "$records" "$bytes" $((bytes / calls))
printf '| | ms | of a processor |\n|---|---|---|\n'
row 'cat log.jsonl \| wc -l' "$(best "cat $log | wc -l")"
row 'toolhost version' "$(best "$toolhost version")"
row 'log show, first line' "$(best "$toolhost log show | head -n 1 || true")"
row 'log show' "$(best "$toolhost log show")"
row 'log show --call, without an index' "$(before="rm -f $index" best "$toolhost log show --call q$calls")"
row 'log show --call' "$(best "$toolhost log show --call q$calls")"
verify=$(best "$toolhost log verify")
row 'log verify' "$verify"
awk -v bytes="$bytes" -v times="$verify" 'BEGIN { split(times, t, " "); printf "\nverify: %d MB/s, %d MB in a second of a processor\n", bytes / t[1] / 1000, bytes / t[2] / 1000 }'
