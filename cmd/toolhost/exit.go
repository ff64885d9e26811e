package main

import (
	"fmt"
	"io"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/output"
)

// The exit codes of every command.
const (
	exitOK         = 0
	exitFailed     = 1 // the call failed, the log is not whole, the output broke
	exitUsage      = 2 // flags, arguments, or a workspace that cannot be used
	exitNotAllowed = 3 // the call was denied, or no person could approve it
	exitTimedOut   = 124
	exitCanceled   = 130
)

const exitCodes = `
Exit codes: 0 it worked; 1 it failed; 2 the command line or the workspace cannot be used; 3 the call was not allowed;
124 it timed out; 130 it was canceled.`

// exitError is an error with an exit code of its own. An empty message means that it is printed already.
type exitError struct {
	code    int
	message string
}

func (e *exitError) Error() string { return e.message }

func exitf(code int, format string, args ...any) error {
	return &exitError{code, fmt.Sprintf(format, args...)}
}

// failed is the error of a command that could not do its work; nil for nil.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return exitf(exitFailed, "%v", err)
}

// failedSafe is failed for an error that may name a file of strangers.
func failedSafe(err error) error {
	if err == nil {
		return nil
	}
	return exitf(exitFailed, "%s", visible.Text(err.Error()))
}

// printJSON prints values, each on a line.
func printJSON[T any](out io.Writer, values ...T) error { return failed(output.JSON(out, values...)) }
