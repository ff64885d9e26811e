// Package remote sends requests to the running sessions of this user, over their sockets: it lists and ends their jobs, lists and
// revokes what they were granted, and has them reload settings.
package remote

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/sockets"
	"toolhost/wire/socket"
	"toolhost/wire/stdio"
)

// Session is a connection to a running session.
type Session struct {
	ID        agenttool.SessionID
	Workspace string

	conn     net.Conn
	lines    *bufio.Reader
	requests int
}

// callTimeout is how long a session may take to read or end a job.
const callTimeout = 90 * time.Second

// ErrNone says that no session runs that is the one to connect to, or that has the job.
var ErrNone = errors.New("no running session has started a command")

// noneError is an ErrNone in other words.
type noneError string

func (e noneError) Error() string        { return string(e) }
func (e noneError) Is(target error) bool { return target == ErrNone }

// RefusedError says why a session takes nothing from this process in the name of the person.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// AmbiguousError says that several sessions have a job of a name.
type AmbiguousError struct {
	Job      string
	Sessions []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d sessions have a job %s: name one of them with --session: %s", len(e.Sessions), e.Job, strings.Join(e.Sessions, ", "))
}

// Open connects to all running sessions, the newest first, or to the one whose id ends with end, or with [sockets.Newest] to the
// newest. Without a match it returns an error, except for all sessions. warn is called for each socket that does not answer.
func Open(end string, warn func(path string, err error)) ([]*Session, error) {
	paths := sockets.Paths(dirs.Sockets())
	slices.SortFunc(paths, func(a, b string) int { return sockets.Made(b).Compare(sockets.Made(a)) })
	var all []*Session
	for _, path := range paths {
		if end == sockets.Newest && len(all) == 1 {
			break
		}
		s, err := dial(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // it was killed
		}
		if err != nil {
			warn(path, err)
			continue
		}
		if end != sockets.Newest && !sockets.Matches(string(s.ID), end) {
			s.Close()
			continue
		}
		all = append(all, s)
	}
	switch {
	case len(all) > 0 || end == "":
		return all, nil
	case end == sockets.Newest:
		return nil, ErrNone
	}
	return nil, noneError(fmt.Sprintf("--session %s: no running session with a job has an id with this end: toolhost jobs prints the ids", end))
}

// OpenJob connects to the one session that has a job of that name, among those that [Open] connects to.
func OpenJob(end, job string, warn func(path string, err error)) (*Session, error) {
	all, err := Open(end, warn)
	if err != nil {
		return nil, err
	}
	var found []*Session
	var names []string
	for _, s := range all {
		_, err := s.Call("shell_output", map[string]any{"job": job, "tail": 1})
		if err != nil {
			s.Close()
			continue
		}
		found, names = append(found, s), append(names, string(s.ID))
	}
	switch len(found) {
	case 0:
		return nil, noneError(fmt.Sprintf("no running session has a job %s: see toolhost jobs", job))
	case 1:
		return found[0], nil
	}
	for _, s := range found {
		s.Close()
	}
	return nil, &AmbiguousError{Job: job, Sessions: names}
}

// dial connects to the session at path and asks for its id.
func dial(path string) (*Session, error) {
	conn, err := socket.Dial(path)
	if err != nil {
		return nil, err
	}
	s := &Session{conn: conn, lines: bufio.NewReader(conn)}
	var hello struct {
		Session   agenttool.SessionID `json:"session_id"`
		Workspace string              `json:"workspace"`
	}
	if err := s.request("agenttool/hello", map[string]any{"client": map[string]string{"name": "toolhost jobs"}}, &hello, sockets.GreetTimeout); err != nil {
		s.Close()
		return nil, err
	}
	s.ID, s.Workspace = hello.Session, hello.Workspace
	return s, nil
}

// Close ends the connection.
func (s *Session) Close() { _ = s.conn.Close() }

// request sends a request and reads its response. A timeout of 0 waits as long as the session lives.
func (s *Session) request(method string, params, result any, timeout time.Duration) error {
	s.requests++
	request, err := agenttool.Encode(map[string]any{"jsonrpc": "2.0", "id": s.requests, "method": method, "params": params})
	if err != nil {
		return err
	}
	var deadline time.Time
	if timeout > 0 {
		deadline = time.Now().Add(timeout)
	}
	_ = s.conn.SetDeadline(deadline) // a local socket has deadlines
	if _, err := s.conn.Write(append(request, '\n')); err != nil {
		return err
	}
	var response struct {
		ID     *int            `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *stdio.Error    `json:"error"`
	}
	for response.ID == nil || *response.ID != s.requests { // notifications come in between
		line, err := s.lines.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("the session has ended, or does not answer: %w", err)
		}
		if err := json.Unmarshal(line, &response); err != nil {
			return fmt.Errorf("an answer of the session is not JSON: %w", err)
		}
	}
	if response.Error != nil {
		return errors.New(response.Error.Message)
	}
	return json.Unmarshal(response.Result, result)
}
