package permissions

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// word is the pattern of one word of a command: the literal pieces between its stars. One piece is the word itself.
type word []string

// setting is a variable in front of the words of a rule, and the pattern of its value.
type setting struct {
	name  string
	value word
}

// setWords reads the words of a Shell rule.
func (r *Rule) setWords(spec string) error {
	if head, ok := strings.CutSuffix(spec, ":*"); ok {
		spec = head + " *"
	}
	vars, words, err := splitWords(spec)
	if err != nil {
		return err
	}
	r.vars = vars
	if last := len(words) - 1; last >= 0 && len(words[last]) == 2 && words[last][0]+words[last][1] == "" {
		words, r.more = words[:last], true
	}
	bare := !slices.ContainsFunc(words, func(w word) bool { return strings.Join(w, "") != "" })
	switch {
	case len(words) == 0 && len(vars) > 0:
		return fmt.Errorf("it names a variable and no command, such as Shell(PORT=* npm start)")
	case len(words) > 0 && !(bare && r.Behavior == agenttool.Allow):
		r.argv = words
	case r.Behavior == agenttool.Allow:
		return fmt.Errorf("it would cover every command; write Shell to mean that")
	}
	return nil // in a rule that denies or asks, Shell(*) means Shell
}

// splitWords splits at blanks outside quotes, and each word at its stars outside quotes. Words in front that set variables, as the shell reads
// them, are apart.
func splitWords(spec string) (vars []setting, words []word, err error) {
	var piece strings.Builder
	var current word
	open, quote, name := false, byte(0), ""
	end := func() {
		if open && name != "" {
			vars = append(vars, setting{name, append(current, piece.String())})
		} else if open {
			words = append(words, append(current, piece.String()))
		}
		piece.Reset()
		current, open, name = nil, false, ""
	}
	begins := 0 // where the current word does
	for i := 0; i < len(spec); i++ {
		if !open {
			begins = i
		}
		switch c := spec[i]; {
		case c == '=' && quote == 0 && open && name == "" && len(words) == 0 && isName(spec[begins:i]):
			name = spec[begins:i]
			piece.Reset()
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, open = c, true
		case quote != '\'' && c == '\\' && i+1 < len(spec) && strings.IndexByte(`*\'" ()`, spec[i+1]) >= 0:
			i++
			piece.WriteByte(spec[i])
			open = true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			end()
		case quote == 0 && c == '*':
			current = append(current, piece.String())
			piece.Reset()
			open = true
		default:
			piece.WriteByte(c)
			open = true
		}
	}
	if quote != 0 {
		return nil, nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	end()
	return vars, words, nil
}

// isName reports whether a text is one that a variable may have as its name.
func isName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" && (text[0] < '0' || text[0] > '9')
}

// quoteWord spells a word so that a rule means exactly it.
func quoteWord(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n*\\'\"()") && !strings.HasSuffix(w, ":") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// literal returns the text of a pattern without stars.
func (w word) literal() (string, bool) {
	if len(w) != 1 {
		return "", false
	}
	return w[0], true
}

// match reports whether the pattern matches text.
func (w word) match(text string) bool {
	if len(w) == 1 {
		return w[0] == text
	}
	first, last := w[0], w[len(w)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, piece := range w[1 : len(w)-1] {
		_, rest, found := strings.Cut(text, piece)
		if !found {
			return false
		}
		text = rest
	}
	return true
}

// mayMatch reports whether the pattern can match text once each agenttool.Unread in it is replaced. A replacement may split text
// into several words, so only the text before the first Unread counts.
func (w word) mayMatch(text string) bool {
	head, _, _ := strings.Cut(text, agenttool.Unread)
	return strings.HasPrefix(w[0], head) || len(w) > 1 && strings.HasPrefix(head, w[0])
}

// certainty is how sure it is that a rule is about something.
type certainty uint8

const (
	never certainty = iota
	maybe           // depends on unknown text
	surely
)

// matchBegin reports whether the pattern matches every text with this beginning.
func (w word) matchBegin(text string) bool {
	return len(w) == 2 && w[1] == "" && strings.HasPrefix(text, w[0])
}

// literal reports whether a rule about words covers exactly one argv.
func (r *matcher) literal() bool {
	return r.argv != nil && !r.more && !slices.ContainsFunc(r.argv, func(w word) bool { return len(w) != 1 })
}

// covers reports whether an allow rule covers a simple command that starts inside the roots: by its words, or by what they mean; each word that
// is not known to its end by a star. The rule has all variables that may change what the command does, and the command all that the rule has.
func (r *matcher) covers(f *agenttool.Facts, part *agenttool.Part) bool {
	if !part.Exact && !part.Loose || len(part.Argv) == 0 || !r.coversVariables(part.Variables) {
		return false
	}
	return r.coversWords(part.Argv, part.Exact) || part.Means != nil && meansInRoots(f, part) && r.coversWords(part.Means, part.Exact)
}

func (r *matcher) coversWords(argv []string, exact bool) bool {
	if len(argv) < len(r.argv) || len(argv) > len(r.argv) && !r.more {
		return false
	}
	for i, w := range r.argv {
		begin, cut := strings.CutSuffix(argv[i], unknownEnd)
		if unknown := cut && !exact; unknown && !w.matchBegin(begin) || !unknown && !w.match(argv[i]) {
			return false
		}
	}
	return true
}

func (r *matcher) coversVariables(given []agenttool.Variable) bool {
	for _, v := range given {
		if v.Influence != agenttool.ShowsOther && !slices.ContainsFunc(r.vars, func(s setting) bool { return s.name == v.Name }) {
			return false
		}
	}
	for _, s := range r.vars {
		other := func(v agenttool.Variable) bool {
			return v.Name == s.name && !(v.Known && s.value.match(v.Value) || !v.Known && s.value.matchBegin(v.Value))
		}
		if slices.ContainsFunc(given, other) || !slices.ContainsFunc(given, func(v agenttool.Variable) bool { return v.Name == s.name }) {
			return false
		}
	}
	return true
}

// coversLine reports whether an allow rule covers a command line that is spelled like a rule, without stars.
func (r *matcher) coversLine(vars []setting, argv []string) bool {
	var given []agenttool.Variable
	for _, s := range vars {
		given = append(given, agenttool.Variable{Name: s.name, Value: s.value[0], Known: true})
	}
	return r.coversVariables(given) && r.coversWords(argv, true)
}

// meetsVariables says whether a command that is mentioned may run with the variables of a rule that forbids. Which of the variables that are
// set somewhere in a line reach which command is not known.
func (r *matcher) meetsVariables(f *agenttool.Facts) certainty {
	found := surely
	for _, s := range r.vars {
		set := func(text string) bool {
			name, value, _ := strings.Cut(text, "=")
			return text == agenttool.Unread || name == s.name && (s.value.match(value) || strings.Contains(value, agenttool.Unread))
		}
		if !slices.ContainsFunc(f.Settings, set) {
			return never
		}
		found = maybe
	}
	return found
}

// meetsPart says whether a rule that forbids is about a simple command, with its variables.
func (r *matcher) meetsPart(part *agenttool.Part) certainty {
	found := r.meets(unread(part.Argv))
	for _, s := range r.vars {
		if !slices.ContainsFunc(part.Variables, func(v agenttool.Variable) bool { return v.Name == s.name && v.Known && s.value.match(v.Value) }) {
			return never // the mentions tell whether it may be
		}
	}
	return found
}

// meets says whether a rule that forbids is about the words of a simple command: by the last name of its program, and past the
// options that stand between the words that say what to do.
func (r *matcher) meets(argv []string) certainty {
	if len(argv) == 0 {
		return never
	}
	program := r.meetsProgram(argv[0])
	if program == never || strings.Contains(argv[0], agenttool.Unread) {
		return program // the unknown rest may be several words
	}
	return min(program, meetsWords(r.argv[1:], argv, 1, r.more))
}

// meetsWords compares the words of a rule with those of a command from one on. Where a word does not fit, options may be passed
// over, up to a word of the rule that is none itself.
func meetsWords(rule []word, argv []string, at int, more bool) certainty {
	best := never
	for ; ; at++ {
		best = max(best, meetsHere(rule, argv, at, more))
		if best == surely || len(rule) == 0 || !isOption(argv, at) {
			return best
		}
	}
}

// meetsHere compares the first word of the rule with the word at a place, and the others behind it.
func meetsHere(rule []word, argv []string, at int, more bool) certainty {
	switch {
	case len(rule) == 0 && (more || at == len(argv)):
		return surely
	case len(rule) == 0 && allUnread(argv[at:]):
		return maybe
	case len(rule) == 0 || at >= len(argv):
		return never
	}
	switch meetsWord(rule[0], argv[at]) {
	case surely:
		return meetsWords(rule[1:], argv, at+1, more)
	case maybe:
		return maybe // it may become several words, or none
	}
	return never
}

// meetsProgram compares the program of a rule that forbids with the one of a command, by the last name of either: rm is
// /usr/bin/rm, ./deploy.sh is sub/../deploy.sh and deploy.sh.
func (r *matcher) meetsProgram(name string) certainty {
	found := meetsWord(r.argv[0], name)
	if found == surely {
		return found
	}
	found = max(found, meetsWord(r.argv[0], path.Base(name)))
	if ruled, plain := r.argv[0].literal(); plain && strings.Contains(ruled, "/") {
		if filepath.IsAbs(ruled) && filepath.IsAbs(name) {
			return max(found, meetsWord(word{filepath.Clean(ruled)}, filepath.Clean(name)))
		}
		found = max(found, meetsWord(word{path.Base(ruled)}, path.Base(name)))
	}
	return found
}

// isOption reports whether a word may be passed over on the way to a subcommand: an option, a toolchain (+nightly), or the value of
// an option before it.
func isOption(argv []string, i int) bool {
	if i >= len(argv) {
		return false
	}
	if argv[i] != "" && strings.IndexByte("-+", argv[i][0]) >= 0 || strings.HasPrefix(argv[i], agenttool.Unread) {
		return true
	}
	return i > 1 && strings.HasPrefix(argv[i-1], "-") && !strings.Contains(argv[i-1], "=")
}

func allUnread(words []string) bool {
	for _, w := range words {
		if w != agenttool.Unread {
			return false
		}
	}
	return true
}

func meetsWord(w word, text string) certainty {
	switch {
	case w.match(text):
		return surely
	case strings.Contains(text, agenttool.Unread) && w.mayMatch(text):
		return maybe
	}
	return never
}
