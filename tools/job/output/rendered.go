package output

import (
	"bytes"
	"math"
	"strings"
)

const (
	tailBytes = 16 << 10 // maximum bytes of text from the end of a stream
	tailScan  = 1 << 20  // bytes of a stream that are scanned for it
)

// Rendering is a command's output in the result of its call.
type Rendering struct {
	Stdout, Stderr Excerpt
	Cursor         int64 // the end of the covered output: readings continue there
}

// Rendered returns the beginning and end of each stream, of one that is not text what it is, together at most budget bytes and at most 32 KiB. stdout
// gets two thirds and stderr one third; a stream that needs less leaves the rest to the other. If part of an open log
// is omitted, all its output is written to the payload from then on. The streams together have at most so many lines; 0: any number.
func (l *Log) Rendered(budget, lines int) Rendering {
	to, closed, streams := l.snapshot()
	var k [2]streamEnds
	var binary [2]Excerpt
	for s := range streams {
		if kind := binaryKind(l.sample(0, to, Only(Stream(s)))); kind != "" {
			binary[s] = Excerpt{Binary: kind, Omitted: Omission{Bytes: streams[s].bytes, From: 1, To: streams[s].lines + 1}}
			continue
		}
		if plain := l.decoded(Stream(s), to, streams[s].bytes); plain != "" {
			k[s] = streamEnds{head: []byte(plain), size: int64(len(plain)), lines: int64(strings.Count(plain, "\n"))}
			continue
		}
		k[s] = l.streamEnds(Stream(s), &streams[s], to)
		if closed {
			k[s].close()
		}
	}
	if lines <= 0 {
		lines = math.MaxInt
	}
	forOut, forErr := allot(k[Stdout].held(), k[Stderr].held(), min(budget, headBytes+tailBytes))
	linesOut, linesErr := allot(k[Stdout].count(), k[Stderr].count(), lines)
	r := Rendering{k[Stdout].excerpt(forOut, linesOut), k[Stderr].excerpt(forErr, linesErr), to}
	if binary[Stdout].Cut() {
		r.Stdout = binary[Stdout]
	}
	if binary[Stderr].Cut() {
		r.Stderr = binary[Stderr]
	}
	if r.Stdout.Cut() || r.Stderr.Cut() {
		l.Spill()
	}
	return r
}

// snapshot returns the current state of the two streams, and the end of the output.
func (l *Log) snapshot() (to int64, closed bool, streams [2]tally) {
	l.mu.Lock()
	defer l.mu.Unlock()
	streams = l.streams
	for s := range streams {
		streams[s].head.t.b = bytes.Clone(streams[s].head.t.b) // a carriage return would change it
	}
	return l.ring.end, l.closed, streams
}

// allot divides total among two streams.
func allot(stdout, stderr, total int) (forStdout, forStderr int) {
	share := total / 3
	switch {
	case stdout+stderr <= total:
		return stdout, stderr
	case stderr <= share:
		return total - stderr, stderr
	case stdout <= total-share:
		return stdout, total - stdout
	}
	return total - share, share
}

// streamEnds returns both ends of a stream of the output that ends at to. The end is cleaned only now, because output is at
// the end only for a moment.
func (l *Log) streamEnds(s Stream, t *tally, to int64) streamEnds {
	k := streamEnds{head: t.head.t.b, size: int64(len(t.head.t.b)), lines: t.lines, d: t.head.d}
	rest := t.bytes - t.head.raw
	if rest == 0 {
		return k
	}
	from := l.lastOf(s, t.head.end, to, tailScan)
	if from > t.head.end {
		k.d = l.resume(s, from)
	}
	scanned := l.scanTail(&k, s, from, to)
	k.size += rest - scanned
	return k
}

// scanTail cleans a stream's output in [from, to). It returns the number of bytes behind the resulting text, which
// exclude those before a gap.
func (l *Log) scanTail(k *streamEnds, s Stream, from, to int64) (scanned int64) {
	var t text
	buf := make([]byte, min(chunkBytes, to-from))
	head := k.size
	for from < to {
		c, gap := l.next(buf, from, to, Only(s))
		if gap != nil {
			k.d, t, scanned, k.size, from = decoder{}, text{}, 0, head, gap.To
			continue
		}
		k.d.write(&t, c.b, math.MaxInt)
		scanned += int64(len(c.b))
		from = c.to()
		if drop := len(t.b) - tailBytes; drop > 3*tailBytes {
			t.drop(drop)
			k.size += int64(drop)
		}
	}
	k.tail = t.b
	k.size += int64(len(t.b))
	return scanned
}

// lastOf returns the offset of the last n bytes of a stream before to. If there are fewer, it returns floor or the
// beginning of the remembered labels.
func (l *Log) lastOf(s Stream, floor, to, n int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := l.runs.find(to - 1); i >= 0 && to > floor; i-- {
		r := l.runs.get(i, to)
		from := max(r.from, floor)
		if r.stream == s {
			if to-from >= n {
				return to - n
			}
			n -= to - from
		}
		to = from
	}
	return to
}
