#!/usr/bin/env bash
# Builds real projects with and without the sandbox, within the bounds on processes and memory that a session has: C with make, Go with its tests, and
# the tools of a front end with npm. Prints for each how long both took, and how many processes and threads the one in the sandbox had at once at most.
# A build that fails only in the sandbox, such as one that a bound ends, is a failure.
#
#   testdata/builds.sh [TOOLHOST]
#
# testdata/builds.txt has what it printed last. It fetches the projects through npm and Go's module proxy.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOFLAGS= # some tests of projects look at paths that -trimpath takes away
work=$(mktemp -d /var/tmp/toolhost-builds-XXXXXX)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
toolhost=${1:-$work/toolhost}
[ $# -gt 0 ] || CGO_ENABLED=0 go build -o "$toolhost" ./cmd/toolhost
toolhost=$(realpath "$toolhost")
registry=$(npm config get registry | sed 's,^[a-z]*://,,; s,/.*,,')

fetch() { # module, directory
	local dir
	dir=$(cd "$work" && go mod download -json "$1" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	cp -r "$dir" "$2" && chmod -R u+w "$2"
}

# busiest prints the most processes and threads below a process, until it ends.
busiest() {
	local most=0 n
	while kill -0 "$1" 2>/dev/null; do
		n=$(ps -eLo pid=,ppid= | awk -v top="$1" '{ parent[$1] = $2; threads[$1]++ }
			END { for (p in parent) { for (q = p; q in parent && q != top; q = parent[q]); if (q == top) n += threads[p] } print n + 0 }')
		[ "$n" -gt "$most" ] && most=$n
		sleep 0.3
	done
	echo "$most"
}

failed=0
compare() { # name, directory, command
	local name=$1 from=$2 line=$3 times=() code=() side begun most=0 pid
	for side in plain sandbox; do
		rm -rf "$work/tree" && cp -r "$from" "$work/tree"
		begun=$(date +%s.%N)
		if [ $side = plain ]; then
			(cd "$work/tree" && bash -c "$line") >"$work/said" 2>&1 && code+=(0) || code+=($?)
		else
			(cd "$work/tree" && exec "$toolhost" sandbox --quiet --allow-host "$registry" -- bash -c "$line") >"$work/said" 2>&1 &
			pid=$!
			most=$(busiest $pid)
			wait $pid && code+=(0) || code+=($?)
		fi
		times+=("$(echo "$(date +%s.%N) - $begun" | bc)")
	done
	printf '%-34s %8.1f %8.1f %7.2f %10d   %s\n' "$name" "${times[@]}" "$(echo "scale=3; ${times[1]} / ${times[0]}" | bc)" "$most" "${code[*]}"
	if [ "${code[1]}" != "${code[0]}" ]; then
		failed=1
		tail -n 15 "$work/said"
	fi
}

fetch github.com/DataDog/zstd@v1.5.6 "$work/zstd"
cat >"$work/zstd/Makefile" <<'MAKE'
objects := $(patsubst %.c,%.o,$(wildcard *.c))
libzstd.a: $(objects)
	ar rc $@ $^
MAKE
fetch go.uber.org/zap@v1.27.0 "$work/zap"
(cd "$work/zap" && go mod download all)
mkdir "$work/page"
echo '{"name":"page","version":"1.0.0","private":true}' >"$work/page/package.json"

printf '%s, %s processors, load %s, Linux %s\n' "$(date -u +%F)" "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)" "$(uname -r)"
printf '%-34s %8s %8s %7s %10s   %s\n' "" "plain s" "inside s" ratio "at most" "exit status of both"
compare "zstd: make -j$(nproc)" "$work/zstd" "make -j$(nproc)"
compare "zstd: make -j64" "$work/zstd" "make -j64"
compare "zap: go build ./..." "$work/zap" "go build ./..."
compare "zap: go test ./..." "$work/zap" "go test ./..."
compare "npm install of vite, react, eslint" "$work/page" "npm install --no-fund --no-audit vite react react-dom eslint typescript"
exit $failed
