package program

import (
	"fmt"
	"strings"
)

// read adds the properties in the lines of an entry. A line belongs to the description above it that stands a tab further out.
func (s *Spec) read(text string) {
	above := []*Spec{s}
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		said := strings.TrimLeft(line, "\t")
		depth := len(line) - len(said)
		word, what, _ := strings.Cut(said, " ")
		switch {
		case said == "", word == "#":
		case depth == 0 && word == "define":
		case depth == 0:
			s.Names = said
		case depth > len(above):
			s.fault("%q stands too far in", said)
		case said[0] == '-' || said[0] == '+':
			of, lines := above[depth-1], optionLines(text, depth)
			of.Options, rest = joinedWords(of.Options, lines), text[len(lines):]
		case word == "sub":
			sub := &Spec{Names: what}
			above[depth-1].Sub = append(above[depth-1].Sub, sub)
			above = append(above[:depth], sub)
		default:
			above[depth-1].say(word, what)
		}
		text = rest
	}
}

// optionLines returns the lines at the beginning of a text that list options, so many tabs in.
func optionLines(text string, depth int) string {
	end := 0
	for end+depth < len(text) && strings.Trim(text[end:end+depth], "\t") == "" && (text[end+depth] == '-' || text[end+depth] == '+') {
		line := strings.IndexByte(text[end:], '\n')
		if line < 0 {
			return text
		}
		end += line + 1
	}
	return text[:end]
}

// joinedWords returns the words of two texts.
func joinedWords(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}

// say takes one property: its name and its value.
func (s *Spec) say(word, rest string) {
	switch word {
	case "also":
		s.Names = joinedWords(s.Names, rest)
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
		s.Effects = joinedWords(s.Effects, rest)
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
		s.fault("%q says nothing that is known", word)
	}
}

// like adds the properties of a shared part.
func (s *Spec) like(name string) {
	e := registry()["define "+name]
	if e == nil {
		s.fault("there is no part %q", name)
		return
	}
	s.read(e.text)
}

// is sets a flag of the description.
func (s *Spec) is(flag string) {
	for _, known := range [...]struct {
		name string
		is   *bool
	}{
		{"abbreviates", &s.Abbreviates}, {"ungrouped", &s.Ungrouped}, {"inorder", &s.InOrder}, {"harmless", &s.Harmless}, {"raw", &s.Raw},
		{"exact", &s.Exact}, {"partial", &s.Partial}, {"loses", &s.Loses}, {"passes", &s.Passes}, {"any", &s.Raw},
	} {
		if known.name == flag {
			if *known.is = true; flag == "any" {
				s.Judge = effectsAlone
			}
			return
		}
	}
	s.fault("a program is never %q", flag)
}

// fault records an error of a table. The faulty line describes nothing.
func (s *Spec) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}
