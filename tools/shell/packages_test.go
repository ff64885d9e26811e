package shell

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// TestLinkedPackages: a prompt about an installation lists the directories outside of the workspace that package.json has npm link.
func TestLinkedPackages(t *testing.T) {
	b := newBench(t, Options{})
	outside := t.TempDir()
	for _, name := range []string{"pad", "dev", "other"} {
		write(t, filepath.Join(outside, name, "package.json"), "{}")
	}
	write(t, filepath.Join(outside, "packed.tgz"), "")
	up, err := filepath.Rel(filepath.Join(b.dir, "web"), outside)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(b.dir, "web/inside/package.json"), "{}")
	write(t, filepath.Join(b.dir, "web/package.json"), `{"dependencies": {"pad": "file:`+up+`/pad", "gone": "file:`+up+`/gone", "packed": "file:`+up+`/packed.tgz", "left": "^1.0", "in": "file:inside"},
		"devDependencies": {"dev": "link:`+outside+`/dev"}}`)
	write(t, filepath.Join(b.dir, "bad/package.json"), `{"dependencies": ["file:`+outside+`/pad"]}`)
	if err := os.MkdirAll(filepath.Join(b.dir, "pipe"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(b.dir, "pipe/package.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	both := []string{filepath.Join(outside, "dev"), filepath.Join(outside, "pad")}
	for command, want := range map[string][]string{
		"cd web && npm ci": both, "cd web && npm install --no-audit": both, "(cd web && npm i)": both, "cd web && npm test": nil, "npm ci": nil, "cd bad && npm ci": nil, "cd pipe && npm ci": nil,
	} {
		var got []string
		for _, w := range located(t, b, command).Facts().Writes {
			if agenttool.Within(outside, filepath.Clean(w.Absolute)) && w.By > 0 {
				got = append(got, filepath.Clean(w.Absolute))
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s writes %q, want %q", command, got, want)
		}
	}
}

// TestPackagesThatStayOpen: only a directory with a package.json that an installation names itself, outside of the workspace, is such a package.
func TestPackagesThatStayOpen(t *testing.T) {
	b := newBench(t, Options{})
	outside := t.TempDir()
	for _, name := range []string{"pad", "near"} {
		write(t, filepath.Join(outside, name, "package.json"), "{}")
	}
	write(t, filepath.Join(outside, "plain/x"), "")
	write(t, filepath.Join(b.dir, "inside/package.json"), "{}")
	write(t, filepath.Join(b.dir, "package.json"), `{"dependencies": {"near": "file:`+outside+`/near"}}`)
	pad := filepath.Join(outside, "pad")
	for command, want := range map[string][]string{
		"npm install " + pad: {pad}, "npm i " + pad + " " + outside + "/plain": {pad}, "npm ci": nil, "npm install ./inside": nil,
		"npm run x " + pad: nil, "touch " + pad: nil, "npm install lodash && touch " + pad: nil, "npm install x; npm install " + pad + "; npm ci": {pad},
	} {
		var got []string
		for _, w := range located(t, b, command).Facts().Writes {
			if w.Package {
				got = append(got, filepath.Clean(w.Absolute))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
