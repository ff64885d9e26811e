package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"toolhost/testdata/support/wiretest"
)

// patience is how long an answer may take.
const patience = 3 * time.Minute

// host is a running toolhost with a home of its own, which takes any number of requests at once.
type host struct {
	*wiretest.Process
	reads sync.Mutex // locked: the client reads nothing
}

// start runs program for a workspace, in a control group unless group is empty.
func start(program, workspace, group string) (*host, error) {
	home, err := os.MkdirTemp(filepath.Dir(workspace), "home-")
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(home, "run"), 0o700); err != nil {
		return nil, err
	}
	args := []string{"serve", "--mode", "sandboxed", "--workspace", workspace, "--allow", "Write", "--drain", "2s"}
	cmd := exec.Command(program, args...)
	if group != "" { // the shell enters it, so that the host is in it before it starts a thread
		cmd = exec.Command("sh", append([]string{"-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, group, program}, args...)...)
	}
	cmd.Env = append(os.Environ(), wiretest.Home(home)...)
	cmd.Stderr = os.Stderr
	h := &host{}
	h.Process, err = wiretest.Start(cmd, wiretest.Options{Heard: func(wiretest.Message) {
		h.reads.Lock() // waits while the client reads nothing
		defer h.reads.Unlock()
	}})
	if err != nil {
		return nil, err
	}
	_, err = h.request("agenttool/hello", map[string]any{"client": map[string]string{"name": "memory", "version": "1"}})
	return h, err
}

// reply is the answer to a request.
type reply struct{ wiretest.Message }

// request sends a request and waits for its reply.
func (h *host) request(method string, params any) (reply, error) {
	m, err := h.Send(method, params).Message(patience)
	return reply{m}, err
}

// call is the params of a native call.
func call(id, tool string, input map[string]any) map[string]any {
	return map[string]any{"id": id, "tool": tool, "input": input}
}

// succeeded reports whether a reply is the result of a call that worked.
func (r reply) succeeded() bool {
	if r.Error != nil {
		return false
	}
	text := string(r.Result)
	if strings.Contains(text, `"is_error":true`) {
		return false
	}
	return strings.Contains(text, `"status":"succeeded"`) || strings.Contains(text, `"status":"partial_succeeded"`) ||
		strings.Contains(text, `"content":`) && !strings.Contains(text, `"isError":true`)
}

// busy reports whether a request is to be sent again later.
func (r reply) busy() bool { return r.Error != nil && r.Error.Code == -32000 }

// says cuts what a reply says to what fits a line.
func (r reply) says() string {
	text := string(r.Result)
	if r.Error != nil {
		text = r.Error.Message
	} else if i := strings.Index(text, `"error":{`); i >= 0 {
		text = text[i:]
	}
	return text[:min(len(text), 300)]
}
