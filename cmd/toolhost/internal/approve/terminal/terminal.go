// Package terminal is toolhost approve: it shows what sessions ask on a person's terminal, on the whole screen or line by line, and sends
// the answers.
package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/cmd/toolhost/internal/approve/client"
	"toolhost/cmd/toolhost/internal/output"
)

// Options say which prompts are shown, and how.
type Options struct {
	Session string // the end of the id of the one session to show, or [sockets.Newest]; empty: all
	Plain   bool   // line by line, whatever the terminal can do
	JSON    bool   // one object a line; implies Plain
	Once    bool   // end after the first answer that counts
	NoWait  bool   // end at once if nothing is pending
	Bell    bool   // ring when a prompt comes
	Notify  bool   // notify the desktop, where the terminal is known to do so; else ring
}

// Why Run ends without success.
var (
	ErrNothingPending  = errors.New("nothing is pending")
	ErrNothingAnswered = errors.New("nothing was answered")
	ErrInterrupted     = errors.New("interrupted")
)

// Run shows prompts and sends answers until the person, the input or ctx ends it.
func Run(ctx context.Context, o Options, in *os.File, out io.Writer) error {
	done := ctx
	ctx, cancel := context.WithCancel(ctx)
	events := make(chan any, 64)
	c := client.New(client.Options{Session: o.Session, Once: o.NoWait, Event: func(e any) {
		select {
		case events <- e:
		case <-ctx.Done():
		}
	}})
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { c.Run(ctx) })
	var early []any
	if o.NoWait {
		if early = untilComplete(done, events); !anyPending(early) {
			return ErrNothingPending
		}
	}
	var answered int
	var err error
	if o.lineByLine(in, out) {
		answered, err = newLines(o, c, events, out).run(ctx, in, early)
	} else {
		answered, err = o.fullScreen(ctx, c, early, events)
	}
	if err == nil && o.Once && answered == 0 {
		return ErrNothingAnswered
	}
	return err
}

// lineByLine reports whether to show prompts line by line.
func (o Options) lineByLine(in *os.File, out io.Writer) bool {
	return o.Plain || o.JSON || !movesCursor(in, out)
}

// movesCursor reports whether in and out are a terminal that can move its cursor.
func movesCursor(in *os.File, out io.Writer) bool {
	kind := os.Getenv("TERM")
	return kind != "" && kind != "dumb" && output.IsTerminal(out) && output.IsTerminal(in)
}

// untilComplete collects events until the first prompts of all sessions are reported.
func untilComplete(ctx context.Context, events <-chan any) (early []any) {
	for {
		select {
		case e := <-events:
			early = append(early, e)
			if _, complete := e.(approve.Complete); complete {
				return early
			}
		case <-ctx.Done():
			return early
		}
	}
}

func anyPending(events []any) bool {
	var q approve.Queue
	for _, e := range events {
		q.Apply(e, time.Now())
	}
	return len(q.Waiting) > 0
}
