package permissions

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

var names = map[string]string{
	"shell": "shell", "bash": "shell", "read": "read", "write": "write", "edit": "edit", "grep": "grep", "mcp": "mcp",
}

func rules(t testing.TB, texts ...string) []Rule {
	t.Helper()
	var out []Rule
	for _, text := range texts {
		r, err := Parser{Names: names, Home: "/home/me"}.Parse(text, agenttool.Allow, agenttool.Origin{Source: "cli_arg"})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// at is a path that is spelled and resolved alike; inside /ws it has a root.
func at(path string) agenttool.Path {
	p := agenttool.Path{Spelling: path, Absolute: path, Resolved: path}
	if agenttool.Within("/ws", path) {
		p.Root = "/ws"
	}
	return p
}

func linked(spelled, resolved string) agenttool.Path {
	p := at(resolved)
	p.Spelling, p.Absolute = spelled, spelled
	return p
}

// reading, writing and running are the facts of the three sorts of call.
func reading(paths ...agenttool.Path) *agenttool.Facts {
	return &agenttool.Facts{Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Yes, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes}, Reads: paths}
}

func writing(paths ...agenttool.Path) *agenttool.Facts {
	return &agenttool.Facts{Verdicts: agenttool.Verdicts{ReadOnly: agenttool.No, Destructive: agenttool.No, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes}, Writes: paths, Reads: paths}
}

func deleting(paths ...agenttool.Path) *agenttool.Facts {
	f := writing(paths...)
	f.Destructive = agenttool.Yes
	return f
}

func running(command string) *agenttool.Facts { return runningIn("/ws", command) }

func runningIn(dir, command string) *agenttool.Facts {
	where := at(dir)
	f := &agenttool.Facts{Dir: &where}
	if command != "" {
		argv := strings.Fields(command)
		f.Commands, f.Mentions, f.PartsComplete = [][]string{argv}, [][]string{argv}, agenttool.Yes
		f.Parts = []agenttool.Part{{Argv: argv, Exact: true, WrappedBy: -1}}
	}
	return f
}

// TestDecide is the table of decisions.
func TestDecide(t *testing.T) {
	conform.Held(t, "AT-141", "AT-142", "AT-145", "AT-146", "AT-148", "AT-158")
	private := at("/ws/state/log")
	private.Private = true
	open := reading(at("/ws/a"))
	open.OpenWorld = agenttool.Unknown
	incomplete := reading(at("/ws/a"))
	incomplete.PathsComplete = agenttool.Unknown
	for _, c := range []struct {
		name  string
		mode  Mode
		rules string // separated by ;
		tool  string
		facts *agenttool.Facts
		want  agenttool.Behavior
		why   string // reason type
	}{
		{"reads inside", "", "", "read", reading(at("/ws/a")), "allow", "mode"},
		{"reads inside in plan", Plan, "", "read", reading(at("/ws/a")), "allow", "mode"},
		{"reads outside", "", "", "read", reading(at("/etc/passwd")), "ask", "working_dir"},
		{"reads one of two outside", "", "", "grep", reading(at("/ws/a"), at("/etc")), "ask", "working_dir"},
		{"reads outside in dont_ask", DontAsk, "", "read", reading(at("/etc/passwd")), "deny", "working_dir"},
		{"reads outside in plan", Plan, "Read", "read", reading(at("/etc/passwd")), "deny", "mode"},
		{"a link that leads outside", "", "", "read", reading(linked("/ws/link", "/etc/passwd")), "ask", "working_dir"},
		{"maybe open world", "", "", "read", open, "ask", "classifier"},
		{"maybe more paths", "", "", "read", incomplete, "ask", "classifier"},
		{"unknown facts", "", "", "mcp", &agenttool.Facts{}, "ask", "classifier"},
		{"unknown facts, tool allowed", "", "mcp", "mcp", &agenttool.Facts{}, "allow", "rule"},
		{"own state", "", "Read;Shell;Grep", "read", reading(private), "deny", "safety_check"},
		{"writes own state", AcceptEdits, "Write", "write", writing(private), "deny", "safety_check"},

		{"reads outside, allowed", "", "Read(/etc/**)", "read", reading(at("/etc/passwd")), "allow", "rule"},
		{"reads outside, by another tool", "", "Read(/etc)", "grep", reading(at("/etc/passwd")), "allow", "rule"},
		{"reads outside, other rule", "", "Read(/usr/**)", "read", reading(at("/etc/passwd")), "ask", "working_dir"},
		{"reads outside, write rule", "", "Write(/etc/**)", "read", reading(at("/etc/passwd")), "ask", "working_dir"},
		{"reads home", "", "Read(~/notes)", "read", reading(at("/home/me/notes/x")), "allow", "rule"},
		{"link to allowed, spelled elsewhere", "", "Read(/etc/**)", "read", reading(linked("/ws/l", "/etc/hosts")), "ask", "working_dir"},
		{"allowed spelling leads elsewhere", "", "Read(/etc/**)", "read", reading(linked("/etc/l", "/root/x")), "ask", "working_dir"},

		{"writes", "", "", "write", writing(at("/ws/a")), "ask", "mode"},
		{"writes in accept_edits", AcceptEdits, "", "write", writing(at("/ws/a")), "allow", "mode"},
		{"deletes in accept_edits", AcceptEdits, "", "edit", deleting(at("/ws/a")), "ask", "mode"},
		{"writes outside in accept_edits", AcceptEdits, "", "write", writing(at("/tmp/a")), "ask", "mode"},
		{"shell in accept_edits", AcceptEdits, "", "shell", running("touch a"), "ask", "classifier"},
		{"writes, allowed everywhere", "", "Write", "write", writing(at("/tmp/a")), "allow", "rule"},
		{"writes, allowed below", "", "Write(src/**)", "write", writing(at("/ws/src/a/b")), "allow", "rule"},
		{"writes, allowed by directory", "", "Write(src)", "write", writing(at("/ws/src/a/b")), "allow", "rule"},
		{"writes beside", "", "Write(src)", "write", writing(at("/ws/srcs/a")), "ask", "mode"},
		{"write rule covers edit", "", "Write(src)", "edit", writing(at("/ws/src/a")), "allow", "rule"},
		{"edit rule does not cover write", "", "Edit(src)", "write", writing(at("/ws/src/a")), "ask", "mode"},
		{"edit rule covers edit", "", "Edit(src)", "edit", writing(at("/ws/src/a")), "allow", "rule"},
		{"relative rule outside", "", "Write(**)", "write", writing(at("/tmp/a")), "ask", "mode"},
		{"two writes, one allowed", "", "Write(a)", "write", writing(at("/ws/a"), at("/ws/b")), "ask", "mode"},
		{"two writes, two rules", "", "Write(a);Write(b)", "write", writing(at("/ws/a"), at("/ws/b")), "allow", "rule"},
		{"hook, allowed", "", "Write", "write", writing(at("/ws/.git/hooks/pre-commit")), "ask", "safety_check"},
		{"hook in accept_edits", AcceptEdits, "", "write", writing(at("/ws/a/.GIT/config")), "ask", "safety_check"},
		{"a link to a hook", AcceptEdits, "", "write", writing(linked("/ws/a", "/ws/.git/config")), "ask", "safety_check"},
		{"start-up file in dont_ask", DontAsk, "Write", "write", writing(at("/home/me/.bashrc")), "deny", "safety_check"},
		{"hook in plan", Plan, "Write", "write", writing(at("/ws/.git/config")), "deny", "mode"},
		{"a name that begins like one", AcceptEdits, "", "write", writing(at("/ws/.gitignore")), "allow", "mode"},
		{"writes in plan", Plan, "Write", "write", writing(at("/ws/a")), "deny", "mode"},
		{"writes, allowed, in dont_ask", DontAsk, "Write", "write", writing(at("/ws/a")), "allow", "rule"},

		{"a command", "", "", "shell", running("go test ./..."), "ask", "classifier"},
		{"its words", "", "Shell(go test ./...)", "shell", running("go test ./..."), "allow", "rule"},
		{"by alias", "", "bash(go test ./...)", "shell", running("go test ./..."), "allow", "rule"},
		{"more words", "", "Shell(go test *)", "shell", running("go test -race ./..."), "allow", "rule"},
		{"no more words", "", "Shell(npm run test:*)", "shell", running("npm run test"), "allow", "rule"},
		{"more words, colon", "", "Shell(npm run test:*)", "shell", running("npm run test -- -u"), "allow", "rule"},
		{"another word", "", "Shell(npm run test:*)", "shell", running("npm run test:unit"), "ask", "classifier"},
		{"a longer word", "", "Shell(npm run test:*)", "shell", running("npm run testing"), "ask", "classifier"},
		{"star in a word", "", "Shell(make build-*)", "shell", running("make build-all"), "allow", "rule"},
		{"star spans no words", "", "Shell(make build-*)", "shell", running("make build-all clean"), "ask", "classifier"},
		{"fewer words", "", "Shell(git log -1)", "shell", running("git log"), "ask", "classifier"},
		{"its words below", "", "Shell(make)", "shell", runningIn("/ws/sub", "make"), "allow", "rule"},
		{"its words elsewhere", "", "Shell(make)", "shell", runningIn("/elsewhere", "make"), "ask", "classifier"},
		{"elsewhere, all allowed", "", "Shell", "shell", runningIn("/elsewhere", "make"), "allow", "rule"},
		{"unknown words", "", "Shell(ls *)", "shell", running(""), "ask", "classifier"},
		{"unknown words, all allowed", "", "Shell", "shell", running(""), "allow", "rule"},
		{"write rule covers no command", "", "Write;Read", "shell", running("touch a"), "ask", "classifier"},
		{"read rule covers no command", "", "Read", "shell", running(""), "ask", "classifier"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Policy{Mode: c.mode, Workspace: "/ws"}
			if c.rules != "" {
				p = p.With(rules(t, strings.Split(c.rules, ";")...)...)
			}
			d := p.Decide(Request{Tool: c.tool, RunsCode: c.tool == "shell", Facts: c.facts})
			if d.Behavior != c.want || d.Reason.Type != c.why || d.Reason.Detail == "" {
				t.Errorf("%s because of %s (%s); want %s because of %s", d.Behavior, d.Reason.Type, d.Reason.Detail, c.want, c.why)
			}
			if byRule := d.Reason.Type == "rule"; byRule != (len(d.RuleRefs) > 0 && d.Source == "cli_arg" && d.Reason.RuleRef == d.RuleRefs[0]) {
				t.Errorf("rule refs %v, source %q, reason ref %q", d.RuleRefs, d.Source, d.Reason.RuleRef)
			}
			suggestionCovers(t, p, c.tool, c.facts, d)
		})
	}
}

// suggestionCovers checks that what a decision suggests would have allowed the very call, and is no wider.
func suggestionCovers(t *testing.T, p Policy, tool string, facts *agenttool.Facts, d agenttool.Decision) {
	t.Helper()
	for _, update := range d.SuggestedUpdates {
		with := p.With(rules(t, update.Rules...)...)
		with.Mode = cmp.Or(update.Mode, with.Mode)
		if got := with.Decide(Request{Tool: tool, RunsCode: tool == "shell", Facts: facts}); got.Behavior != agenttool.Allow {
			t.Errorf("the suggestion %+v does not cover the call: %s", update, got.Reason.Detail)
		}
		if update.Mode != "" {
			continue
		}
		other := Request{Tool: "write", Facts: writing(at("/ws/other"))}
		if p.Decide(other).Behavior != agenttool.Allow && with.Decide(other).Behavior == agenttool.Allow {
			t.Errorf("the suggestion %v covers something else", update.Rules)
		}
	}
}

// TestSuggestionsAreNarrow: no rule is suggested that would cover more than was seen.
func TestSuggestionsAreNarrow(t *testing.T) {
	p := Policy{Workspace: "/ws"}
	for _, command := range []string{"rm -rf x", "xargs touch", "/bin/sh x", "sudo ls", "/opt/tool x", "python3 -", "bash -s", "npx", "timeout 5 rm x"} {
		d := p.Decide(Request{Tool: "shell", RunsCode: true, Facts: running(command)})
		if d.Behavior != agenttool.Ask || len(d.SuggestedUpdates) != 0 {
			t.Errorf("%s: %s, %v", command, d.Behavior, d.SuggestedUpdates)
		}
	}
	for _, command := range []string{"bash x.sh", "python3 x.py", "node x.js y", "env make", "timeout 5 make"} { // these words, and no others
		d := p.Decide(Request{Tool: "shell", RunsCode: true, Facts: running(command)})
		if len(d.SuggestedUpdates) != 1 || !slices.Equal(d.SuggestedUpdates[0].Rules, []string{"Shell(" + command + ")"}) {
			t.Errorf("%s: %v", command, d.SuggestedUpdates)
		}
		with := p.With(rules(t, d.SuggestedUpdates[0].Rules...)...)
		if got := with.Decide(Request{Tool: "shell", RunsCode: true, Facts: running(command + " more")}); got.Behavior == agenttool.Allow {
			t.Errorf("%v covers more words", d.SuggestedUpdates[0].Rules)
		}
	}
	d := p.Decide(Request{Tool: "write", Facts: writing(at("/ws/a*[b]{c}?"))})
	suggestionCovers(t, p, "write", writing(at("/ws/a*[b]{c}?")), d)
	with := p.With(rules(t, d.SuggestedUpdates[0].Rules...)...)
	if got := with.Decide(Request{Tool: "write", Facts: writing(at("/ws/aXXbcd"))}); got.Behavior == agenttool.Allow {
		t.Errorf("%v covers another name", d.SuggestedUpdates[0].Rules)
	}
}

// TestModesAreSuggested: the strictest looser mode in which the call would run comes last, and none that an administrator does not allow.
func TestModesAreSuggested(t *testing.T) {
	edits, builds, destroys := Request{Tool: "write", Facts: writing(at("/ws/a"))}, Request{Tool: "shell", RunsCode: true, Facts: running("make")},
		Request{Tool: "shell", RunsCode: true, Facts: running("rm -rf x")}
	destroys.Facts.Destructive = agenttool.Yes
	for _, tt := range []struct {
		name    string
		policy  Policy
		request Request
		want    Mode
	}{
		{"an edit", Policy{Mode: Default}, edits, AcceptEdits},
		{"an edit that a rule asks about", Policy{Mode: Default}.With(askRule(t, "Write(/ws/a)")), edits, ""},
		{"a build in the sandbox", Policy{Mode: Default, Confines: true}, builds, Sandboxed},
		{"a build, with edits", Policy{Mode: AcceptEdits, Confines: true}, builds, Sandboxed},
		{"a build that nothing holds", Policy{Mode: Default}, builds, ""},
		{"a build, the mode is the administrator's", Policy{Mode: Default, Confines: true, Fixed: true}, builds, ""},
		{"what destroys", Policy{Mode: Default, Confines: true}, destroys, ""},
		{"what destroys, in mode sandboxed", Policy{Mode: Sandboxed, Confines: true}, destroys, ""},
	} {
		tt.policy.Workspace = "/ws"
		var got Mode
		if updates := tt.policy.Decide(tt.request).SuggestedUpdates; len(updates) > 0 {
			got = updates[len(updates)-1].Mode
		}
		if got != tt.want {
			t.Errorf("%s: suggested is mode %q, want %q", tt.name, got, tt.want)
		}
	}
}

func askRule(t *testing.T, text string) Rule {
	t.Helper()
	rule, err := Parser{Names: map[string]string{"write": "write"}}.Parse(text, agenttool.Ask, agenttool.Origin{Source: agenttool.SourceCommand})
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ rule, want string }{
		{"Nope", "there is no tool"}, {"", "there is no tool"}, {"Write(src", "closing parenthesis is missing"}, {"Write(src) x", "follow the closing parenthesis"}, {"Write()", "empty"}, {"Shell( )", "empty"},
		{"Shell(*)", "every command"}, {"Write(../x)", ".."}, {"Write(a/../b)", ".."}, {"Write(!a)", "negated"}, {"Write([)", "malformed"},
		{"Grep(x)", "no specifier"},
	} {
		_, err := Parser{Names: names, Home: "/home/me"}.Parse(c.rule, agenttool.Allow, agenttool.Origin{Source: "cli_arg"})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "rule") {
			t.Errorf("%q: %v, want %q", c.rule, err, c.want)
		}
	}
}

// FuzzRuleNeverWidens: a rule that covers a path or command covers it literally, by its pattern, and no rule of paths
// ever covers a command.
func FuzzRuleNeverWidens(f *testing.F) {
	for _, seed := range []string{"Write(src/**)", "Shell(go test *)", "Read(~/x)", "Write({a,b})", "Write(/)", "Edit(.)", `Write(\*)`, "Shell(a*b*c)"} {
		f.Add(seed, "/ws/src/a", "go test ./...")
	}
	f.Fuzz(func(t *testing.T, text, path, command string) {
		r, err := Parser{Names: names, Home: "/home/me"}.Parse(text, agenttool.Allow, agenttool.Origin{Source: "cli_arg"})
		if err != nil || !strings.HasPrefix(path, "/") {
			return
		}
		p := Policy{Workspace: "/ws"}.With(r)
		d := p.Decide(Request{Tool: "shell", RunsCode: true, Facts: running(command)})
		if d.Behavior == agenttool.Allow && r.tool != "shell" {
			t.Errorf("%s covers the command %q", text, command)
		}
		d = p.Decide(Request{Tool: "write", Facts: writing(at(path))})
		if d.Behavior == agenttool.Allow && r.tool != "write" {
			t.Errorf("%s covers writing %s", text, path)
		}
		if d.Behavior == agenttool.Allow && r.glob != "" && !strings.HasPrefix(r.glob, "/") && !agenttool.Within("/ws", path) {
			t.Errorf("%s, relative to the workspace, covers %s", text, path)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	var texts []string
	for range 50 {
		texts = append(texts, "Shell(npm run test:*)", "Write(src/**/*.go)", "Read(/usr/share/**)")
	}
	p := Policy{Workspace: "/ws"}.With(rules(b, texts...)...)
	facts := writing(at("/ws/docs/a/b.md"))
	for b.Loop() {
		p.Decide(Request{Tool: "write", Facts: facts})
	}
}

// TestReasonSaysWhereTheRuleStands names the file and line of the deciding rule, so that a log explains itself.
func TestReasonSaysWhereTheRuleStands(t *testing.T) {
	rule, err := Parser{Names: names, Home: "/home/me"}.Parse("Write(/ws/**)", agenttool.Deny, agenttool.Origin{Source: agenttool.SourceUser, File: "/home/me/settings.json", Line: 7})
	if err != nil {
		t.Fatal(err)
	}
	d := Policy{Workspace: "/ws"}.With(rule).Decide(Request{Tool: "write", Facts: writing(at("/ws/a"))})
	if d.Behavior != agenttool.Deny || d.Reason.Where != "/home/me/settings.json:7" {
		t.Errorf("%s, %+v", d.Behavior, d.Reason)
	}
}
