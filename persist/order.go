package persist

import "fmt"

// order puts the lines of a file back into the order in which they were written, names what is out of it, and passes
// the records on. It looks one line ahead.
type order struct {
	next    int64   // the sequence number that is due
	garbage int64   // lines that are no records since the last one that is
	hole    bool    // one of them was never written: it can stand for any number of records
	held    *record // waits for the line after it
	last    digest  // hash of the record passed on last
	before  digest  // hash of the line before held in the file
	gap     bool    // the record passed on next does not follow the last one
	report  *Report
	links   *links
}

// push takes the next line of the file.
func (o *order) push(r record) {
	h := o.held
	if h == nil {
		o.held = &r
		return
	}
	if h.ok && r.ok && o.garbage == 0 && h.seq == o.next+1 && r.seq == o.next {
		o.report.add(Problem{Kind: Swapped, Seq: o.next, To: o.next + 1, Line: h.number,
			Detail: fmt.Sprintf("lines %d and %d have changed places", o.next, o.next+1)})
		o.pass(r) // held is the next one, still
		return
	}
	o.place(*h, &r)
	o.before = h.hash
	o.held = &r
}

// flush takes the end of the file.
func (o *order) flush() {
	if o.held != nil {
		o.place(*o.held, nil)
	}
}

// place decides what r is; after is the line behind it, nil at the end.
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

// resync goes on behind lines that are no records. They stand for as many records, or for fewer when one was split.
func (o *order) resync(seq int64) {
	switch {
	case seq >= o.next && o.hole:
		o.next = seq
	case seq >= o.next:
		o.next += min(o.garbage, seq-o.next)
	}
	o.garbage, o.hole, o.gap = 0, false, true
}

// numberChanged reports whether r is the line that is due under a wrong number: it is linked to the line before it,
// or the line after it goes on where r should have been.
func (o *order) numberChanged(r record, after *record) bool {
	linked := !o.gap && r.prev == o.last
	return linked || after != nil && after.ok && after.seq == o.next+1
}

// missing names the lines from the one that is due to seq.
func (o *order) missing(to int64) {
	p := Problem{Kind: Missing, Seq: o.next, Detail: fmt.Sprintf("line %d is not there", o.next)}
	if to > o.next {
		p.To, p.Detail = to, fmt.Sprintf("lines %d to %d are not there", o.next, to)
	}
	o.report.add(p)
	o.next, o.gap = to+1, true
}

// pass hands on the line that is due.
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

// links finds out which of two lines was changed when the link between them is broken. It looks one record ahead.
type links struct {
	a, b   record // the last two; numbers 0 stand for the beginning
	report *Report
}

func (l *links) push(c record) {
	l.judge(c.link)
	l.a, l.b = l.b, c
}

func (l *links) flush() { l.judge(linkUnknown) }

// judge looks at the link between a and b; next is the one behind b.
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
