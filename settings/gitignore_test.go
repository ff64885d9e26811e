package settings

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"toolhost/agenttool"
)

// Git adds the local file of no project, whatever .gitignore the project has, and adds its other files.
func TestLocalFileIsIgnored(t *testing.T) {
	for name, before := range map[string]string{
		"no .gitignore": "", "the project's": "*.log", "of today": "*.log\nsettings.local.json\n", "of all projects": "/settings.local.json*\n",
	} {
		t.Run(name, func(t *testing.T) {
			ws := t.TempDir()
			dir := filepath.Join(ws, ".toolhost")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{"settings.json": "{}", ".gitignore": before} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			git := func(args ...string) string {
				t.Helper()
				cmd := exec.Command("git", append([]string{"-C", ws}, args...)...)
				cmd.Env = append(os.Environ(), "HOME="+ws, "GIT_CONFIG_NOSYSTEM=1")
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("git %q: %v", args, err)
				}
				return string(out)
			}
			git("init", "-q")
			for range 2 {
				if err := AddRule(filepath.Join(dir, localFile), agenttool.Allow, "Shell(go test *)", time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			git("add", "-A")
			want := ".toolhost/settings.json\n"
			if before != "" {
				want = ".toolhost/.gitignore\n" + want
			}
			if got := git("ls-files"); got != want {
				t.Errorf("git adds\n%s, and not\n%s", got, want)
			}
		})
	}
}
