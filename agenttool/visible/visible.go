// Package visible makes text of strangers safe to look at. It replaces characters that a terminal would act on, would not
// show, or would use to move other text by their names, as ⟨ESC⟩ or ⟨U+202E⟩. So it does with characters that look like those of a
// keyboard where they may be taken for them: ⟨U+0440⟩aypal, but not in the words of a language that has them.
//
// It replaces the brackets ⟨ and ⟩ of the text itself too, so that ⟨ESC⟩ always stands for an escape character.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The brackets around the name of a replaced character.
const (
	Open  = '⟨'
	Close = '⟩'
)

// Shows reports whether a terminal shows r as a mark in the place where it stands. Controls, invisible characters, all blanks
// but the space, and bidirectional controls do not.
func Shows(r rune) bool {
	return r == ' ' || unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		r != '\u034f' && r != brailleBlank && r != noteBlank && r != objectBlank
}

const (
	brailleBlank = '\u2800'
	objectBlank  = '\ufffc'
	noteBlank    = '\U0001d159'
)

// Text returns s as one line with all characters visible: it replaces tabs and line ends as well.
func Text(s string) string { return escape(s, "⟨TAB⟩") }

// Message returns s with characters that do not show replaced as by [Text]; its line ends, its tabs, and marks that Text has made, stay. It is for
// whole messages at their last station, whose parts may have been through Text.
func Message(s string) string {
	raw := func(r rune) bool { return r == utf8.RuneError || r != '\n' && r != '\t' && !Shows(r) }
	if strings.IndexFunc(s, raw) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨byte %02X⟩", s[i])
		case raw(r):
			b.WriteString(written(r))
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// Code is Text for a line of a program or a diff: tabs are four blanks.
func Code(s string) string { return escape(s, "    ") }

// Lines splits s at its line ends and returns each line as by [Code]. The empty text has none. More than three empty lines
// in a row are written out as their number.
func Lines(s string) []string {
	if s == "" {
		return nil
	}
	var lines []string
	empty := 0
	flush := func() {
		if empty > mostEmpty {
			lines = append(lines, fmt.Sprintf("⟨%d empty lines⟩", empty))
		} else {
			lines = append(lines, make([]string, empty)...)
		}
		empty = 0
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		if strings.Trim(line, " \t") == "" {
			empty++
			continue
		}
		flush()
		lines = append(lines, Code(line))
	}
	flush()
	return lines
}

const (
	mostEmpty  = 3  // empty lines in a row
	mostBlanks = 48 // blanks in a row; more of them could push the text behind them out of view
	mostJoined = 3  // marks on one letter
)

// escape returns s with tabs replaced by tab, and with other characters that do not show replaced by their names.
func escape(s, tab string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 32)
	blanks, joined := 0, mostJoined
	alike := lookAlikes(s)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == ' ' {
			blanks++
			i++
			joined = mostJoined
			continue
		}
		writeBlanks(&b, blanks)
		blanks = 0
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨byte %02X⟩", s[i])
			joined = mostJoined
		case r == '\t':
			b.WriteString(tab)
			joined = mostJoined
		case joins(r) && joined < mostJoined && Shows(r):
			b.WriteRune(r)
			joined++
		case !Shows(r) || joins(r) || moves(r) || r == Open || r == Close || alike[i]:
			b.WriteString(written(r))
			joined = mostJoined
		default:
			b.WriteRune(r)
			joined = mostJoined
			if unicode.IsLetter(r) {
				joined = 0
			}
		}
		i += size
	}
	writeBlanks(&b, blanks)
	return b.String()
}

func writeBlanks(b *strings.Builder, n int) {
	if n > mostBlanks {
		fmt.Fprintf(b, "⟨%d blanks⟩", n)
		return
	}
	for range n {
		b.WriteByte(' ')
	}
}

// plain reports whether s is printable ASCII without many blanks in a row, as most text is.
func plain(s string) bool {
	blanks := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			if blanks++; blanks > mostBlanks {
				return false
			}
		case c < ' ' || c >= 0x7f:
			return false
		default:
			blanks = 0
		}
	}
	return true
}

// joins reports whether terminals draw r onto or into the character before it. After a letter some languages need that;
// elsewhere it hides r.
func joins(r rune) bool {
	return r >= 0x300 && (unicode.In(r, unicode.M) || r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7ff)
}

// moves reports whether terminals reorder text around r, or draw it as one with its neighbours: letters that are written from
// right to left, flags, skin tones.
func moves(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r <= 0x8ff, r >= 0xfb1d && r <= 0xfdff, r >= 0xfe70 && r <= 0xfeff:
		return true
	}
	return r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff || r >= 0x1f1e6 && r <= 0x1f1ff || r >= 0x1f3fb && r <= 0x1f3ff
}

// controls are the names of the control characters from 0 to 31.
var controls = strings.Fields("NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US")

// written is the name of r in brackets.
func written(r rune) string {
	switch {
	case r < ' ':
		return "⟨" + controls[r] + "⟩"
	case r == 0x7f:
		return "⟨DEL⟩"
	}
	return fmt.Sprintf("⟨U+%04X⟩", r)
}

// likeLetters are letters of other alphabets that are drawn as letters of Latin in most fonts; likeSigns are signs that are drawn as one of
// ASCII that shells and paths have: slashes, hyphens, a dot, a semicolon. Quotes and dashes of good typography are not among them.
const (
	likeLetters = "асԁеһіјӏорԛѕԝхуАВЕЅІЈКМНОРСТУХԌԚԜ" + "ονρυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "օսոհցԼՕՍ" + "ᎪᎳᏟᎬᎻᎫᏦᎷᏢᏚᎢᏙᏃ"
	likeSigns   = "⁄∕⧸／‐‑․\u037e"
)

// likeWord is how many look-alike letters in a row are a word that may be taken for another, beside words of its own language too.
const likeWord = 3

// lookAlikes returns where in s characters stand that may be taken for those of a keyboard: signs anywhere; letters in a word that
// has letters of Latin, or that has look-alikes only and is long, or alone of its alphabet.
func lookAlikes(s string) map[int]bool {
	found := map[int]bool{}
	var short []int  // look-alikes of words that may be those of a language
	foreign := false // a letter of the alphabets that is no look-alike
	for at := 0; at < len(s); {
		var like []int
		latin, others := false, false
		start := at
		for at < len(s) {
			r, size := utf8.DecodeRuneInString(s[at:])
			if !unicode.IsLetter(r) && !joins(r) {
				break
			}
			switch {
			case r < 0x250 || r >= 0xff21 && r <= 0xff5a:
				latin = true
			case r < 0x1400 && strings.ContainsRune(likeLetters, r):
				like = append(like, at)
			default:
				others = true
			}
			at += size
		}
		switch {
		case latin || len(like) >= likeWord && !others:
			for _, i := range like {
				found[i] = true
			}
		case !others:
			short = append(short, like...)
		}
		foreign = foreign || others
		if at == start {
			r, size := utf8.DecodeRuneInString(s[at:])
			if size > 1 && strings.ContainsRune(likeSigns, r) {
				found[at] = true
			}
			at += size
		}
	}
	if !foreign {
		for _, i := range short {
			found[i] = true
		}
	}
	return found
}

// Mixed returns the words of s that have letters of Latin and of an alphabet that looks like it: one may be taken for
// another word. At most five are returned, each once.
func Mixed(s string) []string {
	if ASCII(s) {
		return nil
	}
	var words []string
	seen := map[string]bool{}
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !joins(r) }) {
		latin, like := false, false
		for _, r := range word {
			latin = latin || r < 0x250
			like = like || unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee) || r >= 0xff21 && r <= 0xff5a
		}
		if latin && like && !seen[word] && len(words) < 5 {
			seen[word] = true
			words = append(words, word)
		}
	}
	return words
}

// ASCII reports whether s holds nothing else.
func ASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
