// The agent is a scripted coding agent: it starts toolhost, makes a scratch repository, and reads, searches, edits and
// runs commands in it over JSON lines, as a real agent would. It prints what happened.
//
//	go run ./testdata/agent              builds toolhost first
//	go run ./testdata/agent ./toolhost   drives that binary
//
// It imports nothing of toolhost: what it knows is what the wire says.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "toolhost-agent-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "toolhost")
	if len(os.Args) > 1 {
		if binary, err = filepath.Abs(os.Args[1]); err != nil {
			return err
		}
	} else if out, err := exec.Command("go", "build", "-o", binary, "./cmd/toolhost").CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./cmd/toolhost: %w\n%s", err, out)
	}
	repo := filepath.Join(dir, "repo")
	if err := makeRepo(repo); err != nil {
		return err
	}
	c, err := start(binary, repo, filepath.Join(dir, "state"))
	if err != nil {
		return err
	}
	if err := script(c); err != nil {
		return err
	}
	if err := c.end(); err != nil {
		return err
	}
	return verify(binary, filepath.Join(dir, "state"))
}

// makeRepo writes a small program with a bug.
func makeRepo(repo string) error {
	files := map[string]string{
		"greet.sh":  "#!/bin/sh\n# greet says hello\nname=${1:-wrold}\necho \"hello, $name\"\n",
		"README.md": "# greet\n\nRun ./greet.sh NAME.\n",
		"test.sh":   "#!/bin/sh\n[ \"$(sh greet.sh)\" = \"hello, world\" ] && echo PASS || { echo FAIL; exit 1; }\n",
	}
	if err := os.MkdirAll(repo, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// script is what the agent does, and what it expects.
func script(c *client) error {
	hello, err := c.request("agenttool/hello", map[string]any{
		"client": map[string]string{"name": "scripted-agent", "version": "1"}, "events": "results", "approvals": true,
	})
	if err != nil {
		return err
	}
	say("hello", "mode %v, %d tools, sandbox %v", hello["mode"], len(hello["declarations"].([]any)), hello["sandbox"].(map[string]any)["level"])
	for _, s := range []struct {
		what, tool string
		input      map[string]any
		status     string
		want       string
	}{
		{"search", "grep", map[string]any{"pattern": "wrold"}, "succeeded", "greet.sh:3"},
		{"read", "read", map[string]any{"path": "greet.sh"}, "succeeded", "wrold"},
		{"test before", "shell", map[string]any{"command": "sh test.sh"}, "failed", "FAIL"},
		{"edit", "edit", map[string]any{"path": "greet.sh", "old_string": "wrold", "new_string": "world"}, "succeeded", "greet.sh"},
		{"test after", "shell", map[string]any{"command": "sh test.sh"}, "succeeded", "PASS"},
		{"list", "glob", map[string]any{"pattern": "*.sh"}, "succeeded", "test.sh"},
		{"escape", "read", map[string]any{"path": "/etc/shadow"}, "denied", "holds secrets"},
	} {
		started := time.Now()
		reply, err := c.request("agenttool/invoke", map[string]any{"id": s.what, "tool": s.tool, "input": s.input})
		if err != nil {
			return err
		}
		result := reply["result"].(map[string]any)
		text := fmt.Sprint(result["content"], result["error"])
		say(s.what, "%s in %.2f ms: %s", result["status"], float64(time.Since(started).Microseconds())/1000, firstLine(result))
		if result["status"] != s.status || !strings.Contains(text, s.want) {
			return fmt.Errorf("%s: want status %s and %q, got %v", s.what, s.status, s.want, result)
		}
	}
	return nil
}

func say(what, format string, args ...any) {
	fmt.Printf("%-12s %s\n", what, fmt.Sprintf(format, args...))
}

func firstLine(result map[string]any) string {
	for _, block := range result["content"].([]any) {
		if text, _ := block.(map[string]any)["text"].(string); text != "" {
			line, _, _ := strings.Cut(text, "\n")
			return line
		}
	}
	return ""
}

// verify asks toolhost whether the log of the session is whole.
func verify(binary, state string) error {
	cmd := exec.Command(binary, "log", "verify")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	out, err := cmd.CombinedOutput()
	say("log verify", "%s", strings.TrimSpace(string(out)))
	return err
}

// client speaks JSON-RPC lines with a toolhost process.
type client struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	id    int
}

func start(binary, repo, state string) (*client, error) {
	cmd := exec.Command(binary, "serve", "--workspace", repo)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 32<<20)
	return &client{cmd: cmd, in: in, lines: lines}, cmd.Start()
}

// request sends one request and returns its result. Prompts that come meanwhile are answered as a person would.
func (c *client) request(method string, params any) (map[string]any, error) {
	c.id++
	id := c.id
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for c.lines.Scan() {
		var m struct {
			ID     any            `json:"id"`
			Method string         `json:"method"`
			Params map[string]any `json:"params"`
			Result map[string]any `json:"result"`
			Error  any            `json:"error"`
		}
		if err := json.Unmarshal(c.lines.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("not a message: %s", c.lines.Bytes())
		}
		switch {
		case m.Method == "agenttool/event":
			if err := c.answer(m.Params["event"].(map[string]any)); err != nil {
				return nil, err
			}
		case m.ID == float64(id) && m.Error != nil:
			return nil, fmt.Errorf("%s: %v", method, m.Error)
		case m.ID == float64(id):
			return m.Result, nil
		}
	}
	return nil, fmt.Errorf("%s: toolhost closed its output", method)
}

// answer plays the person: it allows what happens in the repository, and nothing else.
func (c *client) answer(event map[string]any) error {
	if event["event_type"] != "tool.permission.requested" {
		return nil
	}
	data := event["data"].(map[string]any)
	decision := data["decision"].(map[string]any)
	behavior, feedback := "allow", ""
	if data["tool"] == "read" {
		behavior, feedback = "deny", "stay inside the repository; /etc is outside"
	}
	say("  prompt", "%v: %v -> %s", data["tool"], decision["reason"].(map[string]any)["detail"], behavior)
	return c.send(map[string]any{"jsonrpc": "2.0", "id": "answer-" + fmt.Sprint(decision["decision_id"]), "method": "agenttool/decide", "params": map[string]any{
		"decision_id": decision["decision_id"], "behavior": behavior, "feedback": feedback,
	}})
}

func (c *client) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = c.in.Write(append(line, '\n'))
	return err
}

// end closes the stream and waits for toolhost to end.
func (c *client) end() error {
	c.in.Close()
	for c.lines.Scan() {
	}
	return c.cmd.Wait()
}
