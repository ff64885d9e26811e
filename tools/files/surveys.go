package files

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"toolhost/tools/encoding"
	"toolhost/tools/racy"
)

// maxKept is the number of surveys that a session caches, at most 128 KiB each.
const maxKept = 16

// total returns the number of lines, or a lower bound if the scan did not reach the end of the file.
func (k *cachedSurvey) total() int64 {
	if k.partial {
		return k.form.lf + 1
	}
	return k.form.lines()
}

// surveys is a session's cache of file surveys. It is safe for concurrent use.
type surveys struct {
	mu   sync.Mutex
	kept []keptSurvey // least recently used first
	now  func() time.Time
	size sizes
}

// keptSurvey is the survey of one state of a file. It is immutable.
type keptSurvey struct {
	identity identity
	known    cachedSurvey
}

// sizes configure surveys. Tests make them small.
type sizes struct {
	large int64 // files above this size get no digest, and are scanned no further than a page needs
	chunk int64 // bytes to read at once, and between two marks of a line index
}

func newSurveys() *surveys {
	return &surveys{now: time.Now, size: sizes{large: digestLimit, chunk: chunkSize}}
}

// survey fills in c.cachedSurvey. A large UTF-8 file is only scanned up to the end of line reach and the beginning of the
// next line. A cached survey of the same state is reused. declared is the encoding that the
// input names, Binary if it names none.
func (s *surveys) survey(ctx context.Context, c *content, reach int64, declared encoding.Encoding) error {
	if c.held != nil || c.size == math.MaxInt64 || declared != encoding.Binary {
		return c.survey(ctx, declared)
	}
	looked := s.now()
	c.cachedSurvey = s.recall(c.identity)
	if c.seen > 0 && !(c.partial && c.form.lf < reach) {
		return nil
	}
	err := s.scan(ctx, c, reach)
	if errors.Is(err, errNotUTF8) {
		err = c.survey(ctx, declared)
	}
	if err == nil && c.version != "" && !c.identity.racy(looked) {
		s.keep(c)
	}
	return err
}

// errNotUTF8 means that a file is small or not UTF-8: it must be surveyed in one go.
var errNotUTF8 = errors.New("not a large file in UTF-8")

// scan surveys a large UTF-8 file, starting where c.cachedSurvey ends.
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
	if seen.malformed || seen.form.binary {
		return errNotUTF8
	}
	c.cachedSurvey = cachedSurvey{form: seen.form, partial: !ended, seen: seen.seen, index: seen.lines}
	if c.partial {
		c.begun, c.form.last = seen, c.lastByte()
	}
	return c.settle()
}

// recall returns the cached survey of exactly this state of a file, or the zero value.
func (s *surveys) recall(id identity) cachedSurvey {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.find(id)
	if at < 0 || s.kept[at].identity != id {
		return cachedSurvey{}
	}
	k := s.kept[at]
	s.kept = append(slices.Delete(s.kept, at, at+1), k)
	return k.known
}

// keep caches c.cachedSurvey, and drops the least recently used survey if there are too many.
func (s *surveys) keep(c *content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.find(c.identity); at >= 0 {
		s.kept = slices.Delete(s.kept, at, at+1)
	} else if len(s.kept) >= maxKept {
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	k := c.cachedSurvey
	k.index.ended = slices.Clip(slices.Clone(k.index.ended)) // several calls may extend it
	k.begun.lines = k.index
	s.kept = append(s.kept, keptSurvey{c.identity, k})
}

// find returns the index of the cached survey of a file in any state, or -1.
func (s *surveys) find(id identity) int {
	return slices.IndexFunc(s.kept, func(k keptSurvey) bool { return k.identity.dev == id.dev && k.identity.ino == id.ino })
}

// racy reports whether the file can change at the moment now or later without a change of the identity.
func (id identity) racy(now time.Time) bool { return racy.At(now, id.mtime.Nano(), id.ctime.Nano()) }
