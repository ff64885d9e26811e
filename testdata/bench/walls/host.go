package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"toolhost/testdata/support/wiretest"
)

// patience is how long an answer may take.
const patience = 5 * time.Minute

// host is a running toolhost that this program talks to, one call at a time.
type host struct {
	*wiretest.Process
	name, program, workspace string
}

// start runs program with a home, a state and a workspace of its own below dir.
func start(program, dir string) (*host, error) { return startWith(program, dir, "", false) }

// startWith is start with settings of the user; attending says that this program answers prompts.
func startWith(program, dir, settings string, attending bool) (*host, error) {
	h := &host{name: filepath.Base(program), program: program, workspace: filepath.Join(dir, "home", "ws")}
	for _, made := range []string{h.workspace, filepath.Join(dir, "home", "run")} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return nil, err
		}
	}
	if settings != "" {
		config := filepath.Join(dir, "home", "config", "toolhost")
		if err := errors.Join(os.MkdirAll(config, 0o700), os.WriteFile(filepath.Join(config, "settings.json"), []byte(settings), 0o600)); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(program, "serve", "--mode", "sandboxed", "--workspace", h.workspace)
	cmd.Env = append(os.Environ(), wiretest.Home(filepath.Join(dir, "home"))...)
	cmd.Stderr = os.Stderr
	var err error
	if h.Process, err = wiretest.Start(cmd, wiretest.Options{}); err != nil {
		return nil, err
	}
	_, err = h.request("agenttool/hello", map[string]any{"client": map[string]string{"name": "walls", "version": "1"}, "events": "results", "approvals": attending})
	return h, err
}

func (h *host) end() { _ = h.End(patience) }

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
		calls[i] = map[string]any{"id": fmt.Sprint("call-", h.ID()), "tool": tool, "input": input}
	}
	started := time.Now()
	raw, err := h.request("agenttool/batch", map[string]any{"id": fmt.Sprint("batch-", h.ID()), "calls": calls})
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
	raw, err := h.request("agenttool/invoke", map[string]any{"id": fmt.Sprint("call-", h.ID()), "tool": tool, "input": input})
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
func (h *host) request(method string, params any) (result json.RawMessage, err error) {
	err = h.Request(method, params, &result, patience)
	return result, err
}
