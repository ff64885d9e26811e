package protect

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func identityAt(t testing.TB, file string) (dev, ino uint64) {
	t.Helper()
	info, err := os.Lstat(file)
	must(t, err)
	stat := info.Sys().(*syscall.Stat_t)
	return uint64(stat.Dev), stat.Ino
}

// usualDeny is DefaultReadDeny without the machine's own secrets, which differ from machine to machine.
func usualDeny() []string {
	return slices.DeleteFunc(DefaultReadDeny(), func(pattern string) bool { return strings.HasPrefix(pattern, "/") })
}

func TestSecrets(t *testing.T) {
	root, home, outside := tempDir(t), tempDir(t), tempDir(t)
	write(t, home, ".ssh/id = key", ".netrc", "dot/aws/x", ".aws -> dot/aws", "hidden", ".npmrc")
	write(t, outside, "file")
	write(t, root, ".env", "a/.env.local", "a/.env.example", "a/.ENV.Sample", ".environment", "venv/.env/pyvenv.cfg",
		"venv/.env/bin/x",
		"dir/.env/prod", "node_modules/p/.env", ".vscode/.env", "b/.env -> ../plain", "plain",
		"c/.env -> "+outside+"/file", "d/.env -> ../..",
		"e/.env -> gone", "f/.env -> "+home+"/hidden", "keep/.env", "some/dir/x")
	must(t, os.Link(root+"/.env", root+"/a/linked"))
	must(t, os.Link(home+"/.ssh/id", root+"/notes.txt"))
	deny := append(usualDeny(), "!keep/.env", "some/*/x", "/nowhere/*/x")
	m := scanned(t, Options{Roots: []string{root}, Home: home, ReadDeny: deny})
	same(t, "secrets", spell(root, m.Secrets), "secret .env", "secret a/.env.local", "secret a/linked",
		"secret notes.txt", "secret dir/.env",
		"secret node_modules/p/.env", "secret .vscode/.env", "secret plain", "secret some/dir/x",
		"secret "+home+"/.ssh", "secret "+home+"/.netrc",
		"secret "+home+"/dot/aws", "secret "+home+"/hidden", "secret "+home+"/.npmrc")
	same(t, "pins", append([]string(nil), m.Pins...), root+"/some", root+"/some/dir")
	if _, ok := m.Pinned(root + "/a"); ok {
		t.Error("a directory may not be renamed for the sake of a secret that is one anywhere")
	}
	if _, ok := m.Pinned(root + "/some"); !ok {
		t.Error("a directory may be renamed that makes what is in it a secret")
	}
	var gaps []string
	for _, gap := range m.Partial {
		gaps = append(gaps, strings.TrimPrefix(gap.Path, root+"/"))
	}
	same(t, "partial", gaps, "/nowhere/*/x", "c/.env", "d/.env")

	for _, c := range []struct {
		path string
		want bool
	}{
		{root + "/.env", true}, {root + "/new/.env", true}, {root + "/new/.ENV.prod", true},
		{root + "/new/.env.example", false},
		{root + "/keep/.env", false}, {home + "/.ssh/id", true}, {home + "/.ssh", true}, {home + "/.sshx", false},
		{root + "/dir/.env/prod", true},
		{outside + "/.env", false}, {root + "/some/new/x/y", true}, {root + "/plain", true}, {root + "/a/.env.sample",
			false}, {root, false},
		{root + "/venv/.env/bin/x", false}, {root + "/venv/.env/.env.prod", true},
	} {
		if _, got := m.Secret(c.path, 0, 0); got != c.want {
			t.Errorf("Secret(%s) = %v", c.path, got)
		}
	}
	write(t, root, "innocent")
	must(t, os.Link(home+"/.ssh/id", root+"/made-later"))
	for name, want := range map[string]bool{"innocent": false, "made-later": true} {
		dev, ino := identityAt(t, root+"/"+name)
		if _, got := m.Secret(root+"/"+name, dev, ino); got != want {
			t.Errorf("Secret(%s) by its identity = %v", name, got)
		}
	}
}

// TestSealedHardLink: a hook with a second name is sealed under both.
func TestSealedHardLink(t *testing.T) {
	root := tempDir(t)
	write(t, root, ".git/hooks/pre-commit", ".git/config", "a/b/")
	must(t, os.Link(root+"/.git/hooks/pre-commit", root+"/a/b/script"))
	must(t, os.Link(root+"/.git/config", root+"/a/cfg"))
	m := scanned(t, Options{Roots: []string{root}})
	same(t, "sealed", spell(root, m.Sealed), "vcs-hooks .git/hooks", "vcs-config .git/config", "vcs-hooks a/b/script",
		"vcs-config a/cfg")
}
