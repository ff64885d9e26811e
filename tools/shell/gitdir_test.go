package shell

import (
	"os"
	"path/filepath"
	"testing"
)

// The configuration is found where git finds it.
func TestFindGit(t *testing.T) {
	w, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		"r/.git/config":                "",
		"r/.git/worktrees/t/commondir": "../..\n",
		"r/.git/modules/m/config":      "",
		"r/a/b/f":                      "",
		"r/m/.git":                     "gitdir: ../.git/modules/m\n",
		"t/.git":                       "gitdir: " + w + "/r/.git/worktrees/t\n",
		"bad/.git":                     "something else",
		"none/f":                       "",
	} {
		file := filepath.Join(w, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ name, dir, want string }{
		{"the top", "r", "r/.git"},
		{"below it", "r/a/b", "r/.git"},
		{"what does not exist yet", "r/a/new", "r/.git"},
		{"a linked work tree", "t", "r/.git"},
		{"a submodule", "r/m", "r/.git/modules/m"},
		{"a pointer to nothing", "bad", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := findGit(filepath.Join(w, tt.dir))
			got, ok := shared(got)
			if ok != (tt.want != "") || ok && got != filepath.Join(w, tt.want) {
				t.Errorf("%q, %v; want %q", got, ok, tt.want)
			}
		})
	}
}
