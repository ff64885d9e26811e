package protect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// changed runs a change on a tree with a repository and returns what the tripwire says, in words.
func changed(t testing.TB, prepare []string, change func(root string)) (*Map, []Change, []string) {
	t.Helper()
	root := tempDir(t)
	write(t, root, append(prepare, ".git/config = [core]\n", ".git/hooks/pre-commit.sample", ".vscode/tasks.json",
		".git/HEAD")...)
	m := scanned(t, Options{Roots: []string{root}})
	snap, err := Take(m)
	must(t, err)
	change(root)
	changes, err := snap.Changes()
	must(t, err)
	if snap.Partial {
		t.Error("a small tree is too large for a snapshot")
	}
	var words []string
	for _, c := range changes {
		word := strings.TrimPrefix(c.Path, root+"/") + ": " + c.Before.Kind.String() + " → " + c.After.Kind.String()
		if c.After.Executable() {
			word += ", executable"
		}
		words = append(words, string(c.Rule)+" "+word)
	}
	return m, changes, words
}

func TestTripwire(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare []string
		change  func(root string)
		want    []string
	}{
		{"nothing", nil, func(string) {}, nil},
		{"a hook", nil, func(root string) {
			must(t, os.WriteFile(root+"/.git/hooks/pre-commit", nil, 0o755))
		}, []string{"vcs-hooks .git/hooks/pre-commit: absent → file, executable"}},
		{"a sample", nil, func(root string) {
			write(t, root, ".git/hooks/x.sample", ".git/index", "src/x",
				".gitignore")
		}, nil},
		{"configuration, same size and times", nil, func(root string) {
			file := root + "/.git/config"
			info, err := os.Stat(file)
			must(t, err)
			must(t, os.WriteFile(file, []byte("[bare]\n"), 0o644))
			must(t, os.Chtimes(file, time.Now(), info.ModTime()))
		}, []string{"vcs-config .git/config: file → file"}},
		{"replaced by the same", nil, func(root string) {
			write(t, root, "new = [core]\n")
			must(t, os.Rename(root+"/new", root+"/.git/config"))
		}, nil},
		{"a mode", nil, func(root string) { must(t, os.Chmod(root+"/.git/config", 0o755)) },
			[]string{"vcs-config .git/config: file → file, executable"}},
		{"removed", nil, func(root string) { must(t, os.RemoveAll(root+"/.vscode")) },
			[]string{"editor-config .vscode: directory → absent", "editor-config .vscode/tasks.json: file → absent"}},
		{"a common directory", nil, func(root string) { write(t, root, ".git/commondir = /x") },
			[]string{"vcs-config .git/commondir: absent → file"}},
		{"new names of the table", nil, func(root string) {
			write(t, root, ".EnvRC", ".config/git/config", ".Cargo/config", ".github/x", "Mise.toml")
		},
			[]string{"shell-startup .EnvRC: absent → file", "tool-config .Cargo/config: absent → file", "tool-config .github/x: absent → file",
				"tool-config .github: absent → directory", "tool-config Mise.toml: absent → file", "vcs-config .config/git: absent → directory", "vcs-config .config/git/config: absent → file"}},
		{"a link instead", nil, func(root string) {
			must(t, os.Rename(root+"/.git/hooks", root+"/old"))
			must(t, os.Symlink("../old", root+"/.git/hooks"))
		}, []string{"vcs-hooks .git/hooks: directory → link"}},
		{"a link led elsewhere", []string{".husky -> a"}, func(root string) {
			must(t, os.Remove(root+"/.husky"))
			must(t, os.Symlink("b", root+"/.husky"))
		}, []string{"vcs-hooks .husky: link → link"}},
		{"a large file", []string{".bashrc = " + strings.Repeat("x", maxDigest+1)}, func(root string) {
			f, err := os.OpenFile(root+"/.bashrc", os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteString("y")
			must(t, errors.Join(err, f.Close()))
		}, []string{"shell-startup .bashrc: file → file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, words := changed(t, c.prepare, c.change)
			same(t, "changes", words, c.want...)
		})
	}
}

func TestQuarantine(t *testing.T) {
	m, changes, _ := changed(t, nil, func(root string) {
		must(t, os.WriteFile(root+"/.git/hooks/pre-commit", []byte("evil"), 0o755))
		must(t, os.Symlink("/bin/sh", root+"/.git/hooks/post-merge"))
		write(t, root, ".git/hooks/post-merge.quarantined-0 = older", ".git/hooks/dir/")
	})
	root := m.Roots[0]
	for _, c := range changes {
		if filepath.Base(c.Path) == "post-merge.quarantined-0" {
			continue
		}
		moved, err := Quarantine(m.Roots, c)
		if c.After.Kind == Dir {
			if err == nil {
				t.Error("a directory was put into quarantine")
			}
			continue
		}
		must(t, err)
		if _, err := os.Lstat(c.Path); err == nil {
			t.Errorf("%s is still there", c.Path)
		}
		info, err := os.Lstat(moved)
		must(t, err)
		if info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			t.Errorf("%s is executable: %v", moved, info.Mode())
		}
		if _, err := Quarantine(m.Roots, c); err == nil {
			t.Errorf("%s was put into quarantine twice", c.Path)
		}
	}
	for name, want := range map[string]string{"pre-commit.quarantined-0": "evil", "post-merge.quarantined-0": "older"} {
		if got, err := os.ReadFile(root + "/.git/hooks/" + name); string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if target, err := os.Readlink(root + "/.git/hooks/post-merge.quarantined-1"); target != "/bin/sh" {
		t.Errorf("the link: %q, %v", target, err)
	}
}

// TestQuarantineSwapped: what took the place of the change meanwhile is left alone.
func TestQuarantineSwapped(t *testing.T) {
	m, changes, _ := changed(t, nil, func(root string) {
		must(t, os.WriteFile(root+"/.git/hooks/pre-commit", []byte("evil"), 0o755))
	})
	root := m.Roots[0]
	must(t, os.WriteFile(root+"/mine", []byte("mine"), 0o755))
	must(t, os.Rename(root+"/mine", root+"/.git/hooks/pre-commit"))
	if _, err := Quarantine(m.Roots, changes[0]); !errors.Is(err, ErrChangedAgain) {
		t.Errorf("another file: %v", err)
	}
	must(t, os.Rename(root+"/.git/hooks", root+"/.git/real"))
	must(t, os.Symlink("real", root+"/.git/hooks"))
	if _, err := Quarantine(m.Roots, changes[0]); err == nil {
		t.Error("through a link")
	}
	if info, err := os.Stat(root + "/.git/real/pre-commit"); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the other file: %v, %v", info, err)
	}
}
