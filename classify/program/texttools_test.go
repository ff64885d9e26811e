package program

import (
	"slices"
	"strings"
	"testing"
)

// textLine splits a command line into words: single quotes make one word, $x is any number of unknown words, "$x" one
// unknown word, and a * makes a glob.
func textLine(line string) []Word {
	var words []Word
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " ") {
		var text strings.Builder
		quoted := false
		i := 0
		for ; i < len(line) && (quoted || line[i] != ' '); i++ {
			if line[i] == '\'' {
				quoted = !quoted
			} else {
				text.WriteByte(line[i])
			}
		}
		literal := strings.Contains(line[:i], "'")
		line = line[i:]
		words = append(words, textWord(text.String(), literal))
	}
	return words
}

func textWord(text string, literal bool) Word {
	if literal {
		return Lit(text)
	}
	if before, _, ok := strings.Cut(text, `"$`); ok {
		return Word{Text: before}
	}
	if before, _, ok := strings.Cut(text, "$"); ok {
		return Word{Text: before, Many: true}
	}
	if before, _, ok := strings.Cut(text, "*"); ok {
		return Word{Text: before, Glob: true, Many: true}
	}
	return Lit(text)
}

// told says what a use does in one line: ? if it is not understood, its effects, and what it reads, writes and runs.
func told(u *Use) string {
	if !u.Understood {
		return "?"
	}
	var parts []string
	for _, e := range u.Effects {
		parts = append(parts, string(e))
	}
	slices.Sort(parts)
	parts = slices.Compact(parts)
	list := func(name string, words []Word) {
		var texts []string
		for _, w := range words {
			texts = append(texts, spelled(w))
		}
		if len(texts) > 0 {
			parts = append(parts, name+strings.Join(texts, ","))
		}
	}
	list("r:", u.Reads)
	list("w:", u.Writes)
	list("h:", u.Hosts)
	for _, c := range u.Runs {
		if c.Shell != nil {
			parts = append(parts, "sh:"+c.Shell.Text)
		} else {
			parts = append(parts, "run:"+c.Argv[0].Text)
		}
	}
	return strings.Join(parts, " ")
}

// textCase is a command line and what is told of it.
type textCase struct{ line, want string }

func checkText(t *testing.T, cases []textCase) {
	t.Helper()
	for _, c := range cases {
		words := textLine(c.line)
		spec := Lookup(words[0].Text)
		if spec == nil {
			t.Errorf("%s: no such program", c.line)
			continue
		}
		_, use := Parse(spec, words)
		if got := told(use); got != c.want {
			t.Errorf("{%q, %q},\n\twant %q; %v", c.line, got, c.want, use.Reasons)
		}
	}
}

// textLists are the descriptions of the programs for text, files and processes.
func textLists() []*Spec {
	var list []*Spec
	for entry := range strings.SplitSeq(textTable+"\n"+filesTable+"\n"+machineTable, "\n\n") {
		spec := &Spec{}
		if spec.read(entry); spec.Names != "" {
			list = append(list, spec)
		}
	}
	return list
}

// FuzzTextTools gives words that are separated by newlines to a program. It never panics; and a word that may be any
// words makes no use safer than it was.
func FuzzTextTools(f *testing.F) {
	for i := range textLists() {
		f.Add(i, "-f\n--output=x\na\n--\n-")
		f.Add(i, "tvf\na:b\n-x\n+1\n@x\n--follow")
	}
	f.Fuzz(func(t *testing.T, i int, line string) {
		specs := textLists()
		spec := specs[(i%len(specs)+len(specs))%len(specs)]
		argv := []Word{Lit(strings.Fields(spec.Names)[0])}
		for text := range strings.SplitSeq(line, "\n") {
			argv = append(argv, Lit(text))
		}
		_, use := Parse(spec, append(slices.Clone(argv), Lit("x")))
		_, loose := Parse(spec, append(slices.Clone(argv), Word{Many: true}, Lit("x")))
		if !use.Understood && loose.Understood {
			t.Errorf("%s %q is understood with more words, but not without", spec.Names, line)
		}
		for _, e := range []Effect{Writes, Destroys, RunsCode, Reaches} {
			if loose.Understood && slices.Contains(use.Effects, e) && !slices.Contains(loose.Effects, e) {
				t.Errorf("%s %q is not said to be %s with more words", spec.Names, line, e)
			}
		}
	})
}
