package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"toolhost/testdata/support/wiretest"
)

// host is a running toolhost in a scene.
type host struct {
	*wiretest.Process
	user   int
	calls  int
	stderr string // its file
}

// requested is the event of a prompt, which is answered with yes.
var requested = regexp.MustCompile(`"event_type":"tool\.permission\.requested".*?"decision_id":"([^"]+)"`)

// start runs the program in the scene, with a home and a workspace in dir.
func (s *scene) start(r *run, dir string) (*host, error) {
	h := &host{user: s.user}
	home, workspace := filepath.Join(dir, "home"), filepath.Join(dir, "ws")
	for _, made := range []string{dir, home, filepath.Join(home, "run"), workspace} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return nil, err
		}
		if err := os.Chown(made, s.user, s.user); err != nil {
			return nil, err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(workspace, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	log, err := os.CreateTemp(filepath.Dir(dir), "stderr-")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	h.stderr = log.Name()
	args := []string{"serve", "--workspace", workspace, "--mode", "sandboxed", "--allow", "Shell", "--allow", "Write", "--ask", "Shell(touch *)", "--drain", "1s"}
	if s.own {
		args = append(args, "--job-limit", "processes=200", "--job-limit", "memory=200MiB")
	}
	cmd := exec.Command("bash", append([]string{"-c", s.enter(), "bash", r.program}, args...)...)
	cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"}, wiretest.Home(home)...)
	cmd.Dir, cmd.Stderr = workspace, log
	asked := make(chan string, 100)
	h.Process, err = wiretest.Start(cmd, wiretest.Options{Heard: func(m wiretest.Message) {
		if found := requested.FindSubmatch(m.Line); found != nil {
			asked <- string(found[1])
		}
	}})
	if err != nil {
		return nil, err
	}
	go func() {
		for id := range asked { // until this program ends
			_ = h.Request("agenttool/decide", map[string]any{"decision_id": id, "behavior": "allow"}, nil, patience)
		}
	}()
	hello := map[string]any{"client": map[string]string{"name": "shortage", "version": "1"}, "events": "results", "approvals": true}
	if err = h.Request("agenttool/hello", hello, nil, patience); err != nil {
		words := h.lastWords()
		h.close()
		return nil, fmt.Errorf("%w: %s", err, words)
	}
	return h, nil
}

// close ends the host and all that its user still has. A number that nobody else has is this scene's alone.
func (h *host) close() {
	_ = h.End(patience)
	if h.user == 0 {
		return
	}
	for range 50 {
		if exec.Command("pkill", "-KILL", "-U", fmt.Sprint(h.user)).Run() != nil {
			return // nobody is left
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// lastWords are the end of what the host said on stderr.
func (h *host) lastWords() string {
	text, _ := os.ReadFile(h.stderr)
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(line[:min(len(line), 200)])
}

// answer is the answer to a call.
type answer struct {
	text   string
	err    error // it was not answered
	took   time.Duration
	tries  int      // of until
	others []string // answers on the way that name no shortage
}

// call makes a call and waits for its answer.
func (h *host) call(tool string, input map[string]any) answer {
	return h.invoke(map[string]any{"tool": tool, "input": input}, patience)
}

// shell runs a command that may take so long.
func (h *host) shell(line string, limit time.Duration) answer {
	return h.invoke(map[string]any{"tool": "shell", "input": map[string]any{"command": line}, "timeout_ms": limit.Milliseconds()}, limit+patience)
}

func (h *host) invoke(params map[string]any, limit time.Duration) answer {
	h.calls++
	params["id"] = fmt.Sprint("c", h.calls)
	begun := time.Now()
	m, err := h.Send("agenttool/invoke", params).Message(limit)
	if err == nil && m.Error != nil {
		err = m.Error
	}
	return answer{text: string(m.Result), err: err, took: time.Since(begun)}
}

// until runs a command again and again until it has run.
func (h *host) until(line string) (last answer) {
	begun, others := time.Now(), []string(nil)
	for tries := 1; ; tries++ {
		last = h.shell(line, patience)
		if last.err == nil && !last.ran() && !last.isShort() {
			others = append(others, "then: "+last.says())
		}
		last.took, last.tries, last.others = time.Since(begun), tries, others
		if last.err != nil || last.ran() || time.Since(begun) > recovery {
			return last
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func (a answer) ran() bool { return a.err == nil && strings.Contains(a.text, `"status":"succeeded"`) }

// isShort reports whether the call failed for a shortage, and says so: nothing ran, or the kernel ended it for want of memory.
func (a answer) isShort() bool {
	return strings.Contains(a.text, `"error_class":"dependency_unavailable"`) && strings.Contains(a.text, `"error_code":"resource_exhausted"`) ||
		strings.Contains(a.text, `"rule":"kernel_memory"`)
}

// says cuts what an answer says to what fits a line.
func (a answer) says() string {
	if a.err != nil {
		return a.err.Error()
	}
	text := a.text
	for _, part := range []string{`"error":{`, `"sandbox_violations":`, `"content":`} {
		if i := strings.Index(text, part); i >= 0 {
			text = text[i:]
			break
		}
	}
	return text[:min(len(text), 260)]
}

// enter is the shell's way into the scene: the group first, then the limit, and the user last.
func (s *scene) enter() string {
	line := ""
	for _, dir := range s.groups {
		line += fmt.Sprintf("echo $$ >%s/cgroup.procs && ", dir)
	}
	if s.limit > 0 {
		line += fmt.Sprintf("ulimit -u %d && ", s.limit)
	}
	if s.files > 0 {
		line += fmt.Sprintf("ulimit -n %d && ", s.files)
	}
	if s.addresses > 0 {
		line += fmt.Sprintf("ulimit -v %d && ", s.addresses<<10)
	}
	if s.user != 0 {
		line += fmt.Sprintf("exec setpriv --reuid=%d --regid=%[1]d --clear-groups ", s.user)
	} else {
		line += "exec "
	}
	return line + `"$@"`
}
