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
	} {
		a := d.call(call)
		if a.Result.Status != "succeeded" || !strings.Contains(a.text(), want) {
			t.Errorf("%s: %s %s %s", call, a.Result.Status, a.text(), a.Result.Error.Message)
		}
	}
}
