package search

import (
	"fmt"
	"strings"

	"toolhost/agenttool"
	"toolhost/tools/search/engine"
)

const (
	maxPage        = 512 << 10 // JSON bytes of a result without context lines
	maxPageContext = 256 << 10 // JSON bytes of the context lines
	maxPageText    = 28_000    // bytes of text: a result above 30,000 characters is cut, and then its next offset would be wrong
)

// page counts the results of a search and selects those within offset and limit.
type page struct {
	offset, limit int
	total         int    // results so far, including the page's
	shown         int    // items on the page
	size          int    // estimated JSON size of the items on the page
	used          extent // so far, context included
	most          extent // that the caller takes; 0 lines: any number
	full          bool
}

// extent measures text.
type extent struct {
	text  int // in bytes
	lines int
}

// newPage returns a page for a caller of that capacity.
func newPage(offset, limit int, c agenttool.Capacity) page {
	p := page{offset: offset, limit: limit}
	p.most.text, p.most.lines = c.Page(maxPageText, 0)
	return p
}

// room reports whether the caller takes another item of that JSON size.
func (p *page) room(size int) bool {
	return p.shown == 0 || p.size+size <= maxPage && p.used.text <= p.most.text && (p.most.lines == 0 || p.used.lines < p.most.lines)
}

// place counts one more item with the given JSON size and reports whether it is on the page.
func (p *page) place(size int) bool {
	p.total++
	if p.total <= p.offset {
		return false
	}
	if p.shown == p.limit || !p.room(size) {
		p.full = true
		return false
	}
	p.shown++
	p.used.lines++
	p.size += size
	return true
}

// next returns the offset of the next page; nil if there is none.
func (p *page) next() *int {
	if p.total <= p.offset+p.shown {
		return nil
	}
	next := p.offset + p.shown
	return &next
}

// end tells how a search ended.
type end struct {
	early    bool // the page was full; the total may be higher
	timedOut bool
	canceled bool
}

// incomplete reports whether the total may be higher than counted.
func (e end) incomplete() bool { return e.early || e.timedOut || e.canceled }

// notes collects the remarks at the end of a text.
type notes []string

func (n *notes) add(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

// amount is a number of things, such as {3, "binary"}.
type amount struct {
	n    int
	what string
}

// list adds the nonzero amounts after a verb: "skipped 3 binary, 1 unreadable".
func (n *notes) list(done string, amounts ...amount) {
	var words []string
	for _, a := range amounts {
		if a.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", a.n, a.what))
		}
	}
	if words != nil {
		n.add("%s %s", done, strings.Join(words, ", "))
	}
}

// leftOut adds the numbers of omitted names, each with the input that includes them.
func (n *notes) leftOut(l engine.ListCounts) {
	n.list("left out", amount{l.Ignored, "ignored (no_ignore)"}, amount{l.Hidden, "hidden (hidden)"})
}

// missing adds that a path does not exist, the first of those that patterns name.
func (n *notes) missing(paths []string) {
	if len(paths) == 0 {
		return
	}
	if dir, isDir := strings.CutSuffix(paths[0], "/"); isDir {
		n.add("there is no directory %s", agenttool.PrintPath(dir))
	} else {
		n.add("%s does not exist", agenttool.PrintPath(dir))
	}
}

// denied describes files that a rule forbids to read.
const denied = "denied (they hold secrets, or a rule forbids to read them)"

// specials describes files that are never opened.
const specials = "special (FIFO, socket or device)"

func (n notes) String() string {
	if len(n) == 0 {
		return ""
	}
	return "[" + strings.Join(n, "; ") + "]\n"
}

// paging adds which part of the total is on the page, if that is not everything.
func (n *notes) paging(p *page, e end, what string) {
	next := p.next()
	if next == nil && p.offset == 0 {
		return
	}
	total := fmt.Sprint(p.total)
	if e.incomplete() {
		total = "at least " + total
	}
	switch {
	case p.shown == 0 && p.total > 0:
		n.add("nothing at offset %d: there are %s %s", p.offset, total, what)
	case p.offset > 0 && p.shown > 0:
		n.add("showing %d to %d of %s %s", p.offset+1, p.offset+p.shown, total, what)
	case p.shown > 0:
		n.add("showing %d of %s %s", p.shown, total, what)
	}
	if next != nil {
		n.add("next offset %d", *next)
	}
}

// ending adds the reason for an early end, and a remedy.
func (n *notes) ending(e end, remedy string) {
	switch {
	case e.timedOut:
		n.add("stopped at the time limit, the search is not complete: %s", remedy)
	case e.canceled:
		n.add("canceled, the search is not complete")
	}
}
