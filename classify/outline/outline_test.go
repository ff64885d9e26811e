package outline

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestSharesNothingWithTheParser: a second opinion that asks the first one is none.
func TestSharesNothingWithTheParser(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			if strings.Contains(spec.Path.Value, ".") || strings.Contains(spec.Path.Value, "toolhost") {
				t.Errorf("%s imports %s", name, spec.Path.Value)
			}
		}
	}
}

// drawn shows an outline: N name, w word, . end, f function, ( open, ) close, v parameter, q quote, o operator, ; separator, & background,
// g group, k keyword, r redirection.
func drawn(text string) string {
	o := Read(text, nil)
	if o.Doubt != "" {
		return "? " + o.Doubt
	}
	signs := []struct {
		mark Mark
		sign string
	}{{Name, "N"}, {Function, "f"}, {Open, "("}, {Close, ")"}, {Parameter, "v"}, {Quote, "q"}, {Operator, "o"}, {Separator, ";"},
		{Background, "&"}, {Group, "g"}, {Keyword, "k"}, {Redirect, "r"}}
	var b strings.Builder
	for _, m := range o.Marks {
		sign := " "
		if m&End != 0 {
			sign = "."
		}
		if m&Word != 0 {
			sign = "w"
		}
		for _, s := range signs {
			if m&s.mark != 0 {
				sign = s.sign
				if s.mark == Name {
					break
				}
			}
		}
		b.WriteString(sign)
	}
	return strings.TrimRight(b.String(), " ")
}

func TestRead(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{"ls -la", "N .w  ."},
		{"a;b&c|d&&e", "N;N&NoNo N."},
		{"a=1 b 2>f", "w  .N. rw."},
		{"echo 'a;b' # c", "N   .q   q."},
		{"(a; b)", "gN; Ng"},
		{"echo $(a $x) ", "N   .( N.v )."},
		{"if a; then b; fi", "k  N; k    N; k"},
		{"f() { a; }", "f   k N; k"},
		{"for x in a b; do c; done", "k   w.k  w.w. k  N; k"},
		{"case x in a|b) c;; esac", "k    w.k  w.w. No  k"},
		{"cat <<E\n$x\nE\nls", "N  .r w.v    N ."},
		{"((1+2)) && a", "(    )  o  N."},
		{"[[ -f x ]] || a", "k       k  o  N."},
		{"diff <(a) <(b)", "N   .( N).( N)."},
		{"x=(a b) y", "w gw.wg.N."},
	}
	for _, tt := range tests {
		if got := drawn(tt.text); got != tt.want {
			t.Errorf("%q is drawn as\n%q, want\n%q", tt.text, got, tt.want)
		}
	}
}

// TestDoubts: where versions of bash and shells differ, and where the text is no command line.
func TestDoubts(t *testing.T) {
	for _, text := range []string{"'", `"`, "`", "$(", "${", "${x", "$((", "((1)", "$((1) )", "(a", "a)", "{ a", "a }; }", "if a; then b", "fi", "for x", "case x in a) b",
		"[[ a", "f()", "a &&", "| a", "&& a", ";; a", "cat <<E", "cat <<E\nx", "cat <<E\nEE\nE", "cat <<E\n${x:-\nE\n}\nE", "cat <<E \"\n\"\nE", "cat <<$x\n$x",
		"cat <<E\nE\\\n\nE", "echo `a \\`b\\``", "echo `# a`", "${ a; }", "${| a; }", "a{b} <f {c}>d", "a\\", "a[$(b)]=1", "r\\\nm x", "a &\\\n& b", "echo $\\\n(b)",
		"echo @(a|b)", "time -x a", "echo \"${x:-'$(a)'}\"", "echo \"${x:-`a`}\"", "$((1 + 'a'))", "[[ a =~ b;c ]]", "x=\\\n(a)", "2\\\n>f", strings.Repeat("(", 400),
		"$(($(a <<\\E\n$(\nE\n)))", "$(($(case x in (x) a;; esac)))", "$(($(a ${x#(})))", "$(($(a # (\n)))", "$(($(a $'\\'')))"} {
		if got := Read(text, nil); got.Doubt == "" {
			t.Errorf("%q is not in doubt: %s", text, drawn(text))
		} else if got.At > len(text) {
			t.Errorf("%q: the doubt is at %d", text, got.At)
		}
	}
}

// TestExpressionsAreNoCommands: parentheses in quotes are not counted.
func TestExpressionsAreNoCommands(t *testing.T) {
	for _, text := range []string{"$((1 + (2)))", "$(($(wc -l < f) + 1))", "$(($(grep -c 'a(' f) - 1))", `$(($(grep -c "a)" f) - 1))`, `$(($(date "+%s") << 3))`} {
		if got := Read("echo "+text, nil); got.Doubt != "" {
			t.Errorf("%q: %s", text, got.Doubt)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`"\`)
	f.Add(`$'\`)
	f.Add("``<(\xb3\xb3\xb3\xb3\xb3 | (g; { h; }) && [[ i =~ (j) ]]\nE\ncase k in l")
	f.Add("[[ a &")
	f.Add("a $(b `c` <(d) ${e[1]:-f}) <<E | (g; { h; }) && [[ i =~ (j) ]]\nE\ncase k in l) m;; esac")
	f.Fuzz(func(t *testing.T, text string) {
		first := Read(text, nil)
		again := Read(text, &Outline{Marks: make([]Mark, 3)})
		if first.Doubt != again.Doubt || len(first.Marks) != len(text)+1 || len(first.Documents) != len(again.Documents) {
			t.Errorf("%q: %+v, then %+v", text, first, again)
		}
	})
}
