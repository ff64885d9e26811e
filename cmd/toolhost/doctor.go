package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"toolhost/agenttool/json"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/doctor"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/sandbox"
)

func newDoctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:        "doctor",
		Short:      "Say what this machine's sandbox holds, what is missing, and how to get it",
		SuggestFor: []string{"status"},
		Long: `doctor makes a sandbox of each level for real, has it tested by a program that tries to write out of it, and says what
works. It lists the caches that workspaces have on this disk, and the MCP clients that are set up for this directory or go past
toolhost. It changes nothing.

Exit codes: 0 the sandbox is full; 1 it is less.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer watchStart(exitFailed, session.Options{})()
			state, err := dirs.State()
			if err != nil {
				return err
			}
			found, err := doctor.Examine(state)
			if err != nil {
				return failed(err)
			}
			if asJSON {
				text, _ := json.Marshal(found) // texts, numbers and lists: they can be encoded
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
			} else {
				err = found.Print(cmd.OutOrStdout())
			}
			if err == nil && found.Sandbox.Level != sandbox.Full {
				err = exitf(exitFailed, "")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
