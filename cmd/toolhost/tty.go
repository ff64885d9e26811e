package main

import (
	"context"
	"fmt"
	"os"
	"sync"

	"toolhost/cmd/toolhost/internal/approve/terminal"
	"toolhost/cmd/toolhost/internal/presence"
	"toolhost/cmd/toolhost/internal/session"
)

// answerOnTerminal has the prompts of a session shown and answered, line by line, at the terminal from which toolhost was started, until
// end is called. It goes the way of toolhost approve: through the session's socket.
func answerOnTerminal(ctx context.Context, s *session.Session) (end func(), err error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("--approve-on-tty: toolhost was started from no terminal (%w): leave it out, and use toolhost approve in one", err)
	}
	s.Listen()
	presence.Touch() // what asks before the terminal is ready waits for it
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		err := terminal.Run(ctx, terminal.Options{Session: string(s.ID()), Plain: true}, tty, tty)
		if err != nil && ctx.Err() == nil {
			fmt.Fprintln(tty, "toolhost:", err)
		}
	})
	return func() {
		cancel()
		_ = tty.Close() // who reads it has its end
		running.Wait()
	}, nil
}
