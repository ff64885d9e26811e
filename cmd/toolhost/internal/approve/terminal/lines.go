package terminal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/cmd/toolhost/internal/approve/plain"
	"toolhost/cmd/toolhost/internal/output"
)

// lines shows prompts line by line.
type lines struct {
	Options
	answerer approve.Answerer
	talk     *plain.Talk
	out      io.Writer
	events   chan any
	senders  sync.WaitGroup
	sending  int  // answers and codes that have no response yet
	bare     bool // answers need no number
	complete bool // the first prompts of all sessions are reported
	ended    bool // the input has ended
}

func newLines(o Options, answerer approve.Answerer, events chan any, out io.Writer) *lines {
	return &lines{Options: o, answerer: answerer, events: events, out: out}
}

// Converse shows the prompts that come as events on a terminal, line by line, and sends the answers, until ctx or the input ends.
func Converse(ctx context.Context, tty *os.File, answerer approve.Answerer, events chan any) error {
	flush(tty) // typed before there was a prompt
	l := newLines(Options{}, answerer, events, tty)
	l.bare, l.complete = true, true
	_, err := l.run(ctx, tty, nil)
	return err
}

// run handles lines and events until the person or the input ends it. It returns how many answers of this person counted.
func (l *lines) run(ctx context.Context, in *os.File, early []any) (int, error) {
	defer marksPastes(in, l.out)()
	ctx, cancel := context.WithCancel(ctx)
	defer l.senders.Wait()
	defer cancel()
	l.talk = plain.New(plain.Options{
		Out: l.out, JSON: l.JSON, Now: time.Now, Ring: l.ring, Bare: l.bare,
		Send: func(a approve.Answer) {
			l.send(ctx, func() any { return approve.Answered{Answer: a, Err: l.answerer.Answer(a)} })
		},
		Code: func(session, code string) {
			l.send(ctx, func() any { return codeSent{l.answerer.Code(session, code)} })
		},
		Look: func(sessions []string) {
			l.send(ctx, func() any { return l.look(sessions) })
		},
		Try: func(it *approve.Item, rule string) {
			session, id, number := it.Session, it.Prompt.ID(), it.Number
			l.send(ctx, func() any {
				outcome, err := l.answerer.Try(session, id, []string{rule})
				return plain.Tried{Number: number, Rule: rule, Outcome: outcome, Err: err}
			})
		},
	})
	for _, e := range early {
		l.event(e)
	}
	typed := typedLines(ctx, in)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for !l.done() {
		select {
		case <-ctx.Done():
			return l.talk.Answered(), ErrInterrupted
		case e := <-l.events:
			l.event(e)
		case <-tick.C:
			l.talk.Tick()
		case line, more := <-l.input(typed):
			l.ended = !more
			if more && l.talk.Line(line) {
				return l.talk.Answered(), nil
			}
		}
	}
	return l.talk.Answered(), nil
}

// done reports whether there is nothing left to do.
func (l *lines) done() bool {
	return l.Once && l.talk.Answered() > 0 || l.ended && l.sending == 0
}

// input is the channel to take a line from, nil while none is taken: until the first prompts are shown, and with Once while the fate of
// an answer is not known.
func (l *lines) input(typed <-chan string) <-chan string {
	if !l.complete || l.ended || l.Once && l.sending > 0 {
		return nil
	}
	return typed
}

// send runs do, which sends to a session and returns an event.
func (l *lines) send(ctx context.Context, do func() any) {
	l.sending++
	l.senders.Go(func() {
		select {
		case l.events <- do():
		case <-ctx.Done():
		}
	})
}

// look asks sessions for their activity. One that does not answer is left out.
func (l *lines) look(sessions []string) (e plain.Looked) {
	for _, id := range sessions {
		if seen, err := l.answerer.Activity(id); err == nil {
			e.All = append(e.All, seen)
		}
	}
	return e
}

// codeSent is the outcome of sending a code.
type codeSent struct{ err error }

func (l *lines) event(event any) {
	switch e := event.(type) {
	case approve.Answered, plain.Tried, plain.Looked:
		l.sending--
	case approve.Complete:
		l.complete = true
	case codeSent:
		if l.sending--; e.err == nil {
			return
		}
		event = approve.Trouble{Text: "the code was not taken: " + e.err.Error()}
	}
	l.talk.Event(event)
}

// ring signals a new prompt.
func (l *lines) ring() {
	if output.IsTerminal(l.out) && !l.JSON {
		fmt.Fprint(l.out, l.Options.ring(os.Getenv))
	}
}

// typedLines are the lines of the input. The goroutine that reads them ends with the input, or with the process.
func typedLines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		typed := bufio.NewScanner(in)
		typed.Buffer(nil, plain.MaxLine)
		for typed.Scan() {
			select {
			case lines <- typed.Text():
			case <-ctx.Done():
				return
			}
		}
		if err := typed.Err(); err != nil {
			fmt.Fprintln(output.Stderr(), "toolhost: the input cannot be read on:", err)
		}
	}()
	return lines
}

// The sequences that have a terminal mark what is pasted.
const (
	markPastes   = "\x1b[?2004h"
	unmarkPastes = "\x1b[?2004l"
)

// marksPastes has a terminal mark what is pasted. The returned function ends that.
func marksPastes(in *os.File, out io.Writer) func() {
	if !movesCursor(in, out) {
		return func() {}
	}
	fmt.Fprint(out, markPastes)
	return func() { fmt.Fprint(out, unmarkPastes) }
}

// flush drops the text that was typed on a terminal and not read yet.
func flush(tty *os.File) { _ = unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
