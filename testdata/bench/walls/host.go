package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// host is a running toolhost that this program talks to, one call at a time.
type host struct {
	program, workspace string
	cmd                *exec.Cmd
	in                 io.WriteCloser
	lines              *bufio.Reader
	calls              int
}

// start runs program with a home, a state and a workspace of its own below dir.
func start(program, dir string) (*host, error) {
	h := &host{program: program, workspace: filepath.Join(dir, "home", "ws")}
	if err := os.MkdirAll(h.workspace, 0o755); err != nil {
		return nil, err
	}
	h.cmd = exec.Command(program, "serve", "--mode", "sandboxed", "--workspace", h.workspace)
	h.cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	h.cmd.Stderr = os.Stderr
	var err error
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.lines = bufio.NewReaderSize(out, 1<<20)
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = h.request("agenttool/hello", map[string]any{"client": map[string]string{"name": "walls", "version": "1"}, "events": "results"})
	return h, err
}

func (h *host) end() {
	h.in.Close()
	io.Copy(io.Discard, h.lines)
	h.cmd.Wait()
}

// result is what this program reads of a call's result.
type result struct {
	Status     string           `json:"status"`
	Content    []map[string]any `json:"content"`
	Structured map[string]any   `json:"structured_content"`
	Error      any              `json:"error"`
}

// timed returns how many ms a call took that succeeded.
func (h *host) timed(tool string, input map[string]any) (float64, error) {
	started := time.Now()
	_, err := h.invoke(tool, input)
	return float64(time.Since(started).Nanoseconds()) / 1e6, err
}

// batch returns how many ms a batch of so many mixed reads took, all of which must succeed.
func (h *host) batch(count int) (float64, error) {
	calls := make([]map[string]any, count)
	for i := range calls {
		file := fmt.Sprintf("d%d/f%d.txt", i%20, i%20)
		tool, input := "read", map[string]any{"path": file}
		switch i % 8 {
		case 2, 6:
			tool, input = "grep", map[string]any{"pattern": "needle", "path": filepath.Dir(file)}
		case 4:
			tool, input = "glob", map[string]any{"pattern": "*7.txt"}
		case 7:
			tool, input = "shell", map[string]any{"command": "wc -l " + file}
		}
		h.calls++
		calls[i] = map[string]any{"id": fmt.Sprint("call-", h.calls), "tool": tool, "input": input}
	}
	started := time.Now()
	raw, err := h.request("agenttool/batch", map[string]any{"id": fmt.Sprint("batch-", h.calls), "calls": calls})
	took := float64(time.Since(started).Nanoseconds()) / 1e6
	if err != nil {
		return 0, err
	}
	var reply struct {
		Results []struct {
			Result result `json:"result"`
		} `json:"results"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return 0, err
	}
	for _, r := range reply.Results {
		if r.Result.Status != "succeeded" {
			return 0, fmt.Errorf("%s: %v %v", r.Result.Status, r.Result.Error, r.Result.Content)
		}
	}
	if len(reply.Results) != count {
		return 0, fmt.Errorf("%d results of %d", len(reply.Results), count)
	}
	return took, nil
}

// background starts command as a job and returns its id.
func (h *host) background(command string) (string, error) {
	r, err := h.invoke("shell", map[string]any{"command": command, "run_in_background": true})
	if err != nil {
		return "", err
	}
	id, _ := r.Structured["job"].(string)
	if id == "" {
		return "", fmt.Errorf("no job: %v", r.Structured)
	}
	return id, nil
}

// invoke makes a call and waits for its result, which must be a success, or a job that runs on.
func (h *host) invoke(tool string, input map[string]any) (result, error) {
	h.calls++
	raw, err := h.request("agenttool/invoke", map[string]any{"id": fmt.Sprint("call-", h.calls), "tool": tool, "input": input})
	if err != nil {
		return result{}, err
	}
	var reply struct {
		Result result `json:"result"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return result{}, err
	}
	if s := reply.Result.Status; s != "succeeded" && s != "partial_succeeded" {
		return result{}, fmt.Errorf("%s %v: %s: %v %v", tool, input, reply.Result.Status, reply.Result.Error, reply.Result.Content)
	}
	return reply.Result, nil
}

// request sends one request and returns its result.
func (h *host) request(method string, params any) (json.RawMessage, error) {
	h.calls++
	id := h.calls
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := h.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	for {
		line, err := h.lines.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		var m struct {
			ID     any             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  any             `json:"error"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, err
		}
		if m.ID == float64(id) {
			if m.Error != nil {
				return nil, fmt.Errorf("%s: %v", method, m.Error)
			}
			return m.Result, nil
		}
	}
}
