package match

import (
	"encoding/binary"
	"regexp/syntax"
	"unicode/utf8"
)

// situation is the progress of a program after some bytes of a text: everything that the handling of the rest depends
// on. It is slow; the automaton caches its transitions.
type situation struct {
	lines     bool // each line is a separate text, which ends in \n or \r\n
	anchored  bool // a match can only begin at the beginning of a text
	letters   *alphabet
	now, next *threads
	prev      before
	waiting   pending
}

func newSituation(prog *syntax.Prog, letters *alphabet, lines bool) *situation {
	s := &situation{lines: lines, letters: letters, now: newThreads(prog), next: newThreads(prog)}
	s.now.add(uint32(prog.Start), syntax.EmptyBeginLine, opsBegin)
	if lines {
		s.now.clear()
		s.enter(s.now)
	}
	s.anchored = s.now.empty()
	return s
}

// begin moves to the beginning of a text.
func (s *situation) begin() {
	s.prev, s.waiting = beforeText, pending{}
	s.now.clear()
	s.enter(s.now)
}

// enter starts a match here.
func (s *situation) enter(t *threads) {
	t.add(uint32(t.prog.Start), s.prev.holding(), opsBegin)
}

// dead reports whether no match is possible any more in this text.
func (s *situation) dead() bool { return s.anchored && s.now.empty() }

// save appends the relevant state to key. Situations that behave alike have equal keys.
func (s *situation) save(key []byte) []byte {
	prev := s.prev
	if !s.now.asserts {
		prev = beforeOther
	}
	uniform := byte(0)
	if s.waiting.uniform {
		uniform = 1
	}
	key = append(key, byte(prev), s.waiting.have, s.waiting.need, uniform)
	key = binary.LittleEndian.AppendUint32(key, uint32(s.waiting.low))
	s.now.each(func(pc uint32, _ *syntax.Inst) { key = binary.LittleEndian.AppendUint16(key, uint16(pc)) })
	return key
}

// load restores a saved situation.
func (s *situation) load(key string) {
	s.prev = before(key[0])
	s.waiting = pending{have: key[1], need: key[2], uniform: key[3] != 0}
	s.waiting.low = rune(key[4]) | rune(key[5])<<8 | rune(key[6])<<16
	s.now.clear()
	s.now.asserts = s.prev != beforeOther // if not, this makes no difference
	for i := 8; i < len(key); i += 2 {
		s.now.keep(uint32(key[i]) | uint32(key[i+1])<<8)
	}
}

// feed consumes the next byte. It reports whether that byte ended a line.
func (s *situation) feed(c byte) (ended bool) {
	if s.waiting.have > 0 {
		if next, ok := s.waiting.add(c); ok {
			s.waiting = s.letters.settle(next)
			if next.need == 0 {
				s.waiting = pending{}
				s.take(next.low)
			}
			return false
		}
		if s.waiting.low == '\r' && c == '\n' {
			s.waiting = pending{}
		}
		s.flush()
	}
	switch next, ok := lead(c); {
	case c == '\n' && s.lines:
		s.finish()
		return true
	case c == '\r' && s.lines:
		s.waiting = pending{have: 1, low: '\r'}
	case c < utf8.RuneSelf:
		s.take(rune(c))
	case ok:
		s.waiting = s.letters.settle(next)
	default:
		s.take(utf8.RuneError)
	}
	return false
}

// flush consumes the pending bytes as they are: each byte of an incomplete rune is one U+FFFD.
func (s *situation) flush() {
	r := utf8.RuneError
	if s.waiting.low == '\r' {
		r = '\r'
	}
	for ; s.waiting.have > 0; s.waiting.have-- {
		s.take(r)
	}
	s.waiting = pending{}
}

// finish handles the end of the text.
func (s *situation) finish() {
	s.flush()
	s.now.decide(s.prev.holdingAt(endOfText))
}

// take consumes a rune.
func (s *situation) take(r rune) {
	if s.now.accepted {
		return
	}
	s.now.decide(s.prev.holdingAt(r))
	if s.now.accepted {
		return
	}
	s.prev = s.after(r)
	s.next.clear()
	s.now.each(func(_ uint32, in *syntax.Inst) {
		if in.Op != syntax.InstEmptyWidth && in.MatchRune(r) {
			s.next.add(in.Out, s.prev.holding(), opsBegin)
		}
	})
	s.enter(s.next)
	s.now, s.next = s.next, s.now
}

func (s *situation) after(r rune) before {
	switch {
	case r == '\n' && !s.lines:
		return beforeLine
	case syntax.IsWordChar(r):
		return beforeWord
	}
	return beforeOther
}
