package seccomp

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tables are checked against golang.org/x/sys, which makes its own from the kernel's headers.
func TestNumbersAreTheKernels(t *testing.T) {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Skipf("no go command, or no golang.org/x/sys: %v", err)
	}
	for arch, a := range architectures {
		t.Run(arch, func(t *testing.T) {
			file := fmt.Sprintf("zsysnum_linux_%s.go", arch)
			source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(module)), "unix", file))
			if err != nil {
				t.Skip(err)
			}
			theirs, highest := map[string]int{}, 0
			for _, m := range regexp.MustCompile(`SYS_(\w+)\s+= (\d+)\n`).FindAllStringSubmatch(string(source), -1) {
				number := 0
				if _, err := fmt.Sscan(m[2], &number); err != nil {
					t.Fatal(err)
				}
				theirs[strings.ToLower(m[1])] = number
				highest = max(highest, number)
			}
			for name, numbers := range calls() {
				want, ok := theirs[name]
				if !ok {
					want = absent
				}
				if got := numbers[a.column]; got != want {
					t.Errorf("%s: %d, want %d", name, got, want)
				}
			}
			if highest != newest {
				t.Errorf("newest call is %d, want %d: judge what came since, then raise it", newest, highest)
			}
		})
	}
}

func TestNumber(t *testing.T) {
	tests := []struct {
		name, arch, call string
		want             int
		ok               bool
	}{
		{"known", "amd64", "openat", 257, true},
		{"its other number", "arm64", "openat", 56, true},
		{"absent there", "arm64", "open", 0, false},
		{"unknown call", "amd64", "opne", 0, false},
		{"unknown architecture", "mips", "openat", 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, ok := Number(test.arch, test.call); got != test.want || ok != test.ok {
				t.Errorf("got %d, %v; want %d, %v", got, ok, test.want, test.ok)
			}
		})
	}
}
