package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// plain does a step without toolhost.
func (p *place) plain(s step) outcome {
	began := time.Now()
	code, text := 0, ""
	switch s.tool {
	case "", "shell":
		code, text = p.bash(s)
	case "write", "edit":
		if err := p.change(s); err != nil {
			code, text = 1, err.Error()
		}
	} // the others change nothing
	return outcome{ok: code == 0, code: code, text: text, took: time.Since(began)}
}

// bash runs a command. Its output goes to a file, because programs in the background keep it open.
func (p *place) bash(s step) (int, string) {
	line, background := s.text, isBackground(s)
	if s.tool != "" {
		var in struct{ Command string }
		if err := json.Unmarshal([]byte(s.text), &in); err != nil {
			return 1, err.Error()
		}
		line = in.Command
	}
	out, err := os.CreateTemp(p.dir, "out-")
	if err != nil {
		return 1, err.Error()
	}
	defer os.Remove(out.Name())
	defer out.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if background {
		ctx = context.Background() // it ends with the day
	}
	cmd := p.command(ctx, "bash", "-c", line)
	cmd.Dir = filepath.Join(p.home, s.workspace)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return 1, err.Error()
	}
	p.started = append(p.started, cmd.Process.Pid)
	if background {
		go func() { _ = cmd.Wait() }()
		return 0, ""
	}
	_ = cmd.Wait()
	text, _ := os.ReadFile(out.Name())
	return cmd.ProcessState.ExitCode(), string(text)
}

// change writes or edits a file as the tools do.
func (p *place) change(s step) error {
	var in struct {
		Path, Content string
		Old           string `json:"old_string"`
		New           string `json:"new_string"`
	}
	if err := json.Unmarshal([]byte(s.text), &in); err != nil {
		return err
	}
	path := filepath.Join(p.home, s.workspace, in.Path)
	if rest, ok := strings.CutPrefix(in.Path, "~/"); ok {
		path = filepath.Join(p.home, rest)
	}
	if s.tool == "edit" {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if in.Content = strings.Replace(string(data), in.Old, in.New, 1); in.Content == string(data) {
			return fmt.Errorf("%s lacks %q", path, in.Old)
		}
	}
	if err := os.WriteFile(path, []byte(in.Content), 0o644); err != nil {
		return err
	}
	if p.uid < 0 {
		return nil
	}
	return os.Lchown(path, p.uid, p.gid)
}
