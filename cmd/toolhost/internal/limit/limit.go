// Package limit reads sizes and resource limits as command lines and settings write them: 64MiB, nofile=512.
package limit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/sandbox"
)

// Size is a number of bytes on the command line: 4096, 64MiB, 1GiB.
type Size int64

// sizeUnits are the units that may follow a number, longest first.
var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"", 1}}

// parseSize reads a number of bytes, which is at least 1.
func parseSize(text string) (int64, error) {
	for _, unit := range sizeUnits {
		digits, ok := strings.CutSuffix(text, unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 1 || n > math.MaxInt64/unit.bytes {
			break
		}
		return n * unit.bytes, nil
	}
	return 0, fmt.Errorf("%q is no size: write a number of bytes, or one with KiB, MiB, GiB or TiB", text)
}

// Set implements the Value of a flag.
func (b *Size) Set(text string) error {
	n, err := parseSize(text)
	*b = Size(n)
	return err
}

// String implements the Value of a flag.
func (b *Size) String() string {
	for _, unit := range slices.Backward(sizeUnits[:4]) {
		if int64(*b) >= unit.bytes && int64(*b)%unit.bytes == 0 {
			return strconv.FormatInt(int64(*b)/unit.bytes, 10) + unit.suffix
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type implements the Value of a flag.
func (*Size) Type() string { return "size" }

// limitNames are the resources that can be limited, by the names that ulimit's manual and systemd use.
var limitNames = map[string]struct {
	resource int
	bytes    bool // a size, and not a number
}{
	"as": {unix.RLIMIT_AS, true}, "core": {unix.RLIMIT_CORE, true}, "cpu": {unix.RLIMIT_CPU, false}, "data": {unix.RLIMIT_DATA, true},
	"fsize": {unix.RLIMIT_FSIZE, true}, "memlock": {unix.RLIMIT_MEMLOCK, true}, "nofile": {unix.RLIMIT_NOFILE, false},
	"nproc": {unix.RLIMIT_NPROC, false}, "stack": {unix.RLIMIT_STACK, true}, "processes": {ofAll, false}, "memory": {ofAll, true},
}

// ofAll is the resource of a bound that all commands of a session have together.
const ofAll = -1

// Parse reads resource limits such as as=4GiB, and the bounds of all commands together: processes=2000, memory=8GiB.
func Parse(texts []string) (limits []sandbox.Limit, bounds sandbox.Bounds, err error) {
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		known, ok := limitNames[name]
		if !ok {
			return nil, bounds, fmt.Errorf("%q: there is no limit %q; there are %s", text, name, strings.Join(slices.Sorted(maps.Keys(limitNames)), ", "))
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if known.bytes && err != nil {
			n, err = parseSize(value)
		}
		if err != nil || n < 0 || known.resource == ofAll && n < 1 || n > math.MaxInt32 && name == "processes" {
			return nil, bounds, fmt.Errorf("%q: write NAME=NUMBER, such as nofile=512 or as=4GiB", text)
		}
		switch {
		case known.resource != ofAll:
			limits = append(limits, sandbox.Limit{Resource: known.resource, Soft: uint64(n), Hard: uint64(n)})
		case known.bytes:
			bounds.Memory = n
		default:
			bounds.Processes = int(n)
		}
	}
	return limits, bounds, nil
}
