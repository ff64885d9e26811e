#!/usr/bin/env bash
# Measures read and write: 2,000 lines in the middle of a large text, by a session that never saw the file, by the same one
# again, and by tail and head, in turns; a small file; and a write of 8.5 KB for each files.durability. The files are made
# in a directory that is gone afterwards.
#
#   testdata/bench/read.sh                            a text of 1 GiB, which takes that much room on the disk and in memory
#   TOOLHOST_BENCH_READ_MIB=64 testdata/bench/read.sh
#   TOOLHOST_BENCH_ROUNDS=5 …                         how often, 9 unless it says
set -euo pipefail
cd "$(dirname "$0")/../.."
export TOOLHOST_BENCH_READ_MIB=${TOOLHOST_BENCH_READ_MIB:-1024} CGO_ENABLED=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir

go test -c -o "$dir/files.test" ./tools/files
bench() { "$dir/files.test" -test.run '^$' -test.bench "$1" -test.benchtime "$2"; }

bench '^BenchmarkReadMiddle$' "${TOOLHOST_BENCH_ROUNDS:-9}x" | awk -v mib="$TOOLHOST_BENCH_READ_MIB" '
	/^BenchmarkReadMiddle/ { for (i = 3; i < NF; i += 2) v[$(i + 1)] = $i }
	END {
		if (!("tail-ms" in v)) exit 1
		printf "| 2,000 lines in the middle of %d MiB | ms | ratio |\n|---|---|---|\n", mib
		printf "| tail -n +N, head -n 2000 | %.2f | 1 |\n", v["tail-ms"]
		printf "| read, the first time | %.2f | %.3f |\n", v["first-ms"], v["first/tail"]
		printf "| read, again | %.2f | %.4f |\n\n", v["again-ms"], v["again/tail"]
	}'
bench '^Benchmark(Read8KB|Write8KB)$' 300x | awk '
	BEGIN { printf "| small files | µs |\n|---|---|\n" }
	/^Benchmark/ { sub(/^Benchmark/, "", $1); sub(/-[0-9]+$/, "", $1); printf "| %s | %.0f |\n", $1, $3 / 1000 }'
