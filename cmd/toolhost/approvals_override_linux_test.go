package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"toolhost/sandbox"
	"toolhost/testdata/support/conform"
)

// service is one of the machine's own, which no command reaches without a grant.
type service struct {
	host string // 127.0.0.2:PORT: an address of loopback that is not the one of commands
	hits atomic.Int64
}

func newService(t *testing.T) *service {
	s := &service{}
	l, err := net.Listen("tcp", "127.0.0.2:0") // commands have a 127.0.0.1 of their own, and read it unasked
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.hits.Add(1)
		fmt.Fprintln(w, "SERVED")
	}))
	_ = server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	s.host = server.Listener.Addr().(*net.TCPAddr).String()
	return s
}

// get is a command that asks the proxy for the service, although that is on a loopback, and fails if it is refused.
func (s *service) get(more string) string {
	return "curl -sSf --noproxy none.invalid " + more + "http://" + s.host + "/"
}

// started is how often a call began to run.
func (h *approvalsHost) started(invocation string) int {
	return len(h.notices(func(n notice) bool { return n.Type == "tool.invocation.started" && n.InvocationID == invocation }))
}

// TestWallAsks: a command that reaches for a host which nothing grants is held while a user is asked, and goes on with the answer. A yes
// opens that host to that call.
func TestWallAsks(t *testing.T) {
	conform.Held(t, "AT-147", "AT-321")
	t.Parallel()
	needs(t, "curl")
	a, s, other := approvals(t), newService(t), newService(t)
	h := a.serving(true, "--allow", "Shell(curl *)").confinedBy()

	m := h.shell(s.get(""))
	p := h.prompt(s.host, 1)
	grant := "host:" + s.host
	if p.Decision.Reason.Type != "sandbox_override" || !slices.Equal(p.Grants, []string{grant}) || p.Sandbox.Profile != "workspace" ||
		p.Sandbox.Level != "full" || !strings.Contains(p.Decision.Reason.Detail, s.host) || len(p.Decision.Suggested) != 1 {
		t.Errorf("the prompt is %s", p)
	}
	m.waits()
	if s.hits.Load() != 0 {
		t.Error("it was reached before the answer")
	}
	h.undecided(p, "allow", fields{"updated_input": fields{"command": "true"}})
	h.decide(p, "allow")
	r := m.worked()
	if !strings.Contains(r.view().Stdout, "SERVED") || s.hits.Load() != 1 || r.Invocation.InvocationID != p.Decision.InvocationID {
		t.Errorf("%s, reached %d times, call %s, prompt of %s", r.says(), s.hits.Load(), r.Invocation.InvocationID, p.Decision.InvocationID)
	}
	if n := h.started(r.Invocation.InvocationID); n != 1 {
		t.Errorf("it began %d times", n)
	}

	again := h.shell(s.get("")) // the grant was for that call
	h.decide(h.prompt(s.host, 2), "deny", fields{"feedback": "use the file"})
	if r := again.result(); r.Result.Error.Class != "sandbox_violation" || s.hits.Load() != 1 {
		t.Errorf("%s, reached %d times: %s", r.Result.Error.Class, s.hits.Load(), r.says())
	}

	kept := h.shell(s.get("-L ")) // for the session: the next call is not asked about, and another port is
	h.decide(h.prompt(s.host, 3), "allow", fields{"scope": "session"})
	kept.worked()
	h.shell(s.get("")).worked()
	asked := h.asked()
	neighbour := h.shell(other.get(""))
	h.decide(h.prompt(other.host, 1), "deny")
	neighbour.failed("blocked")
	if asked != 3 || s.hits.Load() != 3 || other.hits.Load() != 0 {
		t.Errorf("asked %d times, reached %d and %d times", asked, s.hits.Load(), other.hits.Load())
	}
}

// TestWallAsksAboutEach: a script with two hosts is asked about each while it runs, once, whatever its exit says; the answers add up, and
// what it did before is done once.
func TestWallAsksAboutEach(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	a, first, second, third := approvals(t), newService(t), newService(t), newService(t)
	h := a.serving(true, "--allow", "Shell(bash step.sh)").confinedBy()
	a.write("ws/step.sh", "echo step >> steps\n"+first.get("-o one ")+"\n"+second.get("-o two ")+"\n"+first.get("")+"\n"+
		third.get("")+"\n"+third.get("")+"\ntrue\n")
	const command = "bash step.sh"
	m := h.shell(command)
	for i, answer := range []string{"allow", "allow", "deny"} {
		p := h.prompt(command, i+1)
		if host := []*service{first, second, third}[i].host; !slices.Equal(p.Grants, []string{"host:" + host}) {
			t.Errorf("prompt %d is %s", i+1, p)
		}
		h.decide(p, answer)
	}
	m.worked()
	if a.read("ws/one")+a.read("ws/two") != "SERVED\nSERVED\n" || a.read("ws/steps") != "step\n" || h.asked() != 3 {
		t.Errorf("asked %d times; it got %q and %q, and took %q", h.asked(), a.read("ws/one"), a.read("ws/two"), a.read("ws/steps"))
	}
	if first.hits.Load() != 2 || second.hits.Load() != 1 || third.hits.Load() != 0 {
		t.Errorf("reached %d, %d and %d times", first.hits.Load(), second.hits.Load(), third.hits.Load())
	}
}

// TestWallAsksNoLonger: the question ends with the call, and with the session, however that ends.
func TestWallAsksNoLonger(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	a, s := approvals(t), newService(t)
	h := a.serving(true, "--allow", "Shell(curl *)").confinedBy()
	m := h.shell(s.get(""))
	p := h.prompt(s.host, 1)
	h.Send("agenttool/cancel", fields{"id": m.id})
	m.result()
	h.undecided(p, "allow")
	last := h.shell(s.get("-L "))
	h.prompt(s.host, 2)
	last.waits()
	h.close()
	if s.hits.Load() != 0 {
		t.Errorf("reached %d times", s.hits.Load())
	}
}

// TestOverridePartly: what may have done part of its work does not run again by itself. Its error says so, and the same call has what was
// granted, once.
func TestOverridePartly(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write(userSettings, `{"wall": {"wait": "0s"}}`) // it is asked about when it has ended
	h := a.serving(true, "--allow", "Shell(bash step.sh)").confinedBy()
	a.write("ws/.git/hooks/", "")
	a.write("ws/.git/HEAD", "ref: refs/heads/main\n")
	a.write("ws/step.sh", "echo step >> steps; echo made > .git/hooks/made\n")
	const command = "bash step.sh"

	m := h.shell(command)
	p := h.prompt(command, 1)
	if p.Decision.Reason.Type != "sandbox_override" || len(p.Grants) != 1 {
		t.Errorf("the prompt is %s", p)
	}
	h.decide(p, "allow")
	r := m.failed("blocked")
	if r.Result.Error.Class != "sandbox_violation" || !strings.Contains(r.says(), "partly done") || h.started(r.Invocation.InvocationID) != 1 {
		t.Errorf("%s, began %d times: %s", r.Result.Error.Class, h.started(r.Invocation.InvocationID), r.says())
	}
	if a.read("ws/steps") != "step\n" || exists(a, "ws/.git/hooks/made") {
		t.Errorf("the steps are %q", a.read("ws/steps"))
	}
	h.shell(command).worked()
	if h.asked() != 1 || a.read("ws/.git/hooks/made") != "made\n" || strings.Count(a.read("ws/steps"), "step") != 2 {
		t.Errorf("asked %d times, steps %q", h.asked(), a.read("ws/steps"))
	}
	last := h.shell(command)
	h.decide(h.prompt(command, 2), "deny") // the grant was for one call
	last.failed("blocked")
}

// TestOverrideEdited: what a command was kept from is granted to that command, and to no other that a person writes in its place.
func TestOverrideEdited(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	a, s := approvals(t), newService(t)
	h := a.serving(true, "--allow", "Shell(curl *)", "--allow", "Shell(bash get.sh)").confinedBy()
	a.write("ws/get.sh", s.get("")+"\n")
	for _, command := range []string{s.get(""), "bash get.sh"} { // what only reads, and what may have done part of its work
		m := h.shell(command)
		p := h.prompt(command, 1)
		for _, edited := range []string{"echo x > made", s.get("-L "), command} {
			h.undecided(p, "allow", fields{"updated_input": fields{"command": edited}})
		}
		m.waits()
		h.decide(p, "deny")
		m.failed("blocked")
	}
	if s.hits.Load() != 0 || exists(a, "ws/made") {
		t.Errorf("reached %d times, made: %v", s.hits.Load(), exists(a, "ws/made"))
	}
}

// TestOverrideForbidden: what a rule forbids is not to be had by being kept from it, and a deny rule that comes meanwhile holds.
func TestOverrideForbidden(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	a, s := approvals(t), newService(t)
	h := a.serving(true, "--allow", "Shell(curl *)", "--allow", "Shell(bash get.sh)").confinedBy()
	a.write("ws/get.sh", s.get("")+"\n")
	m := h.shell(s.get(""))
	p := h.prompt(s.host, 1)
	a.replace(userSettings, rules("deny Network(127.0.0.2)"))
	h.changed(1)
	_, _ = h.answer(p, "allow")
	if r := m.result(); r.Result.Status == "succeeded" || s.hits.Load() != 0 {
		t.Errorf("a host that a rule forbids was reached %d times: %s %s", s.hits.Load(), r.Result.Status, r.says())
	}
	hidden := h.shell("bash get.sh") // whose hosts nobody knows before
	if hidden.asksOrEnds("get.sh", 1) {
		t.Errorf("it is asked for what a rule forbids: %s", h.prompt("get.sh", 1))
		_, _ = h.answer(h.prompt("get.sh", 1), "allow")
		hidden.result()
		h.shell("bash get.sh").result()
	} else {
		hidden.result()
	}
	if s.hits.Load() != 0 {
		t.Errorf("a host that a rule forbids was reached %d times", s.hits.Load())
	}
}

// TestOverrideUnasked: where nobody is asked, or nobody is there, what a command was kept from is an error at once.
func TestOverrideUnasked(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	s := newService(t)
	for _, c := range []struct {
		name      string
		attending bool
		flags     []string
	}{{"nobody there", false, nil}, {"nobody asked", true, []string{"--mode", "dont_ask"}}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := approvals(t).serving(c.attending, append(c.flags, "--allow", "Shell(curl *)")...).confinedBy()
			r := h.shell(s.get("")).failed("blocked")
			if !strings.Contains(r.says(), "host:"+s.host) || h.asked() != 0 || s.hits.Load() != 0 {
				t.Errorf("asked %d times: %s", h.asked(), r.says())
			}
		})
	}
}

// TestOverrideSecret: a secret that a command only says that it could not read is not asked about, for it may say so of any. An answer
// that grants it grants it to that call.
func TestOverrideSecret(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write("ws/show.sh", "cat .env\n")
	h := a.serving(true).confinedBy()
	const command = "bash show.sh"
	grant := "read:" + a.path("ws/.env")
	for nth, granted := range []bool{false, true, false} {
		m := h.shell(command)
		p := h.prompt(command, nth+1)
		if granted {
			h.decide(p, "allow", fields{"grants": []string{grant}})
		} else {
			h.decide(p, "allow")
		}
		r := m.result()
		if shown := strings.Contains(r.says(), a.canary); shown != granted || h.asked() != nth+1 {
			t.Errorf("granted: %v, asked %d times: %s", granted, h.asked(), r.says())
		}
		if !granted && (r.Result.Error.Class != "sandbox_violation" || !strings.Contains(r.says(), grant)) {
			t.Errorf("%s does not say what would permit it: %s", r.Result.Error.Class, r.says())
		}
	}
}

// TestOverrideForged: a command can say that it was kept from something. The person is told that this is what it said.
func TestOverrideForged(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	secret := a.path("home/.ssh/id_test")
	a.write("ws/forge.sh", "echo 'cat: "+secret+": Permission denied' >&2; exit 1\n")
	h := a.serving(true, "--allow", "Shell(bash forge.sh)").confinedBy()
	m := h.shell("bash forge.sh")
	if m.asksOrEnds("forge.sh", 1) {
		p := h.prompt("forge.sh", 1)
		if detail := p.Decision.Reason.Detail; !strings.Contains(detail, "said") && !strings.Contains(detail, "likely") {
			t.Errorf("the person reads as a fact what a command made up: %s", detail)
		}
		h.decide(p, "deny")
	}
	m.failed("blocked")
}

// TestOverrideSearch: who looks through the workspace is not asked about each secret in it: what was sought was hardly that.
func TestOverrideSearch(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true).confinedBy()
	for _, command := range []string{"grep -r pristine .", "grep -rn nowhere", "find . -type f -size -10k | xargs -r wc -c", "du -a . | tail -1", "ls -laR"} {
		m := h.shell(command)
		if m.asksOrEnds(command, 1) {
			p := h.prompt(command, 1)
			if p.Decision.Reason.Type == "sandbox_override" {
				t.Errorf("%s asks: %s", command, p)
			}
			h.decide(p, "deny")
		}
		if r := m.result(); strings.Contains(r.says(), a.canary) {
			t.Errorf("%s: %s", command, r.says())
		}
	}
}

// TestOverrideRuleGrants: a rule that carries grants gives them to what it decides, and to nothing else.
func TestOverrideRuleGrants(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	a, s := approvals(t), newService(t)
	a.write(userSettings, rules("allow Shell(curl -sSf *) with host:"+s.host, "allow Shell(curl *)"))
	h := a.serving(false).confinedBy()
	h.shell(s.get("")).worked()
	if s.hits.Load() != 1 {
		t.Errorf("reached %d times", s.hits.Load())
	}
	h.shell("curl -f --noproxy none.invalid http://" + s.host + "/").failed("blocked")
	if s.hits.Load() != 1 || h.met.Sandbox.Level != string(sandbox.Full) {
		t.Errorf("reached %d times without the grant", s.hits.Load())
	}
}
