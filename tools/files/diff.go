package files

import (
	"bytes"
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"toolhost/agenttool/count"
	"toolhost/agenttool/cut"
)

const (
	maxDiff      = 64 << 10 // maximum bytes of a diff in a result
	maxCompared  = 1 << 20  // maximum bytes between the first and the last difference for an alignment by lines
	maxPaired    = 2000     // maximum number of lines for a comparison line by line
	contextLines = 3
)

// difference is a change, line by line.
type difference struct {
	text           string // unified
	added, removed int    // lines
	cut            bool   // the text is incomplete
}

// compare returns the difference between a document and its revision. It takes time in proportion to the sizes, with
// a bounded time for the alignment.
func compare(was *document, now revision) difference {
	from, to := label("a", was.path.Spelling), label("b", was.path.Spelling)
	if !was.exists {
		from = "/dev/null"
	}
	if was.form.binary || bytes.IndexByte(now.text, 0) >= 0 {
		return difference{text: fmt.Sprintf("Binary files %s and %s differ\n", from, to), cut: true}
	}
	start, oldEnd, newEnd := differing(was.text, now.text)
	before, after := was.text[start:oldEnd], now.text[start:newEnd]
	if len(before) > maxCompared || len(after) > maxCompared {
		d := difference{added: countLines(after), removed: countLines(before), cut: true}
		d.text = fmt.Sprintf("--- %s\n+++ %s\n[too large to compare: from line %d on, about %s lines became %s]\n",
			from, to, 1+bytes.Count(was.text[:start], []byte{'\n'}), count.Thousands(d.removed), count.Thousands(d.added))
		return d
	}
	u, err := udiff.ToUnifiedDiff(from, to, string(before), lineEdits(string(before), string(after)), contextLines)
	if err != nil {
		panic("files: the edits between two texts fit the first: " + err.Error())
	}
	d := difference{}
	shift := bytes.Count(was.text[:start], []byte{'\n'})
	for _, h := range u.Hunks {
		h.FromLine += shift
		h.ToLine = h.FromLine + d.added - d.removed
		for _, line := range h.Lines {
			switch line.Kind {
			case udiff.Insert:
				d.added++
			case udiff.Delete:
				d.removed++
			}
		}
	}
	d.text, d.cut = clipDiff(u.String())
	return d
}

// differing returns the part of two texts that contains all their differences and some lines of context. It begins
// and ends at line boundaries.
func differing(before, after []byte) (start, oldEnd, newEnd int) {
	start = commonPrefix(before, after)
	tail := 0
	for limit := min(len(before), len(after)) - start; tail < limit &&
		before[len(before)-1-tail] == after[len(after)-1-tail]; {
		tail++
	}
	for range contextLines + 1 {
		start = bytes.LastIndexByte(before[:start], '\n')
		if start < 0 {
			break
		}
	}
	start++
	oldEnd = len(before) - tail
	for range contextLines + 1 {
		i := bytes.IndexByte(before[oldEnd:], '\n')
		if i < 0 {
			oldEnd = len(before)
			break
		}
		oldEnd += i + 1
	}
	return start, oldEnd, len(after) - (len(before) - oldEnd)
}

func commonPrefix(a, b []byte) int {
	const step = 4096
	n := 0
	for n+step <= min(len(a), len(b)) && bytes.Equal(a[n:n+step], b[n:n+step]) {
		n += step
	}
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// lineEdits aligns two texts. Beyond some fifty differences the alignment, which is bounded in time, gives up and
// treats the rest as different. If both texts have the same number of lines, a comparison line by line can be better
// (for example after renaming a name everywhere).
func lineEdits(before, after string) []udiff.Edit {
	aligned := udiff.Lines(before, after)
	old, now := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	if len(old) != len(now) {
		return aligned
	}
	var paired []udiff.Edit
	offset, size := 0, 0
	for i := range old {
		if old[i] != now[i] {
			paired = append(paired, udiff.Edit{Start: offset, End: offset + len(old[i]), New: now[i]})
			size += len(old[i]) + len(now[i])
		}
		offset += len(old[i])
	}
	if len(paired) > maxPaired || size >= editedBytes(aligned) {
		return aligned
	}
	return paired
}

// editedBytes returns the number of bytes that edits remove and insert.
func editedBytes(edits []udiff.Edit) (n int) {
	for _, e := range edits {
		n += e.End - e.Start + len(e.New)
	}
	return n
}

// clipDiff cuts a long diff at the end of a line and marks the cut.
func clipDiff(text string) (string, bool) {
	if len(text) <= maxDiff {
		return text, false
	}
	end := strings.LastIndexByte(text[:maxDiff], '\n') + 1
	kept := text[:end]
	if end == 0 {
		kept = cut.Head(text, maxDiff) + "\n"
	}
	return kept + fmt.Sprintf("[diff cut: %s more lines]\n", count.Thousands(strings.Count(text[end:], "\n"))), true
}

// countLines counts lines, including a last one without an end.
func countLines(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// label returns a path for a diff's header: quoted, as git does, if it could be misread.
func label(side, path string) string {
	if !strings.HasPrefix(path, "/") {
		side += "/"
	}
	return quoted(side + path)
}
