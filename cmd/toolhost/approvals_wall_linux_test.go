package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// heldJob waits until a job is held while a user is asked about n hosts, and returns them.
func (h *approvalsHost) heldJob(n int) (asks []string) {
	h.t.Helper()
	eventually(h.t, fmt.Sprintf("a job asks about %d hosts", n), func() bool {
		var status struct {
			Jobs []struct {
				State string
				Asks  []string
			}
		}
		h.request("agenttool/status", fields{}, &status)
		for _, j := range status.Jobs {
			if asks = j.Asks; j.State == "waiting_for_user" && len(asks) == n {
				return true
			}
		}
		return false
	})
	return asks
}

// TestWallAsksTogether: hosts that a command reaches for while a prompt is open are asked about in one. An answer that names some of them
// opens these.
func TestWallAsksTogether(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	a := approvals(t)
	h := a.serving(true, "--allow", "Shell(bash step.sh)").confinedBy()
	script, services := "", map[string]*service{}
	for i := range 5 {
		s := newService(t)
		services[s.host] = s
		script += s.get(fmt.Sprintf("-o got%d ", i)) + " &\n"
	}
	a.write("ws/step.sh", script+"wait\n")
	const command = "bash step.sh"
	m := h.shell(command)
	first := h.prompt(command, 1)
	all := h.heldJob(len(services))
	if len(first.Grants) != 1 || !slices.Contains(all, strings.TrimPrefix(first.Grants[0], "host:")) {
		t.Errorf("asked about %q, of %q", first.Grants, all)
	}
	h.decide(first, "allow")
	second := h.prompt(command, 2)
	if len(second.Grants) != 4 || slices.Contains(second.Grants, first.Grants[0]) || !strings.Contains(second.Decision.Reason.Detail, "4 hosts") {
		t.Fatalf("the second prompt is about %q: %s", second.Grants, second.Decision.Reason.Detail)
	}
	some := second.Grants[:2]
	h.decide(second, "allow", fields{"grants": some})
	m.result()
	for host, s := range services {
		want := int64(0)
		if slices.Contains(append([]string{first.Grants[0]}, some...), "host:"+host) {
			want = 1
		}
		if got := s.hits.Load(); got != want {
			t.Errorf("%s was reached %d times, and not %d", host, got, want)
		}
	}
	if h.asked() != 2 {
		t.Errorf("asked %d times", h.asked())
	}
}

// TestWallWait: a connection is held no longer than wall.wait, and what was not answered is not asked again in the call.
func TestWallWait(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	a, s := approvals(t), newService(t)
	a.write("config/toolhost/settings.json", `{"wall": {"wait": "1s"}}`)
	h := a.serving(true, "--allow", "Shell(bash step.sh)").confinedBy()
	a.write("ws/step.sh", s.get("")+"\n"+s.get("")+"\ntrue\n")
	r := h.shell("bash step.sh").result()
	if h.asked() != 1 || s.hits.Load() != 0 || r.Result.Status != "succeeded" || !strings.Contains(r.says(), s.host) {
		t.Errorf("asked %d times, reached %d times: %s: %s", h.asked(), s.hits.Load(), r.Result.Status, r.says())
	}
	if left := h.prompts(); len(left) > 0 {
		t.Errorf("still asked: %v", left)
	}
}

// TestWallOfAKilledHost: a host that is killed while a command is held leaves none of its processes.
func TestWallOfAKilledHost(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	a, s := approvals(t), newService(t)
	h := a.serving(true, "--allow", "Shell(bash *)").confinedBy()
	mark := newMark(t)
	a.write("ws/step.sh", "sleep "+mark+" &\n"+s.get("")+"\nwait\n")
	h.shell("bash step.sh")
	h.prompt("step.sh", 1)
	eventually(t, "it runs", func() bool { return sleeping(mark) })
	all := tree(h.process.Cmd.Process.Pid)
	_ = h.process.Cmd.Process.Kill()
	_ = h.process.Cmd.Wait()
	checkEnded(t, "SIGKILL of the host while a command is held", all)
	gone(t, "the command", mark)
	if s.hits.Load() != 0 {
		t.Errorf("reached %d times", s.hits.Load())
	}
}

// TestWallHostRule: a rule that names a host and came while the command ran opens it at the wall; its neighbour is asked about.
func TestWallHostRule(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	a := approvals(t)
	h := a.serving(true, "--mode", "sandboxed").confinedBy()
	one, two := newService(t), newService(t)
	a.write("ws/step.sh", "touch began; until [ -e go ]; do sleep 0.02; done\n"+one.get("-o got1 ")+"\n"+two.get("-o got2 ")+"\ntrue\n")
	const command = "bash step.sh"
	m := h.shell(command)
	eventually(t, "the command runs", func() bool { return exists(a, "ws/began") })
	a.write(userSettings, `{"permissions": {"allow": ["Network(`+one.host+`)"]}}`)
	h.changed(1)
	a.write("ws/go", "")
	p := h.prompt(command, 1)
	if !slices.Equal(p.Grants, []string{"host:" + two.host}) {
		t.Errorf("asked about %q", p.Grants)
	}
	h.decide(p, "deny")
	m.result()
	if one.hits.Load() != 1 || two.hits.Load() != 0 || h.asked() != 1 {
		t.Errorf("%d and %d hits, asked %d times", one.hits.Load(), two.hits.Load(), h.asked())
	}
}
