package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// dayPrompts are how many prompts the short form of the day has at most in default, accept_edits and sandboxed.
const dayPrompts = "25,19,3"

// TestWorkDay: a day's ordinary steps succeed where plain bash succeeds, and few of them ask. `go run ./testdata/day` runs all of them.
func TestWorkDay(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if program := lacking("git gcc make node python3 curl", "/usr/local/bin:/usr/bin:/bin"); program != "" {
		t.Skip(program + " is not installed")
	}
	day, details := filepath.Join(p.dir, "day"), filepath.Join(t.TempDir(), "details")
	build := exec.Command("go", "build", "-o", day, "../../testdata/day")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(day, "-short", "-max", dayPrompts, "-program", p.toolhost, "-in", p.dir, "-detail", details).CombinedOutput()
	if err != nil {
		reasons, _ := os.ReadFile(details)
		t.Errorf("%v\n%s\n%s", err, out, reasons)
	}
}
