// Toolhost is the process between a coding agent and a person's machine: see the README.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/memory"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/settings"
)

func main() { os.Exit(run()) }

// run executes the command line of the process and returns the exit code. All messages are written then that somebody reads.
func run() int {
	defer output.Flush()
	memory.Start()
	if os.Getenv("HOME") == "" { // services, containers and env -i start programs so
		_ = os.Setenv("HOME", dirs.SystemHome()) // it fails for impossible names only
	}
	root := newRoot()
	root.SetErr(output.Stderr())
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], cobra.ShellCompRequestCmd) { // a shell asks; others need not pay for it
		addCompletions(root)
	}
	return execute(root)
}

// execute runs a command and returns the exit code.
func execute(root *cobra.Command) int {
	cmd, err := root.ExecuteC()
	var coded *exitError
	switch {
	case err == nil:
		return exitOK
	case settings.IsNotSynced(err):
		fmt.Fprintln(root.ErrOrStderr(), "toolhost: warning: "+err.Error())
		return exitOK
	case errors.As(err, &coded):
		if coded.message != "" {
			fmt.Fprintln(root.ErrOrStderr(), "toolhost: "+coded.message)
		}
		return coded.code
	}
	fmt.Fprintln(root.ErrOrStderr(), "toolhost: "+usageError(cmd, err, newServe()).Error())
	return exitUsage
}
