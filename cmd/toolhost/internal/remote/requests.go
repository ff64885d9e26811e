package remote

import (
	"errors"
	"fmt"
	"os"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/sockets"
	"toolhost/wire/stdio/native"
)

// JobReading is the structured result of the tools for jobs.
type JobReading struct {
	State      agenttool.JobState `json:"state"`
	ExitCode   *int               `json:"exit_code"`
	Signal     string             `json:"signal"`
	NextCursor int64              `json:"next_cursor"`
	Text       string             `json:"text"`
	More       bool               `json:"more"`
	Killed     []string           `json:"killed"`
}

// How says how the command ended.
func (r JobReading) How() string {
	switch {
	case r.Signal != "":
		return r.Signal
	case r.ExitCode != nil:
		return fmt.Sprintf("exit status %d", *r.ExitCode)
	}
	return "exit status unknown"
}

// Jobs are the jobs of the session.
func (s *Session) Jobs() ([]agenttool.JobStatus, error) {
	var status struct {
		Jobs []agenttool.JobStatus `json:"jobs"`
	}
	err := s.request("agenttool/status", struct{}{}, &status, sockets.GreetTimeout)
	return status.Jobs, err
}

// Call has the session run one of its tools for jobs.
func (s *Session) Call(tool string, input any) (r JobReading, err error) {
	var response struct {
		Result struct {
			Error      *agenttool.Error `json:"error"`
			Structured JobReading       `json:"structured_content"`
		} `json:"result"`
	}
	id := fmt.Sprintf("person-%d-%d", os.Getpid(), s.requests)
	params := map[string]any{"id": id, "tool": tool, "input": input, "actor": "person"}
	if err := s.request("agenttool/invoke", params, &response, callTimeout); err != nil {
		return r, err
	}
	if e := response.Result.Error; e != nil {
		return r, errors.New(e.Message)
	}
	return response.Result.Structured, nil
}

// Grants are the rules that the session was granted.
func (s *Session) Grants() ([]string, error) {
	rules, _, err := s.grants(map[string]any{})
	return rules, err
}

// Revoke takes back a rule that the session was granted, and returns how many there were. The caller has called
// [Session.Authenticate].
func (s *Session) Revoke(rule string) (int, error) {
	_, revoked, err := s.grants(map[string]any{"revoke": rule})
	return revoked, err
}

func (s *Session) grants(params map[string]any) ([]string, int, error) {
	var response struct {
		Grants  []string `json:"grants"`
		Revoked int      `json:"revoked"`
	}
	err := s.request("agenttool/grants", params, &response, sockets.GreetTimeout)
	return response.Grants, response.Revoked, err
}

// Reload has the session read its settings again. The caller has called [Session.Authenticate].
func (s *Session) Reload() error {
	var ignored struct{}
	return s.request("agenttool/reload", struct{}{}, &ignored, sockets.GreetTimeout)
}

// Pair opens a pairing of a browser with the session's page, or ends all. The caller has called [Session.Authenticate].
func (s *Session) Pair(end bool) (p native.Pairing, err error) {
	err = s.request("agenttool/pair", map[string]any{"end": end}, &p, sockets.GreetTimeout)
	return p, err
}

// Forward makes a port of a job reachable at an address of the machine, until the job has ended or the connection is closed. The caller has
// called [Session.Authenticate].
func (s *Session) Forward(job string, port, as int) (address string, of int, err error) {
	var made struct {
		Address string `json:"address"`
		Port    int    `json:"port"`
	}
	err = s.request("agenttool/forward", map[string]any{"job": job, "port": port, "as": as}, &made, sockets.GreetTimeout)
	return made.Address, made.Port, err
}

// Forwarded waits until a forward has ended.
func (s *Session) Forwarded(address string) error {
	var ignored struct{}
	return s.request("agenttool/forwarded", map[string]any{"address": address}, &ignored, 0)
}

// Authenticate greets the session in the name of the person, as client. code is called if the session wants the code that it shows.
// If the session refuses, the error is a [RefusedError].
func (s *Session) Authenticate(client string, code func() (string, error)) error {
	hello := map[string]any{"client": map[string]string{"name": client}, "approvals": true}
	var greeting struct {
		Approvals struct {
			May       bool   `json:"may_answer"`
			Why       string `json:"why"`
			NeedsCode bool   `json:"needs_code"`
		} `json:"approvals"`
	}
	if err := s.request("agenttool/hello", hello, &greeting, sockets.GreetTimeout); err != nil {
		return err
	}
	if greeting.Approvals.NeedsCode {
		typed, err := code()
		if err != nil {
			return err
		}
		hello["code"] = typed
		if err := s.request("agenttool/hello", hello, &greeting, sockets.GreetTimeout); err != nil {
			return err
		}
	}
	if !greeting.Approvals.May {
		return &RefusedError{greeting.Approvals.Why}
	}
	return nil
}
