package permissions

import (
	"fmt"
	"testing"

	"toolhost/agenttool"
)

// manyRules are rules as people have them: words, paths and hosts, that deny, ask and allow.
func manyRules(t testing.TB, n int) []Rule {
	var all []Rule
	parser := Parser{Names: names, Home: "/home/me"}
	behaviors := []agenttool.Behavior{agenttool.Allow, agenttool.Allow, agenttool.Ask, agenttool.Deny}
	for i := range n {
		text := fmt.Sprintf([]string{
			"Shell(npm run task%d:*)", "Shell(git sub%d *)", "Write(src/p%d/**/*.go)", "Read(/usr/share/p%d/**)", "Shell(make target-%d-*)", "Read(**/secret%d/*)",
			"Network(host%d.example.com)", "Shell(tool%d *)",
		}[i%8], i)
		rule, err := parser.Parse(text, behaviors[i/8%4], agenttool.Origin{Source: "user_settings", File: "/home/me/.config/toolhost/settings.json", Line: i})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rule)
	}
	return all
}

// command is a typical one, as the classifier sees it: git status && npm run task8 -- -u > src/p2/a/b.go
func command() *agenttool.Facts {
	dir := at("/ws")
	argv := [][]string{{"git", "status"}, {"npm", "run", "task8", "--", "-u"}}
	return &agenttool.Facts{
		Dir: &dir, Commands: argv, Mentions: argv, PartsComplete: agenttool.Yes, Reads: []agenttool.Path{at("/ws")}, Writes: []agenttool.Path{at("/ws/src/p2/a/b.go")},
		Parts: []agenttool.Part{
			{Argv: argv[0], Exact: true, WrappedBy: -1, ReadOnly: agenttool.Yes, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes},
			{Argv: argv[1], Exact: true, WrappedBy: -1},
		},
	}
}

// BenchmarkDecision decides about a typical command under 500 rules.
func BenchmarkDecision(b *testing.B) {
	p := Policy{Workspace: "/ws"}.With(manyRules(b, 500)...)
	r := Request{Tool: "shell", RunsCode: true, Facts: command()}
	b.ReportAllocs()
	for b.Loop() {
		if d := p.Decide(r); d.Behavior != agenttool.Allow {
			b.Fatal(d.Reason.Detail)
		}
	}
}

// BenchmarkAsking decides about one that no rule covers, with its suggestions.
func BenchmarkAsking(b *testing.B) {
	p := Policy{Workspace: "/ws"}.With(manyRules(b, 500)...)
	f := command()
	f.Parts[1].Argv = []string{"npm", "run", "other"}
	r := Request{Tool: "shell", RunsCode: true, Facts: f}
	b.ReportAllocs()
	for b.Loop() {
		if d := p.Decide(r); d.Behavior != agenttool.Ask {
			b.Fatal(d.Reason.Detail)
		}
	}
}

// BenchmarkReload compiles 1,000 rules, from their texts on.
func BenchmarkReload(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Policy{Workspace: "/ws"}.With(manyRules(b, 1000)...)
	}
}
