package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"toolhost/testdata/support/wiretest"
)

// lines is the host that is spoken to over its stdin.
type lines struct {
	host
	*wiretest.Process
	count *tally
	ids   atomic.Int64
}

var requested = regexp.MustCompile(`"event_type":"tool\.permission\.requested".*?"decision_id":"([^"]+)"`)

// startLines starts it. Its client answers each prompt with yes.
func startLines(dir, program string, count *tally) (*lines, error) {
	l := &lines{host: host{name: "lines"}, count: count}
	if err := l.place(dir, program); err != nil {
		return nil, err
	}
	asked := make(chan string, 1000)
	var err error
	l.Process, err = wiretest.Start(l.cmd, wiretest.Options{Heard: func(m wiretest.Message) {
		if found := requested.FindSubmatch(m.Line); found != nil {
			asked <- string(found[1])
		}
	}})
	if err != nil {
		return nil, err
	}
	go func() {
		for id := range asked { // until this program ends
			_ = l.Request("agenttool/decide", map[string]any{"decision_id": id, "behavior": "allow"}, nil, patience)
			l.count.add(l.name, "prompt answered", "")
		}
	}()
	l.end = func() error { return l.Process.End(30 * time.Second) }
	hello := map[string]any{"client": map[string]string{"name": "soak", "version": "1"}, "events": "results", "approvals": true}
	if err := l.Request("agenttool/hello", hello, nil, patience); err != nil {
		return nil, err
	}
	return l, l.Request("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]string{"name": "soak", "version": "1"}}, nil, patience)
}

// clients are what its clients do, each again and again with the number of the time.
func (l *lines) clients() []func(n int) {
	return []func(int){l.files, l.commands, l.jobs, l.canceled, l.prompted, l.mcp}
}

// invoke makes a native call and counts it. It returns the answer.
func (l *lines) invoke(kind, tool string, input map[string]any) string {
	id := fmt.Sprint("c", l.ids.Add(1))
	m, err := l.Send("agenttool/invoke", map[string]any{"id": id, "tool": tool, "input": input}).Message(patience)
	return l.counted(kind, m, err)
}

func (l *lines) counted(kind string, m wiretest.Message, err error) string {
	text := string(m.Result)
	why := ""
	switch {
	case err != nil:
		why = err.Error()
	case m.Error != nil:
		why = m.Error.Message
	case strings.Contains(text, `"is_error":true`) || strings.Contains(text, `"isError":true`):
		why = text[max(0, strings.Index(text, `"error":{`)):]
	}
	l.count.add(l.name, kind, why)
	return text
}

// files reads, writes, edits and searches.
func (l *lines) files(n int) {
	made := fmt.Sprintf("made%d.txt", n%50)
	l.invoke("write", "write", map[string]any{"path": made, "content": fmt.Sprintf("the text %d\nand more\n", n)})
	l.invoke("edit", "edit", map[string]any{"path": made, "old_string": "and more", "new_string": "and less"})
	l.invoke("read", "read", map[string]any{"path": fmt.Sprintf("src/f%d.txt", n%200)})
	l.invoke("grep", "grep", map[string]any{"pattern": fmt.Sprintf("file %d,", n%200), "output_mode": "content"})
	l.invoke("glob", "glob", map[string]any{"pattern": fmt.Sprintf("**/f%d*.txt", n%20)})
}

// commands runs commands: one that reads, one that writes, one that fails, one with much output and one that removes.
func (l *lines) commands(n int) {
	l.invoke("command reads", "shell", map[string]any{"command": fmt.Sprintf("head -3 src/f%d.txt | wc -l", n%200)})
	l.invoke("command writes", "shell", map[string]any{"command": fmt.Sprintf("mkdir -p out && date > out/%d && rm \"$(mktemp)\"", n%50)})
	l.count.add(l.name, "command fails", failedNot(l, "exit 3"))
	l.invoke("command removes", "shell", map[string]any{"command": fmt.Sprintf("rm -f out/%d", n%50)})
	if n%20 == 0 {
		l.invoke("command with much output", "shell", map[string]any{"command": "seq 1 200000"})
	}
}

// failedNot says why a command that is to fail did not.
func failedNot(l *lines, command string) string {
	id := fmt.Sprint("c", l.ids.Add(1))
	m, err := l.Send("agenttool/invoke", map[string]any{"id": id, "tool": "shell", "input": map[string]any{"command": command}}).Message(patience)
	if err != nil || m.Error != nil || !strings.Contains(string(m.Result), "3") {
		return fmt.Sprint(err, m.Error)
	}
	return ""
}

var jobName = regexp.MustCompile(`\bj[0-9]+\b`)

// jobs starts a job, speaks to it, reads it and ends it.
func (l *lines) jobs(n int) {
	command := "while read -r line; do echo \"said $line\"; done; sleep 300"
	started := l.invoke("job", "shell", map[string]any{"command": command, "run_in_background": true, "tty": n%4 == 3})
	job := jobName.FindString(content(started))
	if job == "" {
		l.count.add(l.name, "job", "its name is missing in "+started)
		return
	}
	l.invoke("job input", "shell_input", map[string]any{"job": job, "text": "hello\n"})
	l.invoke("job output", "shell_output", map[string]any{"job": job, "wait_ms": 20000, "until": "match:said hello"})
	l.invoke("job killed", "shell_kill", map[string]any{"job": job, "grace_ms": 200})
}

// content is what the model reads of a native answer.
func content(answer string) string {
	var a struct {
		Result struct {
			Content json.RawMessage `json:"content"`
		} `json:"result"`
	}
	_ = json.Unmarshal([]byte(answer), &a) // without it nothing is found
	return string(a.Result.Content)
}

// canceled begins a command and cancels it.
func (l *lines) canceled(n int) {
	id := fmt.Sprint("c", l.ids.Add(1))
	pending := l.Send("agenttool/invoke", map[string]any{"id": id, "tool": "shell", "input": map[string]any{"command": "sleep 100"}})
	time.Sleep(time.Duration(n%10) * 30 * time.Millisecond)
	err := l.Request("agenttool/cancel", map[string]any{"id": id}, nil, patience)
	why := ""
	if err != nil {
		why = err.Error()
	} else if m, err := pending.Message(patience); err != nil || !strings.Contains(string(m.Result), `"canceled"`) {
		why = fmt.Sprint("it was not canceled: ", err, string(m.Result))
	}
	l.count.add(l.name, "canceled", why)
}

// prompted makes a call that asks, by a rule.
func (l *lines) prompted(n int) {
	l.invoke("prompted", "shell", map[string]any{"command": fmt.Sprintf("touch asked%d", n%50)})
	time.Sleep(200 * time.Millisecond)
}

// mcp makes MCP calls.
func (l *lines) mcp(n int) {
	for _, c := range []struct {
		tool  string
		input map[string]any
	}{
		{"read", map[string]any{"path": fmt.Sprintf("src/f%d.txt", n%200)}},
		{"grep", map[string]any{"pattern": fmt.Sprintf("file %d,", n%200)}},
		{"shell", map[string]any{"command": "echo of MCP"}},
	} {
		m, err := l.Send("tools/call", map[string]any{"name": c.tool, "arguments": c.input}).Message(patience)
		l.counted("MCP "+c.tool, m, err)
	}
}
