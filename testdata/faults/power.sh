#!/usr/bin/env bash
# Cuts the power of file systems below toolhost: testdata/faults/power.sh [-cuts 200] [-seconds 20] [ext4 xfs btrfs]
# What it checks stands in testdata/faults/power. It exits with 77 where root, a loop device or /dev/fuse is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo 'power cuts: skipped: only root can mount'; exit 77; }
[ -c /dev/fuse ] && losetup -f >/dev/null 2>&1 || { echo 'power cuts: skipped: no loop device or no /dev/fuse'; exit 77; }
go build -o "${TMPDIR:-/tmp}/toolhost-power.$$" ./testdata/faults/power
trap 'rm -f "${TMPDIR:-/tmp}/toolhost-power.$$"' EXIT
# Its mounts are its own, and end with it.
unshare --mount --propagation private "${TMPDIR:-/tmp}/toolhost-power.$$" "$@"
