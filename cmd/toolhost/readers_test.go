package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/permissions"
)

// readersWorkspace is a judge whose workspace is a repository with the files that the lines of readers.txt name.
func readersWorkspace(t *testing.T, flags policy.Flags) *judge {
	t.Helper()
	j := newJudgeOf(t, flags)
	files := map[string]string{"a.json": "{}\n", "list.txt": "a.go\nb.go\n", "a.py": "print(1)\n", "a.c": "int main(){}\n", "x.md": "# x\n"}
	for _, name := range strings.Fields("a.go b.go sub/a.go cmd/x/main.go internal/a.go a.txt b.txt") {
		files[name] = "package main\n"
	}
	for name, text := range files {
		path := filepath.Join(j.ws, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(j.ws, ".git")); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"init -q -b main", "add -A", "-c user.name=t -c user.email=t@t commit -q -m one", "tag v1", "branch dev"} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Dir = j.ws
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	return j
}

// TestReadersDoNotAsk: no line of everyday reading asks, and none of its neighbours that may do more runs unasked.
func TestReadersDoNotAsk(t *testing.T) {
	j := readersWorkspace(t, policy.Flags{Mode: string(permissions.Default)})
	for _, table := range []struct {
		file  string
		least int
		runs  bool
	}{{"readers.txt", 300, true}, {"readers-hostile.txt", 150, false}} {
		lines := tableLines(t, "../../testdata/classify/"+table.file, 1)
		if len(lines) < table.least {
			t.Errorf("%s has %d lines", table.file, len(lines))
		}
		for _, cells := range lines {
			if d := j.decide(t, cells[0]); (d.Behavior == agenttool.Allow) != table.runs {
				t.Errorf("%s: %q: %s: %v", table.file, cells[0], d.Behavior, d.Reason)
			}
		}
	}
}
