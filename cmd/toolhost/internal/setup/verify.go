package setup

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/mcpconfig/edit"
)

// Verified describes a server that answered.
type Verified struct {
	Version string
	Tools   []string
}

// verifyTime is how long a server may take for all of it.
const verifyTime = 30 * time.Second

// Verify starts the server that the files on disk name, in the project, as the client would. It says hello, lists the tools and calls one.
func Verify(ctx context.Context, t Target, p Places) (v Verified, err error) {
	command, err := commandOf(t, p)
	if err != nil {
		return v, err
	}
	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = p.Project
	cmd.WaitDelay = time.Second
	stderr := &tail{}
	cmd.Stderr = stderr
	stdin, errIn := cmd.StdinPipe()
	stdout, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		return v, fmt.Errorf("%s does not start: %w", strings.Join(command, " "), err)
	}
	v, err = greet(stdin, stdout)
	_ = stdin.Close() // the server ends
	_, _ = io.Copy(io.Discard, stdout)
	ended := cmd.Wait()
	if err != nil {
		return v, fmt.Errorf("%s: %w (%v) %s", strings.Join(command, " "), err, ended, visible.Text(strings.TrimSpace(stderr.text)))
	}
	return v, nil
}

// commandOf reads the server's command line from the file that has it.
func commandOf(t Target, p Places) ([]string, error) {
	for _, part := range t.parts() {
		at, ok := t.Client.Entry(part.File)
		if !ok {
			continue
		}
		path, err := p.path(part.File)
		if err != nil {
			return nil, err
		}
		content, err := read(path)
		if err != nil {
			return nil, err
		}
		entry, ok, err := edit.Value(part.Format, content, at)
		if err != nil {
			return nil, leftAlone(p.Short(path), err)
		}
		if words := commandLine(entry, p.Project); ok && len(words) > 0 {
			return words, nil
		}
		return nil, fmt.Errorf("%s names no server toolhost: run toolhost setup %s", p.Short(path), t.Client.Name)
	}
	return nil, errors.New("the client starts no server here")
}

// commandLine reads a command and its arguments in the forms that clients have.
func commandLine(entry any, project string) (words []string) {
	fields, _ := entry.(map[string]any)
	for _, key := range []string{"command", "cmd", "args"} {
		switch v := fields[key].(type) {
		case string:
			words = append(words, v)
		case []any:
			for _, word := range v {
				words = append(words, fmt.Sprint(word))
			}
		}
	}
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "${workspaceFolder}", project)
	}
	return words
}

// reply is a message of the server, as far as it is read.
type reply struct {
	ID     int `json:"id"`
	Result struct {
		ServerInfo struct{ Version string }
		Tools      []struct{ Name string }
		IsError    bool
		Content    []struct{ Text string }
	}
	Error *struct{ Message string }
}

// greet speaks with a server: hello, list, one call that only reads.
func greet(in io.Writer, out io.Reader) (v Verified, err error) {
	lines := bufio.NewReader(out)
	ask := func(id int, method, params string) (reply, error) {
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
			return reply{}, fmt.Errorf("it ends before %s", method)
		}
		return answer(lines, id, method)
	}
	hello, err := ask(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"toolhost-setup","version":"1"}}`)
	if err != nil {
		return v, err
	}
	v.Version = hello.Result.ServerInfo.Version
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		return v, err
	}
	listed, err := ask(2, "tools/list", `{}`)
	if err != nil {
		return v, err
	}
	for _, tool := range listed.Result.Tools {
		v.Tools = append(v.Tools, tool.Name)
	}
	if !slices.Contains(v.Tools, "glob") {
		return v, fmt.Errorf("it lists no tool glob, and is not toolhost")
	}
	called, err := ask(3, "tools/call", `{"name":"glob","arguments":{"pattern":"*","limit":1}}`)
	if err == nil && called.Result.IsError {
		err = fmt.Errorf("glob fails: %s", cut.Characters(called.text(), 300))
	}
	return v, err
}

func (r reply) text() (text string) {
	for _, c := range r.Result.Content {
		text += c.Text
	}
	return text
}

// answer reads until the response to a request.
func answer(lines *bufio.Reader, id int, method string) (r reply, err error) {
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return r, fmt.Errorf("it does not answer %s", method)
		}
		r = reply{}
		if json.Unmarshal(line, &r) == nil && r.ID == id {
			if r.Error != nil {
				return r, fmt.Errorf("%s: %s", method, r.Error.Message)
			}
			return r, nil
		}
	}
}

// tail keeps the last bytes that are written to it.
type tail struct{ text string }

func (t *tail) Write(p []byte) (int, error) {
	t.text += string(p)
	t.text = t.text[max(0, len(t.text)-2000):]
	return len(p), nil
}
