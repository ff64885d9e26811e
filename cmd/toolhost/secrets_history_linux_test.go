package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecretsOfHistory: readers of a repository print no secret that it holds as an object, and print everything else as ever.
func TestSecretsOfHistory(t *testing.T) {
	t.Parallel()
	if missing := lacking("git", os.Getenv("PATH")); missing != "" {
		t.Skip(missing + " is not installed")
	}
	p := newPlace(t)
	secrets, _, _ := projectSecrets(t)
	const password, removed = "Tr0ub4dor-and-33", "Rem0ved-and-44"
	base := filepath.Join(p.dir, "history")
	ws := filepath.Join(base, "ws")
	must(t, os.MkdirAll(ws, 0o755))
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = ws, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main", ".")
	unpack(t, ws, "-- main.go --\npackage main // one\n-- .env --\nDB_PASSWORD="+password+"\n-- old/.env.prod --\nX="+removed+"\n-- tls/ca.pem --\nnothing\n-- deploy/id_rsa --\n"+secrets["id_rsa"])
	git("add", "-A", "-f")
	git("commit", "-q", "-m", "first")
	git("rm", "-q", "-r", "old", "deploy")
	git("commit", "-q", "-m", "second")
	unpack(t, ws, "-- main.go --\npackage main // two\n")
	git("commit", "-q", "-a", "-m", "third")
	blob := git("rev-parse", "HEAD:.env")
	d := p.desk(t, base, "", "--mode", "sandboxed")
	d.request("agenttool/hello", map[string]any{"client": map[string]string{"name": "t", "version": "1"}, "events": "results"}, &struct{}{})
	key := strings.Split(secrets["id_rsa"], "\n")[1]
	for _, call := range []string{
		"git show HEAD:.env", "git show HEAD:./.env", "git config --blob HEAD:.env -l", "git config --blob=HEAD:.env DB_PASSWORD", "git log -p", "git log -p -- '.en*'", "git log -p --all -- old",
		"git log --patch -3", "git log -p -S DB_PASSWORD", "git show HEAD~2", "git show HEAD~1", "git diff HEAD~1 HEAD~2", "git diff HEAD~2", "git cat-file -p HEAD:.env", "git cat-file -p " + blob,
		"git cat-file blob " + blob[:10], "git show " + blob, "git grep PASSWORD HEAD", "git grep --cached PASSWORD", "git grep -h X= HEAD~2", "git blame .env", "git blame HEAD -- .env",
		"git archive HEAD", "git archive HEAD .env | tar xOf -", "git show HEAD~2:old/.env.prod", "git diff HEAD~2 HEAD~1 -- old", "git log -p --follow -- .env", "git log -L1,1:.env",
		"git show :.env", "git show :0:.env", "git whatchanged -p", "git format-patch --stdout HEAD~2", "git diff-tree -p HEAD~2 HEAD~1", "git show HEAD~2:deploy/id_rsa", "git log -p -- deploy",
		"git rev-list --objects HEAD | git cat-file --batch", "git -C . log -p", "git --no-pager show HEAD~2", "cd tls && git show HEAD:.env", "cd tls; git log -p -- ../.env",
		"git diff --cached HEAD~2", "git cat-file --batch-all-objects --batch", "git show HEAD~2 --stat -p", "git log -U3 -p main",
		"git log --full-diff -p main.go", "git reflog -p", "git log --unifie=3", "git log --binar", "git -C . fast-export --all", "git unpack-file HEAD:.env", "git --git-dir=.git show HEAD~2",
	} {
		a := d.call(call)
		if text := fmt.Sprint(a.text(), a.Result.Error.Message); strings.Contains(text, password) || strings.Contains(text, removed) || strings.Contains(text, key) {
			t.Errorf("%s prints a secret: %.300s", call, text)
		}
	}
	for call, want := range map[string]string{
		"git log --oneline": "second", "git show HEAD": "two", "git show HEAD:main.go": "two", "git log -p -1": "two", "git log -p -- main.go": "one", "git diff HEAD~1 HEAD": "two",
		"git log --stat": "old/.env.prod", "git show --stat HEAD~1": "deploy/id_rsa", "git log -p -- . ':(exclude).env*' ':(exclude)old' ':!deploy'": "one", "git blame main.go": "two",
		"git grep -n package": "main.go", "git cat-file -p HEAD": "third", "git cat-file -t " + blob: "blob", "git diff HEAD~2 --name-only": "deploy/id_rsa", "git show HEAD:tls/ca.pem": "nothing",
		"git ls-tree -r HEAD": ".env", "git grep package HEAD -- main.go": "package", "git archive HEAD main.go | tar xOf -": "two",
		"git log -1 --color=always --stat": "main.go", "git reflog": "third",
	} {
		a := d.call(call)
		if a.Result.Status != "succeeded" || !strings.Contains(a.text(), want) {
			t.Errorf("%s: %s %s %s", call, a.Result.Status, a.text(), a.Result.Error.Message)
		}
	}
}

// TestHistoryQuestionsRunNothing: to know what a reader would print of secrets, toolhost asks git itself, outside of any sandbox, and no program of the
// repository runs by that: no filter, and nothing in a submodule. What is named there in another way than here is a secret, too.
func TestHistoryQuestionsRunNothing(t *testing.T) {
	t.Parallel()
	if missing := lacking("git", os.Getenv("PATH")); missing != "" {
		t.Skip(missing + " is not installed")
	}
	p := newPlace(t)
	base := filepath.Join(p.dir, "filters")
	ws, other, ran := filepath.Join(base, "ws"), filepath.Join(base, "ws/other"), filepath.Join(base, "ran")
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	const password = "Tr0ub4dor-and-55"
	for _, dir := range []string{ws, other, filepath.Join(ws, "sub")} {
		must(t, os.MkdirAll(dir, 0o755))
		git(dir, "init", "-q", "-b", "main", ".")
		unpack(t, dir, "-- main.go --\npackage main // one\n-- é/.env.prod --\n"+strings.Repeat("A=1\n", 9)+"DB_PASSWORD="+password+"\n")
		git(dir, "add", "-A", "-f")
		git(dir, "commit", "-q", "-m", "first")
	}
	git(ws, "mv", "é/.env.prod", "plain.txt")
	unpack(t, ws, "-- plain.txt --\n"+strings.Repeat("A=1\n", 8)+"A=2\nDB_PASSWORD="+password+"\n")
	git(ws, "commit", "-q", "-a", "-m", "second")
	for _, dir := range []string{ws, filepath.Join(ws, "sub")} {
		unpack(t, dir, "-- main.go --\npackage main // two\n-- .git/info/attributes --\n* filter=any\n")
		git(dir, "config", "filter.any.clean", "touch "+ran+"; cat")
		git(dir, "config", "core.fsmonitor", "touch "+ran+"; false")
		git(dir, "config", "diff.relative", "true")
	}
	git(ws, "diff", "--name-only")
	if os.Remove(ran) != nil {
		t.Fatal("git runs no filter here")
	}
	d := p.desk(t, base, "", "--mode", "sandboxed")
	d.request("agenttool/hello", map[string]any{"client": map[string]string{"name": "t", "version": "1"}, "events": "results"}, &struct{}{})
	for _, call := range []string{
		"git diff", "git diff -p", "git diff HEAD", "git diff HEAD~1", "git diff HEAD~1 HEAD", "git diff HEAD~1..HEAD", "git diff HEAD~1...", "git diff --cached HEAD~1", "git log -p", "git show",
		"git show HEAD~1", "git diff -- main.go plain.txt", "git diff --branches", "git diff HEAD~1 -- .", "git --git-dir=other/.git show", "cd é 2>/dev/null || mkdir é && cd é; git show HEAD~1",
	} {
		a := d.call(call)
		if text := fmt.Sprint(a.text(), a.Result.Error.Message); strings.Contains(text, password) {
			t.Errorf("%s prints a secret: %.300s", call, text)
		}
		if os.Remove(ran) == nil {
			t.Errorf("%s ran a program of the repository outside of the sandbox", call)
		}
	}
	for call, want := range map[string]string{"git diff": "two", "git diff HEAD -- main.go": "two"} {
		if a := d.call(call); a.Result.Status != "succeeded" || !strings.Contains(a.text(), want) {
			t.Errorf("%s: %s %s %s", call, a.Result.Status, a.text(), a.Result.Error.Message)
		}
	}
}
