package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolhost/agenttool/visible"
)

// TestMessagesAreVisible: no command says anything on stderr that a terminal would act on or would not show, whatever a file is called.
func TestMessagesAreVisible(t *testing.T) {
	t.Parallel()
	const name = "a\x1b[31m\u202eb\u200b\xff\r"
	for _, args := range [][]string{
		{"sandbox", "--", name},
		{"sandbox", "--", "./" + name},
		{"sandbox", "--workspace", name, "--", "true"},
		{"sandbox", "--rw", "/none/" + name, "--", "true"},
		{"sandbox", "--profile", name, "--", "true"},
		{"sandbox", "--allow-host", name, "--", "true"},
		{"serve", "--workspace", name},
		{"serve", "--settings", name},
		{"serve", "--mode", name},
		{"serve", "--http", "127.0.0.1:0", "--http-token-file", name},
		{"call", "read", `{"path": "` + strings.TrimSuffix(name, "\xff\r") + `"}`},
		{"call", "--workspace", name, "read", `{"path": "x"}`},
		{"call", name},
		{"check", "--workspace", name, "ls"},
		{"log", "show", name},
		{"log", "verify", name},
		{"jobs", "--session", name},
		{"approve", "--session", name, "--no-wait"},
		{"settings", "edit", name},
		{"trust", "--workspace", name},
		{"setup", name},
		{"setup", "claude", "--workspace", name},
		{"mcp-config", name},
		{"tools", "--format", name},
		{"hook", name},
		{name},
		{"--" + name},
	} {
		t.Run(visible.Text(strings.Join(args, " ")), func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			for _, dir := range []string{"ws", "home"} {
				if err := os.Mkdir(filepath.Join(base, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			keepLevel(t, filepath.Join(base, "state"))
			cmd := exec.Command("toolhost", args...)
			cmd.Dir = filepath.Join(base, "ws")
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(base, "home"), "XDG_STATE_HOME=" + filepath.Join(base, "state"), "XDG_RUNTIME_DIR=" + base}
			var said strings.Builder
			cmd.Stderr = &said
			if err := cmd.Run(); err == nil || said.Len() == 0 {
				t.Fatalf("it did not fail: %q", said.String())
			}
			for _, r := range said.String() {
				if r != '\n' && r != '\t' && (!visible.Shows(r) || r == '\ufffd') {
					t.Fatalf("%q", said.String())
				}
			}
		})
	}
}

// TestMessagesGoOneWay: what is printed on stderr goes through output.Stderr, which makes it visible.
func TestMessagesGoOneWay(t *testing.T) {
	t.Parallel()
	raw := regexp.MustCompile(`(Fprint(ln|f)?|WriteString|Write)\(os\.Stderr|os\.Stderr\.Write`)
	seen := 0
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || path == "internal/output/output.go" {
			return err
		}
		source, err := os.ReadFile(path)
		if found := raw.Find(source); found != nil {
			t.Errorf("%s: %s: use output.Stderr()", path, found)
		}
		seen += strings.Count(string(source), "output.Stderr()")
		return err
	})
	if err != nil || seen < 10 {
		t.Errorf("%d uses of output.Stderr, %v", seen, err)
	}
}
