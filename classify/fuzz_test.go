package classify

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
)

func seed(f *testing.F) {
	f.Helper()
	for _, r := range corpus(f) {
		f.Add(r.command)
	}
	for _, place := range around {
		f.Add(place.before + "rm x" + place.after)
	}
	for _, tt := range factTests {
		f.Add(tt.text)
	}
}

// printed returns the text of statements, "" if the printer cannot print what the parser reads again.
func printed(stmts []*syntax.Stmt) string {
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, &syntax.File{Stmts: stmts}); err != nil {
		return ""
	}
	return b.String()
}

// printable reports whether the printer keeps what a text means to us: it turns backquotes into $(…), drops or doubles
// some backslashes, and aligns at some control characters.
func printable(text string) bool {
	_, fits := unfit(text)
	return fits && len(text) <= 2000 && !strings.ContainsAny(text, "\r\x00\x01\x7f\v\f`") && !strings.HasSuffix(text, `\`) &&
		!strings.Contains(text, "$\\\n")
}

func readOnly(text string) bool { return Command(text, testContext).ReadOnly == agenttool.Yes }

func FuzzCommand(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		r := Command(text, testContext)
		facts := r
		switch {
		case facts.ReadOnly == agenttool.Yes && facts.Destructive != agenttool.No,
			facts.ReadOnly == agenttool.Yes && len(facts.Writes) > 0,
			facts.ReadOnly != agenttool.Yes && facts.ConcurrencySafe == agenttool.Yes,
			facts.ReadOnly != agenttool.Yes && len(facts.Reasons) == 0:
			t.Errorf("%q: facts that cannot be: %+v", text, facts)
		}
		for i, p := range r.Parts {
			if p.WrappedBy >= i {
				t.Errorf("%q: part %d is wrapped by %d", text, i, p.WrappedBy)
			}
			if facts.ReadOnly == agenttool.Yes && p.ReadOnly != agenttool.Yes {
				t.Errorf("%q is read-only and its part %q is not", text, p.Argv)
			}
		}
		if testing.Short() || len(text) > 2000 {
			return
		}
		if again := Command(text, testContext); again.ReadOnly != facts.ReadOnly {
			t.Errorf("%q: %v, then %v", text, facts.ReadOnly, again.ReadOnly)
		}
	})
}

// countWords tells when the printer made two words of one, as it does around <(…).
func countWords(list []*syntax.Stmt) int {
	n := 0
	for _, stmt := range list {
		syntax.Walk(stmt, func(node syntax.Node) bool {
			if _, ok := node.(*syntax.Word); ok {
				n++
			}
			return true
		})
	}
	return n
}

// faithful prints statements, if the printer keeps their words.
func faithful(stmts []*syntax.Stmt) (text string, ok bool) {
	text = printed(stmts)
	back := parse(text)
	return text, text != "" && printable(text) && !back.failed && printed(back.stmts) == text &&
		countWords(back.stmts) == countWords(stmts)
}

// The facts are of the tree: printing and parsing it again does not change them.
func FuzzPrinted(f *testing.F) {
	seed(f)
	f.Add(">{}>f")
	f.Fuzz(func(t *testing.T, text string) {
		tree := parse(text)
		if tree.failed || !printable(text) {
			return
		}
		again, ok := faithful(tree.stmts)
		if !ok {
			return // a fault of the printer, not of ours
		}
		a, b := Command(text, testContext), Command(again, testContext)
		if ambiguous(a) && !ambiguous(b) {
			return // only the text is ambiguous: ">{}>f" may name a descriptor, ">{} >f" does not
		}
		if a.ReadOnly != b.ReadOnly || a.OpenWorld != b.OpenWorld || a.Destructive != b.Destructive {
			t.Errorf("%q: read_only %v, open_world %v, destructive %v\n%q: %v, %v, %v\n%v\n%v", text, a.ReadOnly, a.OpenWorld,
				a.Destructive, again, b.ReadOnly, b.OpenWorld, b.Destructive, a.Reasons, b.Reasons)
		}
	})
}

// ambiguous reports whether bash may read a command in another way than we do.
func ambiguous(f agenttool.Facts) bool {
	return slices.ContainsFunc(f.Reasons, func(r agenttool.Reason) bool { return strings.Contains(r.Text, "bash may read") })
}

// mutations make a command line do more; none may make its verdict safer.
var mutations = []struct {
	name  string
	words func(*syntax.CallExpr)
}{
	{"an unknown option", func(c *syntax.CallExpr) { insert(c, word("--no-such-option")) }},
	{"an unknown letter", func(c *syntax.CallExpr) { insert(c, word("-\u00e9")) }},
	{"an unknown program", func(c *syntax.CallExpr) { c.Args = append([]*syntax.Word{word("no-such-program")}, c.Args...) }},
	{"an unquoted variable", func(c *syntax.CallExpr) {
		insert(c, &syntax.Word{Parts: []syntax.WordPart{
			&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "unknown_variable"}}}})
	}},
	{"a substitution", func(c *syntax.CallExpr) {
		inner := &syntax.Stmt{Cmd: &syntax.CallExpr{Args: []*syntax.Word{word("no-such-program")}}}
		insert(c, &syntax.Word{Parts: []syntax.WordPart{&syntax.CmdSubst{Stmts: []*syntax.Stmt{inner}}}})
	}},
	{"a variable of the environment", func(c *syntax.CallExpr) {
		c.Assigns = append(c.Assigns, &syntax.Assign{Name: &syntax.Lit{Value: "PATH"}, Value: word(".")})
	}},
}

// insert puts a word after the program's name, where it cannot be the value of an option.
func insert(c *syntax.CallExpr, w *syntax.Word) { c.Args = slices.Insert(c.Args, 1, w) }

func word(text string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}}
}

func FuzzMutation(f *testing.F) {
	for _, r := range corpus(f) {
		f.Add(r.command, uint8(0))
		f.Add(r.command, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		if !printable(text) || readOnly(text) {
			return
		}
		tree := parse(text)
		if _, ok := faithful(tree.stmts); tree.failed || !ok {
			return
		}
		for _, m := range mutations {
			tree := parse(text)
			if !mutate(tree.stmts, int(which), m.words) {
				return
			}
			if more := printed(tree.stmts); readOnly(more) {
				t.Errorf("%q is not read-only, with %s %q is", text, m.name, more)
			}
		}
		for _, after := range []string{" > f", " >> f", " &> f", " 2> f", " <> f", " > $x"} {
			if more := "{ " + printed(tree.stmts) + "\n}" + after; readOnly(more) {
				t.Errorf("%q is called read-only", more)
			}
		}
	})
}

// mutate changes the n-th simple command with words, and reports whether there is one.
func mutate(stmts []*syntax.Stmt, n int, change func(*syntax.CallExpr)) bool {
	done := false
	for _, s := range stmts {
		syntax.Walk(s, func(node syntax.Node) bool {
			call, ok := node.(*syntax.CallExpr)
			if !ok || len(call.Args) == 0 || done {
				return !done
			}
			if n--; n < 0 {
				change(call)
				done = true
			}
			return !done
		})
	}
	return done
}

func FuzzJoin(f *testing.F) {
	rows := corpus(f)
	for i, r := range rows {
		f.Add(r.command, rows[(i*7+3)%len(rows)].command)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		first, second := parse(a), parse(b)
		if first.failed || second.failed || len(first.stmts) == 0 || len(second.stmts) == 0 || !printable(a) ||
			!printable(b) {
			return
		}
		one, two := printed(first.stmts), printed(second.stmts)
		safe := readOnly(one) && (readOnly(two) || sets(first.stmts))
		both := readOnly(one) && readOnly(two)
		for _, op := range []string{"\n", " && ", " || ", " | ", " & "} {
			joined := "{ " + one + "\n}" + op + "{ " + two + "\n}"
			switch got := readOnly(joined); {
			case !got:
			case op == " | " && !both, op == " & " && !both, !safe:
				t.Errorf("%q is read-only, and not both of %q and %q", joined, a, b)
			}
		}
	})
}

// sets reports whether statements make something known to those after them.
func sets(stmts []*syntax.Stmt) bool {
	found := false
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch x := n.(type) {
			case *syntax.Assign, *syntax.ForClause, *syntax.FuncDecl, *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.LetClause:
				found = true
			case *syntax.CallExpr:
				for _, arg := range x.Args {
					found = found || arg.Lit() == "cd" || arg.Lit() == "unset"
				}
			}
			return !found
		})
	}
	return found
}
