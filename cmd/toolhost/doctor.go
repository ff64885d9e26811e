package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"toolhost/sandbox"
)

func newDoctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine's sandbox holds, what is missing, and how to get it",
		Long: `doctor makes a sandbox of each level for real, has it tested by a program that tries to write out of it, and says what
works. It changes nothing.

Exit codes: 0 the sandbox is full; 1 it is less.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, err := stateDir()
			if err != nil {
				return err
			}
			found := sandbox.ProbeNow(state)
			advice := sandbox.Advice(found)
			if asJSON {
				held, lacking := promisesAt(found.Level)
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{
					"sandbox": found, "advice": advice, "answers": answerGaps(found.Level), "holds": held, "lacks": lacking,
				})
			} else {
				err = printFinding(cmd.OutOrStdout(), found, advice)
			}
			if err == nil && found.Level != sandbox.Full {
				err = exitf(exitFailed, "")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// promisesAt are the ids of what a level holds, and of what it does not.
func promisesAt(level sandbox.Level) (held, lacking []string) {
	held, lacking = []string{}, []string{}
	for _, p := range sandbox.Promises() {
		if p.Held(level) {
			held = append(held, p.ID)
		} else {
			lacking = append(lacking, p.ID)
		}
	}
	return held, lacking
}

// printFinding prints a finding for people.
func printFinding(out io.Writer, found sandbox.Finding, advice []string) error {
	_, err := fmt.Fprintf(out, "sandbox: %s\n", found.Level)
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(out, format+"\n", args...)
		}
	}
	for _, p := range sandbox.Promises() {
		if p.Held(found.Level) {
			line("  holds   %s", p.Words)
		}
	}
	for _, p := range sandbox.Promises() {
		if !p.Held(found.Level) {
			line("  lacks   %s", p.Words)
		}
	}
	if found.Level == sandbox.None {
		line("          commands are refused, or run unconfined with --sandbox none")
	}
	for _, m := range found.Missing {
		line("  misses  %s: %s", m.Level, m.Why)
	}
	for _, a := range advice {
		line("  try     %s", a)
	}
	for _, gap := range answerGaps(found.Level) {
		line("  answers %s", gap)
	}
	return err
}

// answerGaps says what keeps commands from answering prompts and changing settings in the place of the person, where the sandbox does
// not do it alone.
func answerGaps(level sandbox.Level) []string {
	const none = "with --sandbox none, and after the grant unconfined, a command can do what you can: answers are taken from a terminal and with " +
		"the code that the session shows, and changed settings wait for toolhost settings reload; that detects a forged answer and cannot prevent one"
	if level == sandbox.Full {
		return []string{none}
	}
	return []string{
		"a command can see that sessions have sockets; who connects from a sandbox is known by its filters and gets no answer in",
		none,
	}
}
