package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"toolhost/testdata/support/wiretest"
)

// patience is how long an answer may take.
const patience = 30 * time.Second

// host is a running toolhost with the home and the workspace of a scene.
type host struct{ *wiretest.Process }

// start runs toolhost in a scene and says hello.
func (s *scene) start() (host, error) {
	return s.startWith(wiretest.Options{}, "--mode", "sandboxed", "--allow", "Write", "--allow", "Shell")
}

// startWith is start with flags.
func (s *scene) startWith(o wiretest.Options, flags ...string) (host, error) {
	cmd := exec.Command(s.program, append([]string{"serve", "--workspace", s.workspace, "--drain", "1s"}, flags...)...)
	if s.level != "" {
		cmd.Args = append(cmd.Args, "--sandbox", s.level)
	}
	cmd.Env = append(append(os.Environ(), wiretest.Home(s.home)...), markName+"="+s.mark)
	cmd.Dir = s.workspace
	log, err := os.OpenFile(filepath.Join(s.dir, "stderr"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return host{}, err
	}
	defer log.Close()
	cmd.Stderr = log
	p, err := wiretest.Start(cmd, o)
	if err != nil {
		return host{}, err
	}
	return host{p}, p.Request("agenttool/hello", map[string]any{"client": map[string]string{"name": "kill", "version": "1"}, "approvals": o.Heard != nil}, nil, patience)
}

// call makes a call and does not wait for its end.
func (h host) call(tool string, input map[string]any) wiretest.Pending {
	return h.Send("agenttool/invoke", map[string]any{"id": fmt.Sprint("c", h.ID()), "tool": tool, "input": input})
}

// killHolder kills the first process of the host's namespaces, and reports whether there is one.
func (h host) killHolder() (killed bool) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", h.Cmd.Process.Pid))
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
