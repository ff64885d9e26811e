package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/cut"
	"toolhost/sandbox"
	"toolhost/testdata/support/wiretest"
)

// raceRounds is how often something is written while a link takes its directory's place. testdata/escapes/race.sh has more.
func raceRounds() int {
	if n, err := strconv.Atoi(os.Getenv("TOOLHOST_ESCAPES_ROUNDS")); err == nil {
		return n
	}
	return count(500, 5000)
}

// tryRace replaces directories by links under the hands of commands, of toolhost's own tools, and of a sandbox that is made.
func tryRace(t *testing.T, r *escapeTools) {
	for _, who := range accounts(t) {
		for _, level := range anywhere {
			t.Run(who.name+" "+string(level)+" a command", func(t *testing.T) { t.Parallel(); raceCommand(r.attempt(t, who, level)) })
		}
		t.Run(who.name+" write and edit", func(t *testing.T) { t.Parallel(); raceTools(r.attempt(t, who, sandbox.Full)) })
		t.Run(who.name+" set-up", func(t *testing.T) { t.Parallel(); raceSetup(r.attempt(t, who, sandbox.Full)) })
	}
}

// swapping exchanges two names until it is stopped.
type swapping struct {
	quit   chan struct{}
	done   sync.WaitGroup
	rounds atomic.Int64
}

func swap(a *escapeAttempt, one, other string) *swapping {
	one, other = a.path(one), a.path(other)
	s := &swapping{quit: make(chan struct{})}
	s.done.Go(func() {
		for {
			select {
			case <-s.quit:
				return
			default:
			}
			_ = unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
			if s.rounds.Add(1)%2 == 0 {
				time.Sleep(100 * time.Microsecond) // the other side needs the processor too
			}
		}
	})
	return s
}

// stop ends it and returns how often it exchanged them.
func (s *swapping) stop() int {
	close(s.quit)
	s.done.Wait()
	return int(s.rounds.Load())
}

func raceCommand(a *escapeAttempt) {
	a.host("mkdir a; ln -s ../outside b; cp file $OUT/f; cp file $OUT/g")
	before := a.look()
	attributes := 0
	if a.level == sandbox.Full { // elsewhere nothing but a check that can be raced holds them
		attributes = 1
	}
	race := swap(a, "ws/a", "ws/b")
	said := ""
	for said == "" || race.rounds.Load() < int64(raceRounds()) { // as many of each
		said, _ = a.said(a.boxed(sandbox.Workspace, fmt.Sprintf("$P hammer a %d %d", raceRounds(), attributes), "--quiet"))
	}
	checkRace(a, before, said, race.stop())
}

// checkRace looks at what is outside after a race in which something was written inside.
func checkRace(a *escapeAttempt, before map[string]entry, said string, swaps int) {
	a.t.Helper()
	var harm []string
	for _, change := range changes(before, a.look(), "ws") {
		if !strings.HasPrefix(change, "home/") {
			harm = append(harm, change)
		}
	}
	if len(harm) > 0 || swaps < 100 {
		a.t.Errorf("%d swaps: %s\n%s", swaps, strings.Join(harm, "\n"), cut.Characters(said, 1000))
	}
	a.t.Logf("%d swaps; %s", swaps, cut.Characters(strings.TrimSpace(said), 100))
}

// raceTools has the file tools of a session write where a link takes the directory's place.
func raceTools(a *escapeAttempt) {
	a.host("mkdir a; ln -s ../outside b; cp file $OUT/f; cp file $OUT/g; cp file a/f; cp file a/g")
	s := a.serve("--allow", "Write(a/**)", "--allow", "Edit(a/**)", "--allow", "Read", "--mode", "default")
	before := a.look()
	race := swap(a, "ws/a", "ws/b")
	rounds, wrote := raceRounds(), 0
	if os.Getenv("TOOLHOST_ESCAPES_ROUNDS") == "" {
		rounds /= 5 // an answer takes as long as many writes
	}
	const window = 8
	sent := 0
	var open []wiretest.Pending
	send := func() {
		input, tool := fmt.Sprintf(`{"path":"a/f%d","content":"x"}`, sent%50), "write"
		if sent%3 == 2 {
			input, tool = `{"path":"a/g","old_string":"pristine","new_string":"pristine too"}`, "edit"
		}
		open = append(open, s.invoke(sent, tool, input))
		sent++
	}
	for sent < window {
		send()
	}
	for answered := 0; answered < rounds; answered++ {
		if strings.Contains(s.answer(open[answered]), `"status":"succeeded"`) {
			wrote++
		}
		if sent < rounds {
			send()
		}
	}
	checkRace(a, before, fmt.Sprintf("wrote %d of %d", wrote, rounds), race.stop())
	if wrote == 0 {
		a.t.Error("nothing was written at all")
	}
}

// raceSetup replaces what is protected while sandboxes are made over it.
func raceSetup(a *escapeAttempt) {
	a.host(`mkdir .vscode alt; echo pristine > .vscode/tasks.json; echo pristine > $OUT/tasks.json
			ln -s ../outside other; ln -s $OUT/file otherenv; ln -s ../../outside tree/out; git init -q
			mv .git/hooks .git/h; ln -s ../../outside .git/hooks`)
	before := a.look()
	races := []*swapping{swap(a, "ws/.vscode", "ws/other"), swap(a, "ws/.env", "ws/otherenv"), swap(a,
		"ws/.git/hooks", "ws/.git/h"), swap(a, "ws/tree", "ws/alt")}
	ran := 0
	var all strings.Builder
	for range max(raceRounds()/400, 12) {
		said, code := a.said(a.boxed(sandbox.Workspace, `echo evil > .vscode/tasks.json; echo evil >> $OUT/file
			echo evil > .git/hooks/pre-commit; echo evil > other/new; touch $OUT/made; true`))
		if code == 0 {
			ran++
		} else if code != exitSetup {
			a.t.Errorf("exit %d\n%s", code, said)
		}
		all.WriteString(said)
	}
	swaps := 0
	for _, race := range races {
		swaps += race.stop()
	}
	checkRace(a, before, fmt.Sprintf("%d ran", ran), swaps)
	if !strings.Contains(a.read("outside/tasks.json"), "pristine") {
		a.t.Error(cut.Characters(all.String(), 4000))
	}
}
