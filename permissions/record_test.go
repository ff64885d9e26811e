package permissions

import (
	"fmt"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// TestSubcommandsInTheRecord: a decision about a command line is told for each simple command, with the rule of each and its origin.
func TestSubcommandsInTheRecord(t *testing.T) {
	conform.Held(t, "AT-151", "AT-166")
	managed, err := Parser{Names: names}.Parse("Shell(rm *)", agenttool.Deny, agenttool.Origin{Source: agenttool.SourceUser, File: "/home/me/s.json", Line: 3})
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Workspace: "/ws"}.With(append(rules(t, "Shell(make)", "Shell(go test)"), managed)...)
	for _, c := range []struct{ first, second, behavior, kind, want string }{
		{"make", "go test", "allow", "subcommand_results", "[make] allow Shell(make) cli_arg; [go test] allow Shell(go test) cli_arg"},
		{"make", "rm x", "deny", "subcommand_results", "[make] allow Shell(make) cli_arg; [rm x] deny Shell(rm *) user_settings /home/me/s.json:3"},
		{"make", "curl x", "ask", "subcommand_results", "[make] allow Shell(make) cli_arg; [curl x] ask"},
	} {
		f, other := running(c.first), running(c.second)
		f.Commands, f.Mentions, f.Parts = append(f.Commands, other.Commands...), append(f.Mentions, other.Mentions...), append(f.Parts, other.Parts...)
		d := p.Decide(Request{Tool: "shell", RunsCode: true, Facts: f})
		var told []string
		for _, s := range d.Reason.Subcommands {
			told = append(told, strings.TrimSpace(fmt.Sprintf("%v %s %s %s %s", s.Argv, s.Behavior, s.Rule, s.Source, s.Where)))
			if s.Reason == "" {
				t.Errorf("%v has no reason", s.Argv)
			}
		}
		if got := strings.Join(told, "; "); string(d.Behavior) != c.behavior || d.Reason.Type != c.kind || got != c.want {
			t.Errorf("%s; %s: %s because of %s\n got %s\nwant %s", c.first, c.second, d.Behavior, d.Reason.Type, got, c.want)
		}
	}
}

// TestBlockedPath: what is denied because of a path names it.
func TestBlockedPath(t *testing.T) {
	conform.Held(t, "AT-164")
	private := at("/ws/state/log")
	private.Private = true
	rule, err := Parser{Names: names}.Parse("Write(/ws/gen/**)", agenttool.Deny, agenttool.Origin{Source: agenttool.SourceCLI})
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Workspace: "/ws", Secret: func(path string) bool { return path == "/ws/.env" }}.With(rule)
	for _, c := range []struct {
		tool  string
		mode  Mode
		facts *agenttool.Facts
		want  string
	}{
		{"read", Default, reading(private), "/ws/state/log"}, {"read", Default, reading(at("/ws/a"), at("/ws/.env")), "/ws/.env"},
		{"write", AcceptEdits, writing(at("/ws/gen/a")), "/ws/gen/a"}, {"write", DontAsk, writing(at("/ws/.git/config")), "/ws/.git/config"},
	} {
		p.Mode = c.mode
		if d := p.Decide(Request{Tool: c.tool, Facts: c.facts}); d.Behavior != agenttool.Deny || d.BlockedPath != c.want {
			t.Errorf("%s: blocked_path is %q, want %q (%s)", d.Behavior, d.BlockedPath, c.want, d.Reason.Detail)
		}
	}
}

// TestClassifierInTheRecord: a decision that rests on the classifier says so, that it has completed, and that it allows and recommends, and
// does not deny. Its reason is the decision's.
func TestClassifierInTheRecord(t *testing.T) {
	conform.Held(t, "AT-167")
	proved := running("ls")
	proved.Verdicts = reading().Verdicts
	p := Policy{Workspace: "/ws"}
	for _, c := range []struct {
		name     string
		tool     string
		facts    *agenttool.Facts
		behavior agenttool.Behavior
		named    bool
	}{
		{"a command that is proved to read", "shell", proved, agenttool.Allow, true},
		{"a command that is not", "shell", running("make"), agenttool.Ask, true},
		{"a tool that reads", "read", reading(at("/ws/a")), agenttool.Allow, false},
	} {
		d := p.Decide(Request{Tool: c.tool, RunsCode: c.tool == "shell", Facts: c.facts})
		role, named := d.Reason.Extra["classifier"]
		if d.Behavior != c.behavior || named != c.named || d.Reason.Detail == "" {
			t.Errorf("%s: %s because of %+v", c.name, d.Behavior, d.Reason)
		}
		if named && string(role) != `{"classifier_ref":"toolhost.classify","status":"completed","may":["approve","recommend"]}` {
			t.Errorf("%s: %s", c.name, role)
		}
	}
}
