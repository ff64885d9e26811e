package agenttool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ResourceExhausted is the code of every call that failed for a shortage of the machine: file descriptors, space, memory or
// processes. Its class is DependencyUnavailable, since the same call works once there is room again.
const ResourceExhausted = "resource_exhausted"

// ErrNoProcesses says that the system starts no more processes or threads for this user. The system's own error, EAGAIN, says
// many other things too.
var ErrNoProcesses = errors.New("no more processes may be started here now")

// shortages says in words which resource is used up, and how to get more of it.
var shortages = []struct {
	cause error
	words string
}{
	{syscall.EMFILE, "toolhost has too many open files: wait until other calls or jobs have ended, or raise the limit (ulimit -n), and try again"},
	{syscall.ENFILE, "the system has too many open files: end some programs and try again"},
	{syscall.ENOSPC, "the disk is full: free some space and try again"},
	{syscall.EDQUOT, "the disk quota is used up: free some space and try again"},
	{syscall.ENOMEM, "the system has no memory left: end some programs and try again"},
	{ErrNoProcesses, ErrNoProcesses.Error() + ": end a job with shell_kill, or wait until one has ended"},
}

// IsShortage reports whether err comes from a shortage of the machine.
func IsShortage(err error) bool { return shortageWords(err) != "" }

func shortageWords(err error) string {
	for _, s := range shortages {
		if errors.Is(err, s.cause) {
			return s.words
		}
	}
	return ""
}

// Shortage returns the error of a step that failed because the machine is short of something, of class
// dependency_unavailable and code resource_exhausted, or nil when that is not why err came about.
func Shortage(doing string, err error) *Error {
	words := shortageWords(err)
	if words == "" {
		return nil
	}
	return Failure(DependencyUnavailable, ResourceExhausted, doing+": "+words).Because(err)
}

// codeOf returns the code for an error that has none, of the class fallback.
func codeOf(err error, fallback ErrorClass) string {
	if fallback != ExecutionFailed {
		return string(fallback)
	}
	var number syscall.Errno
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "deadline_exceeded"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, fs.ErrNotExist):
		return "not_found"
	case errors.Is(err, fs.ErrPermission):
		return "permission"
	case errors.As(err, &number):
		return "io_error"
	}
	return "unexpected"
}
