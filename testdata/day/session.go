package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"toolhost/testdata/support/wiretest"
)

// session is a running toolhost and its user, who allows everything but hosts.
type session struct {
	*wiretest.Process
	workspace string // each command begins there
	widest    bool

	mu    sync.Mutex
	asked []string // reasons of the prompts since the last step
}

// start runs toolhost in a workspace and says hello.
func (p *place) start(r *dayRun, workspace string) (*session, error) {
	ws := filepath.Join(p.home, workspace)
	s := &session{workspace: ws, widest: r.widest}
	cmd := p.command(context.Background(), p.program, "serve", "--mode", r.mode, "--workspace", ws)
	cmd.Dir, cmd.Stderr = ws, os.Stderr
	ready := make(chan struct{}) // s has its process then
	process, err := wiretest.Start(cmd, wiretest.Options{Heard: func(m wiretest.Message) { <-ready; s.hear(m) }})
	if err != nil {
		return nil, err
	}
	s.Process = process
	close(ready)
	var hello struct{ Sandbox struct{ Level string } }
	err = s.Request("agenttool/hello", map[string]any{
		"client": map[string]string{"name": "day", "version": "1"}, "events": "results", "approvals": true,
	}, &hello, patience)
	if err == nil && hello.Sandbox.Level != "full" {
		err = fmt.Errorf("this machine holds level %q only", hello.Sandbox.Level)
	}
	if err != nil {
		s.Kill()
		return nil, err
	}
	return s, nil
}

// hear answers a prompt with yes, but for hosts: no step needs one beyond this machine.
func (s *session) hear(m wiretest.Message) {
	var params struct {
		Event struct {
			Type string `json:"event_type"`
			Data struct {
				Decision struct {
					ID     string `json:"decision_id"`
					Reason struct{ Detail string }
					Offers []json.RawMessage `json:"suggested_updates"`
				}
				Opens []string
			}
		}
	}
	if json.Unmarshal(m.Params, &params) != nil || params.Event.Type != "tool.permission.requested" {
		return
	}
	d := params.Event.Data.Decision
	s.mu.Lock()
	s.asked = append(s.asked, d.Reason.Detail)
	s.mu.Unlock()
	answer := map[string]any{"decision_id": d.ID, "behavior": "allow", "opens": params.Event.Data.Opens}
	if strings.Contains(d.Reason.Detail, "needs host:") || strings.Contains(d.Reason.Detail, "from host:") {
		answer["behavior"], answer["opens"] = "deny", nil
	} else if s.widest && len(d.Offers) > 0 {
		answer["scope"], answer["accept_updates"] = "session", []int{len(d.Offers) - 1}
	}
	s.Send("agenttool/decide", answer)
}

// do makes a call.
func (s *session) do(st step) outcome {
	tool, input := "shell", any(map[string]any{"command": st.text, "cwd": s.workspace, "timeout_ms": patience.Milliseconds()})
	if st.tool != "" {
		tool, input = st.tool, s.input(st)
	}
	var a struct {
		Result struct {
			Status     string
			Content    []struct{ Text, Diff string }
			Structured struct {
				ExitCode int `json:"exit_code"`
			} `json:"structured_content"`
			Error struct{ Message string }
		}
	}
	began := time.Now()
	err := s.Request("agenttool/invoke", map[string]any{"id": fmt.Sprint("c", s.ID()), "tool": tool, "input": input}, &a, 2*patience)
	o := outcome{ok: err == nil && (a.Result.Status == "succeeded" || isBackground(st) && a.Result.Status == "partial_succeeded"), code: a.Result.Structured.ExitCode, took: time.Since(began)}
	var text strings.Builder
	for _, c := range a.Result.Content {
		text.WriteString(c.Text + "\n")
	}
	if !o.ok {
		text.WriteString(a.Result.Status + ": " + a.Result.Error.Message)
		if o.code == 0 {
			o.code = -1
		}
	}
	if err != nil {
		text.WriteString(err.Error())
	}
	o.text = text.String()
	s.mu.Lock()
	o.asked, s.asked = s.asked, nil
	s.mu.Unlock()
	return o
}

// input is the input of a tool. A relative path is one of the workspace, wherever commands before it went.
func (s *session) input(st step) any {
	var fields map[string]any
	if err := json.Unmarshal([]byte(st.text), &fields); err != nil {
		return json.RawMessage(st.text)
	}
	if path, ok := fields["path"].(string); ok && !strings.HasPrefix(path, "~") {
		fields["path"] = filepath.Join(s.workspace, path)
	}
	return fields
}

// isBackground reports whether a step starts a job and leaves it running.
func isBackground(st step) bool { return strings.Contains(st.text, `"run_in_background":true`) }
