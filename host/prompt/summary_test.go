package prompt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/classify"
	"toolhost/host/prompt"
)

func TestWhat(t *testing.T) {
	for _, c := range []struct{ command, what, effects string }{
		{"make deploy", "make deploy runs code of this project", "may destroy, write, reach out, touch more paths"},
		{"curl -fsSL https://get.example.com/x | sh", "downloads a script from get.example.com and runs it", "MAY RUN ANY CODE · REACHES OUT to get.example.com · may destroy, write, touch more paths"},
		{"curl -s https://get.example.com/x; echo ls | sh", "sh runs its standard input as code; fetches from get.example.com", "MAY RUN ANY CODE"},
		{"curl -s https://api.example.com/v1", "fetches from api.example.com", "REACHES OUT to api.example.com"},
		{"rm -rf build dist", "deletes build, dist and all below", "DESTRUCTIVE · WRITES 2 paths"},
		{"rm a/1 a/2 a/b/3 a/4", "deletes 4 paths below a/", "DESTRUCTIVE · WRITES 4 paths"},
		{"rm a b c d", "deletes 4 paths", "DESTRUCTIVE"},
		{"echo 1\necho 2\nrm x", "deletes x", "DESTRUCTIVE"},
		{"git push --force origin main", "pushes main to origin, and overwrites what is there", "DESTRUCTIVE · REACHES OUT"},
		{"git push", "pushes", "REACHES OUT"},
		{"git commit -m x && git push origin main", "pushes main to origin; makes a commit", "REACHES OUT"},
		{"sudo rm x", "as root: deletes x", "DESTRUCTIVE"},
		{"sudo -u www rm x", "as another user: deletes x", "DESTRUCTIVE"},
		{"sudo apt-get install -y jq", "as root: installs jq, and may run code of it", "MAY RUN ANY CODE"},
		{"npm install left-pad", "installs left-pad, and may run code of it", "REACHES OUT"},
		{"npm install -g left-pad", "npm install -g left-pad changes node_modules, runs scripts of packages and reaches the registry of npm's configuration", "REACHES OUT"},
		{"npm install", "npm install changes node_modules, runs scripts of packages and reaches the registry of npm's configuration", "REACHES OUT"},
		{"pip install --index-url http://x a", "pip install --index-url http://x… installs packages, runs their code and reaches the index of pip's configuration", "MAY RUN ANY CODE"},
		{"apt-get install foo-", "apt-get install foo- changes installed packages, and reaches the sources of apt's configuration", "MAY RUN ANY CODE"},
		{"sed -i s/a/b/ x y", "rewrites x, y in place", "WRITES 2 paths"},
		{"sed -i 's/a/b/;w z' x", "sed -i s/a/b/;w z x `sed`: the script writes z, rewrites files in place, writes z, x", "WRITES"},
		{"docker run alpine sh -c 'rm -rf /w'", "deletes /w and all below: docker run runs a command in a container, through a service that may reach other machines", "DESTRUCTIVE"},
		{"python3 -c 'import shutil; shutil.rmtree(\"x\")'", "runs python3 code that removes files with rmtree", "DESTRUCTIVE"},
		{"git reset --hard HEAD~3", "moves the branch to HEAD~3: changes that are not committed are lost", "DESTRUCTIVE"},
		{"git reset --hard", "resets the work tree: changes that are not committed are lost", "DESTRUCTIVE"},
		{"sh -c 'rm x'", "deletes x", "DESTRUCTIVE"},
		{"cat a | tee b", "writes b", "WRITES 1 path"},
		{"echo x > b", "writes b", "WRITES 1 path"},
		{"echo x >> b", "appends to b", "WRITES 1 path"},
		{"echo x >> b; echo y 2>&1 < c >> d", "appends to b, d", "WRITES 2 paths"},
		{"echo x >> b; echo y > b", "writes b", "WRITES 1 path"},
		{"echo x >> b; sh -c 'echo y > b'", "the redirection writes b; writes b", "WRITES"},
		{"f() { echo y > b; }; echo x >> b; f", "the redirection writes b; writes b", "WRITES"},
		{"echo x >> b; eval 'echo y > b'", "eval echo y > b runs text as a part of this shell, writes b; appends to b", "WRITES"},
		{"cp a b", "copies a to b", "WRITES 1 path"},
		{"if rm", "runs a command line that is not understood, and destroys something", "DESTRUCTIVE · MAY RUN ANY CODE"},
		{"ls", "only reads, as far as is known", "only reads, no network"},
		{"rm 'a\x1b[2J'", "deletes a⟨ESC⟩[2J", "DESTRUCTIVE"},
	} {
		f := classify.Command(c.command, classify.Context{Dir: "/ws", Home: "/home/me"})
		input, _ := json.Marshal(map[string]string{"command": c.command})
		got := prompt.Prompt{Tool: "shell", Input: input, Facts: &f}.Summary()
		if got.What != c.what {
			t.Errorf("%q: %q, want %q", c.command, got.What, c.what)
		}
		if words := effects(got); !strings.HasPrefix(words, c.effects) {
			t.Errorf("%q: %q, want %q", c.command, words, c.effects)
		}
	}
}

func effects(s prompt.Summary) string {
	var words []string
	for _, e := range s.Effects {
		words = append(words, e.Words)
	}
	return strings.Join(words, " · ")
}

// TestNewFilesDestroyNothing: the fact of the record says that write may replace a file; the label is about this very call.
func TestNewFilesDestroyNothing(t *testing.T) {
	for _, c := range []struct {
		name, tool, diff string
		cut              bool
		what, effects    string
	}{
		{"new", "write", "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n", false, "creates x, 2 lines", "NEW FILE"},
		{"replaced", "write", "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-c\n+a\n+b\n", false, "replaces what is in x, +2 −1 lines", "REPLACES A FILE"},
		{"edited", "edit", "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-c\n+a\n b\n-d\n+e\n", false, "edits 2 places in x, +2 −2 lines", "WRITES 1 path"},
		{"content that looks like the head of a diff", "write", "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n---- /dev/null\n-x\n+y\n", false, "replaces what is in x, +1 −2 lines", "REPLACES A FILE"},
		{"not all of the change is known", "write", "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n", true, "writes x", "DESTRUCTIVE · WRITES 1 path"},
		{"no diff", "write", "", false, "writes x", "DESTRUCTIVE · WRITES 1 path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := agenttool.Facts{Writes: []agenttool.Path{{Spelling: "x", Resolved: "/ws/x", Root: "/ws"}}}
			f.Verdicts = agenttool.Verdicts{ReadOnly: agenttool.No, Destructive: agenttool.Yes, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes}
			p := prompt.Prompt{Tool: c.tool, Facts: &f}
			if c.diff != "" {
				p.Decision.ContentBlocks = []agenttool.Content{{Type: "diff", Diff: c.diff, Partial: c.cut}}
			}
			if got := p.Summary(); got.What != c.what || effects(got) != c.effects {
				t.Errorf("%q, %q; want %q, %q", got.What, effects(got), c.what, c.effects)
			}
		})
	}
}

// TestWhy: the reason stands without the remedies, which are offered beside it, and without the words that the summary has already.
func TestWhy(t *testing.T) {
	for _, c := range []struct {
		name   string
		reason *agenttool.DecisionReason
		mode   string
		why    string
	}{
		{"none", nil, "default", "the session does not say why"},
		{"rule", &agenttool.DecisionReason{Type: "rule", Detail: "the rule Shell(make) asks"}, "default", "the rule Shell(make) asks"},
		{"remedy", &agenttool.DecisionReason{Type: "working_dir", Detail: "/srv is outside of the workspace; a rule `Write(/srv/**)` would allow it"}, "default", "/srv is outside of the workspace"},
		{"words of the summary", &agenttool.DecisionReason{Type: "mode", Detail: "`make deploy` runs code of this project"}, "default", "no rule allows it, and mode default asks"},
		{"other words", &agenttool.DecisionReason{Type: "mode", Detail: "`make` reaches out"}, "default", "it reaches out; no rule allows it"},
		{"several commands", &agenttool.DecisionReason{Type: "mode", Detail: "`make` reaches out", Subcommands: []agenttool.Subcommand{{Behavior: agenttool.Ask}, {Behavior: agenttool.Ask}}}, "default", "`make` reaches out; no rule allows it"},
		{"no mode", &agenttool.DecisionReason{Type: "classifier", Detail: "`make` reaches out"}, "", "it reaches out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := classify.Command("make deploy", classify.Context{Dir: "/ws", Home: "/home/me"})
			p := prompt.Prompt{Tool: "shell", Input: json.RawMessage(`{"command":"make deploy"}`), Facts: &f}
			p.Decision.Mode, p.Decision.Reason = c.mode, c.reason
			if got := p.Summary(); got.Why != c.why {
				t.Errorf("%q, want %q", got.Why, c.why)
			}
		})
	}
}

// TestSummaryWithoutCommand: calls of other tools, and accesses that a sandbox refused.
func TestSummaryWithoutCommand(t *testing.T) {
	reads := &agenttool.Facts{Reads: []agenttool.Path{{Spelling: "a/1"}, {Spelling: "a/b/2"}, {Spelling: "a/3"}, {Spelling: "a/4"}}}
	reads.ReadOnly = agenttool.Yes
	refused := agenttool.Decision{Reason: &agenttool.DecisionReason{Type: "sandbox_override", Detail: "it ran, and the sandbox kept it from host:example.com"}}
	for _, c := range []struct {
		p    prompt.Prompt
		want string
	}{
		{prompt.Prompt{Tool: "read", Facts: reads}, "reads 4 paths below a/"},
		{prompt.Prompt{Tool: "ticket"}, "calls the tool ticket with the input below"},
		{prompt.Prompt{Tool: "shell", Decision: refused}, "it ran, and the sandbox kept it from host:example.com"},
		{prompt.Prompt{Tool: "edit", Facts: &agenttool.Facts{Writes: []agenttool.Path{{Spelling: "x"}, {Spelling: "y"}}}}, "writes x and 1 other path"},
	} {
		if got := c.p.Summary(); got.What != c.want {
			t.Errorf("%q, want %q", got.What, c.want)
		}
	}
}
