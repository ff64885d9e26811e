package main

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"toolhost/sandbox"
)

// TestWallAsksAboutPaths: a command that meets the wall at a path is held in that call while a user is asked about it. A yes opens this name,
// and the neighbour stays shut.
func TestWallAsksAboutPaths(t *testing.T) {
	t.Parallel()
	byEach(t, wallAsksAboutPaths)
}

func wallAsksAboutPaths(t *testing.T, who account) {
	a := jobTools(t).approvalsArena(t, who, sandbox.Full)
	a.write("home/old.txt", "old\n")
	a.write("home/is.txt", "is\n")
	a.write("ws/step.sh", "echo step >> steps\nmkdir ~/notes && echo x > ~/notes/a\necho x > ~/no\necho more >> ~/old.txt\necho x > ~/no\necho x > ~/is.txt\n"+
		"mkdir ~/notes2\ntrue\n")
	h := a.serving(true, "--allow", "Shell(bash step.sh)").confinedBy()
	const command = "bash step.sh"
	m := h.shell(command)
	for i, path := range []string{"home/notes", "home/no", "home/old.txt", "home/is.txt", "home/notes2"} {
		p := h.prompt(command, i+1)
		program := map[bool]string{true: "mkdir", false: "bash"}[strings.Contains(path, "notes")]
		if want := "write " + a.path(path) + " (" + program + ")"; !slices.Equal(p.Grants, []string{"write:" + a.path(path)}) || !strings.Contains(p.Decision.Reason.Detail, want) {
			t.Errorf("prompt %d is %s, and not about %s", i+1, p, want)
		}
		if asks := h.heldJob(1); asks[0] != a.path(path) {
			t.Errorf("held for %q", asks)
		}
		if exists(a, path) != strings.HasSuffix(path, ".txt") {
			t.Errorf("%s was made before the answer", path)
		}
		h.decide(p, map[bool]string{true: "allow", false: "deny"}[i%2 == 0 && i < 4])
	}
	r := m.result()
	if a.read("home/notes/a") != "x\n" || a.read("home/old.txt") != "old\nmore\n" {
		t.Errorf("a yes did not do it: %s", r.says())
	}
	if exists(a, "home/no") || exists(a, "home/notes2") || a.read("home/is.txt") != "is\n" || a.read("ws/steps") != "step\n" {
		t.Errorf("it did more than a yes: %s", r.says())
	}
	if h.asked() != 5 {
		t.Errorf("asked %d times", h.asked())
	}
}

// TestWallPathRule: a yes to a path for the session is a rule about it, which holds for the rest of the call and for the next. A path
// that a rule denies is not asked about.
func TestWallPathRule(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write("ws/step.sh", "mkdir ~/$1; echo x > ~/$1/f; rm -r ~/$1 || touch stayed; mkdir ~/$1 || touch stayed; echo y > ~/denied/x; echo y > ~/denied.txt; mkdir ~/.state /usr/x; true\n")
	h := a.serving(true, "--allow", "Shell(bash step.sh *)", "--deny", "Write("+a.path("home")+"/denied*)").confinedBy()
	m := h.shell("bash step.sh kept")
	p := h.prompt("step.sh kept", 1)
	if len(p.Decision.Suggested) != 1 || !strings.Contains(p.Decision.Suggested[0].Rules[0], "Write("+a.path("home/kept")+")") {
		t.Errorf("suggested: %+v", p.Decision.Suggested)
	}
	h.decide(p, "allow", fields{"scope": "session"})
	m.worked()
	if exists(a, "ws/stayed") {
		t.Error("the directory that the call made could not be removed, or not be made again")
	}
	h.shell("bash step.sh kept").worked()
	if h.asked() != 1 || !exists(a, "home/kept") || exists(a, "home/kept/f") || exists(a, "home/denied.txt") || exists(a, "home/.state") {
		t.Errorf("asked %d times", h.asked())
	}
	attended := a.serving(false, "--allow", "Shell(bash step.sh *)")
	r := attended.shell("bash step.sh other").worked()
	if exists(a, "home/other") || !strings.Contains(r.says(), "Read-only") {
		t.Errorf("nobody said yes: %s", r.says())
	}
}

// TestWallAsksInBackground: a job in the background is held as a call is, and shown as waiting. The prompt outlives the call that began it.
func TestWallAsksInBackground(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write("ws/step.sh", "for i in {1..600}; do [ -e go ] && break; sleep 0.1; done; mkdir ~/notes; mkdir ~/notes2; echo x > ~/notes/a; touch over; sleep 60\n")
	h := a.serving(true, "--allow", "Shell(bash step.sh)").confinedBy()
	h.make("shell", fields{"command": "bash step.sh", "run_in_background": true}).result()
	a.write("ws/go", "")
	for i, path := range []string{"home/notes", "home/notes2"} {
		p := h.prompt("step.sh", i+1)
		if asks := h.heldJob(1); asks[0] != a.path(path) || exists(a, path) {
			t.Errorf("held for %q", asks)
		}
		h.decide(p, []string{"allow", "deny"}[i])
	}
	eventually(t, "it goes on", func() bool { return exists(a, "ws/over") })
	if a.read("home/notes/a") != "x\n" || exists(a, "home/notes2") {
		t.Error("the answers were not kept")
	}
	h.close()
	if said, code := a.said(a.command(a.toolhost, "log", "verify", h.met.Session)); code != 0 {
		t.Errorf("log verify: %s", said)
	}
}

// TestWallPathOfAKilledHost: a host that is killed while a call waits leaves no process, and no answer comes.
func TestWallPathOfAKilledHost(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true, "--allow", "Shell(bash *)").confinedBy()
	mark := newMark(t)
	a.write("ws/step.sh", "sleep "+mark+" &\nfor i in {1..20}; do mkdir ~/notes$i & done; wait\n")
	h.shell("bash step.sh")
	h.prompt("step.sh", 1)
	h.heldJob(20)
	all := tree(h.process.Cmd.Process.Pid)
	_ = h.process.Cmd.Process.Kill()
	_ = h.process.Cmd.Wait()
	checkEnded(t, "SIGKILL of the host while calls wait", all)
	gone(t, "the command", mark)
	if exists(a, "home/notes1") {
		t.Error("it was made")
	}
}

// TestWallIsNotAnsweredByTheAgent: a command that is held at a path cannot say yes to its own prompt, with toolhost's commands or at the
// sockets, although it knows the prompt's id.
func TestWallIsNotAnsweredByTheAgent(t *testing.T) {
	t.Parallel()
	needs(t, "perl", "script")
	a := approvals(t)
	a.write("ws/speak.pl", speaking)
	a.write("ws/step.sh", "export XDG_RUNTIME_DIR='"+a.run+"' XDG_STATE_HOME='"+a.state+"' TH='"+a.toolhost+"'\n"+`
mkdir ~/kept &
for i in {1..600}; do [ -e id ] && break; sleep .1; done
{
	printf '1 once\nquit\n' | timeout 3 $TH approve --plain --once --no-wait
	unset TOOLHOST_JOB
	(sleep .4; printf '1 once\nquit\n') | timeout 3 script -qec "$TH approve --plain --once" /dev/null
	for socket in $(find "$XDG_RUNTIME_DIR" "$XDG_STATE_HOME" /run/user -type s) "$XDG_RUNTIME_DIR/toolhost/$(cat session).sock"; do
		timeout 5 perl speak.pl "$socket" "$(cat id)" hello decide
	done
	echo tried; sleep .3
} > said 2>&1
touch over
wait
`)
	h := a.serving(true, "--allow", "Shell(bash step.sh)").confinedBy()
	m := h.shell("bash step.sh")
	p := h.prompt("step.sh", 1)
	a.write("ws/session", h.met.Session)
	a.write("ws/id", p.Decision.ID)
	eventually(t, "it has tried", func() bool { return exists(a, "ws/over") })
	if said := a.read("ws/said"); !strings.Contains(said, "tried") || strings.Contains(said, "HEARD") || exists(a, "home/kept") {
		t.Errorf("the agent answered: %s", said)
	}
	h.decide(p, "deny")
	m.result()
	if exists(a, "home/kept") {
		t.Error("what was denied was made")
	}
}

// TestWallAsksAboutProtected: a command that meets a protected name is held while a user is asked, who reads that other programs obey it. A yes
// is for that name and that call, and no rule is offered. Toolhost's own settings are not asked about.
func TestWallAsksAboutProtected(t *testing.T) {
	t.Parallel()
	byEach(t, func(t *testing.T, who account) {
		a := jobTools(t).approvalsArena(t, who, sandbox.Full)
		a.repository()
		a.write("home/.gitconfig", "[safe]\n\tdirectory = *\n")
		a.write("ws/step.sh", "git config user.name mine$RANDOM; echo true > .git/hooks/post-commit && chmod 755 .git/hooks/post-commit; mkdir -p .toolhost; echo '{}' > .toolhost/settings.json; true\n")
		h := a.serving(true, "--allow", "Shell(bash step.sh)").confinedBy()
		m := h.shell("bash step.sh")
		for i, path := range []string{"ws/.git/config", "ws/.git/hooks/post-commit"} {
			p := h.prompt("bash step.sh", i+1)
			detail := p.Decision.Reason.Detail
			if !slices.Equal(p.Grants, []string{"write:" + a.path(path)}) || !strings.Contains(detail, a.path(path)+" is protected: other programs run or obey it") || len(p.Decision.Suggested) > 0 {
				t.Errorf("prompt %d is %s, and not about %s", i+1, p, path)
			}
			h.decide(p, []string{"allow", "deny"}[i])
		}
		r := m.worked()
		if !strings.Contains(a.read("ws/.git/config"), "mine") || exists(a, "ws/.git/hooks/post-commit") || exists(a, "ws/.toolhost/settings.json") {
			t.Errorf("it is not as the answers say: %s", r.says())
		}
		m = h.shell("bash step.sh")
		for i := range 2 {
			h.decide(h.prompt("bash step.sh", i+3), "deny")
		}
		if m.worked(); h.asked() != 4 {
			t.Errorf("asked %d times", h.asked())
		}
	})
}

// TestWallAsksAboutSockets: a command that connects to a socket of the host is held while a user is asked about that socket. A yes connects
// it, in this call; its neighbour, and toolhost's own socket under all its names, stay shut.
func TestWallAsksAboutSockets(t *testing.T) {
	t.Parallel()
	needs(t, "perl")
	byEach(t, wallAsksAboutSockets)
}

func wallAsksAboutSockets(t *testing.T, who account) {
	a := jobTools(t).approvalsArena(t, who, sandbox.Full)
	for _, name := range []string{"home/agent", "home/other"} {
		listenAt(t, a.path(name))
	}
	h := a.serving(true, "--allow", "Shell(bash step.sh)").confinedBy()
	h.shell("true").worked()                                        // from now on it has a socket
	if err := os.Link(a.socket(), a.path("home/own")); err != nil { // as a second mount of its directory would show it
		t.Fatal(err)
	}
	a.write("ws/step.sh", `for s in ~/agent ~/agent ~/other ~/own `+a.socket()+`; do
perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Peer => shift) ? "in\n" : "out\n"' $s >> said; done`+"\n")
	const command = "bash step.sh"
	for _, answer := range []string{"allow", "deny"} {
		asked := h.asked()
		m := h.shell(command)
		for i, path := range []string{"home/agent", "home/other"} {
			p := h.prompt(command, asked+i+1)
			if want := "connect to the socket " + a.path(path) + " (perl)"; !slices.Equal(p.Grants, []string{"socket:" + a.path(path)}) || !strings.Contains(p.Decision.Reason.Detail, want) {
				t.Errorf("the prompt is %s, and not about %s", p, want)
			}
			h.decide(p, map[bool]string{true: answer, false: "deny"}[i == 0])
		}
		m.result()
	}
	if got := strings.Fields(a.read("ws/said")); strings.Join(got, " ") != "in in out out out out out out out out" || h.asked() != 4 {
		t.Errorf("connected: %q; asked %d times", got, h.asked())
	}
}

// listenAt has this process listen at a socket, for every user.
func listenAt(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
}
