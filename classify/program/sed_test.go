package program

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var sedScripts = []struct {
	name, script string
	want         string // "edits", what it does besides, or "?" if it is not understood
}{
	{"print", "p", "edits"},
	{"empty", "", "edits"},
	{"lines", "1,5p", "edits"},
	{"last", "$!d", "edits"},
	{"step", "1~3d;2,~4p;0~2=", "edits"},
	{"plus", "/a/,+2p", "edits"},
	{"zero to pattern", "0,/a/d", "edits"},
	{"flags of an address", "/a/I,/b/Mp", "edits"},
	{"other delimiter of an address", `\,a,p`, "edits"},
	{"not", "/a/!{p;d}", "edits"},
	{"nested", "/a/{/b/{p};d}", "edits"},
	{"join", `:a;N;$!ba;s/\n/ /g`, "edits"},
	{"label before brace", "/a/{s/a/b/;bend};:end", "edits"},
	{"substitute", "s/write/w/g", "edits"},
	{"letters of flags in the text", "s/we/we/;s|e|w|gI2", "edits"},
	{"transliterate", "y/abc/xyz/", "edits"},
	{"delimiter in brackets", "s/[^/]*$//", "edits"},
	{"backslash in brackets", `s/\[[^\]]*\]//`, "edits"},
	{"another delimiter in brackets", "s|[^|]*|w|;p", "edits"},
	{"class in brackets", "s/[[:space:]/]*$//;p", "edits"},
	{"comment", "p # w out\n#w out\nd", "edits"},
	{"text on the same line", "a w out", "edits"},
	{"text on the next line", "a\\\nw out", "edits"},
	{"text of two lines", "i\\\nfoo\\\nw out\nd", "edits"},
	{"newline in replacement", "s/a/x\\\nw out/", "edits"},
	{"quit with status", "5q1", "edits"},
	{"list with width", "l 5;l", "edits"},
	{"version", "v 4.2\np", "edits"},
	{"the output is no file", "w /dev/stdout\ns/a/b/w /dev/stderr", "edits"},
	{"read", "/a/r other", "r:other"},
	{"read with all that follows", "R other;d}", "r:other;d}"},

	{"write", "w out", "w:out"},
	{"write without a blank", "wout", "w:out"},
	{"write after an address", "/a/ , /b/ ! w out", "w:out"},
	{"write first line", "W out", "w:out"},
	{"write in braces", "/a/{p;w out\n}", "w:out"},
	{"write takes the rest", "w out;p", "w:out;p"},
	{"write to what looks like the output", "w -", "w:./-"},
	{"write to almost the output", "w /dev/stdout ", "w:/dev/stdout "},
	{"write flag", "s/a/b/w out", "w:out"},
	{"write flag after others", "s/a/b/2gpIw out", "w:out"},
	{"write after a label", ":a;w out", "w:out"},
	{"write after a text", "a foo\nw out", "w:out"},
	{"write after a comment", "#n\nw out", "w:out"},
	{"write after a substitution with a newline", "s/a/b\\\nc/;w out", "w:out"},
	{"brackets mean nothing to y", "y/[/x/;w out]/b/", "w:out]/b/"},
	{"backslash before the delimiter", `s/a\/w x/b/;w out`, "w:out"},
	{"two writes", "w a\nw b", "w:a w:b"},

	{"execute", "e", "runs"},
	{"execute a command", "1e date", "runs"},
	{"execute what was replaced", "s/a/b/e", "runs"},
	{"execute after other flags", "s/a/b/ge", "runs"},

	{"unknown command", "k", "?"},
	{"open brace", "{p", "?"},
	{"closing brace", "p}", "?"},
	{"two commands without a separator", "pp", "?"},
	{"no end", "s/a/b", "?"},
	{"newline in a pattern", "s/a\nb/c/", "?"},
	{"letters around a pattern", "sxaxbx", "?"},
	{"backslash around a pattern", `s\a\b\`, "?"},
	{"bracket around a pattern", "s[a[b[", "?"},
	{"brackets with two ends", `s/[\]/]/w out/`, "?"},
	{"another delimiter in brackets, alone", "s,[,],w out,", "edits"},
	{"unknown flag", "s/a/b/z", "?"},
	{"text without text", "a", "?"},
	{"blanks after the backslash of a text", "a\\ \nw out", "?"},
	{"write without a name", "w", "?"},
	{"label with a brace", ":a}", "?"},
	{"label with more", ":a b", "?"},
	{"carriage return", "p\rw out", "?"},
	{"form feed", "p\fw out", "?"},
	{"other letters", "p\u00a0;w out", "?"},
}

func sedTold(s sedScript, problem string) string {
	if problem != "" {
		return "?"
	}
	var parts []string
	for _, name := range s.reads {
		parts = append(parts, "r:"+name)
	}
	for _, name := range s.writes {
		parts = append(parts, "w:"+name)
	}
	if s.runs {
		parts = append(parts, "runs")
	}
	if len(parts) == 0 {
		return "edits"
	}
	return strings.Join(parts, " ")
}

func TestSedScripts(t *testing.T) {
	for _, test := range sedScripts {
		t.Run(test.name, func(t *testing.T) {
			if got := sedTold(parseSed(test.script)); got != test.want {
				_, problem := parseSed(test.script)
				t.Errorf("%q: got %q (%s), want %q", test.script, got, problem, test.want)
			}
		})
	}
}

func TestSedCommandLines(t *testing.T) {
	checkText(t, []textCase{
		{"sed -n 1,5p f", "r:f"},
		{"sed --expression='s/a/b/' f g", "r:f,g"},
		{"sed -e p -e d f", "r:f"},
		{"sed 's/a/b/' -", ""},
		{"sed -s -E -z -u -l 5 p f", "r:f"},
		{"sed p -- *", "r:…"},
		{"sed '1r other' f", "r:other,f"},
		{"sed --version", ""},
		{"sed -i 's/a/b/' f", "writes r:f w:f"},
		{"sed -ni p f", "writes r:f w:f"},
		{"sed -n -i.bak p f g", "writes r:f,g w:f,f.bak,g,g.bak"},
		{"sed --in-pl p f", "writes r:f w:f"},
		{"sed -n 'w out' f", "r:f w:out"},
		{"sed 's/a/b/w out' f", "r:f w:out"},
		{"sed 's/a/b/e' f", "runs_code r:f"},
		{"sed -f s f", "?"},
		{`sed "$x" f`, "?"},
		{"sed p$x f", "?"},
		{"sed p $x", "?"},
		{"sed p *", "?"},
		{`sed -e 'a\' -e 'w x' f`, "?"},
		{"sed", "?"},
		{"sed -I p f", "?"},
	})
}

// sedPieces are what generated scripts are made of.
var sedPieces = []string{
	"p", "d", "s", "y", "/", "/", ",", "|", "a", "b", "w", "W", "e", "r", " ", ";", "\n", "{", "}", "!", "\\",
	"[", "]", "^", "$", "1", "~", "+", ":", "t", "x", "i", "c", "#", "n", "=", "s/a/b/", "/a/", "w out",
	"e touch out", "[^/]", "[/]", `\]`, "[[:alpha:]]", "y/a/b/", "a\\\n", "\\\n", "-", "s,a,b,", "I", "g",
	"M", ".", "*", "&", "q", "l", "N", "D", "v ", "s/a/touch out/", "a\\\\\n", "i\\x\\\n", "\\\\\n", "w out\n", "b#x;", ":l", "bl",
}

func sedGenerated(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(9) {
		b.WriteString(sedPieces[r.IntN(len(sedPieces))])
	}
	return b.String()
}

// TestSedAgrees runs scripts that are said to edit alone, and looks whether they do.
func TestSedAgrees(t *testing.T) { sedAgrees(t, "sed") }

// TestBusyboxAgrees does so with a sed that reads some scripts in another way.
func TestBusyboxAgrees(t *testing.T) { sedAgrees(t, "busybox", "sed") }

func sedAgrees(t *testing.T, sed ...string) {
	lab := newLab(t, sed[0])
	r := rand.New(rand.NewPCG(1, 2))
	ran := 0
	for range lab.rounds * 40 {
		script := sedGenerated(r)
		if sedTold(parseSed(script)) != "edits" {
			continue
		}
		if ran++; ran > lab.rounds {
			break
		}
		lab.run(t, script, append(slices.Clone(sed), "-n", "--", script, "input")...)
	}
	lab.clean(t, ran)
}

func FuzzSed(f *testing.F) {
	for _, test := range sedScripts {
		f.Add(test.script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		result, problem := parseSed(script)
		if problem != "" || strings.HasSuffix(script, `\`) {
			return
		}
		then, problem := parseSed(script + "\nw FUZZ")
		if problem != "" || !slices.Contains(then.writes, "FUZZ") {
			t.Errorf("%q: a write on a line of its own is not found: %v %s", script, then, problem)
		}
		if then.runs != result.runs || len(then.writes) != len(result.writes)+1 || len(then.reads) != len(result.reads) {
			t.Errorf("%q: %v becomes %v", script, result, then)
		}
	})
}
