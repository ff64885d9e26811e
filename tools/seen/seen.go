package files

import (
	"slices"
	"sync"
)

// maxRemembered limits the files in a ledger, and maxSpans the separate spans of one file. Dropped files and spans
// must be read again.
const (
	maxRemembered = 4096
	maxSpans      = 256
)

// Ledger records the file contents that a session has seen. The zero value is empty and ready. It is safe for
// concurrent use.
type Ledger struct {
	mu    sync.Mutex
	files map[string]*memory // by resolved path
	clock uint64
}

// memory is the record of one file.
type memory struct {
	version string // of the content: see document.version
	whole   bool   // all of it was read or written
	seen    []span // else the lines that were read, in order and not adjacent
	used    uint64
}

// span is a range of lines, both ends included.
type span struct{ from, to int64 }

// knowledge compares a file's content on disk with the ledger.
type knowledge int

const (
	unseen  knowledge = iota // never read or written
	changed                  // read or written, and different now
	partly                   // this content, but not all of it was read
	whole                    // this content, all of it
)

// read records that the given lines of a content with total lines were read.
func (l *Ledger) read(path, version string, shown span, total int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.files[path]
	if m == nil || m.version != version {
		m = &memory{version: version}
		l.keep(path, m)
	}
	m.seen = join(m.seen, shown)
	m.whole = m.whole || len(m.seen) == 1 && m.seen[0].from <= 1 && m.seen[0].to >= total
	l.touch(m)
}

// wrote records the new content of a file, and whether the session knows all of it.
func (l *Ledger) wrote(path, version string, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &memory{version: version, whole: all}
	l.keep(path, m)
	l.touch(m)
}

// recall compares version, the content on disk, with the record.
func (l *Ledger) recall(path, version string) knowledge {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.files[path]
	switch {
	case m == nil:
		return unseen
	case m.version != version:
		return changed
	case !m.whole:
		l.touch(m)
		return partly
	}
	l.touch(m)
	return whole
}

// keep stores m and drops the least recently used file if there are too many.
func (l *Ledger) keep(path string, m *memory) {
	if l.files == nil {
		l.files = map[string]*memory{}
	}
	if _, known := l.files[path]; !known && len(l.files) >= maxRemembered {
		var oldest string
		for p, other := range l.files {
			if oldest == "" || other.used < l.files[oldest].used {
				oldest = p
			}
		}
		delete(l.files, oldest)
	}
	l.files[path] = m
}

func (l *Ledger) touch(m *memory) {
	l.clock++
	m.used = l.clock
}

// join adds s to ordered, separate spans and keeps them ordered and separate.
func join(spans []span, s span) []span {
	joined := make([]span, 0, len(spans)+1)
	for _, other := range spans {
		if other.to+1 < s.from || s.to+1 < other.from {
			joined = append(joined, other)
			continue
		}
		s = span{min(s.from, other.from), max(s.to, other.to)}
	}
	at, _ := slices.BinarySearchFunc(joined, s, func(a, b span) int { return int(a.from - b.from) })
	joined = slices.Insert(joined, at, s)
	return joined[max(0, len(joined)-maxSpans):]
}
