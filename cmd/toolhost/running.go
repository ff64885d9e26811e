package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/remote"
)

// runningSessions connects to the running sessions: to all, or to the one whose id ends with end.
func runningSessions(end string) ([]*remote.Session, error) {
	all, err := remote.Open(end, warnOfSocket)
	return all, remoteError(err)
}

// eachRunning calls do with the running sessions, or with the one whose id ends with end. It prints the errors, and counts them: a session
// may have ended meanwhile.
func eachRunning(end string, do func(s *remote.Session) error) (sessions, failures int, err error) {
	all, err := runningSessions(end)
	for _, s := range all {
		if err := do(s); err != nil {
			failures++
			fmt.Fprintf(output.Stderr(), "toolhost: session %s: %s\n", s.ID, visible.Text(err.Error()))
		}
		s.Close()
	}
	return len(all), failures, err
}

// sessionWithJob connects to the one session that has a job of that name.
func sessionWithJob(end, job string) (*remote.Session, error) {
	s, err := remote.OpenJob(end, job, warnOfSocket)
	return s, remoteError(err)
}

func warnOfSocket(path string, err error) {
	fmt.Fprintf(output.Stderr(), "toolhost: %s: %s\n", visible.Text(path), visible.Text(err.Error()))
}

// remoteError is an error of package remote with its exit code.
func remoteError(err error) error {
	var refused *remote.RefusedError
	var ambiguous *remote.AmbiguousError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return exitf(exitNotAllowed, "%s", refused.Why)
	case errors.As(err, &ambiguous):
		return err
	}
	return exitf(exitFailed, "%s", output.Line(err.Error()))
}

// authenticate greets a session in the name of the person, who types its code if it wants one: at the terminal, or on a line of stdin.
// Other processes could read it on a command line.
func authenticate(s *remote.Session, client string) error {
	return remoteError(s.Authenticate(client, func() (string, error) {
		if output.IsTerminal(os.Stdin) {
			fmt.Fprintf(output.Stderr(), "the code that session %s shows: ", s.ID)
		}
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err != nil && line == "" {
			return "", errors.New("the session runs without a sandbox: give the code that it shows, on stdin or at the terminal")
		}
		return strings.TrimSpace(line), nil
	}))
}
