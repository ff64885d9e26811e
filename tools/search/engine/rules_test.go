package engine

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"toolhost/permissions/protect"
)

// A secret is no ignore file, whatever names it: which names it leaves out would tell its lines.
func TestSecretIsNoIgnoreFile(t *testing.T) {
	for _, link := range []string{"sub/.gitignore", "sub/.git/info/exclude"} {
		p := plant(t, map[string]string{".env": "hunter2\n", "sub/.git/info/": "", "sub/hunter2": "needle\n", "sub/other": "needle\n"})
		secrets, err := protect.Scan(context.Background(), protect.Options{Roots: []string{p.dir}, ReadDeny: protect.DefaultReadDeny()})
		if err != nil {
			t.Fatal(err)
		}
		p.ws.Guard(func() (*protect.Map, error) { return secrets, nil })
		if err := os.Link(p.at(".env"), p.at(link)); err != nil {
			t.Skip("no link can be made:", err)
		}
		e := newEngine(t, Options{})
		r := p.root(t)
		if r.Secrets, err = p.ws.Secrets(); err != nil {
			t.Fatal(err)
		}
		found := 0
		if _, err := e.List(context.Background(), r, nil, func(FoundFile) bool { found++; return true }); err != nil {
			t.Fatal(err)
		}
		if found != 2 {
			t.Errorf("%s: %d names of 2", link, found)
		}
	}
}

// What git begins and ceases to track is searched, and not, from the next search on, also where only events tell of
// changes: the index lies in a directory that is not watched.
func TestTrackedFilesAreSearched(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed:", err)
	}
	both(t, func(t *testing.T, p planted, e *Engine) {
		git := func(args ...string) {
			t.Helper()
			cmd := exec.Command("git", args...)
			cmd.Dir, cmd.Env = p.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", "GIT_CONFIG_NOSYSTEM=1"}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %q: %v\n%s", args, err, out)
			}
		}
		git("init", "-q")
		p.write(t, ".gitignore", "build/\n*.log\n")
		p.write(t, "build/t.txt", "bravo\n")
		p.write(t, "build/u.txt", "bravo\n")
		p.write(t, "d/x.log", "bravo\n")
		p.warm(t, e)
		for _, step := range [][]string{{"add", "-f", "build/t.txt"}, {"add", "-f", "d/x.log"}, {"rm", "-q", "--cached", "build/t.txt"}, {"add", "-f", "build"}, {"rm", "-q", "--cached", "-r", "build"}} {
			git(step...)
			p.same(t, e, storing(t, "bravo"))
			names := p.names(t, e)
			if got, want := strings.Contains(names, "build/t.txt"), step[0] == "add" && strings.HasPrefix(step[2], "build"); got != want && step[2] != "d/x.log" {
				t.Errorf("after git %q: %s", step, names)
			}
			if strings.Contains(names, "build/u.txt") != (step[len(step)-1] == "build" && step[0] == "add") {
				t.Errorf("after git %q: %s", step, names)
			}
		}
		// A search that begins in the ignored directory finds all of it, though the list of the directory above has a part.
		git("add", "-f", "build/t.txt")
		p.names(t, e)
		p.dir = p.at("build")
		p = p.open(t)
		if names := p.names(t, e); !strings.Contains(names, "t.txt") || !strings.Contains(names, "u.txt") {
			t.Errorf("in build: %s", names)
		}
	})
}
