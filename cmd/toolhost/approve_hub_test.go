package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/approve"
)

// heard are the events of a hub, in words.
type heard struct {
	t      *testing.T
	hub    *hub
	events chan any
	past   []string
}

// listenIn runs a hub for the sessions whose ids end so.
func listenIn(t *testing.T, only string) *heard {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	k := &heard{t: t, events: make(chan any, 1000)}
	k.hub = newHub(only, func(e any) { k.events <- e })
	dirs := runtimeDirs()[:1] // not those in which sessions of others may be
	k.hub.dirs = func() []string { return dirs }
	k.hub.paths = func() []string {
		paths, _ := filepath.Glob(filepath.Join(dirs[0], "*"+socketSuffix))
		return paths
	}
	var running sync.WaitGroup
	running.Go(func() { k.hub.run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return k
}

// until waits for an event in words, and returns it.
func (k *heard) until(want string) any {
	k.t.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case e := <-k.events:
			words := inWords(e)
			k.past = append(k.past, words)
			if strings.HasPrefix(words, want) {
				return e
			}
		case <-limit:
			k.t.Fatalf("%q was not told; what was:\n%s", want, strings.Join(k.past, "\n"))
		}
	}
}

func inWords(e any) string {
	switch e := e.(type) {
	case approve.Opened:
		return fmt.Sprintf("opened %s may %v", e.Session.ID, e.Session.Approvals.MayAnswer)
	case approve.Closed:
		return "closed " + e.Session
	case approve.Asked:
		return fmt.Sprintf("asked %s", e.Prompt.ID())
	case approve.Ended:
		return fmt.Sprintf("ended %s %s", e.ID, e.How)
	case approve.Trouble:
		return "trouble " + e.Text
	}
	return fmt.Sprintf("%T", e)
}

func TestHubTellsWhatIsThere(t *testing.T) {
	dir := fakeRuntime(t)
	f := startFake(t, dir, "hub1")
	f.ask("p1", "make", nil)
	k := listenIn(t, "hub1")
	k.until("opened ses_fakehub1 may true")
	k.until("asked p1")
	k.until("approve.Complete")
	f.ask("p2", "make install", nil)
	k.until("asked p2")
	f.end("p1", "deny", "it expired")
	k.until("ended p1 denied: it expired")
	f.stop()
	k.until("closed ses_fakehub1")
}

func TestHubFindsNewSessions(t *testing.T) {
	dir := fakeRuntime(t)
	k := listenIn(t, "")
	k.until("approve.Complete")
	startFake(t, dir, "late1") // its directory is made now, too
	k.until("opened ses_fakelate1")
	startFake(t, dir, "late2")
	k.until("opened ses_fakelate2")
}

func TestHubMeansOnlyTheSessionThatIsNamed(t *testing.T) {
	dir := fakeRuntime(t)
	startFake(t, dir, "other").ask("p0", "make", nil)
	startFake(t, dir, "meant").ask("p1", "make", nil)
	k := listenIn(t, "MEANT")
	k.until("asked p1")
	if past := strings.Join(k.past, "\n"); strings.Contains(past, "other") || strings.Contains(past, "p0") {
		t.Errorf("another session was told:\n%s", past)
	}
}

func TestHubNewest(t *testing.T) {
	dir := fakeRuntime(t)
	old := startFake(t, dir, "aaa")
	startFake(t, dir, "bbb")
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old.path, before, before); err != nil {
		t.Fatal(err)
	}
	k := listenIn(t, newest)
	k.until("opened ses_fakebbb")
	k.until("approve.Complete")
	time.Sleep(1500 * time.Millisecond) // a whole look at the directories
	for len(k.events) > 0 {
		if words := inWords(<-k.events); strings.Contains(words, "aaa") {
			t.Error(words)
		}
	}
}

func TestHubAnswers(t *testing.T) {
	f := startFake(t, fakeRuntime(t), "hub1")
	f.ask("p1", "make", nil)
	k := listenIn(t, "hub1")
	k.until("asked p1")
	answer := approve.Answer{Session: f.id, ID: "p1", Behavior: agenttool.Allow, Scope: "session", AcceptUpdates: []int{0}}
	f.set(func() { f.refuse = "updated_input: bad" })
	if err := k.hub.Answer(answer); err == nil || err.Error() != "updated_input: bad" {
		t.Errorf("error %v", err)
	}
	f.set(func() { f.refuse = "" })
	if err := k.hub.Answer(answer); err != nil {
		t.Error(err)
	}
	k.until("ended p1 allowed: answered with toolhost approve")
	if err := k.hub.Answer(answer); err == nil || !strings.Contains(err.Error(), "no prompt waits") {
		t.Errorf("error %v", err)
	}
	if got := strings.Join(f.answered(), "\n"); got != `{"accept_updates":[0],"behavior":"allow","decision_id":"p1","scope":"session"}` {
		t.Errorf("answers %s", got)
	}
	answer.Session = "ses_none"
	if err := k.hub.Answer(answer); !errors.Is(err, errGone) {
		t.Errorf("error %v", err)
	}
}

// TestHubAnswerToADyingSession checks that nobody waits for ever for a session that dies with the answer.
func TestHubAnswerToADyingSession(t *testing.T) {
	f := startFake(t, fakeRuntime(t), "hub1")
	f.ask("p1", "make", nil)
	f.set(func() { f.silent = true })
	k := listenIn(t, "hub1")
	k.until("asked p1")
	failed := make(chan error, 1)
	go func() {
		failed <- k.hub.Answer(approve.Answer{Session: f.id, ID: "p1", Behavior: agenttool.Allow})
	}()
	for len(f.answered()) == 0 {
		time.Sleep(time.Millisecond)
	}
	f.stop()
	if err := <-failed; !errors.Is(err, errGone) {
		t.Errorf("error %v", err)
	}
}

func TestHubCode(t *testing.T) {
	f := startFake(t, fakeRuntime(t), "hub1")
	f.set(func() { f.approvals["code"] = "ABCD" })
	f.ask("p1", "make", nil)
	k := listenIn(t, "hub1")
	k.until("opened ses_fakehub1 may false")
	k.until("asked p1")
	if err := k.hub.Code(f.id, "XXXX"); err == nil || err.Error() != "wrong code" {
		t.Errorf("error %v", err)
	}
	if err := k.hub.Code(f.id, "ABCD"); err != nil {
		t.Error(err)
	}
	k.until("opened ses_fakehub1 may true")
	if f.hellos != 4 { // the first asks who it is
		t.Errorf("%d greetings: each may count as a try", f.hellos)
	}
}

// TestHubReadOnly checks that prompts are followed where the session tells nothing by itself.
func TestHubReadOnly(t *testing.T) {
	f := startFake(t, fakeRuntime(t), "hub1")
	f.set(func() { f.approvals = map[string]any{"may_answer": false, "why": "no terminal"} })
	k := listenIn(t, "hub1")
	k.until("opened ses_fakehub1 may false")
	f.ask("p1", "make", nil)
	k.until("asked p1")
	f.end("p1", "allow", "x")
	k.until("ended p1 it does not wait any more")
	if f.hellos != 2 {
		t.Errorf("%d greetings", f.hellos)
	}
}

// TestHubCoalesced checks that a prompt that asks the same as another is not taken for ended because it is not listed.
func TestHubCoalesced(t *testing.T) {
	f := startFake(t, fakeRuntime(t), "hub1")
	k := listenIn(t, "hub1")
	k.until("approve.Complete")
	f.ask("p1", "make", nil)
	f.ask("p2", "make", map[string]any{"coalesced_with": "p1"})
	k.until("asked p2")
	f.ask("p3", "other", nil)
	if err := k.hub.Answer(approve.Answer{Session: f.id, ID: "none", Behavior: agenttool.Allow}); err == nil { // lists anew
		t.Error("an answer to no prompt counted")
	}
	f.end("p3", "allow", "x")
	k.until("ended p3")
	if past := strings.Join(k.past, "\n"); strings.Contains(past, "ended p2") || strings.Contains(past, "ended p1") {
		t.Errorf("it ended:\n%s", past)
	}
	f.set(func() { delete(f.prompts[1], "coalesced_with") }) // p1 goes, p2 stays: it is listed
	f.end("p1", "deny", "withdrawn")
	k.until("ended p1")
	if e := k.until("asked p2").(approve.Asked); e.Prompt.With != "" {
		t.Errorf("it waits with %s", e.Prompt.With)
	}
}

func TestHubComesBack(t *testing.T) {
	f := startFake(t, fakeRuntime(t), "hub1")
	f.ask("p1", "make", nil)
	k := listenIn(t, "hub1")
	k.until("asked p1")
	f.set(func() {
		for conn := range f.conns {
			conn.Close()
		}
	})
	k.until("closed ses_fakehub1")
	k.until("asked p1")
}

func TestHubSettings(t *testing.T) {
	f := startFake(t, fakeRuntime(t), "hub1")
	f.set(func() { f.warnings = []string{"a"} })
	k := listenIn(t, "hub1")
	k.until("approve.Complete")
	for _, c := range []struct {
		data map[string]any
		want string
	}{
		{map[string]any{"warning": "b"}, "a b"},
		{map[string]any{"mode": "default"}, ""},
		{map[string]any{"warning": "c"}, "c"},
	} {
		f.set(func() { f.broadcast("tool.x.settings.changed", c.data) })
		e := k.until("opened").(approve.Opened)
		if got := strings.Join(e.Session.Warnings, " "); got != c.want {
			t.Errorf("after %v the warnings are %q, want %q", c.data, got, c.want)
		}
	}
}

// TestHubTroubles checks that what does not speak like a session is named once, and holds nobody up.
func TestHubTroubles(t *testing.T) {
	for _, c := range []struct{ name, says, want string }{
		{"no JSON", "hello\n", "is not JSON"},
		{"no id", `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n", "does not say its id"},
		{"another shape", `{"jsonrpc":"2.0","id":1,"result":[]}` + "\n", "cannot unmarshal"},
		{"refuses", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}` + "\n", "method not found"},
		{"of an older version", `{"jsonrpc":"2.0","id":1,"result":{"session_id":"s"}}` + "\n" + `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"method not found"}}` + "\n", "does not say what it asks"},
		{"says nothing", "", "does not answer as a session"},
		{"a line without end", strings.Repeat("x", 17<<20), "more than 16777216 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := fakeRuntime(t)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("unix", filepath.Join(dir, "odd"+socketSuffix))
			if err != nil {
				t.Fatal(err)
			}
			var served sync.WaitGroup
			served.Go(func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					served.Go(func() {
						defer conn.Close()
						_, _ = conn.Write([]byte(c.says))
						_, _ = conn.Read(make([]byte, 1<<20))
						_, _ = conn.Read(make([]byte, 1<<20))
						time.Sleep(10 * time.Millisecond)
						if c.says == "" {
							_, _ = conn.Read(make([]byte, 1))
						}
					})
				}
			})
			t.Cleanup(func() {
				l.Close()
				served.Wait()
			})
			good := startFake(t, dir, "good")
			good.ask("p1", "make", nil)
			k := listenIn(t, "")
			for _, want := range []string{"asked p1", "approve.Complete", "trouble"} {
				if !slices.ContainsFunc(k.past, func(e string) bool { return strings.HasPrefix(e, want) }) {
					k.until(want)
				}
			}
			if past := strings.Join(k.past, "\n"); !strings.Contains(past, c.want) || strings.Count(past, "trouble") > 1 {
				t.Errorf("trouble with %q is wanted, once:\n%s", c.want, past)
			}
		})
	}
}

func TestApproveTouchesSeen(t *testing.T) {
	fakeRuntime(t)
	if somebodyAnswers() {
		t.Fatal("somebody answers before anybody was there")
	}
	k := listenIn(t, "none")
	k.until("approve.Complete")
	for range 12000 {
		if somebodyAnswers() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("nobody knows that somebody answers")
}
