package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/cmd/toolhost/internal/approve/screen"
)

// approval are the flags of toolhost approve.
type approval struct {
	session      string
	plain, json  bool
	once, noWait bool
	bell, notify bool
}

func newApprove() *cobra.Command {
	var a approval
	cmd := &cobra.Command{
		Use:   "approve",
		Short: "Answer the prompts of running sessions",
		Long: `approve shows what the calls of all your running sessions ask, and takes your answers: what would run, what was decided
about each of its commands and by which rule, what it touches, the diff of what it would write, and the sandbox it would run in.
? explains every field and key. New prompts and new sessions appear by themselves.

Where stdin or stdout is no terminal, or with --plain, it speaks line by line: help lists what can be typed. The end of input
ends it.
` + exitCodes + `
With --no-wait 3 means that nothing was pending; with --once 1 means that nothing was answered.`,
		Example: `  toolhost approve
  toolhost approve --session newest --bell
  echo '1 deny not on a Friday' | toolhost approve --plain --once --no-wait`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), os.Stdin, cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&a.session, "session", "", "`id` of the session, or the end of it, or newest; default: all that are running")
	flags.BoolVar(&a.plain, "plain", false, "line by line, without moving the cursor: for screen readers and pipes")
	flags.BoolVar(&a.json, "json", false, "print one JSON object a line; goes with --plain and implies it")
	flags.BoolVar(&a.once, "once", false, "end after the first answer that counts")
	flags.BoolVar(&a.noWait, "no-wait", false, "end at once if nothing is pending")
	flags.BoolVar(&a.bell, "bell", false, "ring when a prompt comes")
	flags.BoolVar(&a.notify, "notify", false, "have the terminal notify the desktop when a prompt comes (OSC 9)")
	return cmd
}

// run answers prompts until the person has enough.
func (a approval) run(ctx context.Context, in *os.File, out io.Writer) error {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	events := make(chan any, 64)
	h := newHub(a.session, func(e any) {
		select {
		case events <- e:
		case <-ctx.Done():
		}
	})
	h.passing = a.noWait
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { h.run(ctx) })
	var early []any
	if a.noWait {
		if early = untilComplete(ctx, events); !anyPending(early) {
			return exitf(exitNotAllowed, "nothing is pending")
		}
	}
	var answered int
	var err error
	if a.lineByLine(in, out) {
		answered, err = newChat(a, h, events, out).run(ctx, in, early)
	} else {
		answered, err = a.screen(ctx, h, early, events)
	}
	switch {
	case err != nil:
		return err
	case a.once && answered == 0:
		return exitf(exitFailed, "nothing was answered")
	}
	return nil
}

// lineByLine reports whether to speak line by line: because the person said so, or because there is no terminal that could
// show more.
func (a approval) lineByLine(in *os.File, out io.Writer) bool {
	f, isFile := out.(*os.File)
	kind := os.Getenv("TERM")
	return a.plain || a.json || kind == "" || kind == "dumb" || !isFile || !term.IsTerminal(int(f.Fd())) || !term.IsTerminal(int(in.Fd()))
}

// untilComplete collects events until all sessions have been heard.
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

// screen shows prompts on the whole terminal. It returns how many answers of this person counted.
func (a approval) screen(ctx context.Context, h *hub, early []any, events <-chan any) (int, error) {
	m := screen.New(screen.Options{Desk: h, Now: time.Now, Once: a.once, Bell: a.bell, Notify: a.notify})
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithEnvironment(screenEnvironment(os.Environ())), tea.WithFPS(30))
	ended := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		for _, e := range early {
			program.Send(e)
		}
		for {
			select {
			case e := <-events:
				program.Send(e)
			case <-ended:
				return
			}
		}
	})
	_, err := program.Run()
	close(ended)
	telling.Wait()
	switch {
	case errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil:
		return m.Answered(), &exitError{code: exitCanceled}
	case err != nil:
		return m.Answered(), exitf(exitFailed, "the terminal cannot be used: %v: try --plain", err)
	}
	return m.Answered(), nil
}

// screenEnvironment is what the terminal library is told of the environment: any NO_COLOR counts, whatever it says, and
// nothing is run to find out about tmux.
func screenEnvironment(environ []string) []string {
	return slices.DeleteFunc(append(environ, noColor()...), func(entry string) bool {
		return strings.HasPrefix(entry, "TMUX=") || strings.HasPrefix(entry, "TEA_TRACE=")
	})
}

func noColor() []string {
	if os.Getenv("NO_COLOR") == "" {
		return nil
	}
	return []string{"NO_COLOR=1"}
}

// The sequences that have a terminal mark what is pasted.
const (
	markPastes   = "\x1b[?2004h"
	unmarkPastes = "\x1b[?2004l"
)

// marksPastes has the terminal mark what is pasted, if it is one; the function that is returned ends that.
func marksPastes(in *os.File, out io.Writer) func() {
	f, isFile := out.(*os.File)
	if kind := os.Getenv("TERM"); kind == "" || kind == "dumb" || !isFile || !term.IsTerminal(int(f.Fd())) || !term.IsTerminal(int(in.Fd())) {
		return func() {}
	}
	fmt.Fprint(out, markPastes)
	return func() { fmt.Fprint(out, unmarkPastes) }
}
