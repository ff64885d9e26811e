package client

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
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/presence"
	"toolhost/cmd/toolhost/internal/sockets"
	"toolhost/cmd/toolhost/testdata/sessiontest"
)

// heard are the events of a client, in words.
type heard struct {
	t      *testing.T
	client *Client
	events chan any
	past   []string
}

// listenIn runs a client for the sessions whose ids end so.
func listenIn(t *testing.T, only string) *heard {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	k := &heard{t: t, events: make(chan any, 1000)}
	k.client = New(Options{Session: only, Event: func(e any) { k.events <- e }, Dirs: dirs.Sockets()[:1]}) // real sessions may be in the others
	var running sync.WaitGroup
	running.Go(func() { k.client.Run(ctx) })
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

func TestClientTellsWhatIsThere(t *testing.T) {
	dir := sessiontest.Runtime(t)
	f := sessiontest.Start(t, dir, "hub1")
	f.Ask("p1", "make", nil)
	k := listenIn(t, "hub1")
	k.until("opened ses_fakehub1 may true")
	k.until("asked p1")
	k.until("approve.Complete")
	f.Ask("p2", "make install", nil)
	k.until("asked p2")
	f.End("p1", "deny", "it expired")
	k.until("ended p1 denied: it expired")
	f.Stop()
	k.until("closed ses_fakehub1")
}

func TestClientFindsNewSessions(t *testing.T) {
	dir := sessiontest.Runtime(t)
	k := listenIn(t, "")
	k.until("approve.Complete")
	sessiontest.Start(t, dir, "late1") // its directory is made now, too
	k.until("opened ses_fakelate1")
	sessiontest.Start(t, dir, "late2")
	k.until("opened ses_fakelate2")
}

func TestClientMeansOnlyTheSessionThatIsNamed(t *testing.T) {
	dir := sessiontest.Runtime(t)
	sessiontest.Start(t, dir, "other").Ask("p0", "make", nil)
	sessiontest.Start(t, dir, "meant").Ask("p1", "make", nil)
	k := listenIn(t, "MEANT")
	k.until("asked p1")
	if past := strings.Join(k.past, "\n"); strings.Contains(past, "other") || strings.Contains(past, "p0") {
		t.Errorf("another session was told:\n%s", past)
	}
}

func TestClientNewest(t *testing.T) {
	dir := sessiontest.Runtime(t)
	old := sessiontest.Start(t, dir, "aaa")
	sessiontest.Start(t, dir, "bbb")
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old.Path, before, before); err != nil {
		t.Fatal(err)
	}
	k := listenIn(t, sockets.Newest)
	k.until("opened ses_fakebbb")
	k.until("approve.Complete")
	time.Sleep(1500 * time.Millisecond) // a whole look at the directories
	for len(k.events) > 0 {
		if words := inWords(<-k.events); strings.Contains(words, "aaa") {
			t.Error(words)
		}
	}
}

func TestClientAnswers(t *testing.T) {
	f := sessiontest.Start(t, sessiontest.Runtime(t), "hub1")
	f.Ask("p1", "make", nil)
	k := listenIn(t, "hub1")
	k.until("asked p1")
	answer := approve.Answer{Session: f.ID, ID: "p1", Behavior: agenttool.Allow, Scope: "session", AcceptUpdates: []int{0}}
	f.Change(func() { f.Refuse = "updated_input: bad" })
	if err := k.client.Answer(answer); err == nil || err.Error() != "updated_input: bad" {
		t.Errorf("error %v", err)
	}
	f.Change(func() { f.Refuse = "" })
	if err := k.client.Answer(answer); err != nil {
		t.Error(err)
	}
	k.until("ended p1 allowed: answered with toolhost approve")
	if err := k.client.Answer(answer); err == nil || !strings.Contains(err.Error(), "no prompt waits") {
		t.Errorf("error %v", err)
	}
	if got := strings.Join(f.Answers(), "\n"); got != `{"accept_updates":[0],"behavior":"allow","decision_id":"p1","scope":"session"}` {
		t.Errorf("answers %s", got)
	}
	answer.Session = "ses_none"
	if err := k.client.Answer(answer); !errors.Is(err, errEnded) {
		t.Errorf("error %v", err)
	}
}

// TestClientAnswerToADyingSession checks that nobody waits for ever for a session that dies with the answer.
// TestClientTries: the session reports the coverage of a rule, and its errors come back word for word.
func TestClientTries(t *testing.T) {
	f := sessiontest.Start(t, sessiontest.Runtime(t), "a")
	k := listenIn(t, "")
	f.Ask("p1", "make", nil)
	k.until("asked p1")
	if got, err := k.client.Try(f.ID, "p1", []string{"Shell(make *)"}); err != nil || !got.Covers() || !got.Runs {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := k.client.Activity(f.ID); err != nil || got.Session != f.ID || len(got.Denied) != 1 || got.Denied[0].Subject != "a.txt" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := k.client.Try(f.ID, "p1", []string{"Shel"}); err == nil || err.Error() != "rule [Shel]: there is no such tool" {
		t.Errorf("the error is %v", err)
	}
	if _, err := k.client.Try("ses_other", "p1", nil); !errors.Is(err, errEnded) {
		t.Errorf("the error is %v", err)
	}
	f.WantAnswers()
}

func TestClientAnswerToADyingSession(t *testing.T) {
	f := sessiontest.Start(t, sessiontest.Runtime(t), "hub1")
	f.Ask("p1", "make", nil)
	f.Change(func() { f.Silent = true })
	k := listenIn(t, "hub1")
	k.until("asked p1")
	failed := make(chan error, 1)
	go func() {
		failed <- k.client.Answer(approve.Answer{Session: f.ID, ID: "p1", Behavior: agenttool.Allow})
	}()
	for len(f.Answers()) == 0 {
		time.Sleep(time.Millisecond)
	}
	f.Stop()
	if err := <-failed; !errors.Is(err, errEnded) {
		t.Errorf("error %v", err)
	}
}

func TestClientCode(t *testing.T) {
	f := sessiontest.Start(t, sessiontest.Runtime(t), "hub1")
	f.Change(func() { f.Approvals["code"] = "ABCD" })
	f.Ask("p1", "make", nil)
	k := listenIn(t, "hub1")
	k.until("opened ses_fakehub1 may false")
	k.until("asked p1")
	if err := k.client.Code(f.ID, "XXXX"); err == nil || err.Error() != "wrong code" {
		t.Errorf("error %v", err)
	}
	if err := k.client.Code(f.ID, "ABCD"); err != nil {
		t.Error(err)
	}
	k.until("opened ses_fakehub1 may true")
	if f.Hellos != 4 { // the first asks who it is
		t.Errorf("%d greetings: each may count as a try", f.Hellos)
	}
}

// TestClientReadOnly checks that prompts are followed where the session tells nothing by itself.
func TestClientReadOnly(t *testing.T) {
	f := sessiontest.Start(t, sessiontest.Runtime(t), "hub1")
	f.Change(func() { f.Approvals = map[string]any{"may_answer": false, "why": "no terminal"} })
	k := listenIn(t, "hub1")
	k.until("opened ses_fakehub1 may false")
	f.Ask("p1", "make", nil)
	k.until("asked p1")
	f.End("p1", "allow", "x")
	k.until("ended p1 it does not wait any more")
	if f.Hellos != 2 {
		t.Errorf("%d greetings", f.Hellos)
	}
}

// TestClientCoalesced checks that a prompt that asks the same as another is not taken for ended because it is not listed.
func TestClientCoalesced(t *testing.T) {
	f := sessiontest.Start(t, sessiontest.Runtime(t), "hub1")
	k := listenIn(t, "hub1")
	k.until("approve.Complete")
	f.Ask("p1", "make", nil)
	f.Ask("p2", "make", map[string]any{"coalesced_with": "p1"})
	k.until("asked p2")
	f.Ask("p3", "other", nil)
	if err := k.client.Answer(approve.Answer{Session: f.ID, ID: "none", Behavior: agenttool.Allow}); err == nil { // lists anew
		t.Error("an answer to no prompt counted")
	}
	f.End("p3", "allow", "x")
	k.until("ended p3")
	if past := strings.Join(k.past, "\n"); strings.Contains(past, "ended p2") || strings.Contains(past, "ended p1") {
		t.Errorf("it ended:\n%s", past)
	}
	f.Change(func() { delete(f.Prompts[1], "coalesced_with") }) // p1 goes, p2 stays: it is listed
	f.End("p1", "deny", "withdrawn")
	k.until("ended p1")
	if e := k.until("asked p2").(approve.Asked); e.Prompt.With != "" {
		t.Errorf("it waits with %s", e.Prompt.With)
	}
}

func TestClientComesBack(t *testing.T) {
	f := sessiontest.Start(t, sessiontest.Runtime(t), "hub1")
	f.Ask("p1", "make", nil)
	k := listenIn(t, "hub1")
	k.until("asked p1")
	f.Change(func() {
		for conn := range f.Conns {
			conn.Close()
		}
	})
	k.until("closed ses_fakehub1")
	k.until("asked p1")
}

func TestClientSettings(t *testing.T) {
	f := sessiontest.Start(t, sessiontest.Runtime(t), "hub1")
	f.Change(func() { f.Warnings = []string{"a"} })
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
		f.Change(func() { f.Broadcast("tool.x.settings.changed", c.data) })
		e := k.until("opened").(approve.Opened)
		if got := strings.Join(e.Session.Warnings, " "); got != c.want {
			t.Errorf("after %v the warnings are %q, want %q", c.data, got, c.want)
		}
	}
}

// TestLineWithoutEnd checks that the client reads no more of a line than a session may send. A greeting has a time limit, in which so many
// bytes do not come on a busy machine.
func TestLineWithoutEnd(t *testing.T) {
	near, far := net.Pipe()
	var sent sync.WaitGroup
	sent.Go(func() { _, _ = far.Write([]byte(strings.Repeat("x", 17<<20))) })
	defer sent.Wait()
	defer near.Close()
	if err := (&conn{net: near}).read(); err == nil || !strings.Contains(err.Error(), "a line of more than 16777216 bytes") {
		t.Errorf("%v", err)
	}
}

// TestClientTroubles checks that what does not speak like a session is named once, and holds nobody up.
func TestClientTroubles(t *testing.T) {
	for _, c := range []struct{ name, says, want string }{
		{"no JSON", "hello\n", "is not JSON"},
		{"no id", `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n", "does not say its id"},
		{"another shape", `{"jsonrpc":"2.0","id":1,"result":[]}` + "\n", "cannot unmarshal"},
		{"refuses", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}` + "\n", "method not found"},
		{"of an older version", `{"jsonrpc":"2.0","id":1,"result":{"session_id":"s"}}` + "\n" + `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"method not found"}}` + "\n", "does not say what it asks"},
		{"says nothing", "", "does not answer as a session"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := sessiontest.Runtime(t)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("unix", filepath.Join(dir, "odd"+sockets.Suffix))
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
			good := sessiontest.Start(t, dir, "good")
			good.Ask("p1", "make", nil)
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

func TestApproveIsHere(t *testing.T) {
	sessiontest.Runtime(t)
	if presence.Here() {
		t.Fatal("somebody answers before anybody was there")
	}
	k := listenIn(t, "")
	k.until("approve.Complete")
	for range 12000 {
		if presence.Here() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("nobody knows that somebody answers")
}
