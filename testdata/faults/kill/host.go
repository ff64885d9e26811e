package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// host is a running toolhost with the home and the workspace of a scene.
type host struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	writing sync.Mutex
	next    int
	replies chan reply
	ended   chan struct{}
}

// reply is the answer to a request.
type reply struct {
	ID     int `json:"id"`
	Result *struct {
		Status string `json:"status"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// start runs program in a scene and says hello.
func (s *scene) start() (*host, error) {
	h := &host{replies: make(chan reply, 4096), ended: make(chan struct{})}
	h.cmd = exec.Command(s.program, "serve", "--mode", "sandboxed", "--workspace", s.workspace, "--allow", "Write", "--allow", "Shell",
		"--drain", "1s")
	if s.level != "" {
		h.cmd.Args = append(h.cmd.Args, "--sandbox", s.level)
	}
	h.cmd.Env = append(os.Environ(), "HOME="+s.home, "XDG_STATE_HOME="+s.home+"/state", "XDG_CONFIG_HOME="+s.home+"/config",
		"XDG_CACHE_HOME="+s.home+"/cache", "XDG_RUNTIME_DIR="+s.home+"/run", markName+"="+s.mark)
	h.cmd.Dir = s.workspace
	log, err := os.OpenFile(filepath.Join(s.dir, "stderr"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	h.cmd.Stderr = log
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
	if err := h.send("agenttool/hello", map[string]any{"client": map[string]string{"name": "kill", "version": "1"}}); err != nil {
		return nil, err
	}
	_, err = h.wait(1)
	return h, err
}

// receive passes on the replies until the output ends.
func (h *host) receive(out io.Reader) {
	defer close(h.ended)
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r reply
		if json.Unmarshal(line, &r) == nil && r.ID != 0 {
			h.replies <- r
		}
	}
}

func (h *host) send(method string, params any) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	h.next++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": h.next, "method": method, "params": params})
	if err != nil {
		return err
	}
	_, err = h.in.Write(append(line, '\n'))
	return err
}

func (h *host) call(tool string, input map[string]any) error {
	return h.send("agenttool/invoke", map[string]any{"id": fmt.Sprint("c", h.next), "tool": tool, "input": input})
}

// wait returns the reply to request id and drops those before it.
func (h *host) wait(id int) (reply, error) {
	limit := time.After(30 * time.Second)
	for {
		select {
		case r := <-h.replies:
			if r.ID == id && r.Error != nil {
				return r, errors.New(r.Error.Message)
			}
			if r.ID == id {
				return r, nil
			}
		case <-h.ended:
			return reply{}, errors.New("the host ended")
		case <-limit:
			return reply{}, errors.New("no reply in 30 seconds")
		}
	}
}

// kill ends the host by SIGKILL and returns when it is gone.
func (h *host) kill() {
	_ = h.cmd.Process.Kill()
	<-h.ended
	_ = h.cmd.Wait()
}

// killHolder kills the first process of the host's namespaces, and reports whether there is one.
func (h *host) killHolder() (killed bool) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", h.cmd.Process.Pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, pid := range strings.Fields(string(text)) {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			if n, err := strconv.Atoi(pid); err == nil && strings.TrimRight(string(line), "\x00") == "toolhost-holder" {
				killed = syscall.Kill(n, syscall.SIGKILL) == nil || killed
			}
		}
	}
	return killed
}

// end ends the input and waits for the host's end.
func (h *host) end() error {
	h.writing.Lock()
	_ = h.in.Close()
	h.writing.Unlock()
	select {
	case <-h.ended:
		return h.cmd.Wait()
	case <-time.After(20 * time.Second):
		h.kill()
		return errors.New("the host did not end in 20 seconds")
	}
}
