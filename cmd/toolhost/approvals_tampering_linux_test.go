package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"toolhost/cmd/toolhost/internal/presence"
	"toolhost/sandbox"
)

// TestSettingsOfItself: no command of a session changes what is allowed, wherever it writes, and although it goes on to run.
func TestSettingsOfItself(t *testing.T) {
	t.Parallel()
	probedDesk(t).besieged(t, func(_ *testing.T, a *escapeAttempt) {
		s := a.besiege()
		for _, attempt := range settingsAttempts {
			if attempt.there && s.read(userSettings) == "" {
				for _, file := range settingsFiles {
					s.write(file, "{}\n")
				}
			}
			s.changes(attempt.name, attempt.script)
			s.checkSettings(attempt.name, attempt.there)
		}
		if a.level == sandbox.None {
			s.held()
		}
	})
}

// settingsFiles are all that count.
var settingsFiles = []string{userSettings, projectSettings, localSettings}

// settingsAttempts write rules wherever rules are read: first where there is nothing, then where there are files. $RULES is a file with
// rules.
var settingsAttempts = []struct {
	name   string
	there  bool
	script string
}{
	{"written", false, `for f in "$USERS" .toolhost/settings.json .toolhost/settings.local.json; do mkdir -p "${f%/*}"; cat $RULES > "$f"; done`},
	{"a directory is moved there", false, `mkdir made; cp $RULES made/settings.json; cp $RULES made/settings.local.json
		rm -rf .toolhost "${USERS%/*}"; mkdir -p "${USERS%/*/*}"; cp -r made "${USERS%/*}"; mv -T made .toolhost || ln -sfn made .toolhost`},
	{"in another case", false, `rm -rf .toolhost; mkdir -p .Toolhost; cp $RULES .Toolhost/settings.local.json; mv -T .Toolhost .toolhost`},
	{"written over", true, `for f in "$USERS" .toolhost/settings.json .toolhost/settings.local.json; do cat $RULES > "$f"; done`},
	{"renamed over", true, `for f in "$USERS" .toolhost/settings.json .toolhost/settings.local.json; do
		cp $RULES "$f.new" && mv -f "$f.new" "$f"; cp $RULES moved; mv -f moved "$f"; done
		mkdir other; cp $RULES other/settings.local.json; mv -T .toolhost was && mv -T other .toolhost`},
	{"linked", true, `for f in "$USERS" .toolhost/settings.json .toolhost/settings.local.json; do ln -sf $PWD/$RULES "$f"; ln -f $RULES "$f"; done
		mv -T "${USERS%/*}" "${USERS%/*}-was" && ln -s $PWD/.toolhost "${USERS%/*}"`},
	{"trusted", true, `mkdir -p "$STATE/toolhost"; cp $RULES .toolhost/settings.json
		printf '{"workspaces":{"%s":{"digest":"sha256:0","at":"2026-01-01T00:00:00Z"}}}' "$PWD" > $STATE/toolhost/trust.json
		rm -f $STATE/toolhost/trust.json; ln -s $PWD/$RULES $STATE/toolhost/trust.json; : > $STATE/toolhost/approve.lock`},
}

// readingTime is longer than it takes to read settings that have changed.
const readingTime = 350 * time.Millisecond

// changes makes one attempt to change settings, and looks while its command still runs, and after it.
func (s *siege) changes(name, script string) {
	s.t.Helper()
	s.went++
	file := fmt.Sprintf("attempt%d.sh", s.went)
	s.write("ws/rules.json", ownedRules)
	s.write("ws/"+file, s.words()+"RULES=rules.json\n"+script+"\ntouch made-it; while [ ! -e go ]; do sleep .05; done; rm -rf go made-it\n")
	m := s.h.make("shell", fields{"command": "bash " + file, "run_in_background": true})
	s.h.decide(s.h.prompt(file, 1), "allow")
	job := m.result().view().Job
	refused := 1
	eventually(s.t, "the attempt is made", func() bool { // it waits at each protected name, until the person says no
		if s.h.askedAbout(file) > refused {
			refused++
			s.h.decide(s.h.prompt(file, refused), "deny")
		}
		return exists(s.escapeAttempt, "ws/made-it")
	})
	if refused > 4 {
		s.t.Errorf("%s: the person was asked %d times while it ran, and said no each time", name, refused-1)
	}
	time.Sleep(readingTime)
	s.unharmed(name+", while it runs", "")
	if err := os.WriteFile(s.path("ws/go"), nil, 0o644); err != nil { // which the attempt removes at once
		s.t.Fatal(err)
	}
	eventually(s.t, "the attempt ends", func() bool { return !exists(s.escapeAttempt, "ws/made-it") })
	s.h.make("shell_output", fields{"job": job, "until": "exit", "wait_ms": 50_000}).result() // and what it left was looked at
	s.unharmed(name, "")
}

// checkSettings checks that files are as they were, as far as the sandbox holds that.
func (s *siege) checkSettings(after string, there bool) {
	s.t.Helper()
	kept := map[sandbox.Level][]string{
		sandbox.Full: settingsFiles, sandbox.LandlockNotify: settingsFiles,
		sandbox.Landlock: {userSettings}, // it does not hold names inside the workspace, and says so
	}[s.level]
	want := map[bool]string{true: "{}\n"}[there]
	for _, file := range kept {
		if got := s.read(file); got != want {
			s.t.Errorf("%s: %s is %q", after, file, got)
		}
	}
	if s.level != sandbox.None && (exists(s.escapeAttempt, "state/toolhost/trust.json") || exists(s.escapeAttempt, "state/toolhost/"+presence.File)) {
		s.t.Errorf("%s: toolhost's own state is changed", after)
	}
}

// held checks that settings which commands changed come into force when a person says so, and not before.
func (s *siege) held() {
	s.t.Helper()
	s.host("rm -rf .toolhost made was other " + s.path("config"))
	s.replace(userSettings, ownedRules)
	eyes := s.visitor(true)
	var g greeting
	eventually(s.t, "the person is told that settings have changed", func() bool {
		g = eyes.hello(s.h.met.Approvals.Code)
		return strings.Contains(strings.Join(g.Warnings, "\n"), "toolhost settings reload")
	})
	s.unharmed("settings that are held", "")
	s.h.notice("settings are held", func(n notice) bool { return n.Type == "tool.x.settings.changed" })
	for code, counts := range map[string]bool{"": false, "AAAA-AAAA": false} {
		s.reloads(code, true, counts)
		s.unharmed("a reload with code "+code, "")
	}
	s.reloads(s.h.met.Approvals.Code, false, false)
	s.unharmed("a reload without a terminal", "")
	s.reloads(s.h.met.Approvals.Code, true, true)
	s.open.worked() // the rule answers the prompt
	s.h.write(owned).worked()
}

// reloads has settings reloaded by somebody who types a code.
func (s *siege) reloads(code string, terminal, counts bool) {
	s.t.Helper()
	cmd := s.command(s.toolhost, "settings", "reload")
	cmd.Stdin = strings.NewReader(code + "\n")
	if terminal {
		s.giveTerminal(cmd)
	}
	if said, exit := s.said(cmd); (exit == 0) != counts {
		s.t.Errorf("toolhost settings reload with code %q, a terminal %v: exit %d: %s", code, terminal, exit, said)
	}
}

// TestSettingsUntracked: a repository that brings a local file, and has the agent hide from git that it does, lets itself nothing.
func TestSettingsUntracked(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	hide := []struct{ name, script string }{
		{"taken out of the index", "git rm -q --cached .toolhost/settings.local.json"},
		{"without an index", "rm -f .git/index"},
		{"with another index", "GIT_INDEX_FILE=$PWD/other git read-tree --empty; mv -f other .git/index"},
		{"without git", "mv .git gone || rm -rf .git"},
		{"another repository", "mkdir inner; git init -q inner; mv inner/.git .toolhost/ || (cd .toolhost && git init -q .)"},
	}
	probedDesk(t).besieged(t, func(t *testing.T, a *escapeAttempt) {
		if a.level == sandbox.Landlock || a.level == sandbox.LandlockNotify && testing.Short() {
			t.Skip("names inside the workspace are not held, and settings wait for the person")
		}
		a.write(localSettings, ownedRules)
		a.host("git init -q . && git add -f .toolhost/settings.local.json && cp -r .git ../kept")
		s := a.besiege()
		for _, try := range hide {
			s.changes(try.name, try.script)
			a.host("rm -rf .git .toolhost/.git gone inner other; cp -r ../kept .git")
		}
	})
}
