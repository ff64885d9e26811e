package screen

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// row is one row of the screen: text of at most its width, without line ends and sequences.
type row struct {
	kind approve.Kind
	text string
}

// sheet is a text of any length laid out for one width. Only where each of its lines begins is kept; rows are made when they
// are looked at.
type sheet struct {
	lines  []approve.Line
	width  int
	starts []int  // the first row of each line, then the number of rows
	seen   []bool // of the rows: they were on the screen; nil: none was
}

// longest is the length in bytes of the longest line that is wrapped as one: a longer one is several, so that looking at a
// row of it is cheap.
const longest = 4096

// newSheet lays out lines for a width of at least one column.
func newSheet(lines []approve.Line, width int) *sheet {
	s := &sheet{width: max(1, width)}
	for _, line := range lines {
		s.lines = append(s.lines, cut(line)...)
	}
	s.starts = make([]int, 1, len(s.lines)+1)
	for _, line := range s.lines {
		s.starts = append(s.starts, s.rows()+height(line, s.width))
	}
	return s
}

// rows is how many rows there are.
func (s *sheet) rows() int { return s.starts[len(s.starts)-1] }

// view returns up to n rows from the given one.
func (s *sheet) view(from, n int) []row {
	var rows []row
	i := sort.SearchInts(s.starts, from+1) - 1
	for ; i < len(s.lines) && len(rows) < n; i++ {
		wrapped := wrap(s.lines[i], s.width)
		skip := min(max(0, from-s.starts[i]), len(wrapped))
		rows = append(rows, wrapped[skip:]...)
	}
	return rows[:min(n, len(rows))]
}

// see notes that up to n rows from the given one were on the screen.
func (s *sheet) see(from, n int) {
	if s.seen == nil {
		s.seen = make([]bool, s.rows())
	}
	for i := max(0, from); i < min(from+n, len(s.seen)); i++ {
		s.seen[i] = true
	}
}

// unread is the first asking row that was not on the screen; -1: there is none.
func (s *sheet) unread() int { return s.unreadBut(0, 0) }

// unreadBut is unread without the rows from one up to another.
func (s *sheet) unreadBut(from, to int) int {
	for i, line := range s.lines {
		for at := s.starts[i]; line.Asks && at < s.starts[i+1]; at++ {
			if (s.seen == nil || !s.seen[at]) && (at < from || at >= to) {
				return at
			}
		}
	}
	return -1
}

// inherit takes the seen rows of an earlier layout over, if it has the same rows.
func (s *sheet) inherit(old *sheet) {
	if old != nil && old.width == s.width && slices.Equal(old.lines, s.lines) {
		s.seen = old.seen
	}
}

// cut splits a very long line at a place where no character and no ⟨mark⟩ is torn.
func cut(line approve.Line) []approve.Line {
	if len(line.Text) <= longest {
		return []approve.Line{line}
	}
	var parts []approve.Line
	text, lead := line.Text, ""
	for text != "" {
		end := 0
		for end < len(text) && end < longest {
			end += len(cell(text[end:]))
		}
		parts = append(parts, approve.Line{Kind: line.Kind, Indent: line.Indent, Text: lead + text[:end], Asks: line.Asks})
		text, lead = text[end:], hanging(line.Indent)
	}
	return parts
}

// height is how many rows a line takes.
func height(line approve.Line, width int) int {
	if len(line.Text) <= width && visible.ASCII(line.Text) {
		return 1
	}
	return len(wrap(line, width))
}

// wrap breaks a line into rows; each further one begins with ↪. Prose is broken at a blank, which stays where it was; commands
// and diffs fill their rows.
func wrap(line approve.Line, width int) []row {
	if len(line.Text) <= width && visible.ASCII(line.Text) {
		return []row{{line.Kind, line.Text}}
	}
	var rows []row
	lead := hanging(min(line.Indent, width/3))
	text, begin, used := line.Text, 0, 0
	prefix := ""
	for i := 0; i < len(text); {
		c := cell(text[i:])
		w := columns(c)
		if w > width-columns(lead) { // a mark on a very narrow screen
			_, n := utf8.DecodeRuneInString(c)
			c = c[:n]
			w = columns(c)
		}
		if used+w > width && i > begin {
			end := breakAt(line.Kind, text[begin:i]) + begin
			rows = append(rows, row{line.Kind, prefix + text[begin:end]})
			prefix, begin = lead, end
			used = columns(lead) + columns(text[begin:i])
		}
		used += w
		i += len(c)
	}
	return append(rows, row{line.Kind, prefix + text[begin:]})
}

// breakAt is where a full row of text ends: behind its last blank, if that leaves more than half of it.
func breakAt(kind approve.Kind, text string) int {
	blank := strings.LastIndexByte(text, ' ') + 1
	if kind == approve.Command || kind == approve.Added || kind == approve.Removed || blank <= len(text)/2 {
		return len(text)
	}
	return blank
}

// hanging is the prefix of the continuation of a line.
func hanging(indent int) string {
	if indent < 2 {
		return "↪"
	}
	return strings.Repeat(" ", indent-2) + "↪ "
}

// cell is the first unbreakable part of s: a character with its combining marks, or a ⟨mark⟩. It is never empty.
func cell(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if r == visible.Open {
		if end := strings.IndexRune(s[:min(len(s), 40)], visible.Close); end > 0 {
			return s[:end+utf8.RuneLen(visible.Close)]
		}
	}
	for size < len(s) && s[size] >= utf8.RuneSelf {
		next, n := utf8.DecodeRuneInString(s[size:])
		if ansi.StringWidthWc(string(next)) > 0 {
			break
		}
		size += n
	}
	return s[:size]
}

// columns is how many columns of a terminal s takes.
func columns(s string) int {
	if visible.ASCII(s) {
		return len(s)
	}
	return ansi.StringWidthWc(s)
}

// fit cuts s to a width, with … where something was cut.
func fit(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	used := 0
	for i := 0; i < len(s); {
		c := cell(s[i:])
		if used+columns(c) > width-1 {
			return s[:i] + "…"
		}
		used += columns(c)
		i += len(c)
	}
	return s
}
