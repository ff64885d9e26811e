package persist

import (
	"errors"
	"fmt"
	"syscall"

	"toolhost/agenttool"
)

// Errors that callers branch on; match them with errors.Is.
var (
	// ErrLocked means that another process writes the session.
	ErrLocked = agenttool.Failure(agenttool.DependencyUnavailable, "session_locked",
		"another process is writing this session; use another session, or wait until that process has ended")

	// ErrDamaged means that a journal does not end in a record, so that nothing can be appended.
	ErrDamaged = agenttool.Failure(agenttool.DependencyUnavailable, "session_damaged",
		"the session log does not end in a record; verify it, and use another session")

	// ErrContinued means that a session went on in another log, since this one was not left as it was written.
	ErrContinued = agenttool.Failure(agenttool.DependencyUnavailable, "session_continued",
		"the session went on in another log, since this one was not left as it was written: verify it, and use another session")

	// ErrClosed means that the session was closed before the call.
	ErrClosed = agenttool.Failure(agenttool.DependencyUnavailable, "session_closed",
		"the session is closed; nothing more can be recorded or read through it")
)

// unavailable returns the error for a journal in dir that cannot be written, with a remedy. It returns the package's
// own errors unchanged.
func unavailable(dir string, err error) error {
	if _, ok := errors.AsType[*agenttool.Error](err); ok {
		return err
	}
	for _, short := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} { // nothing is wrong with the directory or its disk
		if errors.Is(err, short) {
			return agenttool.SystemFailure("the session log in "+dir+" cannot be written", err)
		}
	}
	return agenttool.Failure(agenttool.DependencyUnavailable, "journal_unavailable",
		fmt.Sprintf("the session log in %s cannot be written: %v; %s", dir, err, help(dir, err))).Because(err)
}

// payloadUnavailable is unavailable for a payload.
func payloadUnavailable(dir string, err error) error {
	return agenttool.Failure(agenttool.DependencyUnavailable, "payload_unavailable",
		fmt.Sprintf("a payload of the session in %s cannot be written: %v; %s", dir, err, help(dir, err))).Because(err)
}

func payloadExists(file string) error {
	return agenttool.Failure(agenttool.ExecutionFailed, "payload_exists",
		fmt.Sprintf("payload %s was written before; a name is used once in an invocation", file))
}

// sessionFull returns the error of a session without room for payloads.
func sessionFull(why noRoom) error {
	return agenttool.Failure(agenttool.ResultTooLarge, "session_full", string(why)+": ask for less output, or start a new session")
}

// errRemoved means that the journal was deleted while it was in use.
var errRemoved = errors.New("the log was removed while it was in use")

// help returns a remedy for a write to dir that failed with err.
func help(dir string, err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Sprintf("free space in %s, or prune old sessions", dir)
	case errors.Is(err, errRemoved):
		return "start a new session"
	}
	if why := agenttool.Obstacle(dir); why != "" {
		return why
	}
	return "make that directory writable, or choose another one"
}

// noRoom is the reason why a sink is full.
type noRoom string

func tooLargeForMemory(size int64) error {
	return agenttool.Failure(agenttool.ResultTooLarge, "payload_sealed",
		fmt.Sprintf("this output contains secrets, and its %d bytes are more than the %d that are opened as a file: read it by page", size, maxInMemory))
}
