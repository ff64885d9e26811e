package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"toolhost/sandbox/gocache"
	"toolhost/sandbox/proxy"
)

// newConnect returns the hidden command that ssh runs inside a sandbox to reach a granted host.
func newConnect() *cobra.Command {
	return &cobra.Command{
		Use:    "__connect HOST PORT",
		Short:  "Connect stdin and stdout to a host, through the proxy of the sandbox",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			port, err := strconv.Atoi(args[1])
			if err != nil {
				return fmt.Errorf("%q is no port", args[1])
			}
			through := os.Getenv("https_proxy")
			if through == "" {
				return errors.New("https_proxy names no proxy: this is for programs inside a sandbox")
			}
			return failed(proxy.Connect(cmd.Context(), proxy.ConnectOptions{Proxy: through, Host: args[0], Port: port, Stdin: os.Stdin, Stdout: os.Stdout}))
		},
	}
}

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
