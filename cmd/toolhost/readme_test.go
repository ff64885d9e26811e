package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeLoop runs the agent loop of the README, as it stands there, in a scratch directory.
func TestReadmeLoop(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the README's agent loop was not run")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	loop := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(readme)
	if loop == nil {
		t.Fatal("the README has no Python loop")
	}
	if n := strings.Count(string(loop[1]), "\n"); n > 11 {
		t.Errorf("the loop has grown to %d lines", n)
	}
	dir := t.TempDir()
	copySelf(t, filepath.Join(dir, "toolhost"))
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("TODO: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", string(loop[1]))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"['notes.txt']", "edited notes.txt", "--allow 'Shell(make test)'"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the loop does not print %q:\n%s", want, out)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "notes.txt")); err != nil || string(got) != "DONE: x\n" {
		t.Errorf("the file is %q, %v", got, err)
	}
}

// TestExampleClient runs the Python client of examples. testdata/mcp/clients.sh runs the one in TypeScript.
func TestExampleClient(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the example was not run")
	}
	client, err := filepath.Abs("../../examples/python/client.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, client)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"tools: edit, glob", "failed - Error (invalid arguments)", "asked: it writes hello.txt", "answer: created hello.txt",
		"job: running 'working\\n'", "job: ended", "replayed: "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the client does not print %q:\n%s", want, out)
		}
	}
}
