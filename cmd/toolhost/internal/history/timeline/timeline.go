// Package timeline prints the records of sessions for people: a line for each call with remarks below it, or everything about one call.
package timeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/near"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/persist"
)

// Options choose calls, and the parts of them that are printed.
type Options struct {
	Filter history.Filter
	JSON   bool // the records, one a line, in the place of the time line
	Why    bool // the author of each permission
	Diff   bool // the changes of files
	Output bool // the output that the model read
}

// Shown counts the printed parts of a log.
type Shown struct {
	Items int // of the time line
	Newer int // records that a newer version wrote, which are left out
}

// Log prints the time line of a log. titled puts the id of the session above it.
func (o Options) Log(out io.Writer, log history.Log, titled bool) (n Shown, err error) {
	f, err := log.Open()
	if err != nil {
		return n, err
	}
	defer f.Close()
	if o.JSON && o.Filter.All() {
		n.Newer, err = records(out, f)
		return n, err
	}
	p := printer{Options: o, out: out, live: log.Live()}
	r := p.reader()
	for item, err := range r.Items(f) {
		if err != nil {
			return n, err
		}
		p.follow(item)
		if !o.selects(item) {
			continue
		}
		if titled {
			titled = false
			if _, err := fmt.Fprintf(out, "session %s\n", log.Session); err != nil {
				return n, err
			}
		}
		n.Items++
		if err := p.print(item); err != nil {
			return n, err
		}
	}
	n.Newer = r.Newer
	return n, nil
}

// reader returns a reader that keeps the records that are printed.
func (o Options) reader() history.Reader {
	return history.Reader{Keep: o.JSON || o.Diff || o.Output || o.Filter.Pattern != nil}
}

// selects reports whether an item of a time line is shown.
func (o Options) selects(item history.Item) bool {
	if c := item.About(); c != nil {
		return o.Filter.Match(c)
	}
	return o.Filter.All() // notes about the session are shown with all calls only
}

// print prints an item, or the records of its call.
func (p *printer) print(item history.Item) error {
	c := item.About()
	switch {
	case !p.JSON:
		return p.item(item)
	case c == nil:
		return nil
	}
	return output.JSON(p.out, c.Records...)
}

// records prints all records of a log as JSON.
func records(out io.Writer, log io.Reader) (newer int, err error) {
	for entry, err := range persist.Read(log) {
		switch {
		case errors.Is(err, persist.ErrNewer):
			newer++
			continue
		case err != nil:
			return newer, fmt.Errorf("%w: toolhost log verify says more", err)
		}
		if err := output.JSON(out, entry); err != nil {
			return newer, err
		}
	}
	return newer, nil
}

// Call prints everything about one call: the client's id names it, or the invocation's.
func (o Options) Call(out io.Writer, log history.Log, id string) error {
	f, err := log.Open()
	if err != nil {
		return err
	}
	f.Close()
	var found []agenttool.InvocationID
	records := map[agenttool.InvocationID][]persist.Entry{}
	var ids []string // of the clients
	for _, part := range log.Parts {
		calls, err := persist.CallsOf(part)
		if errors.Is(err, fs.ErrNotExist) && len(log.Parts) > 1 {
			continue
		}
		if err != nil {
			return err
		}
		for _, c := range calls {
			ids = append(ids, c.Subject)
			if c.Subject != id && string(c.Invocation) != id {
				continue
			}
			entries, err := persist.ReadCall(part.Log, c)
			if err != nil {
				return err
			}
			if records[c.Invocation] == nil {
				found = append(found, c.Invocation)
			}
			records[c.Invocation] = append(records[c.Invocation], entries...)
		}
	}
	if len(found) == 0 {
		return noCall(log.Session, id, ids)
	}
	for _, invocation := range found {
		if o.JSON {
			err = output.JSON(out, records[invocation]...)
		} else {
			err = printCall(out, log, records[invocation])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noCall is the error of a call that a log does not have.
func noCall(session, id string, ids []string) error {
	if meant := near.Word(id, ids); meant != "" {
		return fmt.Errorf("session %s has no call %s; did you mean %s?", session, visible.Text(id), visible.Text(meant))
	}
	slices.Sort(ids)
	calls := len(slices.Compact(ids))
	return fmt.Errorf("session %s has no call %s: toolhost log show %s lists its %d calls", session, visible.Text(id), session, calls)
}

// Follow prints the time line of a log as it grows, until no process writes it: the items that were complete at a time or later.
func (o Options) Follow(out io.Writer, log history.Log, from time.Time) error {
	g := &growing{log: log}
	defer g.close()
	p := printer{Options: o, out: out, live: true}
	r := p.reader()
	for item, err := range r.Items(g) {
		if err != nil {
			return err
		}
		p.follow(item)
		if !o.selects(item) || ended(item).Before(from) {
			continue
		}
		if err := p.item(item); err != nil {
			return err
		}
	}
	return nil
}

// ended returns when an item was complete.
func ended(item history.Item) time.Time {
	if item.Call != nil {
		return item.Call.End
	}
	return item.Time()
}

// growing reads a log up to its last line feed and waits for more, until no process writes it.
type growing struct {
	log  history.Log
	part int      // that is read
	f    *os.File // the part's; nil: not opened yet
	rest []byte
	off  int64
}

// growingPoll is how often a log is looked at.
const growingPoll = 100 * time.Millisecond

func (g *growing) close() {
	if g.f != nil {
		g.f.Close()
	}
}

func (g *growing) Read(b []byte) (int, error) {
	for last := false; len(g.rest) == 0; {
		if g.f == nil {
			f, err := os.Open(g.log.Parts[g.part].Log)
			if err != nil {
				return 0, err
			}
			g.f, g.off = f, 0
		}
		chunk := make([]byte, 64<<10)
		n, err := g.f.ReadAt(chunk, g.off)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if length := g.log.Parts[g.part].Length; length >= 0 {
			n = int(min(int64(n), max(0, length-g.off)))
		}
		whole := bytes.LastIndexByte(chunk[:n], '\n') + 1
		if whole == 0 && n == len(chunk) { // part of a long line
			whole = n
		}
		g.rest, g.off = chunk[:whole], g.off+int64(whole)
		switch {
		case whole > 0:
			continue
		case g.part+1 < len(g.log.Parts):
			g.part++
			g.close()
			g.f = nil
			continue
		}
		now := g.log.Again()
		switch {
		case len(now.Parts) > len(g.log.Parts): // the log was broken, and the session went on in another
			g.log = now
		case last:
			return 0, io.EOF
		case !now.Live(): // it may have written until now
			last = true
		default:
			time.Sleep(growingPoll)
		}
	}
	n := copy(b, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}
