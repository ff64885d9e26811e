package persist

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// Verify reads a journal from its first line to its last and reports whether each line is unchanged and in its place.
// It holds a line of at most 64 MiB at a time. The error is one of r; problems of the journal are in the report.
//
// A broken link between lines i and i+1 is blamed on line i. It is blamed on line i+1 if the link between i+1 and i+2
// is also broken and the link before i is not.
func Verify(r io.Reader) (Report, error) { return verify(r, nil) }

// verify calls each with the records as it reads them. Their events are valid during the call.
func verify(r io.Reader, each func(Entry)) (Report, error) {
	v := &verifier{each: each}
	v.order = order{progress: progress{next: 1}, report: &v.report, links: &v.links}
	v.links.report = &v.report
	src := newLines(r)
	for {
		b, err := src.next()
		switch {
		case err == nil:
			v.line(src.number, b)
		case errors.Is(err, errNotRecord):
			if v.written.newer {
				v.report.addNewer(src.number)
			}
			v.order.push(record{number: src.number, newer: v.written.newer})
		case errors.Is(err, io.EOF):
			v.report.TornBytes = src.torn
			v.finish()
			return v.report, nil
		default:
			return v.report, fmt.Errorf("read line %d: %w", src.number+1, err)
		}
	}
}

// VerifyFile verifies the journal at path, and compares it with other logs of its session beside it, if it has several: see [Break]. It
// takes no lock: the line that a live session is writing counts as incomplete.
func VerifyFile(path string) (Report, error) {
	f, err := openRegular(os.OpenFile, path, os.O_RDONLY)
	if err != nil {
		return Report{}, err
	}
	defer f.Close()
	r, err := Verify(f)
	if err == nil {
		r.session(path)
	}
	return r, err
}

// HashOf returns the hash of the record seq of the journal at path, in hexadecimal. It reads the journal up to there and
// checks nothing else.
func HashOf(path string, seq int64) (string, error) {
	f, err := openRegular(os.OpenFile, path, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for src := newLines(f); ; {
		b, err := src.next()
		if errors.Is(err, io.EOF) {
			return "", fmt.Errorf("the log ends before record %d", seq)
		}
		if err != nil && !errors.Is(err, errNotRecord) {
			return "", fmt.Errorf("read line %d: %w", src.number+1, err)
		}
		if l, err := parseFrame(b); err == nil && l.seq == seq {
			h := sha256.Sum256(b)
			return hex.EncodeToString(h[:]), nil
		}
	}
}

// record is the part of a line that is kept while the neighbouring lines are checked.
type record struct {
	number    int64 // of the line in the file, from 1
	unwritten bool  // it is not a record and contains NUL, like blocks that never reached the disk
	newer     bool  // it is not a record of this format, but of a later one: nothing else is known of it
	claim
	blamed bool // a problem already names it
	link   link // to the record before it
}

// claim is the place in the chain that a line claims.
type claim struct {
	ok   bool // it is a record; otherwise it claims nothing
	seq  int64
	prev digest
	hash digest
}

// link tells whether a record contains the hash of the one before it.
type link int

const (
	linkUnknown link = iota // nothing to compare with: lines are missing, or are not records
	linkFine
	linkBroken
)

type verifier struct {
	report  Report
	order   order
	links   links
	written era
	closed  *closedRecord // the last closed record seen
	each    func(Entry)   // nil: nobody looks at the records
}

type closedRecord struct {
	record
	closing
	unreadable bool
}

// hole is the shortest run of NUL that counts as never written. File systems leave whole blocks of NUL.
var hole [64]byte

func (v *verifier) line(number int64, b []byte) {
	l, err := parseLine(b)
	newer := v.written.next(b, l, err)
	if newer {
		v.report.addNewer(number)
	}
	if err != nil {
		v.order.push(record{number: number, newer: newer, unwritten: bytes.Contains(b, hole[:])})
		return
	}
	if v.report.Records == 0 && !newer {
		v.first(l)
	}
	r := record{number: number, claim: claim{ok: true, seq: l.seq, prev: l.prev, hash: sha256.Sum256(b)}}
	v.report.Records++
	v.report.Last, v.report.Head = r.seq, hex.EncodeToString(r.hash[:])
	if d, ok := readRewritten(l.event); ok && !newer && len(v.report.Redactions) < maxProblems {
		v.report.Redactions = append(v.report.Redactions, d)
	}
	if c, ok := readClosing(l.event); ok && !newer {
		c.record = r
		v.closed = &c
	}
	if v.each != nil {
		v.each(Entry{Seq: l.seq, Event: l.event})
	}
	v.order.push(r)
}

// first reads the first record, which may continue another log.
func (v *verifier) first(l line) {
	var e agenttool.Event
	if json.Unmarshal(l.event, &e) != nil || e.EventType != agenttool.EventSessionOpened {
		return
	}
	v.report.id = agenttool.SessionID(e.Subject)
	if b, ok := breakOf(e); ok && b.Count == l.seq-1 && b.Head == hex.EncodeToString(l.prev[:]) {
		v.order.next, v.order.last, v.report.Continues = l.seq, l.prev, &b
	}
}

// readRewritten decodes event if it is the record of a log that was written anew.
func readRewritten(event []byte) (d Rewritten, ok bool) {
	if !aboutSession(event) || !bytes.Contains(event, []byte(agenttool.EventSessionRedacted)) {
		return d, false
	}
	var e agenttool.Event
	ok = json.Unmarshal(event, &e) == nil && e.EventType == agenttool.EventSessionRedacted && json.Unmarshal(e.Data, &d) == nil
	return d, ok
}

// readClosing decodes event if it is a closed record.
func readClosing(event []byte) (c closedRecord, ok bool) {
	if !aboutSession(event) || !bytes.Contains(event, []byte(agenttool.EventSessionClosed)) {
		return c, false
	}
	var e struct {
		Type agenttool.EventType `json:"event_type"`
		Data json.RawMessage     `json:"data"`
	}
	if err := json.Unmarshal(event, &e); err != nil || e.Type != agenttool.EventSessionClosed {
		return c, false
	}
	c.unreadable = json.Unmarshal(e.Data, &c.closing) != nil
	return c, true
}

// finish checks the last lines and the closing record, which counts only if it is the last.
func (v *verifier) finish() {
	v.order.flush()
	v.links.flush()
	c := v.closed
	if c == nil || c.hash != v.lastHash() {
		return
	}
	if c.unreadable || c.Count != c.seq-1 || c.Head != hex.EncodeToString(c.prev[:]) {
		v.report.add(Problem{Kind: Changed, Seq: c.seq, Line: c.number, Detail: fmt.Sprintf(
			"the closing record counts %d records and does not agree with the %d before it", c.Count, c.seq-1)})
		return
	}
	v.report.Closed = true
}

func (v *verifier) lastHash() (h digest) {
	_, _ = hex.Decode(h[:], []byte(v.report.Head))
	return h
}
