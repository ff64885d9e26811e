package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool/cut"
	"toolhost/sandbox"
)

// siege is a session whose own commands try to answer its prompts and to change what is allowed. A prompt is open all the while.
type siege struct {
	*escapeAttempt
	h    *approvalsHost
	open *made // the call that waits
	p    prompted
	went int // attempts so far
}

// owned is a file that only a call may write which an attempt had allowed.
const owned = "owned.txt"

// ownedRules are what attempts want in force.
var ownedRules = rules("allow Write("+owned+")", "allow Shell(touch owned)")

// besiege starts the session. Its client allows what runs the attempts, and does not answer what they are after.
func (a *escapeAttempt) besiege() *siege {
	a.t.Helper()
	s := &siege{escapeAttempt: a, h: a.serving(true).confinedBy()}
	if lacks[a.level] != "" { // such a host is in a user namespace of its own, from which it could not look at a person outside
		needs(a.t, "nsenter")
		s.under = []string{"/usr/bin/nsenter", "--preserve-credentials", "--user", "--target", fmt.Sprint(s.h.process.Cmd.Process.Pid), "--"}
	}
	s.open = s.h.write(owned)
	s.p = s.h.prompt(owned, 1)
	s.write("ws/speak.pl", speaking)
	return s
}

// attempt runs a script as a command of the session, and returns what it said.
func (s *siege) attempt(script string) string {
	s.t.Helper()
	s.went++
	name := fmt.Sprintf("attempt%d.sh", s.went)
	s.write("ws/"+name, s.words()+script)
	m := s.h.make("shell", fields{"command": "bash " + name, "timeout_ms": 60_000})
	s.h.decide(s.h.prompt(name, 1), "allow")
	if m.asksOrEnds(name, 2) { // for what it was kept from
		p := s.h.prompt(name, 2)
		for _, grant := range p.Grants {
			if strings.Contains(grant, s.state) || strings.Contains(grant, s.path("config")) || strings.Contains(grant, s.run) {
				s.t.Errorf("the person is asked to grant what is toolhost's own: %s", grant)
			}
		}
		s.h.decide(p, "deny")
	}
	return m.result().says()
}

// speaking is a program that says to a socket what its arguments are, and prints what it hears.
const speaking = `use IO::Socket::UNIX;
my ($path, $id, @words) = @ARGV;
my %words = (hello => '"agenttool/hello","params":{"approvals":true}', reload => '"agenttool/reload","params":{}',
	decide => '"agenttool/decide","params":{"decision_id":"' . $id . '","behavior":"allow","scope":"user"}');
my $s = IO::Socket::UNIX->new(Peer => $path) or do { print "NOT REACHED: $!\n"; exit };
$s->autoflush(1);
alarm 50;
for (@words) { print $s '{"jsonrpc":"2.0","id":1,"method":' . $words{$_} . "}\n"; my $l = <$s>; last unless defined $l; print "HEARD $l" }
`

// words are what an attempt knows: everything.
func (s *siege) words() string {
	return fmt.Sprintf(`
export SPEAK='perl speak.pl %s %s' TH='%s' HOST=%d USERS='%s' STATE='%s'
export XDG_RUNTIME_DIR='%s' XDG_STATE_HOME="$STATE" XDG_CONFIG_HOME='%s'
`, s.socket(), s.p.Decision.ID, s.toolhost, s.h.process.Cmd.Process.Pid, s.path(userSettings), s.state, s.run, s.path("config"))
}

// unharmed checks that nothing was answered, and nothing is allowed that was not.
func (s *siege) unharmed(after, said string) {
	s.t.Helper()
	if strings.Contains(said, `"may_answer":true`) || strings.Contains(said, `"decision":`) || strings.Contains(said, "ESCAPED") {
		s.t.Errorf("%s: %s", after, said)
	}
	select {
	case answer := <-s.open.sent.Answers:
		s.t.Fatalf("%s: the prompt was answered: %s\n%s", after, cut.Characters(string(answer.Line), 600), said)
	default:
	}
	again := s.h.write(owned)
	if !again.asksOrEnds(owned, 2) {
		s.t.Fatalf("%s: what was not allowed is: %s\n%s", after, again.result().says(), said)
	}
	second := s.h.prompt(owned, 2)
	if second.Coalesced != s.p.Decision.ID {
		s.t.Errorf("%s: the same is asked anew: %+v", after, second)
	}
	s.h.request("agenttool/cancel", fields{"id": again.id}, &struct{}{})
	again.result()
	s.h.forget(second)
	if exists(s.escapeAttempt, "ws/"+owned) {
		s.t.Fatalf("%s: it is written\n%s", after, said)
	}
}

// TestApprovalsOfItself: no command of a session answers its prompts, whatever it is run with, and whatever it pretends to be.
func TestApprovalsOfItself(t *testing.T) {
	t.Parallel()
	needs(t, "perl", "script", "setsid")
	probedDesk(t).besieged(t, func(t *testing.T, a *escapeAttempt) {
		s := a.besiege()
		s.speakers()
		s.commands()
		if a.level != sandbox.None {
			s.signals()
		} else if s.checkCode(); a.who.name == accounts(t)[0].name {
			s.guesses()
		}
		s.answered()
	})
}

// besieged runs a test at all levels: as an ordinary user at each, and as root at the strongest and the weakest. Where there are both, the
// ordinary form leaves these two to root.
func (r *escapeTools) besieged(t *testing.T, test func(*testing.T, *escapeAttempt)) {
	t.Helper()
	for _, who := range accounts(t) {
		for _, level := range r.levels(t, who) {
			ends := level == sandbox.Full || level == sandbox.None
			if who.root() && !ends || !who.root() && ends && os.Getuid() == 0 && !long() {
				continue
			}
			t.Run(who.name+" "+string(level), func(t *testing.T) {
				t.Parallel()
				test(t, r.approvalsArena(t, who, level))
			})
		}
	}
}

// speakers are ways to speak to the socket.
func (s *siege) speakers() {
	s.t.Helper()
	const clean = `env -i PATH="$PATH" `
	const wait = `for i in {1..800}; do [ -e over ] && break; sleep .05; done; cat talked; rm -f over talked`
	for name, script := range map[string]string{
		"as it is":                    `$SPEAK hello decide reload`,
		"without a hello":             `$SPEAK decide reload`,
		"without its mark":            `unset TOOLHOST_JOB; bash -c "$SPEAK hello decide reload"`,
		"in a terminal":               `script -qec "$SPEAK hello decide reload" /dev/null || $SPEAK hello decide`,
		"in a session":                `setsid -w $SPEAK hello decide reload`,
		"with nothing":                clean + `$SPEAK hello decide reload`,
		"as somebody else's":          `(( ` + clean + `setsid $SPEAK hello decide reload > talked 2>&1; touch over) &) & ` + wait,
		"with nothing, in a terminal": clean + `script -qec "$SPEAK hello decide reload" /dev/null || $SPEAK hello decide`,
		"with nothing, in a terminal of nobody's": `(( ` + clean + `setsid script -qec "$SPEAK hello decide reload" talked > /dev/null 2>&1 || $SPEAK hello > talked; touch over) &) & ` + wait,
	} {
		said := s.attempt(script)
		s.unharmed(name, said)
		reached := strings.Contains(said, "HEARD")
		if !reached && !strings.Contains(said, "NOT REACHED") {
			s.t.Errorf("%s: it was not tried: %s", name, said)
		}
		if s.level == sandbox.None && !reached || s.level == sandbox.Full && reached {
			s.t.Errorf("%s: the socket is reached: %v: %s", name, reached, said)
		}
	}
}

// commands are the person's own commands, in the hands of a command.
func (s *siege) commands() {
	s.t.Helper()
	s.write(projectSettings, ownedRules) // to be trusted
	for name, script := range map[string]string{
		"approve":             `printf '1 once\n1 user\nquit\n' | timeout 2 $TH approve --plain --once --no-wait`,
		"approve, unmarked":   `unset TOOLHOST_JOB; printf '1 once\nquit\n' | timeout 2 $TH approve --plain --once --no-wait`,
		"approve, a terminal": `unset TOOLHOST_JOB; (sleep .4; printf '1 once\nquit\n') | timeout 2 script -qec "$TH approve --plain --once" /dev/null`,
		"add-rule":            `for f in user local project; do $TH settings add-rule allow 'Write(owned.txt)' --$f; done`,
		"trust":               `$TH trust --yes`,
		"reload":              `for n in 1 2; do echo AAAA-AAAA | $TH settings reload; echo AAAA-AAAA | script -qec "$TH settings reload" /dev/null; unset TOOLHOST_JOB; done`,
	} {
		said := s.attempt(script)
		s.unharmed(name, said)
	}
	user, project, local := s.read(userSettings), s.read(projectSettings), s.read(localSettings)
	if user != "" || local != "" || project != ownedRules || exists(s.escapeAttempt, "state/toolhost/trust.json") {
		s.t.Errorf("settings have changed: %q %q %q, trust: %v", user, project, local, exists(s.escapeAttempt, "state/toolhost/trust.json"))
	}
}

// signals are ways to end the host, to hold it, and to make it do things.
func (s *siege) signals() {
	s.t.Helper()
	said := s.attempt(`
		for sig in 0 TERM STOP HUP USR1 KILL; do kill -$sig $HOST 2>/dev/null && echo ESCAPED signal $sig; done
		perl -e 'my $pid = shift; $! = 0;
			syscall(101, 16, $pid + 0, 0, 0) == 0 and print "ESCAPED attached\n";
			syscall(101, 0x4206, $pid + 0, 0, 0) == 0 and print "ESCAPED seized\n";
			my $fd = syscall(434, $pid + 0, 0); $fd >= 0 and syscall(424, $fd, 15, 0, 0) == 0 and print "ESCAPED by its descriptor\n";
			open(my $mem, "+<", "/proc/$pid/mem") and print "ESCAPED memory\n";
			open(my $environ, "<", "/proc/$pid/environ") and read($environ, my $b, 10) and print "ESCAPED environment\n";
			opendir(my $fds, "/proc/$pid/fd") and scalar(readdir $fds) and readlink("/proc/$pid/fd/0") and print "ESCAPED descriptors\n";
		' $HOST
		echo tried`)
	if !strings.Contains(said, "tried") {
		s.t.Errorf("it was not tried: %s", said)
	}
	s.unharmed("signals", said)
	if state := stateOfProcess(s.h.process.Cmd.Process.Pid); strings.ContainsAny(state, "Tt") {
		s.t.Errorf("the host is held: %s", state)
	}
}

// stateOfProcess is a letter: T is stopped, t is traced.
func stateOfProcess(pid int) string {
	if words := tableEntry(pid); len(words) > 0 {
		return words[0]
	}
	return ""
}

// checkCode checks that the client has the code, and that nobody else is told.
func (s *siege) checkCode() {
	s.t.Helper()
	to := s.h.met.Approvals
	if len(to.Code) < 8 || to.Command != "toolhost approve" || !strings.Contains(to.Detail, "not prevented") {
		s.t.Errorf("the client is told %+v", to)
	}
	if where := s.tells(to.Code); where != "" {
		s.t.Errorf("the code stands in %s", where)
	}
	if g := s.visitor(false).hello(to.Code); g.Approvals.May || !strings.Contains(g.Approvals.Why, "terminal") {
		s.t.Errorf("without a terminal the right code is told %+v", g.Approvals)
	}
}

// guesses guesses the code, from a terminal of nobody's.
func (s *siege) guesses() {
	s.t.Helper()
	code := s.h.met.Approvals.Code
	guesser := s.visitor(true)
	begun := time.Now()
	for _, guess := range []string{"AAAA-AAAA", code[:len(code)-1], "*", strings.Repeat("A", 1000), " "} {
		if g := guesser.hello(guess); g.Approvals.May || !g.Approvals.NeedsCode {
			s.t.Errorf("with code %q: %+v", guess, g.Approvals)
		}
	}
	if took := time.Since(begun); took < time.Second {
		s.t.Errorf("five guesses took %v", took)
	}
	for range 2 {
		if g := guesser.hello(code); g.Approvals.May || !strings.Contains(g.Approvals.Why, "too many") {
			s.t.Errorf("after five guesses the right code is told %+v", g.Approvals)
		}
	}
	guesser.undecided(s.p, "allow")
}

// tells returns a file of toolhost's own in which a text stands.
func (s *siege) tells(text string) (where string) {
	for _, dir := range []string{s.state, s.run, s.path("config"), s.ws} {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), text) {
					where = path
				}
			}
			return nil
		})
	}
	return where
}

// answered has a person answer, which shows that it was possible.
func (s *siege) answered() {
	s.t.Helper()
	p := s.visitor(s.level == sandbox.None)
	if g := p.hello(s.h.met.Approvals.Code); !g.Approvals.May {
		s.t.Fatalf("the person may not answer: %+v", g.Approvals)
	}
	p.decide(s.p, "allow")
	s.open.worked()
}

// TestApprovalsUnconfined: once a command ran without a sandbox, a session takes answers as one does that has none.
func TestApprovalsUnconfined(t *testing.T) {
	t.Parallel()
	needs(t, "perl")
	a := approvals(t)
	h := a.serving(true).confinedBy()
	if h.met.Approvals.Code != "" || h.met.Approvals.Detail != "" {
		t.Errorf("before that the client is told %+v", h.met.Approvals)
	}
	m := h.shell("touch free")
	early := a.viewer()
	h.decide(h.prompt("touch free", 1), "allow", fields{"grants": []string{"unconfined"}})
	m.worked()
	var g greeting
	h.request("agenttool/hello", fields{"client": fields{"name": "again"}, "events": "all", "approvals": true}, &g)
	if g.Approvals.Code == "" || !strings.Contains(g.Approvals.Detail, "not prevented") {
		t.Errorf("after that the client is told %+v", g.Approvals)
	}
	if may := a.visitor(false).hello("").Approvals; may.May || !strings.Contains(may.Why, "terminal") {
		t.Errorf("without a terminal: %+v", may)
	}
	late := a.visitor(true)
	if may := late.hello("").Approvals; may.May || !may.NeedsCode {
		t.Errorf("without the code: %+v", may)
	}
	a.replace(userSettings, rules("allow Write(a.txt)"))
	eventually(t, "settings are held", func() bool { return strings.Contains(strings.Join(early.hello("").Warnings, " "), "settings reload") })
	w := h.write("a.txt")
	p := h.prompt("a.txt", 1)
	late.undecided(p, "allow")
	if may := late.hello(g.Approvals.Code).Approvals; !may.May {
		t.Errorf("with the code: %+v", may)
	}
	late.decide(p, "allow")
	w.worked()
}
