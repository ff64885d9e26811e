package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// historyOfSecrets makes a repository that holds secrets, some in its first commit alone, and returns them.
func historyOfSecrets(t *testing.T, base string) (ws string, git func(args ...string) string, canaries []string) {
	secrets, _, _ := projectSecrets(t)
	const password, removed = "Tr0ub4dor-and-33", "Rem0ved-and-44"
	ws = filepath.Join(base, "ws")
	must(t, os.MkdirAll(ws, 0o755))
	git = func(args ...string) string {
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
	old := time.Now().Add(-time.Hour) // git looks again at what is as young as its index
	must(t, os.Chtimes(filepath.Join(ws, ".env"), old, old))
	git("add", "-A", "-f")
	git("commit", "-q", "-m", "first")
	git("rm", "-q", "-r", "old", "deploy")
	git("commit", "-q", "-m", "second")
	unpack(t, ws, "-- main.go --\npackage main // two\n")
	git("commit", "-q", "-a", "-m", "third")
	return ws, git, []string{password, removed, strings.Split(secrets["id_rsa"], "\n")[1]}
}

// TestHistoryIsJudgedAtStart: whoever starts git, it prints no secret of the repository's objects, puts none where it would be a file like any
// other, and does everything else as ever.
func TestHistoryIsJudgedAtStart(t *testing.T) {
	t.Parallel()
	if missing := lacking("git python3", os.Getenv("PATH")); missing != "" {
		t.Skip(missing + " is not installed")
	}
	p := newPlace(t)
	base := filepath.Join(p.dir, "started")
	ws, git, canaries := historyOfSecrets(t, base)
	git("config", "alias.secrets", "log -p")
	git("config", "alias.loud", "!git show HEAD:.env")
	git("branch", "topic", "HEAD~1")
	blob := git("rev-parse", "HEAD:.env")
	d := p.desk(t, base, "-- show.sh --\ngit log -p\n-- show.py --\nimport subprocess\nsubprocess.run([\"git\", \"show\", \"HEAD:.env\"])\n", "--mode", "sandboxed")
	if d.level() != "full" {
		t.Skip("commands are not judged when they start, or ask")
	}
	for _, call := range []string{
		"bash -c 'git log -p'", "sh -c 'git show HEAD:.env'", "env git log -p", "echo HEAD:.env | xargs git show", "git secrets", "git loud", "bash -c 'git -C . log -p --all'",
		"bash -c 'cd tls; git show HEAD:./../.env'", "sh show.sh", "python3 show.py", "bash -c '$(git --exec-path)/git-show HEAD:.env'", "bash -c 'GIT_DIR=$PWD/.git git log -p --all'",
		"bash -c 'cd /tmp; git --git-dir=$OLDPWD/.git log -p'", "bash -c 'git bundle create /tmp/b --all; git clone -q --bare /tmp/b /tmp/b.git; git -C /tmp/b.git log -p'",
		"bash -c 'git clone -q . /tmp/clone; cat /tmp/clone/.env'", "bash -c 'git worktree add -q -b w /tmp/w; cat /tmp/w/.env'", "bash -c 'mkdir /tmp/t; git --work-tree=/tmp/t checkout -f HEAD .; cat /tmp/t/.env'",
		"bash -c 'git checkout-index --prefix=x- -a; cat x-.env'", "bash -c 'cat $(git unpack-file " + blob + ")'", "bash -c 'cat $(git checkout-index --temp .env | cut -f1)'",
		"bash -c 'git update-index --add --cacheinfo 100644," + blob + ",notes; git show :notes'", "bash -c 'git archive HEAD | tar xOf -'", "bash -c 'git tag x " + blob + "; git show x'",
		"bash -c 'git init -q /tmp/o; cd /tmp/o; GIT_ALTERNATE_OBJECT_DIRECTORIES=" + ws + "/.git/objects git show " + blob + "'", "bash -c 'echo " + blob + " | git cat-file --batch'",
		"git submodule foreach git log -p; git rebase -q --exec 'git show HEAD:.env' HEAD~1", "find . -name main.go -exec git log -p {} + -exec git log -p ';'", "bash -c 'git fetch -q . topic && git diff FETCH_HEAD~1'",
	} {
		a := d.call(call)
		if text := fmt.Sprint(a.text(), a.Result.Error.Message); slices.ContainsFunc(canaries, func(canary string) bool { return strings.Contains(text, canary) }) {
			t.Errorf("%s prints a secret: %.300s", call, text)
		}
	}
	for _, c := range []struct{ call, want string }{
		{"bash -c 'git log --oneline; git show HEAD'", "two"}, {"echo HEAD:main.go | xargs git show", "two"}, {"git fetch -q . main && git show FETCH_HEAD", "two"}, {"git diff HEAD~1", "two"},
		{"bash -c 'git log -p -- . \":(exclude).env*\" \":(exclude)old\" \":!deploy\"'", "one"}, {"git status --short --branch && git stash list && git diff && echo same", "same"},
		{"echo x > new && git add -A && git -c user.name=a -c user.email=a@b commit -qam four && git show", "new file"}, {"git clone -q . copy && git -C copy log --oneline", "four"},
		{"git status --short", "copy/"}, {"echo y > new && git -c user.name=a -c user.email=a@b stash -q && git stash list", "WIP on main"},
	} {
		a := d.call(c.call)
		if a.Result.Status != "succeeded" || !strings.Contains(a.text(), c.want) || strings.Contains(a.text(), "M .env") {
			t.Errorf("%s: %s %s %s", c.call, a.Result.Status, a.text(), a.Result.Error.Message)
		}
	}
	if a := d.call("bash -c 'git show HEAD:.env'"); !strings.Contains(fmt.Sprint(a.text(), a.Result.Error.Message), "(exclude).env") {
		t.Errorf("the refusal does not say what to do: %s %s", a.text(), a.Result.Error.Message)
	}
}

// TestSecretsOfHistory: readers of a repository print no secret that it holds as an object, and print everything else as ever.
func TestSecretsOfHistory(t *testing.T) {
	t.Parallel()
	if missing := lacking("git", os.Getenv("PATH")); missing != "" {
		t.Skip(missing + " is not installed")
	}
	p := newPlace(t)
	base := filepath.Join(p.dir, "history")
	_, git, canaries := historyOfSecrets(t, base)
	blob := git("rev-parse", "HEAD:.env")
	d := p.desk(t, base, "", "--mode", "sandboxed")
	d.request("agenttool/hello", map[string]any{"client": map[string]string{"name": "t", "version": "1"}, "events": "results"}, &struct{}{})
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
		if text := fmt.Sprint(a.text(), a.Result.Error.Message); slices.ContainsFunc(canaries, func(canary string) bool { return strings.Contains(text, canary) }) {
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
