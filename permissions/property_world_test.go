package permissions

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// world is a random policy and a random call, made of few words, so that they meet.
type world struct {
	rand    *rand.Rand
	mode    Mode
	rules   []Rule
	request Request
}

func newWorld(seed uint64) *world {
	w := &world{rand: rand.New(rand.NewPCG(seed, 2026))}
	w.mode = pickOf(w, agenttool.Modes)
	for range w.rand.IntN(6) {
		w.rules = append(w.rules, w.rule(pickOf(w, looseness)))
	}
	w.request = w.call()
	return w
}

func pickOf[T any](w *world, from []T) T { return from[w.rand.IntN(len(from))] }

// often reports true n times of ten.
func (w *world) often(n int) bool { return w.rand.IntN(10) < n }

func (w *world) policy(rules []Rule) Policy {
	return Policy{Mode: w.mode, Workspace: "/ws", Confines: true, Secret: func(path string) bool { return strings.HasSuffix(path, ".env") }}.With(rules...)
}

func (w *world) decide(rules []Rule, r Request) agenttool.Behavior {
	return w.policy(rules).Decide(r).Behavior
}

var (
	somePrograms = []string{"git", "git", "npm", "make", "rm", "ls", "/usr/bin/git", "./make", "sudo", "my tool"}
	someWords    = []string{"push", "run", "test", "-C", "dir", "--force", "x", "a b", "*", "'", "", "main", "origin", "(", "test:unit", "…", "a*b"}
	somePaths    = []string{"/ws/a", "/ws/src/a", "/ws/src/deep/b", "/ws/[x]*", "/out/a", "/out/src/a", "/ws/.git/config", "/ws/.env", "/ws/SRC/A"}
	someGlobs    = []string{"src/**", "src", "/out/**", "**", "a", "*/a", "SRC/**", "/ws/src/a", "**/.env", ".git/**", "{a,src}/**"}
	someHosts    = []string{"example.com", "api.example.com:8443", "EVIL.com."}
	someNetworks = []string{"Network", "Network(example.com)", "Network(*.example.com)", "Network(evil.com:443)"}
)

// rule makes a rule of a behaviour.
func (w *world) rule(b agenttool.Behavior) Rule {
	for {
		text := "Shell"
		switch n := w.rand.IntN(12); {
		case n < 7:
			words := []string{pickOf(w, somePrograms)}
			for range w.rand.IntN(3) {
				words = append(words, pickOf(w, someWords))
			}
			for i, word := range words {
				if words[i] = quoted(word); w.often(1) {
					words[i] = "*" + words[i]
				}
			}
			text = "Shell(" + strings.Join(words, " ") + pickOf(w, []string{"", " *", ":*"}) + ")"
		case n < 10:
			text = pickOf(w, []string{"Read", "Write", "Edit"}) + "(" + pickOf(w, someGlobs) + ")"
		case n == 10:
			text = pickOf(w, someNetworks)
		case w.often(7):
			continue
		}
		if r, err := w.parse(text, b); err == nil {
			return r
		}
	}
}

func (w *world) parse(text string, b agenttool.Behavior) (Rule, error) {
	return Parser{Names: names, Home: "/home/me", Workspace: "/ws"}.Parse(text, b, agenttool.Origin{Source: agenttool.SourceCLI})
}

// quoted spells a word so that it means itself.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " *'()\\\"") && !strings.HasSuffix(word, ":") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// call makes the facts of a command or of a file tool's call.
func (w *world) call() Request {
	f := &agenttool.Facts{
		Verdicts: agenttool.Verdicts{
			ReadOnly: w.fact(), Destructive: w.fact(), OpenWorld: w.fact(), PathsComplete: w.fact(),
			OwnJobs: pickOf(w, []agenttool.Fact{agenttool.No, agenttool.No, agenttool.Unknown}),
		},
		PartsComplete: agenttool.Yes,
	}
	r := Request{Tool: pickOf(w, []string{"read", "write", "edit", "grep", "mcp"}), Facts: f}
	for range w.rand.IntN(3) {
		f.Reads = append(f.Reads, w.path())
	}
	for range w.rand.IntN(2) {
		f.Writes = append(f.Writes, w.path())
	}
	if w.often(7) {
		w.commands(&r)
	}
	return r
}

// commands makes the call one of the shell.
func (w *world) commands(r *Request) {
	f := r.Facts
	where := at(pickOf(w, []string{"/ws", "/ws", "/ws", "/ws/src", "/out"}))
	r.Tool, r.RunsCode, f.Dir, f.Mentions = "shell", true, &where, [][]string{}
	if w.often(1) {
		f.PartsComplete = w.fact()
	}
	if w.often(2) {
		f.Hosts = append(f.Hosts, pickOf(w, someHosts))
	}
	for n := range 1 + w.rand.IntN(3) {
		part := agenttool.Part{Argv: w.argv(), Exact: true, Line: 1, Column: 1 + n, WrappedBy: w.rand.IntN(n+1) - 1,
			ReadOnly: w.fact(), Destructive: w.fact(), OpenWorld: w.fact(), PathsComplete: w.fact()}
		if w.often(1) {
			part.Dirs = []string{pickOf(w, []string{"/ws/src", "/out", "…"})}
		}
		mention := slices.Clone(part.Argv)
		if i := w.rand.IntN(len(mention)); w.often(1) {
			part.Exact, part.Argv[i], mention[i] = false, part.Argv[i]+unknownEnd, mention[i]+agenttool.Unread
		}
		f.Parts, f.Mentions = append(f.Parts, part), append(f.Mentions, mention)
	}
	if w.often(2) {
		f.Mentions = append(f.Mentions, w.argv())
	}
	f.Unmentioned = w.rand.IntN(20) == 0
	for i := range f.Writes {
		f.Writes[i].By = w.rand.IntN(len(f.Parts) + 1)
	}
}

// fact is any of the three.
func (w *world) fact() agenttool.Fact {
	return pickOf(w, []agenttool.Fact{agenttool.Unknown, agenttool.Yes, agenttool.No})
}

func (w *world) argv() []string {
	argv := []string{pickOf(w, somePrograms)}
	for range w.rand.IntN(4) {
		argv = append(argv, pickOf(w, someWords))
	}
	return argv
}

func (w *world) path() agenttool.Path {
	p := at(pickOf(w, somePaths))
	if w.often(2) {
		p = linked(pickOf(w, somePaths), p.Absolute)
	}
	p.Private = w.rand.IntN(50) == 0
	return p
}

// tell adds the world to what is wrong in it.
func (w *world) tell(format string, args ...any) string {
	var rules []string
	for _, r := range w.rules {
		rules = append(rules, string(r.Behavior)+":"+r.Text)
	}
	f := w.request.Facts
	return fmt.Sprintf(format, args...) + fmt.Sprintf("\n\tmode %s, rules %q\n\t%s, facts %+v", w.mode, rules, w.request.Tool, *f)
}
