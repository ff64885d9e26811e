package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve/terminal"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/remote"
	"toolhost/cmd/toolhost/internal/session"
)

func newApprove() *cobra.Command {
	var o terminal.Options
	var pair, unpair, piped bool
	cmd := &cobra.Command{
		Use:        "approve",
		Short:      "Answer the prompts of running sessions",
		SuggestFor: []string{"prompts", "answer", "allow"},
		Long: `approve shows what the calls of all your running sessions ask, and takes your answers: what would run, what was decided
about each of its commands and by which rule, what it touches, the diff of what it would write, and the sandbox it would run in.
? explains every field and key. New prompts and new sessions appear by themselves.

Where stdin or stdout is no terminal, or with --plain, it speaks line by line: help lists what can be typed. The end of input
ends it.
` + exitCodes + `
With --no-wait 3 means that nothing was pending; with --once 1 means that nothing was answered.`,
		Example: `  toolhost approve
  toolhost approve --session newest --bell
  toolhost approve --pair
  echo '1 deny not on a Friday' | toolhost approve --plain --once --no-wait`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if pair && !piped && !output.IsTerminal(cmd.OutOrStdout()) {
				return errors.New("--pair prints a code with which whoever reads it answers prompts for you, and stdout is no terminal: run it in a terminal of your own, or add --piped")
			}
			if pair || unpair {
				return pairBrowser(cmd.OutOrStdout(), o.Session, unpair)
			}
			return answerPrompts(o, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Session, "session", "", "`id` of the session, or the end of it, or newest; default: all that are running")
	flags.BoolVar(&o.Plain, "plain", false, "line by line, without moving the cursor: for screen readers and pipes")
	flags.BoolVar(&o.JSON, "json", false, "print one JSON object a line; goes with --plain and implies it")
	flags.BoolVar(&o.Once, "once", false, "end after the first answer that counts")
	flags.BoolVar(&o.NoWait, "no-wait", false, "end at once if nothing is pending")
	flags.BoolVar(&o.Bell, "bell", false, "ring when a prompt comes, also where the terminal notifies the desktop")
	flags.BoolVar(&o.Notify, "notify", true, "on a terminal, notify the desktop when a prompt comes (OSC 9, OSC 777), or ring")
	flags.BoolVar(&pair, "pair", false, "print the address of a session's page and a code that pairs one browser with it")
	flags.BoolVar(&piped, "piped", false, "let --pair print its code where stdout is no terminal: whoever reads it can pair a browser")
	flags.BoolVar(&unpair, "unpair", false, "end all pairings of browsers")
	cmd.MarkFlagsMutuallyExclusive("pair", "unpair")
	return cmd
}

// answerPrompts runs toolhost approve.
func answerPrompts(o terminal.Options, out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), session.Ending()...)
	defer stop()
	err := terminal.Run(ctx, o, os.Stdin, out)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, terminal.ErrNothingPending):
		return exitf(exitNotAllowed, "%v", err)
	case errors.Is(err, terminal.ErrInterrupted):
		return &exitError{code: exitCanceled}
	}
	return exitf(exitFailed, "%v", err)
}

// pairBrowser prints a code that pairs one browser with the page of a session, or ends all pairings of that session. Without an id it
// is every session that has one.
func pairBrowser(out io.Writer, end string, unpair bool) error {
	sessions, err := runningSessions(end)
	if err != nil {
		return err
	}
	var why error
	done := 0
	for _, s := range sessions {
		defer s.Close()
		if err := pairOne(out, s, unpair); err != nil {
			why = fmt.Errorf("session %s: %w", s.ID, err)
			continue
		}
		done++
	}
	switch {
	case done > 0:
		return nil
	case why != nil:
		return exitf(exitFailed, "%s", visible.Text(why.Error()))
	}
	return exitf(exitFailed, "no session runs: start one with toolhost serve --http ADDR")
}

func pairOne(out io.Writer, s *remote.Session, unpair bool) error {
	if err := authenticate(s, "toolhost approve"); err != nil {
		return err
	}
	p, err := s.Pair(unpair)
	if err != nil {
		return err
	}
	if unpair {
		fmt.Fprintf(out, "session %s: browsers unpaired: %d\n", s.ID, p.Ended)
		return nil
	}
	fmt.Fprintf(out, "session %s in %s\npage  %s\ncode  %s   counts once, for %d minutes\n", s.ID, visible.Text(s.Workspace), visible.Text(p.URL), visible.Text(p.Code), p.ExpiresIn/60)
	if p.Fingerprint != "" {
		fmt.Fprintf(out, "TLS   SHA-256 of the certificate; the browser should show the same:\n      %s\n", visible.Text(p.Fingerprint))
	}
	return nil
}
