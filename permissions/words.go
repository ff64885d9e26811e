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

// setWords reads the words of a Shell rule.
func (r *Rule) setWords(spec string) error {
	if head, ok := strings.CutSuffix(spec, ":*"); ok {
		spec = head + " *"
	}
	words, err := splitWords(spec)
	if err != nil {
		return err
	}
	if last := len(words) - 1; last >= 0 && len(words[last]) == 2 && words[last][0]+words[last][1] == "" {
		words, r.more = words[:last], true
	}
	bare := !slices.ContainsFunc(words, func(w word) bool { return strings.Join(w, "") != "" })
	switch {
	case len(words) > 0 && !(bare && r.Behavior == agenttool.Allow):
		r.argv = words
	case r.Behavior == agenttool.Allow:
		return fmt.Errorf("it would cover every command; write Shell to mean that")
	}
	return nil // in a rule that denies or asks, Shell(*) means Shell
}

// splitWords splits at blanks outside quotes, and each word at its stars outside quotes.
func splitWords(spec string) ([]word, error) {
	var words []word
	var piece strings.Builder
	var current word
	open, quote := false, byte(0)
	end := func() {
		if open {
			words = append(words, append(current, piece.String()))
			piece.Reset()
		}
		current, open = nil, false
	}
	for i := 0; i < len(spec); i++ {
		switch c := spec[i]; {
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
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	end()
	return words, nil
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

// literal reports whether a rule about words covers exactly one argv.
func (r *matcher) literal() bool {
	return r.argv != nil && !r.more && !slices.ContainsFunc(r.argv, func(w word) bool { return len(w) != 1 })
}

// covers reports whether an allow rule covers the words of a simple command. All words must be known.
func (r *matcher) covers(argv []string) bool {
	if len(argv) < len(r.argv) || len(argv) > len(r.argv) && !r.more {
		return false
	}
	for i, w := range r.argv {
		if !w.match(argv[i]) {
			return false
		}
	}
	return true
}

// meets says whether a rule that forbids is about a simple command: by the last name of its program, and past the
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
