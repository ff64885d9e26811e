package match

import (
	"errors"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// TestUnderstand checks patterns without a meaning in RE2: those with one possible reading are read so.
func TestUnderstand(t *testing.T) {
	tests := []struct{ name, pattern, read, match, not string }{
		{"a parenthesis without its partner", "func main(", `func main\(`, "func main() {", "func main"},
		{"closing", "done)", `done\)`, "it is done)", "done"},
		{"in a longer pattern", `fmt\.Print.*(`, `fmt\.Print.*\(`, "fmt.Println(x)", "fmt.Print"},
		{"a bracket without its partner", "args[", `args\[`, "args[0]", "args"},
		{"a receiver", "func (*Server) Serve", `func \(\*Server\) Serve`, "func (*Server) Serve()", "func Server Serve"},
		{"a leading repetition", "**kwargs", `\*\*kwargs`, "def f(**kwargs)", "kwargs"},
		{"a trailing backslash", `C:\`, `C:\\`, `C:\x`, "C:"},
		{"a variable", "$HOME", `\$HOME`, "echo $HOME", "HOME"},
		{"in braces", "${x}", `\${x}`, "echo ${x}", "x"},
		{"a power", "a^b", `a\^b`, "y = a^b", "ab"},
		{"basic with lone parentheses", `foo(\|bar(`, `foo\(|bar\(`, "bar(", "foo"},
		{"horizontal space", `a\hb`, `a[ \t]b`, "a\tb", "ab"},
		{"in a class", `a[\h,]b`, `a[ \t,]b`, "a b", "ab"},
		{"keep", `foo\Kbar`, `foobar`, "foobar", "bar"},
		{"end of text", `foo\Z`, `foo$`, "a foo", "foot"},
		{"word borders of BSD", `[[:<:]]foo[[:>:]]`, `\bfoo\b`, "a foo b", "afoo"},
		{"word border of GNU awk", `\yfoo\y`, `\bfoo\b`, "a foo b", "afoo"},
		{"a comment", `foo(?#it)bar`, `foobar`, "foobar", "foo"},
		{"a class of Java", `x\p{Alpha}`, `x[[:alpha:]]`, "xy", "x1"},
		{"look-ahead at the end", `foo(?=bar)`, `foo(?:bar)`, "foobar", "foo"},
		{"look-behind at the beginning", `(?<=foo)bar`, `(?:foo)bar`, "foobar", "bar"},
		{"negative look-ahead", `foo(?!ba)`, `foo(?:$|[^b]|b(?:$|[^a]))`, "foob", "foobar"},
		{"negative look-behind", `(?<!fo)bar`, `(?:^|[^o]|(?:^|[^f])o)bar`, "obar", "fobar"},
		{"of a class", `foo(?!\w)`, `foo(?:$|\W)`, "foo-", "foot"},
		{"of vim: letter case", `\cfoo`, `foo`, "FOO", "bar"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p, read, err := Understand(tc.pattern, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if read == nil || read.Expr != tc.read || read.Why == "" {
				t.Fatalf("read as %+v, want %s", read, tc.read)
			}
			if m := p.Matcher(); !m.Has([]byte(tc.match + "\n")) {
				t.Errorf("does not match %q", tc.match)
			}
			if m := p.Matcher(); m.Has([]byte(tc.not + "\n")) {
				t.Errorf("matches %q", tc.not)
			}
		})
	}
}

// TestNotUnderstood checks that a pattern with several possible readings stays an error that names them.
func TestNotUnderstood(t *testing.T) {
	tests := []struct{ name, pattern, want string }{
		{"characters or possessive", "i++", "Did you mean `i\\+\\+`"},
		{"a group or a character", "(foo|bar", "Did you mean `\\(foo|bar` (`(` for the character) or `(foo|bar)` (closed at the end)?"},
		{"escaped once too often", `main\\(`, "`main\\(` (`\\\\` is one backslash character)"},
		{"a path", `C:\Users\me`, "Did you mean `C:\\\\Users\\\\me`"},
		{"look-ahead in the middle", `foo(?!bar)\w+`, "Did you mean `foo\\w+` (RE2 has no `(?!`; this matches more)"},
		{"back-reference", `(['"])x\1`, "Did you mean `(['\"])x(?:['\"])`"},
		{"named", `(?P<q>['"])x(?P=q)`, "Did you mean `(?P<q>['\"])x(?:['\"])`"},
		{"a code point", `\u00e9`, "`\\x{00e9}`"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, read, err := Understand(tc.pattern, Options{})
			e, ok := errors.AsType[*agenttool.Error](err)
			if !ok || e.Code != "bad_pattern" {
				t.Fatalf("%+v, error %v", read, err)
			}
			if !strings.Contains(e.Message, tc.want) {
				t.Errorf("got  %s\nwant %s", e.Message, tc.want)
			}
		})
	}
}

// TestOtherReadings checks that a correct pattern has the reading that its writer meant.
func TestOtherReadings(t *testing.T) {
	tests := []struct{ name, pattern, line, want string }{
		{"alternation", `foo\|bar`, "a bar", `foo|bar`},
		{"word borders", `\<x\>`, "an x", `\bx\b`},
		{"count", `a\{3\}`, "aaa", `a{3}`},
		{"group", `\(ab\)\+c`, "ababc", `(ab)+c`},
		{"optional", `colou\?r`, "color", `colou?r`},
		{"basic with parentheses for themselves", `f(x)\|g(y)`, "g(y)", `f\(x\)|g\(y\)`},
		{"mixed", `\<(foo|bar)\>`, "a bar", `\b(foo|bar)\b`},
		{"end of buffer", `foo\'`, "a foo", `foo\z`},
		{"very magic", `\v<(foo|bar)>`, "a bar", `\b(foo|bar)\b`},
		{"vim's match bounds", `foo\zsbar`, "foobar", `foobar`},
		{"slashes", `/Foo/i`, "a foo", `Foo`},
		{"doubled backslashes", `\\bfoo\\(`, "a foo(", `\bfoo\(`},
		{"from zero", `^a{,3}b$`, "aab", `^a{0,3}b$`},
		{"word beside é", `caf\w+`, "le café", `caf[\pL\pM\pN_]+`},
		{"border beside é", `\bété\b`, "un été ici", `(?:^|[^\pL\pM\pN_])été(?:[^\pL\pM\pN_]|$)`},
		{"digits", `a\d`, "a٣", `a\p{Nd}`},
		{"no-break space", `a\sb`, "a\u00a0b", `a[\s\pZ]b`},
		{"class", `x[[:alpha:]]`, "xé", `x[\pL\pM]`},
		{"NFC typed, NFD stored", "résumé", "re\u0301sume\u0301", `re\x{301}sume\x{301}`},
		{"NFD typed, NFC stored", "cafe\u0301s", "cafés", `caf\x{e9}s`},
		{"repeated", "é+x", "e\u0301e\u0301x", `(?:e\x{301})+x`},
		{"in a class", "[éè]x", "e\u0300x", `(?:[éè]|e\x{301}|e\x{300})x`},
		{"quotes", `don't`, "I don’t", `don['´ʼ‘’‚‛′]t`},
		{"plain text", `a[0].b(c)`, "x = a[0].b(c)", `a\[0\]\.b\(c\)`},
		{"a path", `C:\temp\x41`, `C:\temp\x41`, `C:\\temp\\x41`},
		{"dialect and Unicode", `\<ét\w\+`, "un été", `(?:^|[^\pL\pM\pN_])ét[\pL\pM\pN_]+`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p, err := Compile(tc.pattern, Options{})
			if err == nil && p.Matcher().Has([]byte(tc.line+"\n")) {
				t.Fatalf("matches as it is")
			}
			var tried []string
			for _, r := range OtherReadings(tc.pattern, Options{}) {
				p, ok := r.compile(Options{})
				if !ok || r.Why == "" {
					t.Fatalf("%+v", r)
				}
				tried = append(tried, r.Expr)
				if p.Matcher().Has([]byte(tc.line + "\n")) {
					if r.Expr != tc.want {
						t.Errorf("the first reading that matches is %s, want %s", r.Expr, tc.want)
					}
					return
				}
			}
			t.Errorf("no reading matches: %q", tried)
		})
	}
}

// TestPlainPatternsHaveFewReadings checks that a plain word needs no further search.
func TestPlainPatternsHaveFewReadings(t *testing.T) {
	for _, expr := range []string{"word", "two words", "snake_case", "日本", "привет"} {
		if r := OtherReadings(expr, Options{}); len(r) > 0 {
			t.Errorf("%s: %+v", expr, r)
		}
	}
}

// FuzzLex checks that the tokens of a pattern are the pattern, and that readings of any pattern compile.
func FuzzLex(f *testing.F) {
	for _, s := range []string{`a\{3\}`, `[[:<:]]x(?<!a)b++`, `\Qa\E\p{Alpha}\k<n>`, "é+[é]", `(?P=n)(`, `\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		if got := written(lex(expr)); got != expr {
			t.Fatalf("%q became %q", expr, got)
		}
		for _, r := range append(OtherReadings(expr, Options{}), repairs(expr, Options{})...) {
			if _, ok := r.compile(Options{}); !ok {
				t.Errorf("%q: the reading %q does not compile", expr, r.Expr)
			}
		}
	})
}
