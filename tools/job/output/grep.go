package output

import (
	"regexp"
	"strconv"
	"strings"

	"toolhost/agenttool/cut"
)

// maxShown is the maximum bytes of a matching line in the result.
const maxShown = 1000

// Matches are the lines that an expression matches.
type Matches struct {
	Lines   []Line // the first ones; very long lines are cut
	Count   int64  // all; a line of more than 64 KiB counts for each part of that size
	Missing *Gap   // a lost part that could not be searched
}

// String formats each match as a line: number, colon, "[stderr] " for that stream, and text.
func (m Matches) String() string {
	var b strings.Builder
	for _, line := range m.Lines {
		b.WriteString(line.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// String formats the line as Matches does.
func (l Line) String() string {
	prefix := strconv.FormatInt(l.Number, 10) + ":"
	if l.Stream == Stderr {
		prefix += "[stderr] "
	}
	return prefix + l.Text
}

// grep collects the matching lines.
type grep struct {
	re    *regexp.Regexp
	room  int
	found Matches
}

func (g *grep) take(s Stream, number int64, line []byte) {
	if !g.re.Match(line) {
		return
	}
	g.found.Count++
	if g.room <= 0 {
		return
	}
	text := line
	if len(line) > maxShown {
		text = append(cut.Whole(line[:maxShown:maxShown]), "…"...)
	}
	shown := Line{number, s, string(text)}
	if g.room -= len(shown.String()) + 1; g.room >= 0 {
		g.found.Lines = append(g.found.Lines, shown)
	}
}
