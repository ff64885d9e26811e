package persist

import "fmt"

// order sorts the lines of a file back into the order of writing, reports misplaced ones, and passes the records on.
// It looks one line ahead.
type order struct {
	progress
	noise
	held   *record // waits for the next line
	before digest  // hash of the line before held in the file
	report *Report
	links  *links
}

// progress is about the records passed on.
type progress struct {
	next int64  // the next expected sequence number
	last digest // hash of the record passed on last
	gap  bool   // the next record passed on does not follow the last one
}

// noise counts the lines since the last record that are not records.
type noise struct {
	garbage int64
	hole    bool // one of them was never written: it may represent any number of records
}

// push adds the next line of the file.
func (o *order) push(r record) {
	h := o.held
	if h == nil {
		o.held = &r
		return
	}
	if h.ok && r.ok && o.garbage == 0 && h.seq == o.next+1 && r.seq == o.next {
		o.report.add(Problem{Kind: Swapped, Seq: o.next, To: o.next + 1, Line: h.number,
			Detail: fmt.Sprintf("lines %d and %d have changed places", o.next, o.next+1)})
		o.pass(r) // held is still the next one
		return
	}
	o.place(*h, &r)
	o.before = h.hash
	o.held = &r
}

// flush handles the end of the file.
func (o *order) flush() {
	if o.held != nil {
		o.place(*o.held, nil)
	}
}

// place classifies r; after is the next line, nil at the end.
func (o *order) place(r record, after *record) {
	if r.newer {
		o.garbage++
		return
	}
	if r.unwritten {
		o.report.add(Problem{Kind: Unwritten, Seq: o.next, Line: r.number,
			Detail: fmt.Sprintf("record %d, and perhaps more, did not reach the disk before the machine stopped", o.next)})
		o.garbage, o.hole = o.garbage+1, true
		return
	}
	if !r.ok {
		o.report.add(Problem{Kind: Unparsable, Seq: o.next, Line: r.number,
			Detail: fmt.Sprintf("it is not a record, where record %d is due", o.next)})
		o.garbage++
		return
	}
	if o.garbage > 0 {
		o.resync(r.seq)
	}
	switch {
	case r.seq == o.next:
		o.pass(r)
	case o.numberChanged(r, after):
		o.report.add(Problem{Kind: Changed, Seq: o.next, Line: r.number,
			Detail: fmt.Sprintf("line %d says that it is line %d", o.next, r.seq)})
		r.blamed = true
		o.pass(r)
	case r.seq < o.next && r.hash == o.before:
		o.report.add(Problem{Kind: Duplicate, Seq: r.seq, Line: r.number,
			Detail: fmt.Sprintf("line %d is there twice", r.seq)})
	case r.seq < o.next || after != nil && after.ok && after.seq == o.next:
		o.report.add(Problem{Kind: Misplaced, Seq: r.seq, Line: r.number,
			Detail: fmt.Sprintf("line %d stands where line %d is due", r.seq, o.next)})
	default:
		o.missing(r.seq - 1)
		o.pass(r)
	}
}

// resync continues after lines that are not records. They represent as many records, or fewer if one was split.
func (o *order) resync(seq int64) {
	switch {
	case seq >= o.next && o.hole:
		o.next = seq
	case seq >= o.next:
		o.next += min(o.garbage, seq-o.next)
	}
	o.garbage, o.hole, o.gap = 0, false, true
}

// numberChanged reports whether r is the expected line with a wrong number: it is linked to the line before it, or
// the line after it continues from the expected place of r.
func (o *order) numberChanged(r record, after *record) bool {
	linked := !o.gap && r.prev == o.last
	return linked || after != nil && after.ok && after.seq == o.next+1
}

// missing reports the lines from the expected one to seq as missing.
func (o *order) missing(to int64) {
	p := Problem{Kind: Missing, Seq: o.next, Detail: fmt.Sprintf("line %d is not there", o.next)}
	if to > o.next {
		p.To, p.Detail = to, fmt.Sprintf("lines %d to %d are not there", o.next, to)
	}
	o.report.add(p)
	o.next, o.gap = to+1, true
}

// pass passes on the expected line.
func (o *order) pass(r record) {
	r.seq = o.next
	switch {
	case o.gap:
		r.link = linkUnknown
	case r.prev == o.last:
		r.link = linkFine
	default:
		r.link = linkBroken
	}
	o.next++
	o.gap, o.last = false, r.hash
	o.links.push(r)
}

// links decides which of two lines was changed if the link between them is broken. It looks one record ahead.
type links struct {
	a, b   record // the last two; number 0 is the beginning
	report *Report
}

func (l *links) push(c record) {
	l.judge(c.link)
	l.a, l.b = l.b, c
}

func (l *links) flush() { l.judge(linkUnknown) }

// judge checks the link between a and b; next is the link after b.
func (l *links) judge(next link) {
	if l.b.link != linkBroken || l.a.blamed || l.b.blamed {
		return
	}
	guilty := &l.a
	fineBefore := l.a.number == 0 || l.a.link == linkFine
	if l.a.number == 0 || next == linkBroken && fineBefore {
		guilty = &l.b
	}
	guilty.blamed = true
	detail := fmt.Sprintf("line %d does not have the hash that line %d was written with", l.a.seq, l.b.seq)
	if l.a.number == 0 {
		detail = "line 1 says that there is a line before it"
	}
	l.report.add(Problem{Kind: Changed, Seq: guilty.seq, Line: guilty.number, Detail: detail})
}
