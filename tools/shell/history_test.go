package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"toolhost/permissions/protect"
	"toolhost/sandbox"
	"toolhost/tools/workspace"
)

// TestPathspecs: what git would leave out is left out, and what it would print is not.
func TestPathspecs(t *testing.T) {
	held := map[string][]string{".env": nil, "a/.env.prod": nil, "deploy/id_rsa": nil}
	for specs, want := range map[string]string{
		"": ".env a/.env.prod deploy/id_rsa", ".": ".env a/.env.prod deploy/id_rsa", "src": "", "a": "a/.env.prod", ".en*": ".env", "*.env*": ".env a/.env.prod",
		"*id_rsa": "deploy/id_rsa", ":(glob)*": ".env", ":(glob)**/.env*": ".env a/.env.prod", ":(glob)**/id_[a-r]sa": "deploy/id_rsa", ":!.env": "a/.env.prod deploy/id_rsa",
		". :(exclude).env* :^deploy": "a/.env.prod", ":(exclude,glob)**/.env* :(exclude)deploy": "", ":(icase)DEPLOY": "deploy/id_rsa", ":(attr:x)src": ".env a/.env.prod deploy/id_rsa",
		":(exclude,attr:x)deploy": ".env a/.env.prod deploy/id_rsa", ":(literal).en*": "", ":/a": "a/.env.prod",
	} {
		if got := strings.Join(selected(held, strings.Fields(specs), "."), " "); got != want {
			t.Errorf("%q selects %q, want %q", specs, got, want)
		}
	}
	if got := selected(held, []string{".env.prod", "../deploy"}, "a"); strings.Join(got, " ") != "a/.env.prod deploy/id_rsa" {
		t.Errorf("below a: %q", got)
	}
}

// TestHistoryIsWalkedOnce: a look that is cut short says so and keeps what it has; the next one goes on, and new commits alone are looked at.
func TestHistoryIsWalkedOnce(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git := func(input string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
			t.Skip("git is not installed")
		} else if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	git("", "init", "-q", "-b", "main", ".")
	var commits strings.Builder
	for i := range 3 * historyChunk {
		fmt.Fprintf(&commits, "commit refs/heads/main\ncommitter a <a@b> %d +0000\ndata 1\nx\nM 100644 inline f\ndata <<EOF\n%d\nEOF\n", 1_700_000_000+i, i)
		if i == 7 {
			fmt.Fprint(&commits, "M 100644 inline sub/.env\ndata <<EOF\nPASSWORD=Tr0ub4dor-and-3\nEOF\n")
		}
		if i == 8 {
			fmt.Fprint(&commits, "D sub/.env\n")
		}
	}
	git(commits.String(), "fast-import", "--quiet")
	w, err := workspace.Open([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	m, err := protect.Scan(t.Context(), protect.Options{Roots: []string{dir}, ReadDeny: protect.DefaultReadDeny()})
	if err != nil {
		t.Fatal(err)
	}
	w.Guard(func() (*protect.Map, error) { return m, nil })
	r := gitReader{tool: &tool{w: w, o: Options{Environ: os.Environ()}}, dir: dir, top: dir, git: filepath.Join(dir, ".git")}
	h := &histories{}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if held := h.of(over, r, historyTime); held.none() || held.unknown == "" {
		t.Errorf("a look that saw nothing says %v", held)
	}
	known := h.known[r.git]
	if err := known.list(t.Context(), r, func(string, string) {}); err != nil || len(known.pending) != 3*historyChunk {
		t.Fatalf("%d commits, %v", len(known.pending), err)
	}
	known.state = r.state()
	if held := h.of(over, r, historyTime); held.unknown == "" || !strings.Contains(held.unknown, "1,200 commits") {
		t.Errorf("a look that saw a part says %v", held)
	}
	known.pending = known.pending[historyChunk:] // as if a look had come so far
	if held := h.of(t.Context(), r, time.Minute); held.unknown != "" || len(held.objects["sub/.env"]) != 1 || len(held.objects) != 1 {
		t.Errorf("the whole history holds %v", held)
	}
	git("", "commit", "-q", "--allow-empty", "-m", "more")
	if err := known.list(t.Context(), r, func(string, string) {}); err != nil || len(known.pending) != 1 {
		t.Errorf("%d commits are new, %v", len(known.pending), err)
	}
	if held := h.of(t.Context(), r, time.Minute); held.unknown != "" || len(held.objects) != 1 {
		t.Errorf("then it holds %v", held)
	}
}

// TestGitStarts: what a git that starts is told by its words and its variables.
func TestGitStarts(t *testing.T) {
	for _, c := range []struct {
		argv, env string
		want      gitRun
	}{
		{"git log -p", "", gitRun{gitCommand: gitCommand{verb: "log", args: []string{"-p"}, exact: true}, dir: "/w"}},
		{"git -C a -C b --no-pager -c user.name=x show HEAD", "", gitRun{gitCommand: gitCommand{verb: "show", args: []string{"HEAD"}, exact: true}, dir: "/w/a/b"}},
		{"git --git-dir=x --work-tree y status", "", gitRun{gitCommand: gitCommand{verb: "status", args: []string{}, exact: true}, dir: "/w", gitDir: "x", workTree: "y"}},
		{"/usr/lib/git-core/git-show x", "GIT_DIR=z", gitRun{gitCommand: gitCommand{verb: "show", args: []string{"x"}, exact: true}, dir: "/w", gitDir: "z"}},
		{"git -c diff.noprefix=1 diff", "", gitRun{gitCommand: gitCommand{verb: "diff", args: []string{}, exact: true, other: true}, dir: "/w"}},
		{"git -c log.diffMerges=m log", "", gitRun{gitCommand: gitCommand{verb: "log", args: []string{}, exact: true, merges: true}, dir: "/w"}},
		{"git show x", "GIT_OBJECT_DIRECTORY=o", gitRun{gitCommand: gitCommand{verb: "show", args: []string{"x"}, exact: true}, dir: "/w", foreign: "GIT_OBJECT_DIRECTORY"}},
		{"git show", "GIT_CONFIG_KEY_0=diff.own", gitRun{gitCommand: gitCommand{verb: "show", args: []string{}, exact: true}, dir: "/w"}},
		{"git", "", gitRun{gitCommand: gitCommand{exact: true}, dir: "/w"}},
	} {
		got := startOf(sandbox.GitStart{Argv: strings.Fields(c.argv), Dir: "/w", Environ: strings.Fields(c.env)}, []string{"GIT_CONFIG_KEY_0=diff.own"})
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s: %+v, want %+v", c.env, c.argv, got, c.want)
		}
	}
}
