package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool/cut"
	"toolhost/sandbox"
)

// talker is a program that would wait for a person.
type talker struct {
	name, command string
	how           fields
	want          string // in what it says
	ends          bool   // by itself
}

var talkers = []talker{
	{"git commit without a message", "git commit", nil, "", true},
	{"git commit on a terminal", "git commit", onTTY, "", true},
	{"git rebase -i", "git stash -q; git rebase -i HEAD~3", nil, "", true},
	{"git log", "git log", nil, "commit number 1 of many", true},
	{"git log on a terminal", "git log", onTTY, "commit number 1 of many", true},
	{"git diff on a terminal", "git diff HEAD~2", onTTY, "", true},
	{"git add -p", "echo more >> file; git add -p", nil, "", false},
	{"git clone of what wants a password", "git clone https://user@127.0.0.1:1/x.git cloned", nil, "", true},
	{"man", "man git-log", nil, "", true},
	{"man on a terminal", "man ls", onTTY, "", true},
	{"less without a terminal", "less long", nil, "line 5000", true},
	{"more without a terminal", "more long", nil, "line 5000", true},
	{"less on a terminal", "less long", onTTY, "line 1\n", false},
	{"vim without a terminal", "vim file", nil, "", false},
	{"vim on a terminal", "vim -u NONE file", onTTY, "", false},
	{"vi", "vi file", nil, "", false},
	{"an editor that is asked for", "${EDITOR:-true} file; ${VISUAL:-true} file; true", nil, "", true},
	{"sudo", "sudo true", nil, "", true},
	{"sudo on a terminal", "sudo true", onTTY, "", false},
	{"su", "su nobody -c true", nil, "", false},
	{"ssh", "ssh -p 1 user@127.0.0.1", nil, "", true},
	{"python3", "python3", nil, "", false},
	{"python3 getpass", `python3 -c 'import getpass; getpass.getpass()'`, nil, "", false},
	{"node", "node", nil, "", false},
	{"psql", "psql -h 127.0.0.1 -p 1", nil, "", true},
	{"gdb", "gdb -q -nx", nil, "", false},
	{"bash -i", "bash --norc -i", nil, "", false},
	{"bash -l", "bash -l", nil, "", false},
	{"top", "top", nil, "", false},
	{"cat", "cat", nil, "", true},
	{"cat on a terminal", "cat", onTTY, "", false},
	{"tail -f", "tail -f long", nil, "line 5000", false},
	{"yes", "yes", nil, "y\ny\n", false},
	{"read from nobody", "read x", nil, "", false},
	{"npm init", "npm init", nil, "", false},
	{"a pager by name", "git -c core.pager=less -p log", nil, "commit number 300", true},
	{"systemctl", "systemctl status", nil, "", true},
	{"read from the terminal of the host", "cat /dev/tty", nil, "", true},
	{"a terminal of its own", "script -qc 'sleep 0.1' /dev/null", nil, "", true},
}

// TestNothingHangs: programs that wait for a person return by themselves, or are reported as waiting, and can be ended.
func TestNothingHangs(t *testing.T) {
	if underRace {
		t.Skip("it is about programs: the ordinary run shows it")
	}
	t.Parallel()
	needs(t, "git")
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		a.host(`cd "$WS"; git init -q .; git config user.name t; git config user.email t@example.com; git symbolic-ref HEAD refs/heads/main
for i in $(seq 300); do
	printf 'commit refs/heads/main\ncommitter t <t@example.com> %d +0000\ndata <<E\ncommit number %d of many\nE\n' $((1700000000 + i)) $i
	[ $i = 1 ] && printf 'M 100644 inline file\ndata <<E\npristine\nE\n'; echo
done | git fast-import --quiet
git reset -q; seq -f 'line %.0f' 5000 > long; echo changed >> file; git add file`)
		rows := slices.Clone(talkers)
		if !long() { // the ordinary form tries each at one of the levels
			rows = rows[:0]
			for i, c := range talkers {
				if i%2 == 0 == (a.level == sandbox.Full) {
					rows = append(rows, c)
				}
			}
		}
		inTurn(t, a, rows, func(c talker) string { return c.name }, func(t *testing.T, h *jobHost, c talker) {
			if program := strings.Fields(c.command)[0]; !strings.HasPrefix(program, "$") && program != "read" && program != "echo" {
				needs(t, program)
			}
			limit := 2000
			if c.ends { // which takes as long as the machine is slow
				limit = 50_000
			}
			got := h.run(c.command, c.how, fields{"timeout_ms": limit})
			v := got.view()
			if within(t, c.name, got.took, 10*time.Second, patience); v.Job == "" {
				t.Errorf("job %q: %s", v.Job, cut.Characters(got.says(), 1000))
			}
			if c.ends && v.State != "ended" {
				t.Errorf("it is %s, waits for %+v: %s", v.State, v.WaitsFor, cut.Characters(got.says(), 1000))
			}
			said := got.says() + h.output(v.Job, fields{"tail": 50}).Text
			for end := time.Now().Add(patience); !strings.Contains(said, c.want) && v.State != "ended" && time.Now().Before(end); {
				said += h.output(v.Job, fields{"tail": 50, "wait_ms": 200}).Text // it may have begun late
			}
			if !strings.Contains(said, c.want) {
				t.Errorf("it said %s, want %q", cut.Characters(said, 1000), c.want)
			}
			if v.State != "ended" {
				h.kill(v.Job, fields{"grace_ms": 100})
			}
		})
	})
}

// TestPagerIsLeft: a pager that was asked for shows, waits, and is left by its key.
func TestPagerIsLeft(t *testing.T) {
	t.Parallel()
	needs(t, "less", "vim")
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h := a.jobHost()
		a.write("ws/long", strings.Repeat("a line\n", 5000))
		v := h.waits("less long", onTTY)
		if got := h.input(v.Job, fields{"keys": []string{"page-down"}, "wait_ms": 50_000}); got.State != "waiting_for_input" {
			t.Errorf("after a page: %+v", got)
		}
		if got := h.input(v.Job, fields{"text": "q", "wait_ms": 50_000}); got.State != "ended" {
			t.Errorf("after q: %+v", got)
		}
		v = h.waits("vim -u NONE -i NONE -n file", onTTY)
		h.input(v.Job, fields{"text": "ochanged by vim", "keys": []string{"escape"}})
		if got := h.input(v.Job, fields{"text": ":wq", "keys": []string{"enter"}, "wait_ms": 50_000}); got.State != "ended" {
			t.Errorf("after :wq: %+v", got)
		}
		if b := a.read("ws/file"); b != "pristine\nchanged by vim\n" {
			t.Errorf("the file is %q", b)
		}
	})
}
