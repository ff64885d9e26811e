package permissions

import (
	"strings"
	"testing"

	"toolhost/agenttool"
)

// TestNeedlessPrompts: what tells a command about itself, names of the system, and the session's own /tmp ask nobody; what is beside them does.
func TestNeedlessPrompts(t *testing.T) {
	names := func(paths ...string) *agenttool.Facts {
		var all []agenttool.Path
		for _, path := range paths {
			p := at(path)
			p.Names = true
			all = append(all, p)
		}
		return reading(all...)
	}
	itself := func(own bool) *agenttool.Facts {
		p := linked("/proc/self/status", "/proc/77/status")
		p.Own = own
		return reading(p)
	}
	scratch := func(command, path, seen string) *agenttool.Facts {
		p := agenttool.Path{Spelling: path, Absolute: path, Resolved: "/state/tmp/x", Root: "/state/tmp", Seen: seen, By: 1}
		f := writing(p)
		where := at("/ws")
		f.Dir, f.PartsComplete, f.Mentions = &where, agenttool.Yes, [][]string{strings.Fields(command)}
		f.Parts = []agenttool.Part{{Argv: strings.Fields(command), Exact: true, WrappedBy: -1, ReadOnly: agenttool.No, Destructive: agenttool.No,
			OpenWorld: agenttool.No, PathsComplete: agenttool.Yes}}
		return f
	}
	mixed := scratch("touch /tmp/x a", "/tmp/x", "/tmp/x")
	mixed.Writes = append(mixed.Writes, at("/ws/a"))
	for _, c := range []struct {
		name     string
		confines bool
		facts    *agenttool.Facts
		want     agenttool.Behavior
	}{
		{"names of the system", false, names("/", "/etc", "/etc/ssh", "/var/log", "/proc"), agenttool.Allow},
		{"names of a home", false, names("/etc", "/root"), agenttool.Ask},
		{"names of somebody", false, names("/home"), agenttool.Ask},
		{"content of the system", false, reading(at("/etc/ssh")), agenttool.Ask},
		{"the command itself", false, itself(true), agenttool.Allow},
		{"another process", false, itself(false), agenttool.Ask},
		{"its own /tmp", true, scratch("touch /tmp/x", "/tmp/x", "/tmp/x"), agenttool.Allow},
		{"its own /var/tmp", true, scratch("touch /var/tmp/x", "/var/tmp/x", "/var/tmp/x"), agenttool.Allow},
		{"the host's /tmp", false, scratch("touch /tmp/x", "/tmp/x", "/tmp/x"), agenttool.Ask},
		{"a link to its own /tmp", true, scratch("touch /ws/l", "/ws/l", "/tmp/x"), agenttool.Ask},
		{"a program beside", true, scratch("make /tmp/x", "/tmp/x", "/tmp/x"), agenttool.Ask},
		{"its own /tmp and the workspace", true, mixed, agenttool.Ask},
	} {
		p := Policy{Workspace: "/ws", Confines: c.confines}
		d := p.Decide(Request{Tool: "shell", RunsCode: true, Facts: c.facts})
		if d.Behavior != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, d.Behavior, d.Reason.Detail, c.want)
		}
		for _, update := range d.SuggestedUpdates {
			for _, rule := range update.Rules {
				if strings.Contains(rule, "77") {
					t.Errorf("%s: a number of a process is suggested: %s", c.name, rule)
				}
			}
		}
		// A rule about reading is about contents, not names.
		denied := p.With(denyRules(t, "Read(/proc/**)", "Read(/etc/**)", "Write(/tmp/**)", "Write(/var/tmp/**)")...)
		if got := denied.Decide(Request{Tool: "shell", RunsCode: true, Facts: c.facts}); c.want == agenttool.Allow && got.Behavior != agenttool.Deny && !c.facts.Reads[0].Names {
			t.Errorf("%s: %s under rules that deny it", c.name, got.Behavior)
		}
	}
}

func denyRules(t *testing.T, texts ...string) (all []Rule) {
	t.Helper()
	for _, text := range texts {
		r, err := Parser{Names: names, Home: "/home/me"}.Parse(text, agenttool.Deny, agenttool.Origin{Source: "cli_arg"})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}
