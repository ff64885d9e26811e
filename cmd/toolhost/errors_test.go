package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var updateErrors = flag.Bool("update", false, "rewrite testdata/errors.txt with the output of TestErrorTexts")

const errorsFile = "testdata/errors.txt"

// TestErrorTexts runs the command lines of testdata/errors.txt, each in a workspace of its own, and compares their output. Every one
// fails, in at most three sentences.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(errorsFile)
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(string(file), "\n$ ")
	if len(cases)-1 < 150 {
		t.Errorf("the table has %d cases, at least 150 are wanted", len(cases)-1)
	}
	seen := make([]string, len(cases))
	seen[0] = cases[0]
	namespaces := exec.Command("unshare", "-rm", "true").Run() == nil
	limit := make(chan struct{}, 8)
	var all sync.WaitGroup
	for i, one := range cases[1:] {
		command, rest, _ := strings.Cut(one, "\n")
		want, comment := cutComment(rest)
		if strings.HasPrefix(command, "unshare") && !namespaces {
			t.Logf("%s: skipped: this user gets no namespaces here", command)
			seen[i+1] = one
			continue
		}
		all.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			got := printed(t, command)
			seen[i+1] = strings.TrimRight(command+"\n"+got, "\n") + comment
			if got := strings.TrimSpace(got); got != strings.TrimSpace(want) && !*updateErrors {
				t.Errorf("%s prints\n%s\nand not\n%s", command, got, want)
			}
		})
	}
	all.Wait()
	if *updateErrors {
		if err := os.WriteFile(errorsFile, []byte(strings.TrimRight(strings.Join(seen, "\n$ "), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// cutComment cuts the heading of the next group off.
func cutComment(text string) (want, comment string) {
	if i := strings.Index("\n"+text, "\n\n# "); i >= 0 {
		return text[:max(i, 0)], "\n" + strings.TrimRight(text[max(i, 0):], "\n")
	}
	return text, ""
}

// sentence ends where another one begins.
var sentence = regexp.MustCompile(`[.!?] [A-Z]`)

// printed runs a command line that must fail, and returns its output, with names for its directories.
func printed(t *testing.T, command string) string {
	base := t.TempDir()
	ws := filepath.Join(base, "ws")
	for _, dir := range []string{filepath.Join(ws, ".git"), filepath.Join(base, "home"), filepath.Join(base, "state"), filepath.Join(base, "run")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Error(err)
		}
	}
	keepLevel(t, filepath.Join(base, "state"))
	for name, text := range map[string]string{"ws/file.txt": "one\na a a\n", "ws/.env": "KEY=1\n"} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	helpers, err := filepath.Abs("testdata/errors.sh")
	if err != nil {
		t.Error(err)
	}
	cmd := exec.Command("bash", "-c", "set -o pipefail; . \"$0\"; "+command, helpers)
	cmd.Dir = ws
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(base, "home"), "XDG_STATE_HOME="+filepath.Join(base, "state"), "XDG_RUNTIME_DIR="+filepath.Join(base, "run"))
	out, err := cmd.CombinedOutput()
	if err == nil && !strings.Contains(string(out), `"error"`) {
		t.Errorf("%s does not fail:\n%s", command, out)
	}
	text := strings.NewReplacer(ws, "WORKSPACE", filepath.Join(base, "home"), "HOME", filepath.Join(base, "state"), "STATE").Replace(string(out))
	for line := range strings.Lines(text) {
		if len(sentence.FindAllString(line, -1)) > 2 {
			t.Errorf("%s: more than three sentences:\n%s", command, line)
		}
	}
	return text
}
