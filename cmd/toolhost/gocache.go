package main

import (
	"os"

	"github.com/spf13/cobra"

	"toolhost/sandbox/gocache"
)

// newGoCache returns the hidden command that go runs inside a sandbox, as its GOCACHEPROG.
func newGoCache() *cobra.Command {
	return &cobra.Command{
		Use:    "__gocache DIR USERS",
		Short:  "Serve go a build cache that keeps new entries in DIR and reads those of USERS",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			c := gocache.Cache{Dir: args[0], Users: args[1]}
			return c.Serve(os.Stdin, os.Stdout)
		},
	}
}
