package agenttool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// ResourceExhausted is the code of every call that failed for a shortage of the machine: file descriptors, space, memory or
// processes. Its class is DependencyUnavailable, since the same call works once there is room again.
const ResourceExhausted = "resource_exhausted"

// ErrNoProcesses says that the system starts no more processes or threads for this user. The system's own error, EAGAIN, says
// many other things too.
var ErrNoProcesses = errors.New("no more processes may be started here now")

// systemCauses are the errors of a failing system, not of a wrong call. Each has one class and code everywhere, and a message that
// names the remedy.
var systemCauses = []struct {
	cause error
	class ErrorClass
	code  string
	words string
}{
	{syscall.EMFILE, DependencyUnavailable, ResourceExhausted,
		"toolhost has too many open files: wait until other calls or jobs have ended, or raise the limit (ulimit -n), and try again"},
	{syscall.ENFILE, DependencyUnavailable, ResourceExhausted, "the system has too many open files: end some programs and try again"},
	{syscall.ENOSPC, DependencyUnavailable, ResourceExhausted, "the disk is full: free some space and try again"},
	{syscall.EDQUOT, DependencyUnavailable, ResourceExhausted, "the disk quota is used up: free some space and try again"},
	{syscall.ENOMEM, DependencyUnavailable, ResourceExhausted, "the system has no memory left: end some programs and try again"},
	{syscall.ENOLCK, DependencyUnavailable, ResourceExhausted, "the file system gives no locks: try again later"},
	{ErrNoProcesses, DependencyUnavailable, ResourceExhausted, ErrNoProcesses.Error() + ": end a job with shell_kill, or wait until one has ended"},
	{syscall.EIO, ExecutionFailed, "io_error", "the disk reports an input/output error: see the system's log, and copy what matters"},
	{syscall.EROFS, DependencyUnavailable, "read_only_filesystem", "the file system is read-only"},
}

// Shortages returns the system's errors for a shortage, without EAGAIN.
func Shortages() (errnos []syscall.Errno) {
	for _, s := range systemCauses {
		if errno, ok := s.cause.(syscall.Errno); ok && s.code == ResourceExhausted {
			errnos = append(errnos, errno)
		}
	}
	return errnos
}

// IsShortage reports whether err comes from a shortage of the machine.
func IsShortage(err error) bool {
	e := SystemFailure("", err)
	return e != nil && e.Code == ResourceExhausted
}

// SystemFailure returns the error of a step that failed because the machine is short of something, or because its disk fails or is
// read-only. It returns nil if err has another cause.
func SystemFailure(doing string, err error) *Error {
	for _, s := range systemCauses {
		if errors.Is(err, s.cause) || s.cause == ErrNoProcesses && isForkRefused(err) {
			return Failure(s.class, s.code, doing+": "+s.words).Because(err)
		}
	}
	return nil
}

// isForkRefused reports whether a program of ours was not started because the system starts no more processes: os/exec says so with EAGAIN.
func isForkRefused(err error) bool {
	if failed, ok := err.(*fs.PathError); ok && failed.Op == "fork/exec" && failed.Err == syscall.EAGAIN {
		return true
	}
	switch wraps := err.(type) {
	case interface{ Unwrap() error }:
		return isForkRefused(wraps.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(wraps.Unwrap(), isForkRefused)
	}
	return false
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
