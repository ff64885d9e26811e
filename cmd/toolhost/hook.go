package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"toolhost/cmd/toolhost/internal/claudecode"
	"toolhost/cmd/toolhost/internal/output"
)

func newHook() *cobra.Command {
	var s sessionFlags
	cmd := &cobra.Command{
		Use:   "hook claude",
		Short: "Decide about the calls of a client's own tools",
		Long: `hook is run by Claude Code before each call of its own tools (toolhost setup claude --hook). It reads the call from stdin
and answers on stdout: your rules and settings allow it, deny it, or have Claude Code ask you. It answers only deny if it fails.

A command of Bash that may run is rewritten to toolhost call: it runs in the sandbox, is in the log, and asks in toolhost
approve while that runs. Otherwise Claude Code's dialog asks: its yes is that to the call, and the log names it.
Of other tools the log has each call that was denied, and each that Claude Code has done. While a command of the project runs that could
change what a path leads to, such a call asks; afterwards you are told if it touched another file.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "claude" {
				return fmt.Errorf("there are no hooks for %q; there are those of claude", args[0])
			}
			if output.IsTerminal(os.Stdin) {
				fmt.Fprintln(output.Stderr(), "toolhost: reading a call of Claude Code from this terminal. Claude Code starts this command itself: see toolhost setup claude --hook")
			}
			defer watchStart(exitUsage, s.options())() // with that code Claude Code does not run the call
			h := claudecode.Hook{Options: s.options(), Flags: s.policyWords}
			return h.Answer(cmd.InOrStdin(), cmd.OutOrStdout()) // an error ends with 2: then Claude Code does not run the call
		},
	}
	s.Workspace = "."
	s.addPolicyFlags(cmd, "that no rule allows")
	return cmd
}
