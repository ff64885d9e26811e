package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"toolhost/sandbox/enter"
)

// TestHelperIsEarly pins that a helper takes over before anything that takes time is initialised: no package of others may
// come before it, nor those of the standard library that ours all wait for.
func TestHelperIsEarly(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Args = []string{enter.ProbeName}
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != enter.ProbeWritten {
		t.Fatalf("the probe ended with %d: %v\n%s", code, err, out)
	}
	if !strings.Contains(string(out), "init runtime ") {
		t.Fatalf("no package was initialised, says the trace: %s", out)
	}
	for _, late := range []string{"unicode", "fmt", "regexp", "encoding/json"} {
		if strings.Contains(string(out), "init "+late+" ") {
			t.Errorf("%s is initialised before the helper takes over:\n%s", late, out)
		}
	}
	early := initialOfOthers.ReplaceAllString(string(out), "")
	if strings.Contains(early, ".com/") || strings.Contains(early, ".org/") {
		t.Errorf("packages of others are initialised before the helper takes over:\n%s", out)
	}
}

// initialOfOthers is the one package of others that comes before: it needs nothing but what the runtime needs, and fills a table of
// 4 KiB, within some 15 µs.
var initialOfOthers = regexp.MustCompile(`init github\.com/charmbracelet/x/ansi/parser @[0-9.]+ ms, [0-9.]+ ms clock, 4[0-9]{3} bytes, \d allocs\n`)
