package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"toolhost/sandbox"
)

// raceRounds is how often something is written while a link takes its directory's place. testdata/escapes/race.sh has more.
func raceRounds() int {
	if n, err := strconv.Atoi(os.Getenv("TOOLHOST_ESCAPES_ROUNDS")); err == nil {
		return n
	}
	return 5000
}

// tryRace replaces directories by links under the hands of commands, of toolhost's own tools, and of a sandbox that is made.
func tryRace(t *testing.T, r *rig) {
	for _, who := range accounts(t) {
		for _, level := range anywhere {
			t.Run(who.name+" "+string(level)+" a command", func(t *testing.T) { t.Parallel(); raceCommand(r.arena(t, who, level)) })
		}
		t.Run(who.name+" write and edit", func(t *testing.T) { t.Parallel(); raceTools(r.arena(t, who, sandbox.Full)) })
		t.Run(who.name+" set-up", func(t *testing.T) { t.Parallel(); raceSetup(r.arena(t, who, sandbox.Full)) })
	}
}

// swap exchanges two names until stop is called, which returns how often.
func swap(a *arena, one, other string) (stop func() int) {
	one, other = a.path(one), a.path(other)
	quit := make(chan struct{})
	var done sync.WaitGroup
	rounds := 0
	done.Go(func() {
		for {
			select {
			case <-quit:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
				rounds++
			}
		}
	})
	return func() int { close(quit); done.Wait(); return rounds }
}

func raceCommand(a *arena) {
	a.host("mkdir a; ln -s ../outside b; cp file $OUT/f; cp file $OUT/g")
	before := a.look()
	attributes := 0
	if a.level == sandbox.Full { // elsewhere nothing but a check that can be raced holds them
		attributes = 1
	}
	stop := swap(a, "ws/a", "ws/b")
	said, _ := a.said(a.boxed(sandbox.Workspace, fmt.Sprintf("$P hammer a %d %d", raceRounds(), attributes), "--quiet"))
	swaps := stop()
	checkRace(a, before, said, swaps)
}

// checkRace looks at what is outside after a race in which something was written inside.
func checkRace(a *arena, before map[string]entry, said string, swaps int) {
	a.t.Helper()
	var harm []string
	for _, change := range changes(before, a.look(), "ws") {
		if !strings.HasPrefix(change, "home/") {
			harm = append(harm, change)
		}
	}
	if len(harm) > 0 || swaps < 100 {
		a.t.Errorf("%d swaps: %s\n%s", swaps, strings.Join(harm, "\n"), clipped(said, 1000))
	}
	a.t.Logf("%d swaps; %s", swaps, clipped(strings.TrimSpace(said), 100))
}

// raceTools has the file tools of a session write where a link takes the directory's place.
func raceTools(a *arena) {
	a.host("mkdir a; ln -s ../outside b; cp file $OUT/f; cp file $OUT/g; cp file a/f; cp file a/g")
	s := a.serve("--allow", "Write(a/**)", "--allow", "Edit(a/**)", "--allow", "Read", "--mode", "default")
	before := a.look()
	stop := swap(a, "ws/a", "ws/b")
	rounds, wrote := raceRounds()/5, 0 // an answer takes as long as many writes
	const window = 8
	sent := 0
	send := func() {
		input, tool := fmt.Sprintf(`{"path":"a/f%d","content":"x"}`, sent%50), "write"
		if sent%3 == 2 {
			input, tool = `{"path":"a/g","old_string":"pristine","new_string":"pristine too"}`, "edit"
		}
		if _, err := io.WriteString(s.in, invocation(sent, tool, input)+"\n"); err != nil {
			a.t.Fatal(err)
		}
		sent++
	}
	for sent < window {
		send()
	}
	for answered := 0; answered < rounds; answered++ {
		if strings.Contains(s.answer(), `"status":"succeeded"`) {
			wrote++
		}
		if sent < rounds {
			send()
		}
	}
	swaps := stop()
	checkRace(a, before, fmt.Sprintf("wrote %d of %d", wrote, rounds), swaps)
	if wrote == 0 {
		a.t.Error("nothing was written at all")
	}
}

// raceSetup replaces what is protected while sandboxes are made over it.
func raceSetup(a *arena) {
	a.host(`mkdir .vscode alt; echo pristine > .vscode/tasks.json; echo pristine > $OUT/tasks.json
			ln -s ../outside other; ln -s $OUT/file otherenv; ln -s ../../outside tree/out; git init -q
			mv .git/hooks .git/h; ln -s ../../outside .git/hooks`)
	before := a.look()
	stops := []func() int{swap(a, "ws/.vscode", "ws/other"), swap(a, "ws/.env", "ws/otherenv"), swap(a,
		"ws/.git/hooks", "ws/.git/h"), swap(a, "ws/tree", "ws/alt")}
	ran := 0
	var all strings.Builder
	for range max(raceRounds()/250, 20) {
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
	for _, stop := range stops {
		swaps += stop()
	}
	checkRace(a, before, fmt.Sprintf("%d ran", ran), swaps)
	if !strings.Contains(a.read("outside/tasks.json"), "pristine") {
		a.t.Error(clipped(all.String(), 4000))
	}
}
