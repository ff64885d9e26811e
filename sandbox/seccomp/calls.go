package seccomp

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// architecture names a column of calls and the kernel's AUDIT_ARCH_ number, which every call carries.
type architecture struct {
	column int
	audit  uint32
}

var architectures = map[string]architecture{
	"amd64": {0, 0xc000_003e},
	"arm64": {1, 0xc000_00b7},
}

func architectureOf(arch string) (architecture, error) {
	a, ok := architectures[arch]
	if !ok {
		return a, fmt.Errorf("seccomp filter: no table for architecture %q", arch)
	}
	return a, nil
}

// Number returns the number of a call on an architecture, and false when either is not in the tables or the
// architecture lacks that call.
func Number(arch, call string) (int, bool) {
	a, err := architectureOf(arch)
	numbers, known := calls()[call]
	if err != nil || !known || numbers[a.column] == absent {
		return 0, false
	}
	return numbers[a.column], true
}

// newest is the highest number that these tables were made with (Linux 7.0). Calls of later kernels are unknown here,
// so they do not exist for a command.
const newest = 471

// absent marks a call that an architecture does not have.
const absent = -1

//go:embed calls.txt
var callTable string

// calls are the numbers of the calls in the table, on each architecture.
var calls = sync.OnceValue(func() map[string][2]int {
	numbers := make(map[string][2]int, 256)
	for line := range strings.Lines(callTable) {
		if name, both, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			amd64, arm64, _ := strings.Cut(both, " ")
			numbers[name] = [2]int{numberOf(amd64), numberOf(arm64)}
		}
	}
	return numbers
})

// numberOf reads a number of the table, which has - for an absent call.
func numberOf(text string) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return absent
}
