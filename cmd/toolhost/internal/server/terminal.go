package server

import (
	"context"
	"fmt"
	"os"
	"sync"

	"toolhost/cmd/toolhost/internal/approve/terminal"
	"toolhost/cmd/toolhost/internal/presence"
	"toolhost/cmd/toolhost/internal/session"
)

// ApproveOnTerminal shows the prompts of a session on the terminal that started toolhost, and takes answers there, line by line, until
// end is called. Like toolhost approve it uses the session's socket.
func ApproveOnTerminal(ctx context.Context, s *session.Session) (end func(), err error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("--approve-on-tty: toolhost was started from no terminal (%w): leave it out, and use toolhost approve in one", err)
	}
	s.Listen()
	leave := presence.Hold() // prompts that come before the terminal is ready wait for it
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
		_ = tty.Close() // it ends the reader
		running.Wait()
		leave()
	}, nil
}
