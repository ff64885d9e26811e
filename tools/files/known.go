package files

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"toolhost/tools/racy"
)

// maxKept is the number of files of which a session knows what they are like, at most 128 KiB for each.
const maxKept = 16

// known is what a survey found out about a file.
type known struct {
	form    form // of the first seen bytes, or of all of them
	partial bool // the file goes on behind what was seen
	seen    int64
	digest  string
	version string // as document.version; empty when the file changed while it was read
	index   lineIndex
	begun   scan // when partial: what a survey that has to see more of the same state goes on with
}

// total is the number of lines, or how many there are at least if the file goes on behind what was seen.
func (k *known) total() int64 {
	if k.partial {
		return k.form.lf + 1
	}
	return k.form.lines()
}

// surveys is a session's memory of what the files are like that it read last. Its methods may be called from several
// goroutines.
type surveys struct {
	mu   sync.Mutex
	kept []keptSurvey // the one that was used last comes last
	now  func() time.Time
	size sizes
}

// keptSurvey is what is known of one state of a file. It is never changed.
type keptSurvey struct {
	identity identity
	known    known
}

// sizes say how files are surveyed. Tests make them small.
type sizes struct {
	large int64 // of a file with more bytes no digest is made, and no more is surveyed than a page needs
	chunk int64 // bytes that are read at once, and between two marks of a line index
}

func newSurveys() *surveys {
	return &surveys{now: time.Now, size: sizes{large: digestLimit, chunk: chunkSize}}
}

// survey fills c.known. Of a large file in UTF-8 that need not be more than what holds the lines before reach and the
// beginning of the one behind them. What is known of just this state of the file is not found out again.
func (s *surveys) survey(ctx context.Context, c *content, reach int64) error {
	if c.held != nil || c.size == math.MaxInt64 {
		return c.survey(ctx)
	}
	looked := s.now()
	c.known = s.recall(c.identity)
	if c.seen > 0 && !(c.partial && c.form.lf < reach) {
		return nil
	}
	err := s.scan(ctx, c, reach)
	if errors.Is(err, errNotUTF8) {
		err = c.survey(ctx)
	}
	if err == nil && c.version != "" && !c.identity.racy(looked) {
		s.keep(c)
	}
	return err
}

// errNotUTF8 says that a file is small or no text in UTF-8: its survey is made in one go.
var errNotUTF8 = errors.New("not a large file in UTF-8")

// scan surveys a large file in UTF-8, from where c.known ends.
func (s *surveys) scan(ctx context.Context, c *content, reach int64) error {
	seen, utf8Text := c.begun, true
	if seen.seen == 0 {
		seen, utf8Text = newScan(c.head(), s.size.chunk)
	}
	if c.size <= s.size.large || !utf8Text {
		return errNotUTF8
	}
	ended, err := newScanner(c.file, c.size, s.size.chunk).until(ctx, &seen, reach)
	if err != nil {
		return err
	}
	if seen.malformed && !seen.form.binary {
		return errNotUTF8
	}
	c.known = known{form: seen.form, partial: !ended, seen: seen.seen, index: seen.lines}
	if c.partial {
		c.begun, c.form.last = seen, c.lastByte()
	}
	return c.settle()
}

// recall returns what is known of just this state of a file, the zero value if nothing is.
func (s *surveys) recall(id identity) known {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.find(id)
	if at < 0 || s.kept[at].identity != id {
		return known{}
	}
	k := s.kept[at]
	s.kept = append(slices.Delete(s.kept, at, at+1), k)
	return k.known
}

// keep remembers what is known of c, and forgets the file that was used longest ago when there are too many.
func (s *surveys) keep(c *content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.find(c.identity); at >= 0 {
		s.kept = slices.Delete(s.kept, at, at+1)
	} else if len(s.kept) >= maxKept {
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	k := c.known
	k.index.ended = slices.Clip(slices.Clone(k.index.ended)) // several calls may go on with it
	k.begun.lines = k.index
	s.kept = append(s.kept, keptSurvey{c.identity, k})
}

// find returns the place of what is known of a file in any state, -1 if nothing is.
func (s *surveys) find(id identity) int {
	return slices.IndexFunc(s.kept, func(k keptSurvey) bool { return k.identity.dev == id.dev && k.identity.ino == id.ino })
}

// racy reports whether the file can change, at the moment now or later, without a change of the identity.
func (id identity) racy(now time.Time) bool { return racy.At(now, id.mtime.Nano(), id.ctime.Nano()) }
