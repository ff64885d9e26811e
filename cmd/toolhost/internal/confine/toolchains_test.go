package confine

import (
	"os"
	"path/filepath"
	"testing"
)

// TestGoSettings: the proxies that a user set with `go env -w` count as those of the environment do. Otherwise go would name private modules
// to the public proxy.
func TestGoSettings(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"GOENV", "GOPROXY", "GOMODCACHE", "GOPATH", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(name, wantCache, wantProxy string) {
		t.Helper()
		if cache, proxy := goSettings(home); cache != wantCache || wantProxy != "" && proxy != wantProxy {
			t.Errorf("%s: cache %s, proxy %s; want %s, %s", name, cache, proxy, wantCache, wantProxy)
		}
	}
	expect("nothing is set", filepath.Join(home, "go/pkg/mod"), "")
	write(filepath.Join(home, ".config/go/env"), "GOPRIVATE=x\nGOPROXY=https://go.example.com\nGOPATH=/srv/go\n")
	expect("the user's file", "/srv/go/pkg/mod", "https://go.example.com")
	write(filepath.Join(home, ".config/go/env"), "GOPROXY=https://me:secret@go.example.com,direct\nGOPATH=/srv/go\n")
	expect("a login, which stays in the file", "/srv/go/pkg/mod", "https://go.example.com,direct")
	write(filepath.Join(home, ".config/go/env"), "GOPROXY=https://go.example.com\nGOPATH=/srv/go\n")
	write(filepath.Join(home, "xdg/go/env"), "GOPROXY=off\n")
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "xdg"))
	expect("another directory", filepath.Join(home, "go/pkg/mod"), "off")
	t.Setenv("GOENV", filepath.Join(home, ".config/go/env"))
	expect("another file", "/srv/go/pkg/mod", "https://go.example.com")
	t.Setenv("GOPROXY", "direct")
	expect("the environment", "/srv/go/pkg/mod", "direct")
	t.Setenv("GOPROXY", "")
	t.Setenv("GOENV", "off")
	expect("no file", filepath.Join(home, "go/pkg/mod"), "")
}
