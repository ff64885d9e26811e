package program

import (
	"fmt"
	"strings"
)

// read adds what the lines of an entry say. A line that stands a tab further in says something of the description above it.
func (s *Spec) read(text string) {
	above := []*Spec{s}
	for line := range strings.Lines(text) {
		said := strings.TrimSpace(line)
		depth := strings.IndexFunc(line, func(r rune) bool { return r != '\t' })
		word, rest, _ := strings.Cut(said, " ")
		switch {
		case said == "", word == "#":
		case depth == 0 && word == "define":
		case depth == 0:
			s.Names = said
		case depth > len(above):
			s.fault("%q stands too far in", said)
		case word == "sub":
			sub := &Spec{Names: rest}
			above[depth-1].Sub = append(above[depth-1].Sub, sub)
			above = append(above[:depth], sub)
		default:
			above[depth-1].say(word, rest)
		}
	}
}

// say takes one line: a word that says what the rest of it is, or options.
func (s *Spec) say(word, rest string) {
	switch word {
	case "also":
		s.Names += " " + rest
	case "like":
		for name := range strings.FieldsSeq(rest) {
			s.like(name)
		}
	case "is":
		for flag := range strings.FieldsSeq(rest) {
			s.is(flag)
		}
	case "operands":
		s.Operands = rest
	case "effects":
		s.Effects += " " + rest
	case "locks":
		s.Locks = rest
	case "carries":
		s.Carries = rest
	case "asks":
		s.asks = WordSet(rest)
	case "because":
		s.Judge = reason(rest)
	case "gitfiles":
		s.Judge = inGit(strings.Fields(rest)...)
	case "judge":
		if s.Judge = judges()[rest]; s.Judge == nil {
			s.fault("there is no judge %q", rest)
		}
	default:
		if word[0] != '-' && word[0] != '+' {
			s.fault("%q says nothing that is known", word)
			return
		}
		s.Options += " " + word + " " + rest
	}
}

// like adds what a shared part says.
func (s *Spec) like(name string) {
	e := registry()["define "+name]
	if e == nil {
		s.fault("there is no part %q", name)
		return
	}
	s.read(e.text)
}

// is sets what is true of all uses.
func (s *Spec) is(flag string) {
	if flag == "any" {
		s.Raw, s.Judge = true, effectsAlone
		return
	}
	known := map[string]*bool{"abbreviates": &s.Abbreviates, "ungrouped": &s.Ungrouped, "inorder": &s.InOrder, "harmless": &s.Harmless,
		"raw": &s.Raw, "exact": &s.Exact, "partial": &s.Partial, "loses": &s.Loses}[flag]
	if known == nil {
		s.fault("a program is never %q", flag)
		return
	}
	*known = true
}

// fault takes note of an error. What stands there describes nothing.
func (s *Spec) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}
