package program

import (
	"slices"
	"strings"
	"testing"
)

// devCase is a command line, words separated by one space ("␣" stands for a space in a word, "∅" for an empty word),
// and what is said of it: "ro" for read-only, and the effects in any order; "?" for a use that is not understood. Words
// that begin with "$" are not static and may be anything.
type devCase struct {
	line string
	want string
}

func devWords(line string) []Word {
	var words []Word
	for text := range strings.SplitSeq(line, " ") {
		text = strings.ReplaceAll(text, "␣", " ")
		switch {
		case text == "∅":
			words = append(words, Lit(""))
		case strings.HasPrefix(text, "$"):
			words = append(words, Word{Many: true})
		case strings.HasPrefix(text, `"$`):
			words = append(words, Word{})
		case text == "*":
			words = append(words, Word{Glob: true, Many: true})
		default:
			words = append(words, Lit(text))
		}
	}
	return words
}

// devUse follows what a command line runs down to the innermost program.
func devUse(words []Word, depth int) *Use {
	spec := Lookup(words[0].Text)
	if !words[0].Static || spec == nil || depth > 5 {
		return &Use{}
	}
	_, use := Parse(spec, words)
	for _, c := range use.Runs {
		if c.Shell != nil {
			use.Add(RunsCode, "shell")
			continue
		}
		argv := c.Argv
		if c.More {
			argv = append(slices.Clone(argv), Word{Many: true})
		}
		if len(argv) == 0 {
			continue
		}
		inner := devUse(argv, depth+1)
		use.Understood = use.Understood && inner.Understood
		use.Effects = append(use.Effects, inner.Effects...)
		use.Writes = append(use.Writes, inner.Writes...)
	}
	return use
}

func devReadOnly(u *Use) bool {
	if !u.Understood || len(u.Writes) > 0 {
		return false
	}
	for _, e := range u.Effects {
		if e == Writes || e == Destroys || e == GitConfig || e == GitGlobal || e == RunsCode {
			return false
		}
	}
	return true
}

func devVerdict(u *Use) string {
	var said []string
	if devReadOnly(u) {
		said = append(said, "ro")
	}
	if !u.Understood {
		said = append(said, "?")
	}
	for _, e := range u.Effects {
		if e != Adds && e != HostsUnknown { // which only say more of others; truth.tsv has them
			said = append(said, string(e))
		}
	}
	slices.Sort(said)
	return strings.Join(slices.Compact(said), " ")
}

func runDevCases(t *testing.T, cases []devCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.line, func(t *testing.T) {
			want := strings.Fields(c.want)
			slices.Sort(want)
			use := devUse(devWords(c.line), 0)
			if got := devVerdict(use); got != strings.Join(want, " ") {
				t.Errorf("got %q, want %q; %v", got, strings.Join(want, " "), use.Reasons)
			}
		})
	}
}
