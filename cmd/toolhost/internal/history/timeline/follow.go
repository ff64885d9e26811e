package timeline

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"toolhost/cmd/toolhost/internal/history"
)

// Follow prints the time line of the log at path as it grows, until no process writes it: the items that were complete at a time or later.
func (o Options) Follow(out io.Writer, path string, from time.Time) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	p := printer{Options: o, out: out, live: true}
	r := p.reader()
	for item, err := range r.Items(&growing{f: f, path: path}) {
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
	f    *os.File
	path string
	rest []byte
	off  int64
}

// growingPoll is how often a log is looked at.
const growingPoll = 100 * time.Millisecond

func (g *growing) Read(b []byte) (int, error) {
	for last := false; len(g.rest) == 0; {
		chunk := make([]byte, 64<<10)
		n, err := g.f.ReadAt(chunk, g.off)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		whole := bytes.LastIndexByte(chunk[:n], '\n') + 1
		if whole == 0 && n == len(chunk) { // part of a long line
			whole = n
		}
		g.rest, g.off = chunk[:whole], g.off+int64(whole)
		switch {
		case whole > 0:
		case last:
			return 0, io.EOF
		case !history.Live(g.path): // it may have written until now
			last = true
		default:
			time.Sleep(growingPoll)
		}
	}
	n := copy(b, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}
