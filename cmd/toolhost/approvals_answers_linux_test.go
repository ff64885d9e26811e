package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolhost/testdata/support/conform"
)

// outsideRead is the input of a call that reads beyond the workspace, which asks, and needs no sandbox.
func (a *escapeAttempt) outsideRead(limit int) fields {
	return fields{"path": a.path("outside/file"), "limit": limit}
}

// TestApprovalsInBand: the client answers, for once or for the session.
func TestApprovalsInBand(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true)

	first := h.write("once.txt")
	p := h.prompt("once.txt", 1)
	if p.Tool != "write" || p.Dir != a.ws || p.Decision.Behavior != "ask" || p.Decision.Reason.Detail == "" || len(p.Decision.Blocks) != 1 ||
		!strings.Contains(p.Decision.Blocks[0].Diff, "+new") || len(p.Decision.Suggested) == 0 || p.Decision.Suggested[0].Rules[0] != "Write(once.txt)" {
		t.Errorf("the prompt is %s", p)
	}
	first.waits()
	if a.read("ws/once.txt") != "" {
		t.Error("it was written before the answer")
	}
	if d := h.decide(p, "allow"); len(d.RuleRefs) != 0 {
		t.Errorf("an answer for once made rules: %+v", d)
	}
	first.worked()

	again := h.write("once.txt")
	h.decide(h.prompt("once.txt", 2), "deny", fields{"feedback": "write it to twice.txt"})
	if r := again.failed("rejected_by_person"); !strings.Contains(r.says(), "write it to twice.txt") {
		t.Errorf("the model reads %q", r.says())
	}
	praised := h.make("read", a.outsideRead(1))
	h.decide(h.prompt("outside/file", 1), "allow", fields{"feedback": "only the first line matters"})
	if r := praised.worked(); !strings.Contains(r.says(), "only the first line matters") {
		t.Errorf("the model reads %q", r.says())
	}

	kept := h.write("kept.txt")
	d := h.decide(h.prompt("kept.txt", 1), "allow", fields{"scope": "session"})
	if len(d.RuleRefs) != 1 || !strings.Contains(d.RuleRefs[0], "Write(kept.txt)") || d.Source != "session" {
		t.Errorf("an answer for the session is %+v", d)
	}
	kept.worked()
	asked := h.asked()
	h.write("kept.txt").worked()
	if h.asked() != asked {
		t.Error("it asks again, in the same session")
	}
	other := h.write("kept.txt.other")
	h.decide(h.prompt("kept.txt.other", 1), "deny")
	other.failed("rejected_by_person")
}

// TestApprovalsInBandScopes: what the client's answers may have is in the settings of the person, and in none that a project brings.
func TestApprovalsInBandScopes(t *testing.T) {
	t.Parallel()
	wide := `{"approvals": {"in_band_scopes": "user"}}`
	for _, c := range []struct {
		name, file string
		wide       bool
	}{{"by default", "", false}, {"of the project", projectSettings, false}, {"of the person", userSettings, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := approvals(t)
			if c.file != "" {
				a.write(c.file, wide)
			}
			h := a.serving(true)
			for scope, file := range map[string]string{"project": localSettings, "user": userSettings} {
				name := scope + ".txt"
				m := h.write(name)
				p := h.prompt(name, 1)
				if !c.wide {
					if why := h.undecided(p, "allow", fields{"scope": scope}); !strings.Contains(why, "toolhost approve") {
						t.Errorf("%s: %s", scope, why)
					}
					m.waits()
					h.decide(p, "allow")
				} else if d := h.decide(p, "allow", fields{"scope": scope}); len(d.RuleRefs) != 1 {
					t.Errorf("%s: %+v", scope, d)
				}
				m.worked()
				if kept := strings.Contains(a.read(file), "Write("+name+")"); kept != c.wide {
					t.Errorf("%s: in its file: %v, want %v: %s", scope, kept, c.wide, a.read(file))
				}
			}
		})
	}
}

// TestApprovalsRemembered: at the session's socket a person answers for the project and for all of theirs. What is kept is kept in
// their file, beside what they wrote there, and holds in the next session.
func TestApprovalsRemembered(t *testing.T) {
	conform.Held(t, "AT-149")
	t.Parallel()
	a := approvals(t)
	a.write(localSettings, "{\n  // mine\n  \"permissions\": {\n    \"deny\": [\"Shell(rm *)\"], // never\n  },\n}\n")
	h := a.serving(false)
	h.write("nobody.txt").failed("approval_unavailable")
	v := a.viewer()
	for scope, file := range map[string]string{"project": localSettings, "user": userSettings} {
		name := scope + ".txt"
		m := h.write(name)
		p := v.prompt(name, 1)
		if open := v.prompts(); len(open) != 1 || open[0].Decision.ID != p.Decision.ID || open[0].Tool != "write" || len(open[0].Decision.Blocks) != 1 {
			t.Errorf("the open prompts are %+v", open)
		}
		d := v.decide(p, "allow", fields{"scope": scope})
		m.worked()
		if len(d.RuleRefs) != 1 || d.Reason.Type != "permission_prompt_tool" || !strings.Contains(d.Reason.Detail, "toolhost approve") {
			t.Errorf("%s: %+v", scope, d)
		}
		if !strings.Contains(a.read(file), `"Write(`+name+`)"`) {
			t.Errorf("%s: %s", file, a.read(file))
		}
		h.write(name).worked()
	}
	for _, comment := range []string{"// mine", "// never", `"Shell(rm *)"`} {
		if !strings.Contains(a.read(localSettings), comment) {
			t.Errorf("%s is gone: %s", comment, a.read(localSettings))
		}
	}
	for name, most := range map[string]os.FileMode{userSettings: 0o600, "config/toolhost": 0o700} {
		if info, err := os.Stat(a.path(name)); err != nil || info.Mode().Perm() != most {
			t.Errorf("%s: mode %v, want %v: %v", name, info.Mode(), most, err)
		}
	}
	if asked := v.asked(); asked != 2 {
		t.Errorf("%d prompts", asked)
	}
	h.close()
	next := a.serving(false)
	next.write("project.txt").worked()
	next.write("user.txt").worked()
	next.write("nobody.txt").failed("approval_unavailable")
}

// TestApprovalsNotRemembered: where a rule cannot be kept the answer does not count, and the prompt is open still.
func TestApprovalsNotRemembered(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true)
	m := h.write("a.txt")
	p := h.prompt("a.txt", 1)
	v := a.viewer()
	const broken = "{ // half a file\n"
	a.replace(userSettings, broken)
	if why := v.undecided(p, "allow", fields{"scope": "user"}); !strings.Contains(why, "settings.json") {
		t.Errorf("it says %s", why)
	}
	m.waits()
	if a.read(userSettings) != broken || len(v.prompts()) != 1 {
		t.Errorf("the file is %q, open are %+v", a.read(userSettings), v.prompts())
	}
	v.decide(p, "allow")
	m.worked()
	again := h.write("a.txt")
	v.decide(h.prompt("a.txt", 2), "deny")
	again.failed("rejected_by_person")
}

// TestApprovalsFirstAnswer: of the answers of several the first counts. The others are told so, and what they wanted kept is not.
func TestApprovalsFirstAnswer(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true)
	m := h.write("early.txt")
	p := h.prompt("early.txt", 1)
	v := a.viewer()
	v.decide(p, "deny")
	for _, s := range []*wireClient{h.wireClient, v.wireClient} {
		if why := s.undecided(p, "allow", fields{"scope": "session"}); !strings.Contains(why, "answered") {
			t.Errorf("%s: %s", s.name, why)
		}
	}
	v.undecided(p, "allow", fields{"scope": "user"})
	m.failed("rejected_by_person")
	if a.read(userSettings) != "" {
		t.Errorf("an answer that came too late is kept: %s", a.read(userSettings))
	}
	if d := h.ended(p); d.Behavior != "deny" {
		t.Errorf("the client is told %+v", d)
	}
	for round := range 12 {
		raceAnswers(t, h, v, fmt.Sprintf("race%d.txt", round))
	}
}

// raceAnswers has a prompt denied and allowed for ever in the same moment.
func raceAnswers(t *testing.T, h *approvalsHost, v *visitor, name string) {
	t.Helper()
	m := h.write(name)
	p, shown := h.prompt(name, 1), v.prompt(name, 1)
	if p.Decision.ID != shown.Decision.ID {
		t.Fatalf("the client is asked %s, the person %s", p.Decision.ID, shown.Decision.ID)
	}
	var allowed, denied error
	var both sync.WaitGroup
	both.Go(func() { _, allowed = v.answer(p, "allow", fields{"scope": "user"}) })
	both.Go(func() { _, denied = h.answer(p, "deny") })
	both.Wait()
	if (allowed == nil) == (denied == nil) {
		t.Errorf("%s: allowed: %v, denied: %v", name, allowed, denied)
	}
	if r := m.result(); (r.Result.Status == "succeeded") != (allowed == nil) {
		t.Errorf("%s: allowed: %v, and it is %s", name, allowed, r.Result.Status)
	}
	rule := "Write(" + name + ")"
	if kept := strings.Contains(h.a.read(userSettings), rule); kept != (allowed == nil) {
		t.Errorf("%s: allowed: %v, kept: %v", name, allowed, kept)
	}
	again := h.write(name)
	if allowed == nil {
		again.worked()
		return
	}
	h.decide(h.prompt(name, 2), "deny")
	again.failed("rejected_by_person")
}

// TestApprovalsTogether: calls that ask the same are answered together, and a rule that is accepted answers whatever it covers.
func TestApprovalsTogether(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true)
	var same []*made
	for range 3 {
		same = append(same, h.make("read", a.outsideRead(7)))
	}
	asked := []prompted{h.prompt("outside/file", 1), h.prompt("outside/file", 2), h.prompt("outside/file", 3)}
	first := slices.IndexFunc(asked, func(p prompted) bool { return p.Coalesced == "" }) // they are told in any order
	if first < 0 {
		t.Fatalf("none of them stands for the others: %+v", asked)
	}
	p := asked[first]
	for i, other := range asked {
		if i != first && other.Coalesced != p.Decision.ID {
			t.Errorf("prompt %d is not counted with the first: %+v", i+1, other)
		}
	}
	v := a.viewer()
	if open := v.prompts(); len(open) != 1 || open[0].Decision.ID != p.Decision.ID {
		t.Errorf("open are %+v", open)
	}
	v.decide(p, "allow")
	for _, m := range same {
		m.worked()
	}
	if len(v.prompts()) != 0 {
		t.Errorf("open are still %+v", v.prompts())
	}

	covered := []*made{h.make("read", a.outsideRead(1)), h.make("read", a.outsideRead(2)), h.make("read", a.outsideRead(3))}
	other := h.write("other.txt")
	last := h.prompt(`"limit":3`, 1)
	h.prompt("other.txt", 1)
	eventually(t, "four prompts are open", func() bool { return len(v.prompts()) == 4 })
	v.decide(last, "allow", fields{"scope": "session"})
	for _, m := range covered {
		m.worked()
	}
	open := v.prompts()
	if len(open) != 1 || open[0].Tool != "write" {
		t.Errorf("open are still %+v", open)
	}
	other.waits()
	if d := h.ended(h.prompt(`"limit":1`, 1)); d.Behavior != "allow" || d.Reason.Type != "rule" || !strings.Contains(strings.Join(d.RuleRefs, " "), "Read(") {
		t.Errorf("the one that a rule answered ended with %+v", d)
	}
	h.decide(open[0], "deny")
	other.failed("rejected_by_person")
}

// TestApprovalsInvalid: an answer that cannot count says why, and leaves the prompt open.
func TestApprovalsInvalid(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true)
	m := h.write("a.txt")
	p := h.prompt("a.txt", 1)
	v := a.viewer()
	for name, answer := range map[string]fields{
		"input of no tool":        {"updated_input": fields{"pth": "a.txt"}},
		"input without its parts": {"updated_input": fields{"path": "a.txt"}},
		"input of a wrong type":   {"updated_input": fields{"path": 1, "content": ""}},
		"input that is no object": {"updated_input": []int{1}},
		"grants for no sandbox":   {"grants": []string{"write:/"}},
		"misspelt":                {"updated_inputs": fields{}},
	} {
		for _, s := range []*wireClient{h.wireClient, v.wireClient} {
			if why := s.undecided(p, "allow", answer); len(why) < 20 {
				t.Errorf("%s: %q", name, why)
			}
		}
	}
	m.waits()
	if open := v.prompts(); len(open) != 1 || open[0].Decision.ID != p.Decision.ID {
		t.Errorf("open are %+v", open)
	}
	v.decide(p, "allow", fields{"updated_input": fields{"path": "b.txt", "content": "edited\n"}})
	m.worked()
	if a.read("ws/b.txt") != "edited\n" || a.read("ws/a.txt") != "" {
		t.Errorf("a.txt is %q, b.txt %q", a.read("ws/a.txt"), a.read("ws/b.txt"))
	}
}

// TestApprovalsEdited: an input that a person edits is judged anew. What is denied stays denied, what is protected is asked about, and
// what they said of the call that they were shown is kept for none that they were not.
func TestApprovalsEdited(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.mkdir(a.path("ws/.git/hooks"))
	h := a.serving(true, "--deny", "Write(closed/**)", "--deny", "Shell(rm *)")
	for nth, path := range []string{"closed/x", a.path("ws/closed/x"), "tree/../closed/x"} {
		m := h.write("open.txt")
		h.decide(h.prompt("open.txt", nth+1), "allow", fields{"updated_input": fields{"path": path, "content": "x"}})
		m.denied()
	}
	if a.read("ws/closed/x") != "" {
		t.Error("what is denied was written")
	}
	command := h.shell("mkdir made")
	h.decide(h.prompt("mkdir made", 1), "allow", fields{"updated_input": fields{"command": "env rm -rf tree"}})
	command.denied()
	if !exists(a, "ws/tree") || exists(a, "ws/made") {
		t.Error("what is denied ran")
	}

	hook := h.write("plain.txt")
	_, _ = h.answer(h.prompt("plain.txt", 1), "allow", fields{"updated_input": fields{"path": ".git/hooks/post-commit", "content": "x"}})
	if hook.asksOrEnds("post-commit", 1) {
		h.decide(h.prompt("post-commit", 1), "deny")
	}
	hook.result()
	if exists(a, "ws/.git/hooks/post-commit") {
		t.Error("a protected file is written, about which nobody was asked")
	}

	kept := h.write("shown.txt")
	p := h.prompt("shown.txt", 1)
	edited := fields{"scope": "session", "updated_input": fields{"path": "edited.txt", "content": "x"}}
	if _, err := h.answer(p, "allow", edited); err != nil {
		h.decide(p, "deny")
	}
	kept.result()
	shown := h.write("shown.txt")
	h.decide(h.prompt("shown.txt", 2), "deny")
	shown.failed("rejected_by_person")
}

// TestApprovalsGrants: what an answer widens is the sandbox of that call, and of no other.
func TestApprovalsGrants(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true).confinedBy()
	a.write("ws/reach.sh", "echo reached > "+a.path("outside/reached")+"\n")
	const command = "bash reach.sh"
	m := h.shell(command)
	p := h.prompt(command, 1)
	for _, bad := range []string{"write:relative", "everything", "host:", ""} {
		h.undecided(p, "allow", fields{"grants": []string{bad}})
	}
	d := h.decide(p, "allow", fields{"grants": []string{"write:" + a.path("outside")}})
	m.worked()
	if !slices.Contains(d.Grants, "write:"+a.path("outside")) || a.read("outside/reached") != "reached\n" {
		t.Errorf("the answer %+v, and %q", d, a.read("outside/reached"))
	}
	if err := os.Remove(a.path("outside/reached")); err != nil {
		t.Fatal(err)
	}
	again := h.shell(command)
	h.decide(h.prompt(command, 2), "allow")
	if again.asksOrEnds(command, 3) { // about what it was kept from
		h.decide(h.prompt(command, 3), "deny")
	}
	if r := again.result(); r.Result.Error.Class != "sandbox_violation" || exists(a, "outside/reached") {
		t.Errorf("without the grant: %s %s, made: %v", r.Result.Status, r.Result.Error.Class, exists(a, "outside/reached"))
	}
}

// TestApprovalsGrantsForbidden: no answer widens a sandbox by what a rule forbids, or by what is toolhost's own.
func TestApprovalsGrantsForbidden(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	a, s := approvals(t), newService(t)
	a.write("ws/closed/key", "SECRET\n")
	a.write("outside/closed/key", "SECRET\n")
	a.write(userSettings, "{}")
	h := a.serving(true, "--deny", "Read(closed/**)", "--deny", "Write("+a.path("outside/sealed")+"/**)", "--deny", "Network(127.0.0.2)").confinedBy()
	a.mkdir(a.path("outside/sealed"))
	a.write("ws/try.sh", `cat closed/key; echo x > `+a.path("outside/sealed/x")+`; `+s.get("")+`
		cat `+a.path(userSettings)+`; echo '{"permissions":{"allow":["Shell"]}}' > `+a.path(userSettings)+`
		ls `+a.state+`/toolhost/sessions; touch `+a.state+`/toolhost/trust.json; perl speak.pl $1 $2 hello decide reload; true`)
	a.write("ws/speak.pl", speaking)
	other := h.write("other.txt")
	command := "bash try.sh " + a.socket() + " " + h.prompt("other.txt", 1).Decision.ID
	m := h.shell(command)
	p := h.prompt(command, 1)
	nth := 1
	for _, grants := range [][]string{
		{"read:" + a.path("ws/closed"), "read:" + a.path("ws/closed/key")},
		{"write:" + a.path("outside/sealed"), "write:" + a.path("outside")},
		{"host:" + s.host, "host:127.0.0.2"},
		{"write:" + a.path("config"), "write:" + a.path(userSettings), "read:" + a.path(userSettings)},
		{"write:" + a.state, "read:" + a.state, "write:" + a.state + "/toolhost"},
		{"socket:" + a.socket(), "write:" + a.run},
	} {
		for _, grant := range grants {
			if _, err := h.answer(p, "allow", fields{"grants": []string{grant}}); err != nil {
				continue // refused: as good
			}
			if r := m.result(); strings.Contains(r.says(), "SECRET") || strings.Contains(r.says(), "SERVED") || strings.Contains(r.says(), `"may_answer":true`) {
				t.Errorf("with grant %s: %s", grant, r.says())
			}
			if exists(a, "outside/sealed/x") || s.hits.Load() > 0 || a.read(userSettings) != "{}" || exists(a, "state/toolhost/trust.json") {
				t.Fatalf("with grant %s it made %v, reached %d times, and wrote %q", grant, exists(a, "outside/sealed/x"), s.hits.Load(), a.read(userSettings))
			}
			nth++
			m = h.shell(command)
			p = h.prompt(command, nth)
		}
	}
	h.decide(p, "deny")
	m.result()
	other.waits()
}
