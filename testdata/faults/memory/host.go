package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// host is a running toolhost with a home of its own, which takes any number of requests at once.
type host struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	workspace string

	writing sync.Mutex
	mu      sync.Mutex
	next    int
	waiting map[string]chan reply
	reads   sync.Mutex // locked: the client reads nothing
	ended   chan struct{}
}

// reply is the answer to a request.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// start runs program for a workspace, in a control group unless group is empty.
func start(program, workspace, group string) (*host, error) {
	home, err := os.MkdirTemp(filepath.Dir(workspace), "home-")
	if err != nil {
		return nil, err
	}
	h := &host{workspace: workspace, waiting: map[string]chan reply{}, ended: make(chan struct{})}
	args := []string{"serve", "--mode", "sandboxed", "--workspace", workspace, "--allow", "Write", "--drain", "2s"}
	h.cmd = exec.Command(program, args...)
	if group != "" { // the shell enters it, so that the host is in it before it starts a thread
		h.cmd = exec.Command("sh", append([]string{"-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, group, program}, args...)...)
	}
	h.cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home+"/state", "XDG_CONFIG_HOME="+home+"/config",
		"XDG_CACHE_HOME="+home+"/cache", "XDG_RUNTIME_DIR="+home)
	h.cmd.Stderr = os.Stderr
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	go h.receive(out)
	_, err = h.request("agenttool/hello", map[string]any{"client": map[string]string{"name": "memory", "version": "1"}})
	return h, err
}

// receive hands each reply to the request that it answers, until the output ends.
func (h *host) receive(out io.Reader) {
	defer close(h.ended)
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r reply
		h.reads.Lock() // waits while the client reads nothing
		err = json.Unmarshal(line, &r)
		h.reads.Unlock()
		if err != nil {
			continue
		}
		h.mu.Lock()
		if c := h.waiting[string(r.ID)]; c != nil {
			delete(h.waiting, string(r.ID))
			c <- r
		}
		h.mu.Unlock()
	}
}

// send sends a request and returns where its reply comes.
func (h *host) send(method string, params any) (<-chan reply, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	h.mu.Lock()
	h.next++
	id := fmt.Sprint(h.next)
	c := make(chan reply, 1)
	h.waiting[id] = c
	h.mu.Unlock()
	if err := encoder.Encode(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params}); err != nil {
		return nil, err
	}
	h.writing.Lock()
	defer h.writing.Unlock()
	_, err := h.in.Write(b.Bytes())
	return c, err
}

var errEnded = errors.New("the host ended")

// request sends a request and waits for its reply.
func (h *host) request(method string, params any) (reply, error) {
	c, err := h.send(method, params)
	if err != nil {
		return reply{}, err
	}
	return h.wait(c)
}

func (h *host) wait(c <-chan reply) (reply, error) {
	select {
	case r := <-c:
		return r, nil
	case <-h.ended:
		return reply{}, errEnded
	case <-time.After(3 * time.Minute):
		return reply{}, errors.New("no reply in three minutes")
	}
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

// end ends the input and waits for the host's end.
func (h *host) end() error {
	_ = h.in.Close()
	select {
	case <-h.ended:
	case <-time.After(20 * time.Second):
		_ = h.cmd.Process.Kill()
		<-h.ended
	}
	return h.cmd.Wait()
}
