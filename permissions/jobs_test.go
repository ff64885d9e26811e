package permissions

import (
	"testing"

	"toolhost/agenttool"
)

// TestRulesAndOwnJobs puts each tool that acts on the session's own jobs under each kind of rule: only a rule that names
// the tool is about it, and no rule is about the person's own commands.
func TestRulesAndOwnJobs(t *testing.T) {
	jobNames := map[string]string{"shell_output": "shell_output", "shell_kill": "shell_kill", "shell_input": "shell_input"}
	for name, tool := range names {
		jobNames[name] = tool
	}
	parse := func(text string, b agenttool.Behavior) Rule {
		r, err := Parser{Names: jobNames, Home: "/home/me"}.Parse(text, b, agenttool.Origin{Source: "cli_arg"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, tool := range []string{"shell_output", "shell_kill", "shell_input"} {
		for _, b := range []agenttool.Behavior{agenttool.Ask, agenttool.Deny} {
			for _, rule := range []string{
				"Shell", "Shell(rm *)", "Shell(*)", "Shell(git push *)", "Read(/ws/**)", "Write(**)", "Read(~/.ssh/**)",
				"Network", "Network(example.com)", "Grep", "shell_output", "shell_kill", "shell_input",
			} {
				for _, mode := range []Mode{Sandboxed, AcceptEdits, Default, DontAsk, Plan} {
					facts := &agenttool.Facts{
						Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Known(tool == "shell_output"), Destructive: agenttool.No, OpenWorld: agenttool.No,
							ConcurrencySafe: agenttool.Yes, PathsComplete: agenttool.Yes, OwnJobs: agenttool.Yes},
					}
					p := Policy{Mode: mode, Workspace: "/ws"}.With(parse(rule, b))
					r := Request{Tool: tool, RunsCode: true, Facts: facts}
					want := agenttool.Allow
					if rule == tool {
						want = b
						if b == agenttool.Ask && !mode.Asks() {
							want = agenttool.Deny
						}
					}
					if d := p.Decide(r); d.Behavior != want {
						t.Errorf("%s under %s %s in %s: %s (%s), want %s", tool, b, rule, mode, d.Behavior, d.Reason.Detail, want)
					}
					r.ByPerson = true
					if d := p.Decide(r); d.Behavior != agenttool.Allow {
						t.Errorf("the person's %s under %s %s in %s: %s (%s)", tool, b, rule, mode, d.Behavior, d.Reason.Detail)
					}
				}
			}
		}
	}
}
