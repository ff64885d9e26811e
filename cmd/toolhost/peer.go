package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/wire/socket"
	"toolhost/wire/stdio"
)

// peer is a live session that this process speaks to.
type peer struct {
	conn      net.Conn
	lines     *bufio.Reader
	asked     int
	session   agenttool.SessionID
	workspace string
}

// How long a session may take to say who it is and what it runs, and to read or end a job.
const (
	lookLimit = 2 * time.Second
	callLimit = 90 * time.Second
)

// peersOf connects to the live sessions of this user: to all of them, or to the one whose id ends so.
func peersOf(session string) ([]*peer, error) {
	paths := socketPaths()
	slices.SortFunc(paths, func(a, b string) int { return madeAt(b).Compare(madeAt(a)) })
	var peers []*peer
	for _, path := range paths {
		if session == newest && len(peers) == 1 {
			break
		}
		p, err := dialPeer(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // it was killed
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "toolhost: %s: %s\n", printable(path), printable(err.Error()))
			continue
		}
		if session != "" && session != newest && !strings.HasSuffix(strings.ToLower(string(p.session)), strings.ToLower(session)) {
			p.close()
			continue
		}
		peers = append(peers, p)
	}
	if session == newest && len(peers) == 0 {
		return nil, exitf(exitFailed, "no session runs that has started a command")
	}
	if session != "" && len(peers) == 0 {
		return nil, exitf(exitFailed, "--session %s: no running session that started a command has an id that ends so", session)
	}
	return peers, nil
}

// socketPaths are the paths of all sockets.
func socketPaths() []string {
	var paths []string
	for _, dir := range runtimeDirs() {
		if socket.Own(dir) != nil {
			continue // it is not there, or somebody else's
		}
		entries, _ := os.ReadDir(dir) // one that went away has none
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), socketSuffix) {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	return paths
}

// newest names the session whose first command started last.
const newest = "newest"

// madeAt is when a socket was made; the zero time for none.
func madeAt(path string) (t time.Time) {
	if info, err := os.Lstat(path); err == nil {
		t = info.ModTime()
	}
	return t
}

// dialPeer connects to the session at path and asks who it is.
func dialPeer(path string) (*peer, error) {
	conn, err := socket.Dial(path)
	if err != nil {
		return nil, err
	}
	p := &peer{conn: conn, lines: bufio.NewReader(conn)}
	var hello struct {
		Session   agenttool.SessionID `json:"session_id"`
		Workspace string              `json:"workspace"`
	}
	if err := p.ask("agenttool/hello", map[string]any{"client": map[string]string{"name": "toolhost jobs"}}, &hello, lookLimit); err != nil {
		p.close()
		return nil, err
	}
	p.session, p.workspace = hello.Session, hello.Workspace
	return p, nil
}

// peerWith connects to the one session that has a job of that name.
func peerWith(session, job string) (*peer, error) {
	peers, err := peersOf(session)
	if err != nil {
		return nil, err
	}
	var found []*peer
	var names []string
	for _, p := range peers {
		_, err := p.call("shell_output", map[string]any{"job": job, "tail": 1})
		if err != nil {
			p.close()
			continue
		}
		found, names = append(found, p), append(names, string(p.session))
	}
	switch len(found) {
	case 0:
		return nil, exitf(exitFailed, "no running session has a job %s: see toolhost jobs", job)
	case 1:
		return found[0], nil
	}
	for _, p := range found {
		p.close()
	}
	return nil, fmt.Errorf("%d sessions have a job %s: name one of them with --session: %s", len(found), job, strings.Join(names, ", "))
}

func (p *peer) close() { _ = p.conn.Close() }

// jobs asks for the session's jobs.
func (p *peer) jobs() ([]agenttool.JobStatus, error) {
	var status struct {
		Jobs []agenttool.JobStatus `json:"jobs"`
	}
	err := p.ask("agenttool/status", struct{}{}, &status, lookLimit)
	return status.Jobs, err
}

// call has the session run one of its tools for jobs.
func (p *peer) call(tool string, input any) (r jobReading, err error) {
	var answer struct {
		Result struct {
			Error      *agenttool.Error `json:"error"`
			Structured jobReading       `json:"structured_content"`
		} `json:"result"`
	}
	id := fmt.Sprintf("person-%d-%d", os.Getpid(), p.asked)
	params := map[string]any{"id": id, "tool": tool, "input": input, "actor": "person"}
	if err := p.ask("agenttool/invoke", params, &answer, callLimit); err != nil {
		return r, err
	}
	if e := answer.Result.Error; e != nil {
		return r, exitf(exitFailed, "%s", oneLine(e.Message))
	}
	return answer.Result.Structured, nil
}

// ask sends a request and reads its answer.
func (p *peer) ask(method string, params, result any, limit time.Duration) error {
	p.asked++
	request, err := agenttool.Encode(map[string]any{"jsonrpc": "2.0", "id": p.asked, "method": method, "params": params})
	if err != nil {
		return err
	}
	_ = p.conn.SetDeadline(time.Now().Add(limit)) // a local socket has deadlines
	if _, err := p.conn.Write(append(request, '\n')); err != nil {
		return err
	}
	var answer struct {
		ID     *int            `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *stdio.Error    `json:"error"`
	}
	for answer.ID == nil || *answer.ID != p.asked { // notifications come in between
		line, err := p.lines.ReadBytes('\n')
		if err != nil {
			return exitf(exitFailed, "the session has ended, or does not answer: %v", err)
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return fmt.Errorf("an answer of the session is not JSON: %w", err)
		}
	}
	if answer.Error != nil {
		return exitf(exitFailed, "%s", answer.Error.Message)
	}
	return json.Unmarshal(answer.Result, result)
}
