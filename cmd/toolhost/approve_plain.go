package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/cmd/toolhost/internal/approve/plain"
)

// chat is toolhost approve, line by line.
type chat struct {
	approval
	hub      *hub
	talk     *plain.Talk
	out      io.Writer
	events   chan any
	sending  sync.WaitGroup
	under    int  // answers and codes on their way
	complete bool // all sessions that ran at the start have been heard
	over     bool // the input has ended
}

func newChat(a approval, h *hub, events chan any, out io.Writer) *chat {
	return &chat{approval: a, hub: h, events: events, out: out}
}

// run takes lines and events until the person or the input ends it. It returns how many answers of this person counted.
func (c *chat) run(ctx context.Context, in *os.File, early []any) (int, error) {
	defer marksPastes(in, c.out)()
	ctx, cancel := context.WithCancel(ctx)
	defer c.sending.Wait()
	defer cancel()
	c.talk = plain.New(plain.Options{
		Out: c.out, JSON: c.json, Now: time.Now, Ring: c.ring,
		Send: func(a approve.Answer) {
			c.send(ctx, func() any { return approve.Answered{Answer: a, Err: c.hub.Answer(a)} })
		},
		Code: func(session, code string) { c.send(ctx, func() any { return codeSaid{c.hub.Code(session, code)} }) },
	})
	for _, e := range early {
		c.take(e)
	}
	lines := typedLines(ctx, in)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for !c.done() {
		select {
		case <-ctx.Done():
			return c.talk.Answered(), &exitError{code: exitCanceled}
		case e := <-c.events:
			c.take(e)
		case <-tick.C:
			c.talk.Tick()
		case line, more := <-c.open(lines):
			c.over = !more
			if more && c.talk.Line(line) {
				return c.talk.Answered(), nil
			}
		}
	}
	return c.talk.Answered(), nil
}

// done reports whether there is nothing left to do.
func (c *chat) done() bool {
	return c.once && c.talk.Answered() > 0 || c.over && c.under == 0
}

// open is where lines come from, if one can be taken now: not before all prompts are told, and where the first answer ends it, not
// before the last one is known to have counted or not.
func (c *chat) open(lines <-chan string) <-chan string {
	if !c.complete || c.over || c.once && c.under > 0 {
		return nil
	}
	return lines
}

// send has something said to a session; what came of it is an event.
func (c *chat) send(ctx context.Context, say func() any) {
	c.under++
	c.sending.Go(func() {
		select {
		case c.events <- say():
		case <-ctx.Done():
		}
	})
}

// codeSaid says what came of a code.
type codeSaid struct{ err error }

func (c *chat) take(event any) {
	switch e := event.(type) {
	case approve.Answered:
		c.under--
	case approve.Complete:
		c.complete = true
	case codeSaid:
		if c.under--; e.err == nil {
			return
		}
		event = approve.Trouble{Text: "the code was not taken: " + e.err.Error()}
	}
	c.talk.Event(event)
}

// ring tells the person that a prompt came.
func (c *chat) ring() {
	if c.bell {
		fmt.Fprint(c.out, "\a")
	}
	if c.notify {
		fmt.Fprint(c.out, "\x1b]9;toolhost: a prompt waits for you\a")
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
			fmt.Fprintln(os.Stderr, "toolhost: the input cannot be read on:", err)
		}
	}()
	return lines
}
