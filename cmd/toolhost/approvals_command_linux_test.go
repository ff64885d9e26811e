package main

import (
	"io"
	"os/exec"
	"strings"
	"testing"

	"toolhost/sandbox"
)

// approving is toolhost approve --plain in another terminal of the person's.
type approving struct {
	a   *escapeAttempt
	cmd *exec.Cmd
	in  io.WriteCloser
	out *lockedText
}

// approve starts it.
func (a *escapeAttempt) approve(flags ...string) *approving {
	a.t.Helper()
	p := &approving{a: a, cmd: a.command(append([]string{a.toolhost, "approve", "--plain"}, flags...)...), out: &lockedText{}}
	a.giveTerminal(p.cmd)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	var err error
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	return p
}

// says waits until it has said something.
func (p *approving) says(text string) {
	p.a.t.Helper()
	eventually(p.a.t, "it says "+text, func() bool { return strings.Contains(p.out.String(), text) })
}

// types types a line.
func (p *approving) types(line string) {
	p.a.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.a.t.Fatal(err)
	}
}

// ends waits for its end.
func (p *approving) ends(code int) {
	p.a.t.Helper()
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.a.t.Errorf("toolhost approve: exit %d, want %d: %s", got, code, p.out)
	}
}

// TestApproveCommand: a person answers the prompts of a session with toolhost approve, and sees of a call what it is.
func TestApproveCommand(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(false)
	h.write("early.txt").failed("approval_unavailable") // nobody is there, and nobody was
	of := "--session=" + h.met.Session                  // others may run on the machine
	p := a.approve(of)
	p.says("nothing is pending")

	m := h.make("write", fields{"path": "a.txt", "content": "line one\n\x1b[2Jline\u202e two\n"})
	p.says("prompt 1")
	p.says("line one")
	if said := p.out.String(); strings.ContainsAny(said, "\x1b\u202e") {
		t.Errorf("what it shows is not escaped: %q", said)
	}
	p.types("1 project")
	m.worked()
	if !strings.Contains(a.read(localSettings), "Write(a.txt)") {
		t.Errorf("the project's settings are %q", a.read(localSettings))
	}

	denied := h.write("b.txt")
	p.says("prompt 2")
	p.types("2 deny not on a Friday")
	if r := denied.failed("rejected_by_person"); !strings.Contains(r.says(), "not on a Friday") {
		t.Errorf("the model reads %s", r.says())
	}

	edited := h.write("c.txt")
	p.says("prompt 3")
	p.types(`3 edit {"path":"d.txt","content":"edited\n"}`)
	edited.worked()
	if a.read("ws/d.txt") != "edited\n" || exists(a, "ws/c.txt") {
		t.Errorf("d.txt is %q, c.txt is there: %v", a.read("ws/d.txt"), exists(a, "ws/c.txt"))
	}
	p.types("4 once")
	p.says("no prompt 4")
	p.types("quit")
	p.ends(exitOK)
	if said, code := a.said(a.command(a.toolhost, "approve", "--plain", "--no-wait", of)); code != exitNotAllowed {
		t.Errorf("with nothing pending: exit %d: %s", code, said)
	}
	a.approves()
	late := h.write("late.txt")
	h.prompt("late.txt", 1)
	once := a.approve("--once", "--no-wait", of)
	once.says("late.txt")
	once.types("1 user")
	once.ends(exitOK)
	late.worked()
	if !strings.Contains(a.read(userSettings), "Write(late.txt)") {
		t.Errorf("the person's settings are %q", a.read(userSettings))
	}
}

// TestApproveCommandCode: where commands run without a sandbox, the person types the code that the session shows.
func TestApproveCommandCode(t *testing.T) {
	t.Parallel()
	a := jobTools(t).approvalsArena(t, self, sandbox.None)
	h := a.serving(true)
	m := h.write("a.txt")
	h.prompt("a.txt", 1)
	p := a.approve("--once", "--session="+h.met.Session)
	p.says("code")
	p.says("prompt 1")
	p.types("1 once")
	p.types("1 code AAAA-AAAA")
	p.types("1 code " + h.met.Approvals.Code)
	p.types("1 once")
	m.worked()
	p.ends(exitOK)
	if strings.Contains(p.out.String(), h.met.Approvals.Code) {
		t.Errorf("it repeats the code: %s", p.out)
	}
}
