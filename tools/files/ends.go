package files

import (
	"bytes"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// keepEnds returns content, whose lines end in LF, with the ends of the lines of old, which has CRLF and LF. Lines that
// stay keep their end, a line that replaces another gets that one's, and a further line the end of the line before it.
func keepEnds(old []byte, content string) []byte {
	var crlf []bool // of each line that has an end
	for line := range bytes.Lines(old) {
		if bytes.HasSuffix(line, []byte("\n")) {
			crlf = append(crlf, bytes.HasSuffix(line, []byte("\r\n")))
		}
	}
	before := strings.ReplaceAll(string(old), "\r\n", "\n")
	out := make([]byte, 0, len(content)+len(crlf))
	end, line := crlf[0], 0
	add := func(text string, replaced int) { // text stands for that many lines of old
		for i, l := range slices.Collect(strings.Lines(text)) {
			if i < replaced {
				end = crlf[line+i]
			}
			if body, ended := strings.CutSuffix(l, "\n"); ended && end {
				out = append(append(out, body...), '\r', '\n')
			} else {
				out = append(out, l...)
			}
		}
		line += replaced
	}
	copied := 0
	for _, e := range changedLines(before, content) {
		same := before[copied:e.Start]
		add(same, strings.Count(same, "\n"))
		add(e.New, strings.Count(before[e.Start:e.End], "\n"))
		copied = e.End
	}
	add(before[copied:], strings.Count(before[copied:], "\n"))
	return out
}

// changedLines returns the edits of whole lines that turn before into after. Where too much differs to align it, that
// is one edit.
func changedLines(before, after string) []udiff.Edit {
	start, oldEnd, newEnd := differing([]byte(before), []byte(after))
	old, now := before[start:oldEnd], after[start:newEnd]
	if len(old) > maxCompared || len(now) > maxCompared {
		return []udiff.Edit{{Start: start, End: oldEnd, New: now}}
	}
	edits := lineEdits(old, now)
	for i := range edits {
		edits[i].Start, edits[i].End = edits[i].Start+start, edits[i].End+start
	}
	return edits
}
