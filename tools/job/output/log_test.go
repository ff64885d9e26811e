package output

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool"
)

// A payload has every byte of both streams in the order in which they came, from the first one on.
func TestPayloadHasEveryByte(t *testing.T) {
	p := &fakePayload{}
	l := into(p, Options{Spill: 10})
	say(l, "one\n", "2:two\n")
	if p.b != nil {
		t.Error("a payload was opened for little")
	}
	say(l, "three\n", "2:four\n", strings.Repeat("x", ringBytes+1))
	ref, err := l.Close()
	if want := "one\ntwo\nthree\nfour\n" + strings.Repeat("x", ringBytes+1); string(p.b) != want {
		t.Errorf("the payload has %d bytes", len(p.b))
	}
	if err != nil || ref == nil || ref.SizeBytes != l.Stats().Bytes || l.ring.b != nil {
		t.Errorf("ref %+v, %v; the ring holds %d bytes", ref, err, len(l.ring.b))
	}
	if again, err := l.Close(); again != ref || err != nil || p.closed != 1 {
		t.Errorf("closed again: %+v, %v", again, err)
	}
	if say(l, "late"); l.Stats().Bytes != ref.SizeBytes {
		t.Error("a closed log took more")
	}
}

func TestLittleOutputStaysInMemory(t *testing.T) {
	l := said(Options{}, "hi\n")
	if ref, err := l.Close(); ref != nil || err != nil {
		t.Errorf("%+v, %v", ref, err)
	}
	if got := l.Read(Request{}); got.Text != "hi\n" || cap(l.ring.b) > 8 {
		t.Errorf("page %+v; %d bytes held", got, cap(l.ring.b))
	}
}

func TestSpillTwiceOpensOnce(t *testing.T) {
	p, opened := &fakePayload{}, 0
	l := New(Options{Open: func() (agenttool.Payload, error) { opened++; return p, nil }})
	say(l, "a")
	l.Spill()
	say(l, "2:b")
	l.Spill()
	if string(p.b) != "ab" || opened != 1 {
		t.Errorf("payload %q, opened %d times", p.b, opened)
	}
	if ref, err := l.Close(); ref == nil || err != nil {
		t.Errorf("%+v, %v", ref, err)
	}
}

// A disk that is full loses what the ring has forgotten. A page says so, and goes on behind it.
func TestWhatIsNotKeptIsMissing(t *testing.T) {
	tests := []struct {
		name    string
		payload *fakePayload
		open    error
		from    int64 // of what is missing
		reason  string
	}{
		{"not opened", nil, syscall.ENOSPC, 0, "no space left"},
		{"not wanted", nil, nil, 0, "only the newest output"},
		{"fails in the middle", &fakePayload{room: 150}, nil, 150, "no space left"},
		{"cut", &fakePayload{room: 150, drop: true}, nil, 150, "no space left"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := New(Options{Ring: 100, Spill: 10})
			if tt.payload != nil {
				l = into(tt.payload, Options{Ring: 100, Spill: 10})
			} else if tt.open != nil {
				l.o.Open = func() (agenttool.Payload, error) { return nil, tt.open }
			}
			for range 50 {
				say(l, "0123456789\n")
			}
			for _, done := range []bool{false, true} {
				checkMissing(t, l, Gap{From: tt.from, To: 450, Reason: tt.reason})
				ref, err := l.Close()
				if err == nil || (ref == nil) != (tt.payload == nil) {
					t.Errorf("closed %v: %+v, %v", done, ref, err)
				}
			}
			s := l.Stats()
			if s.Lost == nil || s.Lost.From != tt.from || s.Lost.To != 550 || (s.Ref == nil) != (tt.payload == nil) {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

func checkMissing(t *testing.T, l *Log, want Gap) {
	t.Helper()
	p := l.Read(Request{})
	if want.From > 0 {
		if p.Missing != nil || p.Next != want.From || !p.More || int64(len(p.Text)) != want.From {
			t.Fatalf("before the gap %+v", p)
		}
		p = l.Read(Request{From: p.Next})
	}
	if m := p.Missing; m == nil || m.From != want.From || m.To != want.To || !strings.Contains(m.Reason, want.Reason) {
		t.Errorf("missing %+v, want %+v", p.Missing, want)
	}
	whole := len(p.Text) == 100 && strings.HasSuffix(p.Text, "\n0123456789\n")
	if p.From != want.From || p.Next != 550 || p.More || !whole {
		t.Errorf("behind the gap %+v", p)
	}
	if p := l.Read(Request{From: 500}); p.Missing != nil || len(p.Text) != 50 {
		t.Errorf("in the ring %+v", p)
	}
}

// A file that somebody has cut is a gap, too.
func TestPayloadThatWasCutOutside(t *testing.T) {
	p := &fakePayload{}
	l := into(p, Options{Ring: 10, Spill: 1})
	say(l, strings.Repeat("x", 100))
	closed(t, l)
	p.b = p.b[:40]
	first := l.Read(Request{})
	second := l.Read(Request{From: first.Next})
	if first.Next != 40 || !first.More || second.Missing == nil || second.Missing.To != 100 || second.Next != 100 {
		t.Errorf("%+v, %+v", first, second)
	}
}

func TestStats(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	l := into(&fakePayload{}, Options{Now: func() time.Time { return now }})
	if s := l.Stats(); s != (Stats{}) {
		t.Errorf("nothing said: %+v", s)
	}
	say(l, "a\nb\n", "2:\x1b[31mwarning\x1b[m: é\xff\n", "\n \n")
	want := Stats{Bytes: 28, Out: 7, Err: 21, Lines: 5, LastLine: "warning: é\uFFFD", LastWrite: now}
	if s := l.Stats(); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
	say(l, "10%\r20%")
	want.Bytes, want.Out, want.LastLine = 35, 14, "20%"
	if s := l.Stats(); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
	closed(t, l)
	if want.Closed = true; l.Stats() != want {
		t.Errorf("closed %+v, want %+v", l.Stats(), want)
	}
}

func TestChanged(t *testing.T) {
	l := said(Options{}, "a")
	changed := l.Changed()
	if l.Changed() != changed {
		t.Error("two channels for one change")
	}
	select {
	case <-changed:
		t.Error("nothing has changed")
	default:
	}
	say(l, "b")
	<-changed
	changed = l.Changed()
	closed(t, l)
	<-changed
	<-l.Changed()
}

// blockedPayload holds up who writes until it is let go.
type blockedPayload struct {
	fakePayload
	entered, let chan struct{}
}

func (p *blockedPayload) Write(b []byte) (int, error) {
	p.entered <- struct{}{}
	<-p.let
	return p.fakePayload.Write(b)
}

// A disk that hangs holds up no reader.
func TestSlowDisk(t *testing.T) {
	p := &blockedPayload{entered: make(chan struct{}), let: make(chan struct{})}
	l := New(Options{Open: func() (agenttool.Payload, error) { return p, nil }, Spill: 4})
	say(l, "one\n")
	done := make(chan struct{})
	go func() {
		defer close(done)
		say(l, "two\n")
	}()
	<-p.entered
	if page := l.Read(Request{}); page.Text != "one\n" {
		t.Errorf("%+v", page)
	}
	if l.Stats().Bytes != 4 || l.Tail(1, 0, 0).Text != "one\n" || l.Rendered(100, 0).Stdout.Head != "one\n" {
		t.Error("the first line cannot be read")
	}
	p.let <- struct{}{}
	<-p.entered
	p.let <- struct{}{}
	<-done
	if page := l.Read(Request{}); page.Text != "one\ntwo\n" {
		t.Errorf("%+v", page)
	}
}

// AT-291: what is lost is known, whatever failed.
func TestCloseSaysWhatFailed(t *testing.T) {
	p := &fakePayload{lost: syscall.EIO}
	l := into(p, Options{Spill: 1})
	say(l, "abc")
	if ref, err := l.Close(); ref == nil || !errors.Is(err, syscall.EIO) || l.ring.b == nil {
		t.Errorf("%+v, %v", ref, err)
	}
}

func TestRunsAreBounded(t *testing.T) {
	p := &fakePayload{}
	l := into(p, Options{Spill: 1})
	for range maxRuns {
		say(l, "o", "2:e")
	}
	if n := len(l.runs.starts); n > maxRuns || n < maxRuns/2 {
		t.Errorf("%d runs", n)
	}
	page := l.Read(Request{})
	if want := "[stdout or stderr]\noeoe"; !strings.HasPrefix(page.Text, want) {
		t.Errorf("begins with %q", page.Text[:30])
	}
	if got := l.Read(Request{Streams: Only(Stderr), Max: 64}); got.Text != strings.Repeat("oe", 32) {
		t.Errorf("what may be stderr is %q", got.Text)
	}
	if got := l.Tail(1, 100, Only(Stderr)); got.Text != strings.Repeat("e", len(got.Text)) || len(got.Text) < 50 {
		t.Errorf("the newest stderr is %q", got.Text)
	}
	if int64(len(p.b)) != l.Stats().Bytes {
		t.Error("bytes are lost")
	}
}
