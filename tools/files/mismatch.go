package files

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"toolhost/agenttool/count"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
)

// mismatch says why a text does not contain a string: which part of the text is most similar to it, and what differs there first.
type mismatch struct {
	kind        mismatchKind
	explanation string    // the kind in words, and how to correct the string
	start       int       // number of the line at which the most similar part of the text begins; 0: no part is similar
	line        int       // number of the first line that differs
	more        int       // further lines that differ
	shown       [2]string // the first difference in the text and in the string, with white space visible where it differs; empty: the explanation suffices
}

// mismatchKind is a kind of difference between a string and a text.
type mismatchKind string

// The kinds of difference.
const (
	alreadyDone  mismatchKind = "already done"  // the text holds the replacement
	lineNumbers  mismatchKind = "line numbers"  // the string has those that read shows
	escaped      mismatchKind = "escaped"       // \n or &lt; in one of them is the character itself in the other
	ellipsis     mismatchKind = "ellipsis"      // a line of the string stands for lines left out
	newlineKind  mismatchKind = "line ends"     // CR LF and LF
	finalNewline mismatchKind = "final newline" // a line end too many at the end of the string
	indentation  mismatchKind = "indentation"
	trailing     mismatchKind = "trailing white space"
	blanks       mismatchKind = "white space" // within a line
	blankKind    mismatchKind = "Unicode white space"
	unicodeForm  mismatchKind = "Unicode form" // composed and decomposed letters
	invisible    mismatchKind = "invisible characters"
	typographic  mismatchKind = "typography" // quotes, dashes
	letterCase   mismatchKind = "case"
	lookAlike    mismatchKind = "look-alike" // one character, which may look the same
	wording      mismatchKind = "wording"
	lineTooMany  mismatchKind = "line too many" // in the string
	lineMissing  mismatchKind = "line missing"  // in the string
)

// The parts of a text that are aligned with a string. Longer strings are aligned part by part.
const (
	alignedWanted = 200      // lines of the string at once
	alignedFile   = 600      // lines of the text
	slackLines    = 20       // lines before and behind the place
	slackBytes    = 16 << 10 // and bytes
	alignedLine   = 300      // bytes of a line that are compared for likeness
)

// explain compares the string old, which text does not contain, with the most similar part of text. now is the string that was to replace it.
// newline is the line ending that an LF in old may match; wholeLines says that old begins and ends at borders of lines. name stands for old in
// the explanation. ok is false if no part of text is similar.
//
// Time is linear in the sizes, with a constant of some milliseconds.
func explain(text []byte, old, now, name, newline string, wholeLines bool) (m mismatch, ok bool) {
	terminator := newline[len(newline)-1]
	local := func(s string) string { return strings.ReplaceAll(s, "\n", newline) }
	lineAt := func(at int) int { return 1 + bytes.Count(text[:at], []byte{terminator}) }
	from, to, found := nearest(text, old)
	if at := doneAt(text, local(old), local(now), from, to, found); at >= 0 {
		line := lineAt(at)
		return mismatch{kind: alreadyDone, start: line, line: line, explanation: "the file holds the replacement already"}, true
	}
	for _, other := range respelled(old, name) {
		if at := bytes.Index(text, []byte(local(other.old))); at >= 0 {
			line := lineAt(at)
			return mismatch{kind: other.kind, start: line, line: line, explanation: other.explanation}, true
		}
	}
	prefix := ""
	if stripped, is := withoutLineNumbers(old); is && !(found && lineNumber().Match(lineOf(text, from, terminator))) {
		prefix = name + " has the line numbers of read: leave them out"
		old = stripped
		from, to, found = nearest(text, old)
	}
	if !found {
		return mismatch{kind: lineNumbers, explanation: prefix}, prefix != ""
	}
	m = differenceAt(text, from, to, old, name, terminator, wholeLines)
	if prefix != "" {
		m.kind, m.explanation = lineNumbers, prefix+"; also, "+m.explanation
	}
	return m, true
}

// doneAt returns where the replacement stands at the place that is like the string, or -1. A replacement that is part of the string, or
// hardly has letters, says nothing.
func doneAt(text []byte, old, now string, from, to int, found bool) int {
	if strings.Contains(old, now) || len(folded(now, 4)) < 4 {
		return -1
	}
	if found {
		before := max(0, from-len(now))
		at := bytes.Index(text[before:min(len(text), to+len(now))], []byte(now))
		if at < 0 {
			return -1
		}
		return before + at
	}
	at := bytes.Index(text, []byte(now))
	if at >= 0 && bytes.Contains(text[at+1:], []byte(now)) {
		return -1
	}
	return at
}

// respelling is a string that may be what a caller meant.
type respelling struct {
	old  string
	kind mismatchKind

	explanation string
}

var (
	unescaper = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\"`, `"`, `\'`, `'`)
	escapers  = []*strings.Replacer{
		strings.NewReplacer("\n", `\n`, "\t", `\t`), strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`),
		strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`, `\`, `\\`), strings.NewReplacer(`"`, `\"`), strings.NewReplacer(`\`, `\\`),
	}
)

// respelled returns the strings that old may stand for as a whole.
func respelled(old, name string) (others []respelling) {
	add := func(s string, k mismatchKind, explanation string) {
		if s != old && strings.TrimSpace(s) != "" {
			others = append(others, respelling{s, k, explanation})
		}
	}
	if stripped, is := withoutLineNumbers(old); is {
		add(stripped, lineNumbers, name+" has the line numbers of read: leave them out")
	}
	add(unescaper.Replace(old), escaped, name+` is escaped: the file has the character itself for \n, \t, \" or \\`)
	for _, e := range escapers {
		add(e.Replace(old), escaped, `the file has a backslash and a letter (\n, \t) or quote (\") where `+name+" has the character itself")
	}
	add(html.UnescapeString(old), escaped, name+" has HTML entities (&lt; &amp;): the file has the characters themselves")
	add(html.EscapeString(old), escaped, "the file has HTML entities (&lt; &amp;) where "+name+" has the characters themselves")
	return others
}

// lineNumber matches the number of a line as read and other tools show it.
var lineNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ *[0-9]+(\t|→|: |:|\| ?)`)
})

// withoutLineNumbers returns s without the numbers at the beginning of its lines. is is false if not all lines that hold something have one,
// the first excepted if it is not the only one.
func withoutLineNumbers(s string) (stripped string, is bool) {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		prefix := lineNumber().FindString(line)
		if prefix != "" {
			is = true
			lines[i] = line[len(prefix):]
		} else if strings.TrimSpace(line) != "" && i > 0 {
			return s, false
		}
	}
	return strings.Join(lines, "\n"), is
}

// lineOf returns the first bytes of the line of text that holds an offset.
func lineOf(text []byte, at int, terminator byte) []byte {
	low := max(0, at-slackBytes)
	begin := low + bytes.LastIndexByte(text[low:at], terminator) + 1
	return text[begin:min(len(text), begin+alignedLine)]
}

// differenceAt compares old with the lines of text around the place [from, to).
func differenceAt(text []byte, from, to int, old, name string, terminator byte, wholeLines bool) mismatch {
	wanted := strings.Split(old, "\n")
	slack := slackLines + min(len(wanted), alignedWanted)
	to = min(to, from+4*len(old)+slackBytes)
	begin, end := around(text, from, max(to, min(len(text), from+len(old))), slack, terminator)
	file := strings.Split(string(text[begin:end]), string(rune(terminator)))
	anchor := place{bytes.Count(text[begin:from], []byte{terminator}), from - begin}
	if i := bytes.LastIndexByte(text[begin:from], terminator); i >= 0 {
		anchor.column = from - begin - i - 1
	}
	number := 1 + bytes.Count(text[:begin], []byte{terminator}) // of the first line of file
	fileCR, wantedCR := withoutCR(file, terminator), withoutCR(wanted, terminator)

	if wholeLines && end == len(text) && file[len(file)-1] == "" {
		file = file[:len(file)-1]
	}

	m := mismatch{}
	for done, at := 0, 0; done < len(wanted); {
		part := wanted[done:min(len(wanted), done+alignedWanted)]
		opens, closes := done == 0 && !wholeLines, done+len(part) == len(wanted) && !wholeLines
		lines := file[at:min(len(file), at+alignedFile)]
		differing, told := 0, 0
		pairs := onePairEach(lines, part, closes)
		if done == 0 || pairs == nil {
			pairs = align(lines, part, opens, closes)
		}
		for i, p := range pairs {
			if p.file >= 0 && m.start == 0 {
				m.start = number + at + p.file
			}
			first, last := opens && p.wanted == 0, closes && p.wanted == len(part)-1
			switch {
			case p.file >= 0 && p.wanted >= 0 && equalLine(lines[p.file], part[p.wanted], first, last):
				if fileCR[at+p.file] != wantedCR[done+p.wanted] && m.line == 0 {
					m.line = number + at + p.file // counts if nothing else differs
				}
				continue
			case p.wanted >= 0 && ellipses().MatchString(part[p.wanted]) && (p.file < 0 || !ellipses().MatchString(lines[p.file])):
				line := headBefore(text, from, strings.Join(wanted[:done+p.wanted], "\n"), m.start, terminator)
				return leftOut(part[p.wanted], line, name)
			}
			if differing++; differing == 1 {
				near := 0
				if p.file+at == anchor.line {
					near = anchor.column
				}
				told = m.firstDifference(lines, part, pairs[i:], name, opens, closes, near)
				m.line = number + at + lineNear(pairs, i, m.kind == finalNewline)
			}
		}
		if m.more = differing - told; differing > 0 {
			return m
		}
		done, at = done+len(part), at+pairs[len(pairs)-1].file+1
	}
	m.kind, m.line = newlineKind, max(m.line, m.start)
	m.explanation = "the file mixes line ends here, LF and CR LF: make an edit for each line, or give CR (\\r) where the file has it"
	if strings.Contains(old, "\r") {
		m.explanation = name + " has CR (\\r) at the ends of lines where the file has none"
	}
	return m
}

// around returns the whole lines around [from, to), with slack lines before and behind it, if they are not too long.
func around(text []byte, from, to, slack int, terminator byte) (begin, end int) {
	low, high := max(0, from-slackBytes), min(len(text), to+slackBytes)
	begin, end = from, to
	for range slack + 1 {
		i := bytes.LastIndexByte(text[low:begin], terminator)
		if begin = low + i; i < 0 {
			break
		}
	}
	begin++ // behind the end of a line, or from one before low
	for begin > 0 && begin < len(text) && !utf8.RuneStart(text[begin]) {
		begin++
	}
	for range slack + 1 {
		i := bytes.IndexByte(text[end:high], terminator)
		if i < 0 {
			return begin, begin + len(cut.Whole(text[begin:high]))
		}
		end += i + 1
	}
	return begin, end - 1
}

// withoutCR takes the CR from the ends of lines that end in LF, and says which had one.
func withoutCR(lines []string, terminator byte) []bool {
	had := make([]bool, len(lines))
	if terminator != '\n' {
		return had
	}
	for i, line := range lines {
		lines[i], had[i] = strings.CutSuffix(line, "\r")
	}
	return had
}

// leftOut is the mismatch of a string with an ellipsis, whose beginning stands for a line of the text.
func leftOut(ellipse string, line int, name string) mismatch {
	explanation := fmt.Sprintf("%s leaves lines out (%q): write them, or make an edit for each part", name, cut.Short(strings.TrimSpace(ellipse), 40))
	return mismatch{kind: ellipsis, explanation: explanation, start: line, line: line}
}

// headBefore returns the line of the last place, up to about an offset, at which the lines before an ellipsis stand, else of a place like
// them, else the line that is known.
func headBefore(text []byte, from int, head string, known int, terminator byte) int {
	if strings.TrimSpace(head) == "" {
		return known
	}
	at := bytes.LastIndex(text[:min(len(text), from+2*len(head))], []byte(head))
	if at < 0 {
		from, _, ok := nearest(text, head)
		if !ok {
			return known
		}
		at = from
	}
	return 1 + bytes.Count(text[:at], []byte{terminator})
}

// ellipses matches a line that stands for lines left out: "...", "# ... the rest".
var ellipses = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(//|#|--|/\*|<!--|;|%|\*|\{/\*)?\s*(\.\.\.|…)`)
})

// place is an offset in a line, by the line's index and bytes.
type place struct{ line, column int }

// pair is a line of a text and the line of a string that stands for it, by index; -1: none.
type pair struct{ file, wanted int }

// lineNear returns the line of the text of a pair or, if it has none, of the next pair that has one, or else of the last one before it; with
// before the other way round.
func lineNear(pairs []pair, i int, before bool) int {
	ahead, behind := slices.Clone(pairs[i:]), slices.Clone(pairs[:i])
	slices.Reverse(behind)
	if before {
		ahead, behind = behind, ahead
	}
	for _, p := range append(ahead, behind...) {
		if p.file >= 0 {
			return p.file
		}
	}
	return 0
}

// equalLine reports whether a line of a text holds a line of a string. opens and closes say that the string begins and ends in it.
func equalLine(file, wanted string, opens, closes bool) bool {
	switch {
	case opens && closes:
		return strings.Contains(file, wanted)
	case opens:
		return strings.HasSuffix(file, wanted)
	case closes:
		return strings.HasPrefix(file, wanted)
	}
	return file == wanted
}

// The costs of an alignment. Two lines with nothing in common stand for each other rather than for nothing.
const (
	foldedCost    = 2  // lines that are equal in the form of [fold]
	unlikeCost    = 14 // lines that are not alike
	loneCost      = 7  // a line that stands for none
	loneBraceCost = 3  // the same for a line of one character
	loneEmptyCost = 2
	wantedCost    = 2 // more for a line of the string: what it holds is likelier to be found than what it leaves out
	neverCost     = 100
)

// align pairs the lines of a string with those of a text, at the lowest cost. Lines of the text before the first pair and behind the last are
// not in the result. first and last say that the string may begin and end within a line.
func align(file, wanted []string, first, last bool) []pair {
	columns := len(file) + 1
	costs := make([]int32, (len(wanted)+1)*columns)
	forms := make([]string, len(file))
	for j, line := range file {
		forms[j] = string(folded(line, alignedLine))
	}
	lone := func(form string) int32 {
		switch len(form) {
		case 0:
			return loneEmptyCost
		case 1:
			return loneBraceCost
		}
		return loneCost
	}
	pairing := make([]int32, len(wanted)*columns)
	for i, line := range wanted {
		opens, closes := first && i == 0, last && i == len(wanted)-1
		form := string(folded(line, alignedLine))
		var grams *bigrams
		drop := lone(form)
		if form != "" {
			drop += wantedCost
		}
		row, before := costs[(i+1)*columns:], costs[i*columns:]
		row[0] = before[0] + drop
		for j := range file {
			cost := int32(neverCost)
			switch {
			case equalLine(file[j], line, opens, closes):
				cost = 0
			case equalLine(forms[j], form, opens, closes):
				cost = foldedCost
			case form == "" || forms[j] == "":
			case opens || closes || 4*min(len(form), len(forms[j])) > max(len(form), len(forms[j])):
				if grams == nil {
					grams = newBigrams(form)
				}
				likeness := grams.similarity(forms[j])
				if opens || closes { // it may be part of the line
					likeness = max(likeness, 0.9*likeness*float64(len(form)+len(forms[j]))/2/float64(len(form)))
				}
				cost = unlikeCost
				if likeness >= 0.4 {
					cost = foldedCost + 1 + int32(10*(1-likeness))
				}
			default:
				cost = unlikeCost
			}
			pairing[i*columns+j] = cost
			insertion := row[j] + lone(forms[j])
			row[j+1] = min(before[j]+cost, before[j+1]+drop, insertion)
		}
	}
	best := 0
	lastRow := costs[len(wanted)*columns:]
	for j := range lastRow[:columns] {
		if lastRow[j] < lastRow[best] {
			best = j
		}
	}
	var pairs []pair
	for i, j := len(wanted), best; i > 0; {
		here := costs[i*columns+j]
		switch {
		case j > 0 && here == costs[(i-1)*columns+j-1]+pairing[(i-1)*columns+j-1]:
			i, j = i-1, j-1
			pairs = append(pairs, pair{j, i})
		case j > 0 && here == costs[i*columns+j-1]+lone(forms[j-1]):
			j--
			pairs = append(pairs, pair{j, -1})
		default:
			i--
			pairs = append(pairs, pair{-1, i})
		}
	}
	slices.Reverse(pairs)
	return pairs
}

// onePairEach pairs the lines of a string with the first ones of a text, or returns nil if those are not the same.
func onePairEach(file, wanted []string, closes bool) (pairs []pair) {
	for i, line := range wanted {
		if i == len(file) || !equalLine(file[i], line, false, closes && i == len(wanted)-1) {
			return nil
		}
		pairs = append(pairs, pair{i, i})
	}
	return pairs
}

// firstDifference fills in what differs in the first of pairs, and shows it. It returns how many of the pairs the explanation covers. opens
// and closes say that wanted may begin and end within a line; if it does in the first pair, near is about the offset where it begins.
func (m *mismatch) firstDifference(file, wanted []string, pairs []pair, name string, opens, closes bool, near int) (told int) {
	p := pairs[0]
	if p.file >= 0 && p.wanted >= 0 {
		m.compareLines(file[p.file], wanted[p.wanted], name, opens && p.wanted == 0, closes && p.wanted == len(wanted)-1, near)
		if m.kind != indentation || len(pairs) == 1 {
			return 1
		}
		for _, other := range pairs[1:] {
			if other.file < 0 || other.wanted < 0 {
				return 1
			}
			f, w := file[other.file], wanted[other.wanted]
			last := closes && other.wanted == len(wanted)-1
			if w != "" && (equalLine(f, w, false, last) || !equalLine(strings.TrimLeft(f, " \t"), strings.TrimLeft(w, " \t"), false, last)) {
				return 1
			}
		}
		m.explanation += ", in all lines"
		return len(pairs)
	}
	for _, other := range pairs {
		if (other.file < 0) != (p.file < 0) || (other.wanted < 0) != (p.wanted < 0) {
			break
		}
		told++
	}
	beside := slices.IndexFunc(pairs, func(p pair) bool { return p.file >= 0 })
	if p.file >= 0 {
		m.kind, m.explanation = lineMissing, fmt.Sprintf("the file has %s here that %s leaves out", count.Grouped(told, "line", "lines"), name)
		m.shown[0] = clip(file[p.file])
		if at := slices.IndexFunc(pairs, func(p pair) bool { return p.wanted >= 0 }); at >= 0 {
			m.shown[1] = clip(wanted[pairs[at].wanted])
		}
		return told
	}
	if strings.Join(wanted[p.wanted:], "") == "" {
		m.kind, m.explanation = finalNewline, fmt.Sprintf("%s ends with %s more than the file has there", name, count.Grouped(told, "line end", "line ends"))
		return told
	}
	m.kind, m.explanation = lineTooMany, fmt.Sprintf("%s has %s here that the file lacks", name, count.Grouped(told, "line", "lines"))
	m.shown[1] = clip(wanted[p.wanted])
	if beside >= 0 {
		m.shown[0] = clip(file[pairs[beside].file])
	}
	return told
}

// clip returns the beginning of a line.
func clip(line string) string { return window(line, 0, 0, false) }

// compareLines says what differs between a line of a text and one of a string, and shows both.
func (m *mismatch) compareLines(file, wanted, name string, opens, closes bool, near int) {
	file = part(file, wanted, opens, closes, near)
	m.kind, m.explanation = kindOf(file, wanted, name)
	same := cut.Common(file, wanted)
	fileEnd, wantedEnd := len(file), len(wanted)
	for fileEnd > same && wantedEnd > same {
		r, size := utf8.DecodeLastRuneInString(file[same:fileEnd])
		if o, otherSize := utf8.DecodeLastRuneInString(wanted[same:wantedEnd]); o != r || size != otherSize {
			break
		}
		fileEnd, wantedEnd = fileEnd-size, wantedEnd-size
	}
	mark := m.kind == indentation || m.kind == trailing || m.kind == blanks || m.kind == blankKind
	begin := same
	if mark { // all of the white space that differs in some characters
		begin = len(strings.TrimRightFunc(file[:same], visible.Blank))
		fileEnd += len(file[fileEnd:]) - len(strings.TrimLeftFunc(file[fileEnd:], visible.Blank))
		wantedEnd += len(wanted[wantedEnd:]) - len(strings.TrimLeftFunc(wanted[wantedEnd:], visible.Blank))
	} else if m.kind == unicodeForm { // with the letter before a mark
		_, size := utf8.DecodeLastRuneInString(file[:same])
		begin -= size
	}
	m.shown = [2]string{window(file, begin, fileEnd, mark), window(wanted, begin, wantedEnd, mark)}
}

// The characters shown of a line before the difference and from it on.
const (
	shownBefore = 30
	shownAfter  = 60
)

// window returns the part of a line around [from, to). With mark, blanks and tabs in it are written as · and →. Characters that do not show are
// written as code points.
func window(line string, from, to int, mark bool) string {
	begin := from
	for range shownBefore {
		_, size := utf8.DecodeLastRuneInString(line[:begin])
		begin -= size
	}
	var b strings.Builder
	if begin > 0 {
		b.WriteString(cut.Mark)
	}
	shown := 0
	for i, r := range line[begin:] {
		i += begin
		if i >= from {
			shown++
		}
		if shown > shownAfter {
			b.WriteString(cut.Mark)
			break
		}
		within := i >= from && i < to
		switch {
		case r == ' ' && within && mark:
			b.WriteRune('·')
		case r == '\t' && within && mark:
			b.WriteRune('→')
		case r == '\t' || r == '⟨' || r == '⟩' || unicode.Is(unicode.Mn, r) && !within && visible.Shows(r):
			b.WriteRune(r)
		case within && (unicode.Is(unicode.Mn, r) || visible.Blank(r) && r != ' '):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteString(visible.Text(string(r)))
		}
	}
	return b.String()
}

// part returns the part of a line that a string stands for, which begins or ends within it. In long lines it begins near an offset.
func part(file, wanted string, opens, closes bool, near int) string {
	const most = 600 // bytes of lines that are aligned
	if !opens && !closes {
		return file
	}
	if len(file) > most || len(wanted) > most {
		return longPart(file, wanted, opens, closes, near)
	}
	f := []rune(file)
	forms := make([]rune, len(f))
	for j, r := range f {
		forms[j] = fold(r)
	}
	type cell struct{ cost, start int }
	row := make([]cell, len(f)+1)
	for j := range row {
		row[j] = cell{3 * j, 0}
		if opens {
			row[j] = cell{0, j}
		}
	}
	price := func(r rune) int {
		if fold(r) < 0 {
			return 1
		}
		return 3
	}
	for _, r := range wanted {
		diagonal := row[0]
		form, drop := fold(r), price(r)
		row[0].cost += drop
		for j, other := range f {
			change := diagonal
			switch {
			case r == other:
			case form == forms[j]:
				change.cost++
			default:
				change.cost += 4
			}
			diagonal = row[j+1]
			best := change
			if c := diagonal.cost + drop; c < best.cost {
				best = cell{c, diagonal.start}
			}
			if c := row[j].cost + price(other); c < best.cost {
				best = cell{c, row[j].start}
			}
			row[j+1] = best
		}
	}
	end := len(f)
	if closes {
		for j := range row {
			if row[j].cost < row[end].cost {
				end = j
			}
		}
	}
	for end < len(f) && unicode.Is(unicode.Mn, f[end]) { // the accent belongs to its letter
		end++
	}
	start := row[end].start
	if indented := strings.TrimLeftFunc(wanted, visible.Blank) != wanted; indented && (strings.TrimSpace(string(f[:start])) == "" || start < len(f) && !visible.Blank(f[start])) {
		start = 0 // the string has the indentation
	}
	if strings.TrimRightFunc(wanted, visible.Blank) != wanted && strings.TrimSpace(string(f[end:])) == "" {
		end = len(f)
	}
	return string(f[start:end])
}

// longPart is part for lines that are too long to align. It looks for the beginning of the string around near.
func longPart(file, wanted string, opens, closes bool, near int) string {
	if !opens {
		return file
	}
	if !closes {
		near = max(0, len(file)-len(wanted))
	}
	const around = 400
	head := cut.Head(wanted, 12)
	begin, low := -1, max(0, near-around)
	for at := low; at < min(len(file), near+around); {
		i := strings.Index(file[at:min(len(file), near+around)], head)
		if i < 0 {
			break
		}
		if at += i; begin < 0 || max(at-near, near-at) < max(begin-near, near-begin) {
			begin = at
		}
		at++
	}
	if begin < 0 {
		begin = len(cut.Head(file, near))
	}
	return file[begin:]
}

// kindOf names the difference between a line of a text and a line of a string.
func kindOf(file, wanted, name string) (kind mismatchKind, explanation string) {
	has := func(what, other string) string {
		return fmt.Sprintf("the file has %s where %s has %s", what, name, other)
	}
	same := cut.Common(file, wanted)
	f, fileSize := utf8.DecodeRuneInString(file[same:])
	w, wantedSize := utf8.DecodeRuneInString(wanted[same:])
	fileBody, wantedBody := strings.TrimLeftFunc(file, visible.Blank), strings.TrimLeftFunc(wanted, visible.Blank)
	fileIndent, wantedIndent := file[:len(file)-len(fileBody)], wanted[:len(wanted)-len(wantedBody)]
	fileEnd, wantedEnd := strings.TrimRightFunc(file, visible.Blank), strings.TrimRightFunc(wanted, visible.Blank)
	switch {
	case spaces(file) == spaces(wanted):
		return blankKind, has(character(f), character(w))
	case fileEnd == wantedEnd:
		return trailing, fmt.Sprintf("the line ends with %s in the file, with %s in %s", whiteSpace(file[len(fileEnd):]), whiteSpace(wanted[len(wantedEnd):]), name)
	case fileBody == wantedBody:
		return indentation, fmt.Sprintf("the file indents with %s, %s with %s", whiteSpace(fileIndent), name, whiteSpace(wantedIndent))
	case without(file, visible.Blank) == without(wanted, visible.Blank):
		return blanks, "the white space differs"
	case norm.NFC.String(file) == norm.NFC.String(wanted):
		switch {
		case norm.NFC.IsNormalString(wanted):
			return unicodeForm, fmt.Sprintf("the file has letters with separate accents (NFD), %s has composed ones (NFC)", name)
		case norm.NFC.IsNormalString(file):
			return unicodeForm, fmt.Sprintf("the file has composed letters (NFC), %s has separate accents (NFD)", name)
		}
		return unicodeForm, "the letters are the same in another Unicode form"
	case without(file, visible.Invisible) == without(wanted, visible.Invisible):
		if visible.Invisible(f) {
			return invisible, fmt.Sprintf("the file has an invisible character (U+%04X) that %s lacks", f, name)
		}
		return invisible, fmt.Sprintf("%s has an invisible character (U+%04X) that the file lacks", name, w)
	case visible.OnKeyboard(file) == visible.OnKeyboard(wanted):
		return typographic, has(character(f), character(w))
	case strings.EqualFold(file, wanted):
		return letterCase, "capital and small letters differ"
	case unescaper.Replace(wanted) == file, html.UnescapeString(wanted) == file, strings.HasPrefix(unescaper.Replace(wanted), file+"\n"):
		return escaped, name + " is escaped where the file has the character itself"
	case unescaper.Replace(file) == wanted, html.UnescapeString(file) == wanted, strings.HasPrefix(unescaper.Replace(file), wanted+"\n"):
		return escaped, "the file is escaped where " + name + " has the character itself"
	case fileIndent != wantedIndent && same <= min(len(fileIndent), len(wantedIndent)):
		return indentation, fmt.Sprintf("the file indents with %s, %s with %s; the rest of the line differs, too", whiteSpace(fileIndent), name, whiteSpace(wantedIndent))
	case max(f, w) >= utf8.RuneSelf && file[same+fileSize:] == wanted[same+wantedSize:] && min(fileSize, wantedSize) > 0:
		return lookAlike, has(character(f), character(w))
	}
	return wording, "the text differs"
}

// whiteSpace describes white space: "1 tab and 2 blanks".
func whiteSpace(s string) string {
	tabs, spaces := strings.Count(s, "\t"), strings.Count(s, " ")
	var parts []string
	if tabs > 0 {
		parts = append(parts, count.Grouped(tabs, "tab", "tabs"))
	}
	if spaces > 0 {
		parts = append(parts, count.Grouped(spaces, "blank", "blanks"))
	}
	if others := utf8.RuneCountInString(s) - tabs - spaces; others > 0 {
		parts = append(parts, count.Grouped(others, "other space", "other spaces"))
	}
	if len(parts) == 0 {
		return "no white space"
	}
	return strings.Join(parts, " and ")
}

// character names a character with its code point.
func character(r rune) string {
	switch r {
	case ' ':
		return "a blank"
	case '\t':
		return "a tab"
	case '\u00a0':
		return "a no-break space (U+00A0)"
	case '\u202f':
		return "a narrow no-break space (U+202F)"
	}
	if visible.Blank(r) {
		return fmt.Sprintf("a space (U+%04X)", r)
	}
	if !visible.Shows(r) || unicode.Is(unicode.Mn, r) {
		return fmt.Sprintf("U+%04X", r)
	}
	return fmt.Sprintf("%c (U+%04X)", r, r)
}

// spaces returns s with each other space of Unicode as a blank.
func spaces(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && visible.Blank(r) {
			return ' '
		}
		return r
	}, s)
}

// without returns s without the characters that drop selects.
func without(s string, drop func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if drop(r) {
			return -1
		}
		return r
	}, s)
}

// message describes the mismatch in one to three lines.
func (m mismatch) message(name string) string {
	if m.shown == [2]string{} {
		if m.start == 0 {
			return m.explanation
		}
		return fmt.Sprintf("line %d: %s", m.line, m.explanation)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "nearest place: line %d", m.start)
	if m.line != m.start {
		fmt.Fprintf(&b, ", first difference: line %d", m.line)
	}
	b.WriteString(": " + m.explanation)
	if m.more > 0 {
		fmt.Fprintf(&b, "; %s", count.Grouped(m.more, "more line differs", "more lines differ"))
	}
	label := strings.TrimPrefix(name, "the ")
	fmt.Fprintf(&b, "\n%-*s %s\n%s: %s", len(label)+1, "file:", m.shown[0], label, m.shown[1])
	return b.String()
}
