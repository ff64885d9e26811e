package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"toolhost/agenttool/cut"
	"toolhost/sandbox"
	"toolhost/testdata/support/wiretest"
)

// approvalsHost is a toolhost process with a client that answers what the test says, and nothing else.
type approvalsHost struct {
	*wireClient
	a       *escapeAttempt
	process *wiretest.Process
	said    *lockedText // stderr
	met     greeting
}

// approvalsArena is an attempt with a configuration directory of its own.
func (r *escapeTools) approvalsArena(t testing.TB, who account, level sandbox.Level) *escapeAttempt {
	t.Helper()
	a := r.jobArena(t, who, level)
	a.env = append(a.env, "XDG_CONFIG_HOME="+a.path("config"))
	return a
}

// approvals makes an attempt of the test's account at the strongest level.
func approvals(t *testing.T) *escapeAttempt {
	t.Helper()
	return jobTools(t).approvalsArena(t, self, sandbox.Full)
}

// serving starts a host. attending is whether its client says that it answers prompts.
func (a *escapeAttempt) serving(attending bool, flags ...string) *approvalsHost {
	a.t.Helper()
	h := &approvalsHost{a: a, said: &lockedText{}, wireClient: newSpeaker(a.t, "the client")}
	cmd := a.serveCommand(flags...)
	cmd.Stderr = h.said
	h.process = h.wireClient.process(cmd)
	a.t.Cleanup(h.close)
	params := fields{"client": fields{"name": "approvals", "version": "1"}, "events": "all", "approvals": attending}
	if err := h.try("agenttool/hello", params, &h.met); err != nil {
		a.t.Fatalf("%v\n%s", err, h.said)
	}
	return h
}

// confinedBy skips a test whose commands are to run at the attempt's level, where the machine does not hold it.
func (h *approvalsHost) confinedBy() *approvalsHost {
	h.t.Helper()
	if h.met.Sandbox.Level != string(h.a.level) {
		h.t.Skipf("the machine holds %s, and this is about %s", h.met.Sandbox.Level, h.a.level)
	}
	return h
}

// close ends the host as a client does, and waits.
func (h *approvalsHost) close() {
	endHost(h.t, h.process, h.said)
	for _, word := range []string{"DATA RACE", "panic", "internal error", "bug in toolhost"} {
		if said := h.said.String(); strings.Contains(said, word) {
			h.t.Errorf("the host said:\n%s", cut.Characters(said, 8000))
			return
		}
	}
}

// changed waits until settings have been put in force n times.
func (h *approvalsHost) changed(n int) {
	h.t.Helper()
	eventually(h.t, "settings are put in force", func() bool {
		return len(h.notices(func(n notice) bool { return n.Type == "tool.x.settings.changed" && n.Data.Mode != "" })) >= n
	})
}

// made is a call that may not be answered yet.
type made struct {
	h     *approvalsHost
	id    string
	name  string
	begun time.Time
	sent  wiretest.Pending
}

// make makes a call.
func (h *approvalsHost) make(tool string, input fields, more ...fields) *made {
	id := fmt.Sprint("call-", h.ID())
	params := fields{"id": id, "tool": tool, "input": input}
	for _, m := range more {
		for name, value := range m {
			params[name] = value
		}
	}
	return &made{h: h, id: id, name: fmt.Sprint(tool, " ", input), begun: time.Now(), sent: h.Send("agenttool/invoke", params)}
}

// write makes a call that writes a file, which asks.
func (h *approvalsHost) write(path string) *made {
	return h.make("write", fields{"path": path, "content": "new\n"})
}

// shell makes a call that runs a command.
func (h *approvalsHost) shell(command string) *made {
	return h.make("shell", fields{"command": command})
}

// result waits for how a call ended.
func (m *made) result() *jobReply {
	m.h.t.Helper()
	r := &jobReply{}
	if err := m.sent.Result(r, patience); err != nil {
		m.h.t.Fatalf("%s: %v\n%s", m.name, err, m.h.said)
	}
	r.took = time.Since(m.begun)
	return r
}

// worked is a result that must be a success.
func (m *made) worked() *jobReply {
	m.h.t.Helper()
	r := m.result()
	if r.Result.Status != "succeeded" {
		m.h.t.Errorf("%s: %s %s: %s", m.name, r.Result.Status, r.Result.Error.Code, r.says())
	}
	return r
}

// failed is a result that must have an error of a code.
func (m *made) failed(code string) *jobReply {
	m.h.t.Helper()
	r := m.result()
	if r.Result.Error.Code != code {
		m.h.t.Errorf("%s: %s, code %q; want %q: %s", m.name, r.Result.Status, r.Result.Error.Code, code, r.says())
	}
	return r
}

// denied is a result that must be a denial, by rules or what else needs no person.
func (m *made) denied() *jobReply {
	m.h.t.Helper()
	r := m.result()
	if r.Result.Status != "denied" || r.Result.Error.Class != "permission_denied" {
		m.h.t.Errorf("%s: %s, code %q; want it denied: %s", m.name, r.Result.Status, r.Result.Error.Code, r.says())
	}
	return r
}

// waits checks that a call is not answered.
func (m *made) waits() {
	m.h.t.Helper()
	select {
	case answer := <-m.sent.Answers:
		m.h.t.Fatalf("%s does not wait: %s", m.name, cut.Characters(string(answer.Line), 2000))
	default:
	}
}

// asksOrEnds waits until there are n prompts about calls whose input has text in it, or this one has ended. It reports whether there are.
func (m *made) asksOrEnds(text string, n int) (asks bool) {
	m.h.t.Helper()
	eventually(m.h.t, m.name+" asks or ends", func() bool {
		asks = m.h.askedAbout(text) >= n
		return asks || len(m.sent.Answers) > 0
	})
	return asks
}

// askedAbout is how often calls whose input has a text have asked.
func (h *approvalsHost) askedAbout(text string) int {
	return len(h.notices(func(n notice) bool {
		return n.Type == "tool.permission.requested" && strings.Contains(string(n.Data.Input), text)
	}))
}

// visitor is somebody at the session's socket: a process of their own, as toolhost approve is.
type visitor struct {
	*wireClient
	process *wiretest.Process
}

// relayScript connects its stdin and stdout to a socket.
const relayScript = `use IO::Socket::UNIX; use IO::Select;
my $s = IO::Socket::UNIX->new(Peer => shift) or die "REFUSED: $!\n";
my ($all, $b) = IO::Select->new($s, \*STDIN);
while (my @ready = $all->can_read) { for my $in (@ready) {
	my $out = $in == $s ? \*STDOUT : $s;
	unless (sysread($in, $b, 65536)) { exit if $in == $s; $all->remove($in); shutdown($s, 1); next }
	while (length $b) { my $n = syswrite($out, $b) or exit 1; substr($b, 0, $n) = "" }
} }`

// visitor connects to the attempt's one session, from a terminal or without any, and says nothing yet.
func (a *escapeAttempt) visitor(terminal bool) *visitor {
	a.t.Helper()
	needs(a.t, "perl")
	argv := append(slices.Clone(a.under), "/usr/bin/perl", "-e", relayScript, a.socket())
	cmd := a.command(argv...)
	if terminal {
		a.giveTerminal(cmd)
	}
	said := &lockedText{}
	cmd.Stderr = said
	p := &visitor{wireClient: newSpeaker(a.t, "the person")}
	if a.who.id != nil { // it has no name
		p.user = strconv.Itoa(int(a.who.id.Uid))
	}
	p.process = p.wireClient.process(cmd)
	a.t.Cleanup(func() {
		p.leave()
		if said := said.String(); said != "" {
			a.t.Logf("the person's connection: %s", said)
		}
	})
	return p
}

// giveTerminal gives a command a terminal of its own.
func (a *escapeAttempt) giveTerminal(cmd *exec.Cmd) {
	a.t.Helper()
	outer, inner, err := pty.Open()
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { outer.Close(); inner.Close() })
	go func() { _, _ = io.Copy(io.Discard, outer) }() // until it is closed
	cmd.ExtraFiles = append(cmd.ExtraFiles, inner)
	cmd.SysProcAttr.Setctty, cmd.SysProcAttr.Ctty = true, 2+len(cmd.ExtraFiles)
}

// leave ends the connection, and waits.
func (p *visitor) leave() {
	p.process.Kill()
}

// viewer is a person who may answer.
func (a *escapeAttempt) viewer() *visitor {
	a.t.Helper()
	p := a.visitor(false)
	if g := p.hello(""); !g.Approvals.May {
		a.t.Fatalf("the person may not answer: %+v", g.Approvals)
	}
	return p
}

// socket waits for the socket of the attempt's one session.
func (a *escapeAttempt) socket() string {
	a.t.Helper()
	var found []string
	eventually(a.t, "the session has a socket", func() bool {
		found = socketsOf(a)
		return len(found) > 0
	})
	return found[0]
}

// eventually waits until something is so, or ends the test. It returns how long that took.
func eventually(t testing.TB, what string, so func() bool) time.Duration {
	t.Helper()
	begun := time.Now()
	if !comesAbout(soon, so) {
		t.Fatalf("it did not come about: %s", what)
	}
	return time.Since(begun)
}

// Where settings are, in an attempt.
const (
	userSettings    = "config/toolhost/settings.json"
	projectSettings = "ws/.toolhost/settings.json"
	localSettings   = "ws/.toolhost/settings.local.json"
)

// replace puts a file of the attempt in the place of one before, at once, as editors do.
func (a *escapeAttempt) replace(name, text string) {
	a.t.Helper()
	a.write(name+".new~", text)
	if err := os.Rename(a.path(name+".new~"), a.path(name)); err != nil {
		a.t.Fatal(err)
	}
}

// rules is a file of settings with rules: "allow Shell(ls)" and so on.
func rules(all ...string) string {
	lists := map[string][]string{}
	for _, rule := range all {
		behavior, text, _ := strings.Cut(rule, " ")
		lists[behavior] = append(lists[behavior], text)
	}
	b, _ := json.Marshal(fields{"permissions": lists})
	return string(b)
}

// exitsAs runs toolhost in another terminal of the person's, and checks its exit code.
func (a *escapeAttempt) exitsAs(code int, args ...string) string {
	a.t.Helper()
	cmd := a.command(slices.Concat(a.under, []string{a.toolhost}, args)...)
	a.giveTerminal(cmd)
	said, got := a.said(cmd)
	if got != code {
		a.t.Errorf("toolhost %s: exit %d, want %d: %s", strings.Join(args, " "), got, code, said)
	}
	return said
}
