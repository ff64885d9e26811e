// Toolhost is the process between a coding agent and a person's machine: see the README.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/memory"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/settings"
)

func main() { end(run()) }

// end ends the process.
func end(code int) {
	output.Flush()
	_ = os.Stdout.Close() // the kernel may hold the process in a file system that stalls; who reads what it prints need not wait for that
	_ = os.Stderr.Close()
	os.Exit(code)
}

// How long a command may take to begin before it says for what it waits, and until it ends.
const (
	beginSaid  = 5 * time.Second
	beginLimit = 30 * time.Second
	answerTime = time.Second // of a directory
)

// watchStart ends the process with a code if begun is not called in time, and a file system with settings, logs, sockets or
// the workspace does not answer: nothing may be decided without them. A busy machine is waited for.
func watchStart(code int, o session.Options) (begun func()) {
	workspaces := append(slices.Clone(o.AddDirs), cmp.Or(o.Workspace, "."))
	say := func(does, suffix string) (silent bool) {
		found := dirs.Silent(answerTime, workspaces...)
		if len(found) > 0 {
			fmt.Fprintf(output.Stderr(), "toolhost: %s the file system of %s%s\n", does, strings.Join(found, " and "), suffix)
		}
		return len(found) > 0
	}
	said := time.AfterFunc(beginSaid, func() { say("waits for", ", which does not answer") })
	ends := time.AfterFunc(beginLimit, func() {
		if say("ends, since nothing is known of", ": it has not answered for "+beginLimit.String()) {
			end(code)
		}
	})
	return func() {
		said.Stop()
		ends.Stop()
	}
}

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
