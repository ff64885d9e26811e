package match

import (
	"slices"
	"strings"
	"testing"

	"toolhost/tools/search/literal"
)

func TestRequired(t *testing.T) {
	tests := []struct {
		pattern string
		o       Options
		want    string // clauses with "&" between them
		exact   bool
	}{
		{"foo", Options{}, "foo", true},
		{"foo.*barbaz", Options{}, "barbaz & foo", false},
		{"(foo)+x?", Options{}, "foo", false},
		{"(foo)*", Options{}, "", false},
		{"(foo){2,}", Options{}, "foo & foofoo", false},
		{"fo+bar", Options{}, "fo & o & obar", false},
		{"TODO|FIXME", Options{}, "TODO|FIXME", true},
		{"bar|baz|foo", Options{}, "bar|baz|foo", true},
		{"foobar|foo", Options{}, "foo", true},
		{`(a\w+|\w+)`, Options{}, "", false},
		{`(a\w+x|b\w+)y`, Options{}, "x|b & y", false},
		{`^func\s`, Options{}, "func", false},
		{"(foo|bar)baz", Options{}, "foobaz|barbaz", true},
		{"[ab]c", Options{}, "ac|bc", true},
		{"x[ab]c", Options{}, "x & xac|xbc", true},
		{"https?://", Options{}, "http & https://|http://", true},
		{"(foo|)bar", Options{}, "bar", true},
		{"(foo|)", Options{}, "", false},
		{`spin_lock_[a-z]+save\(`, Options{}, `spin_lock_ & save(`, false},
		{"foo(bar)(qux)", Options{}, "foobarqux", true},
		{"foo(bar$)", Options{}, "foobar", false},
		{`foo\r`, Options{}, "foo\r", false},
		{"Error", Options{IgnoreCase: true}, "(?i)error", true},
		{"(?i:foo)Bar", Options{}, "(?i)foobar", false},
		{"[Ff]oo", Options{}, "(?i)foo", false},
		{"task", Options{IgnoreCase: true},
			"(?i)ta & (?i)task|(?i)tas\u212a|(?i)ta\u017fk|(?i)ta\u017f\u212a & (?i)tas|(?i)ta\u017f", true},
		{"string", Options{IgnoreCase: true}, "(?i)string|(?i)ſtring & (?i)tring", true},
		{"İstanbul", Options{IgnoreCase: true}, "(?i)tanbul & (?i)İstanbul|(?i)İſtanbul & İ", true},
		{"\ufffd", Options{}, "", false},
		{"foo\ufffdbar", Options{}, "bar & foo", false},
		{`foo\x{D800}`, Options{}, "foo", false},
		{"foo\nbar", Options{Multiline: true}, "bar & foo", false},
		{"foo[\n;]bar", Options{Multiline: true}, "bar & foo", false},
		{"[a-z]foo", Options{}, "foo", false},
		{"[ab][ab]c", Options{}, "aac|abc|bac|bbc & a|b", true},
	}
	for _, tc := range tests {
		t.Run(tc.pattern, func(t *testing.T) {
			p, err := Compile(tc.pattern, tc.o)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, clause := range p.Required() {
				got = append(got, show(clause))
			}
			want := strings.Split(tc.want, " & ")
			slices.Sort(got)
			slices.Sort(want)
			if strings.Join(got, " & ") != strings.Join(want, " & ") {
				t.Errorf("required %q, want %q", got, want)
			}
			if got := p.exact != nil; got != tc.exact {
				t.Errorf("exact %v, want %v", got, tc.exact)
			}
		})
	}
}

// TestRequiredIsBounded: expressions that would have no end of conditions have few.
func TestRequiredIsBounded(t *testing.T) {
	for _, pattern := range []string{strings.Repeat("[ab]x+", 1000), strings.Repeat("(foo|bar)", 500),
		strings.Repeat("task", 400), strings.Repeat("(a|b\\d", 300) + strings.Repeat(")", 300), "[a-p]{1000}"} {
		p, err := Compile(pattern, Options{IgnoreCase: true})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(p.Required()); n > maxClauses {
			t.Errorf("%d clauses", n)
		}
		if slices.ContainsFunc(p.Required(), func(c literal.Clause) bool { return len(c) > maxTexts }) {
			t.Errorf("a clause of more than %d", maxTexts)
		}
	}
}
