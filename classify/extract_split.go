package classify

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// splitter splits a text that cannot be parsed, without a grammar. It treats every byte that may separate commands as a separator,
// quoted or not, and drops quotes.
type splitter struct {
	g    *extractor
	text string
	at   int

	argv  []string
	word  []byte
	begun bool // there is a word, perhaps an empty one
	skips bool // the next word is the target of a redirection
}

// split gathers from a text that cannot be parsed.
func (g *extractor) split(text string) {
	s := splitter{g: g, text: text}
	for s.at < len(text) && len(g.mentions) < maxMentions {
		s.next()
	}
	s.endCommand()
	g.over = g.over || s.at < len(text)
}

// next takes one byte, and those that belong to it.
func (s *splitter) next() {
	c := s.text[s.at]
	s.at++
	switch c {
	case '\'', '"':
		s.begun = true
		s.word = trimByte(s.word, '$')
	case '\\':
		s.escaped()
	case ' ', '\t', '\r':
		s.endWord()
	case ';', '&', '|', '\n', '(', ')', '{', '}', '`':
		s.word = trimByte(s.word, '$')
		s.endCommand()
	case '<', '>':
		s.redirect()
	case '$':
		s.expansion()
	case '#':
		if !s.begun {
			s.endCommand()
			break
		}
		s.put(c)
	default:
		s.put(c)
	}
}

func (s *splitter) put(c byte) {
	s.word, s.begun = append(s.word, c), true
}

func (s *splitter) escaped() {
	if s.at == len(s.text) {
		return
	}
	if c := s.text[s.at]; c != '\n' {
		s.put(c)
	}
	s.at++
}

// redirect drops the descriptor before < and >, and the target behind them.
func (s *splitter) redirect() {
	if program.Digits(string(s.word)) {
		s.word, s.begun = s.word[:0], false
	}
	s.endWord()
	for s.at < len(s.text) && strings.IndexByte("<>&|-", s.text[s.at]) >= 0 {
		s.at++
	}
	s.skips = s.text[s.at-1] != '-' // >&- is all of it
}

// expansion takes $name and ${name}.
func (s *splitter) expansion() {
	rest := strings.TrimPrefix(s.text[s.at:], "{")
	n := 0
	for n < len(rest) && (isNameByte(rest[n]) || n == 0 && strings.IndexByte("@*#?$!-", rest[n]) >= 0) {
		n++
	}
	braced := len(rest) < len(s.text)-s.at
	switch {
	case n == 0 || braced && (n == len(rest) || rest[n] != '}'):
		s.put('$')
		return
	case braced:
		n += len("{}")
	}
	s.at += n
	s.word, s.begun = append(s.word, agenttool.Unread...), true
}

func trimByte(word []byte, c byte) []byte {
	if n := len(word); n > 0 && word[n-1] == c {
		return word[:n-1]
	}
	return word
}

// endWord ends a word. Keywords and assignments before a command are no words of it.
func (s *splitter) endWord() {
	if !s.begun {
		return
	}
	word := string(s.word[:min(len(s.word), maxValue)])
	s.word, s.begun = s.word[:0], false
	name, _, assigns := strings.Cut(word, "=")
	switch {
	case s.skips:
		s.skips = false
	case len(s.argv) == 0 && (beforeCommand[word] || assigns && plainName(name)):
	case len(s.argv) < maxSplit:
		s.argv = append(s.argv, word)
	}
}

// beforeCommand are the keywords behind which a command begins.
var beforeCommand = program.WordSet("then do else elif if while until ! in function")

// endCommand gathers the words since the last end. Behind what may run a command each suffix may be one.
func (s *splitter) endCommand() {
	s.endWord()
	s.skips = false
	if len(s.argv) == 0 {
		return
	}
	argv, g := s.argv, s.g
	s.argv = nil
	g.mention(argv)
	name := path.Base(argv[0])
	g.destroys(name, argv, syntax.Pos{})
	if startsOthers(name) || g.runners[name] || strings.Contains(name, agenttool.Unread) {
		for i := 1; i < len(argv); i++ {
			if rest := suffix(argv, i); rest != nil {
				g.mention(rest)
				g.destroys(path.Base(rest[0]), rest, syntax.Pos{})
			}
		}
	}
}
