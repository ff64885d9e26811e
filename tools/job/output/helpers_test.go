package output

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"syscall"
	"testing"

	"toolhost/agenttool"
)

// fakePayload is a payload in memory. It fails where it has no room, if that is limited, and drops instead if it is
// told to.
type fakePayload struct {
	mu     sync.Mutex
	b      []byte
	room   int // 0: any
	drop   bool
	lost   error
	closed int
}

func (p *fakePayload) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(b)
	if p.room > 0 {
		n = min(n, p.room-len(p.b))
	}
	p.b = append(p.b, b[:n]...)
	if n == len(b) {
		return n, nil
	}
	p.lost = syscall.ENOSPC
	if p.drop {
		return len(b), nil
	}
	return n, p.lost
}

func (p *fakePayload) ReadAt(b []byte, off int64) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := copy(b, p.b[min(off, int64(len(p.b))):]); n == len(b) {
		return n, nil
	} else if p.lost != nil {
		return n, p.lost
	} else {
		return n, io.EOF
	}
}

func (p *fakePayload) Close() (agenttool.Ref, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed++
	return agenttool.Ref{URI: "toolhost://results/output", SizeBytes: int64(len(p.b))}, p.lost
}

// into makes a log whose payload is p.
func into(p *fakePayload, o Options) *Log {
	o.Open = func() (agenttool.Payload, error) { return p, nil }
	return New(o)
}

// said makes a log of parts; those that begin with "2:" are stderr.
func said(o Options, parts ...string) *Log {
	l := into(&fakePayload{}, o)
	say(l, parts...)
	return l
}

func say(l *Log, parts ...string) {
	for _, part := range parts {
		if rest, ok := strings.CutPrefix(part, "2:"); ok {
			l.Write(Stderr, []byte(rest))
		} else {
			l.Write(Stdout, []byte(part))
		}
	}
}

// closed ends a log.
func closed(t testing.TB, l *Log) *Log {
	t.Helper()
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l
}

// cleaned passes chunks through one decoder.
func cleaned(chunks ...string) string {
	var d decoder
	var t text
	for _, chunk := range chunks {
		d.write(&t, []byte(chunk), math.MaxInt)
	}
	d.close(&t, math.MaxInt)
	return string(t.b)
}

// numbered returns lines "1\n" … "n\n".
func numbered(n int) string {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintln(&b, i+1)
	}
	return b.String()
}
