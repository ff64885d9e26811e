package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool/json"
)

// hookProject is a project whose client asks toolhost hook before its own tools.
type hookProject struct {
	t            *testing.T
	dir, outside string // the project, and a directory that no command may write
	env          []string
}

func newHookProject(t *testing.T) *hookProject {
	t.Helper()
	base := t.TempDir()
	p := &hookProject{t: t, dir: filepath.Join(base, "project"), outside: filepath.Join(base, "home/.ssh")}
	for _, dir := range []string{filepath.Join(p.dir, "notes"), p.outside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.write("notes/file.txt", "one\n")
	state := filepath.Join(base, "state")
	keepLevel(t, state)
	p.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(base, "home"), "XDG_STATE_HOME=" + state, "XDG_RUNTIME_DIR=" + base, "TMPDIR=" + base,
		"CLAUDE_PROJECT_DIR=" + p.dir,
	}
	return p
}

func (p *hookProject) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// toolhost is a command of it in the project.
func (p *hookProject) toolhost(args ...string) *exec.Cmd {
	cmd := exec.Command("toolhost", args...)
	cmd.Env, cmd.Dir = p.env, p.dir
	return cmd
}

// event gives the hook an event and returns its output.
func (p *hookProject) event(name, tool string, input fields) string {
	p.t.Helper()
	text, err := json.Marshal(fields{"hook_event_name": name, "session_id": "s", "tool_use_id": "u", "cwd": p.dir, "tool_name": tool, "tool_input": input})
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := p.toolhost("hook", "claude", "--mode", "accept_edits", "--allow", "Read("+p.outside+"/**)")
	cmd.Stdin = strings.NewReader(string(text))
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// before is the verdict about a call, and why.
func (p *hookProject) before(tool string, input fields) (verdict, why string) {
	p.t.Helper()
	var answer struct {
		Output struct {
			Verdict string `json:"permissionDecision"`
			Why     string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	out := p.event("PreToolUse", tool, input)
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	return answer.Output.Verdict, answer.Output.Why
}

// made reports whether a command has made the file began in the project.
func (p *hookProject) made() bool {
	_, err := os.Stat(filepath.Join(p.dir, "began"))
	return err == nil
}

// start runs a command until the test ends, or end is called, and waits until it has begun.
func (p *hookProject) start(cmd *exec.Cmd, begun func() bool) (end func()) {
	p.t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
			_ = cmd.Wait() // it was ended
		}
	}
	p.t.Cleanup(end)
	for limit := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if begun() {
			return end
		}
		if time.Now().After(limit) {
			end()
			p.t.Fatalf("it did not begin: %s", out.String())
		}
	}
}

// inSandbox runs a command line as Claude Code runs what the hook makes of a background command of Bash.
func (p *hookProject) inSandbox(line string) (end func()) {
	p.t.Helper()
	return p.start(p.toolhost("call", "--allow", "Shell", "--allow", "Write(**)", "shell", `{"command": `+asJSON(line)+`, "timeout_ms": 300000}`), p.made)
}

// TestHookMeanwhile: while a command of the project runs that can change what a path leads to, the client is not told to open that path
// unasked. A command that cannot, and one that has ended, cost no prompt.
func TestHookMeanwhile(t *testing.T) {
	t.Parallel()
	write := fields{"file_path": "notes/file.txt", "content": "two\n"}
	outside := func(p *hookProject) fields { return fields{"file_path": filepath.Join(p.outside, "known_hosts")} }
	for _, c := range []struct {
		name  string
		start func(p *hookProject) (end func())
		asks  bool
	}{
		{"nothing runs", func(*hookProject) func() { return func() {} }, false},
		{"a command in the sandbox", func(p *hookProject) func() { return p.inSandbox("touch began; sleep 1000; true") }, true},
		{"one that hides", func(p *hookProject) func() {
			return p.inSandbox(`touch began; cd /; exec env -i PATH=$PATH python3 -c 'import ctypes, time; ctypes.CDLL(None).prctl(4, 0); ctypes.CDLL(None).prctl(15, b"toolhost-holder"); time.sleep(1000)'`)
		}, true},
		{"one whose first thread has ended", func(p *hookProject) func() {
			p.write("thread.py", "import ctypes, platform, threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\n"+
				"open('began', 'w')\nctypes.CDLL(None).syscall(93 if platform.machine() == 'aarch64' else 60, 0)\n")
			return p.inSandbox("python3 thread.py")
		}, true},
		{"one that has left its call's session", func(p *hookProject) func() {
			return p.inSandbox(`touch began; (setsid sh -c 'cd /; sleep 1000; true' &); sleep 1000; true`)
		}, true},
		{"one that only reads", func(p *hookProject) func() {
			mark := newMark(p.t)
			return p.start(p.toolhost("call", "shell", `{"command": "sleep `+mark+`", "timeout_ms": 300000}`), func() bool { return sleeping(mark) })
		}, false},
		{"a script that no sandbox holds", func(p *hookProject) func() {
			cmd := exec.Command("sh", "-c", "touch began; sleep 1000; true")
			cmd.Dir, cmd.Env = p.dir, p.env
			return p.start(cmd, p.made)
		}, true},
		{"another project's", func(p *hookProject) func() {
			other := newHookProject(p.t)
			return other.inSandbox("touch began; sleep 1000; true")
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newHookProject(t)
			end := c.start(p)
			want := "allow"
			if c.asks {
				want = "ask"
			}
			for tool, input := range map[string]fields{"Write": write, "Read": {"file_path": "notes/file.txt"}, "Grep": {"pattern": "x"}} {
				verdict, why := p.before(tool, input)
				if verdict != want || c.asks != strings.Contains(why, "a running command may exchange") {
					t.Errorf("%s: %s, want %s: %s", tool, verdict, want, why)
				}
			}
			if verdict, why := p.before("Read", outside(p)); c.name == "a command in the sandbox" && verdict != "allow" {
				t.Errorf("what it cannot change: %s: %s", verdict, why)
			}
			end()
			eventually(t, "what has ended costs no prompt", func() bool { // processes of a busy machine take a while to end
				verdict, _ := p.before("Write", write)
				return verdict == "allow"
			})
		})
	}
}

// TestHookTouchedAnother: when the file that the client touched is not the one that was judged, the model, the user and the log are told.
func TestHookTouchedAnother(t *testing.T) {
	t.Parallel()
	write := fields{"file_path": "notes/file.txt", "content": "two\n"}
	for _, c := range []struct {
		name string
		runs bool // a command that could exchange the directory
		act  string
		says string // a part of the message; "": no message
	}{
		{"as judged", false, "echo two >notes/file.txt", ""},
		{"as judged, replaced", false, "echo two >notes/new; mv notes/new notes/file.txt", ""},
		{"as judged, beside a command", true, "echo two >notes/file.txt", ""},
		{"a link now", false, "mv notes kept; ln -s OUTSIDE notes; echo two >notes/file.txt", "leads to OUTSIDE/file.txt now"},
		{"another directory now", false, "mv notes kept; mkdir notes; echo two >notes/file.txt", "notes is another directory"},
		{"the file is a link now", false, "ln -sf OUTSIDE/authorized_keys notes/file.txt; echo two >notes/file.txt", "leads to OUTSIDE/authorized_keys now"},
		{"a link for a moment", true, "mv notes kept; ln -s OUTSIDE notes; echo two >notes/file.txt; rm notes; mv kept notes", "may have been exchanged for a moment"},
		{"the file for a moment", true, "mv notes/file.txt notes/kept; ln -s OUTSIDE/x notes/file.txt; echo two >notes/file.txt; rm notes/file.txt; mv notes/kept notes/file.txt", "does not have the content"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newHookProject(t)
			if c.runs {
				p.inSandbox("touch began; sleep 1000; true")
			}
			p.before("Write", write)
			outside := strings.NewReplacer("OUTSIDE", p.outside)
			act := exec.Command("sh", "-ec", outside.Replace(c.act))
			if act.Dir = p.dir; act.Run() != nil {
				t.Fatal("it was not done")
			}
			out := p.event("PostToolUse", "Write", write)
			log, err := p.toolhost("log", "show", "--json", "--tool", "write").Output()
			if err != nil {
				t.Fatal(err)
			}
			recorded := strings.Contains(string(log), "touched_another_file")
			if c.says == "" {
				if out != "" || recorded {
					t.Errorf("it is told: %s", out)
				}
				return
			}
			if !strings.Contains(out, outside.Replace(c.says)) || !strings.Contains(out, `"decision":"block"`) || !strings.Contains(out, `"systemMessage"`) || !recorded {
				t.Errorf("want %q, in the log %t: %s", outside.Replace(c.says), recorded, out)
			}
		})
	}
}

// TestHookExchanged: a client that does what the hook allows never writes outside, however a command of the project exchanges the directory.
func TestHookExchanged(t *testing.T) {
	t.Parallel()
	p := newHookProject(t)
	p.write("exchange.sh", fmt.Sprintf("touch began; while :; do mv notes kept; ln -s '%s' notes; sleep 0.001; rm notes; mv kept notes; sleep 0.001; done", p.outside))
	p.inSandbox("sh exchange.sh")
	allowed, tries := 0, count(6, 20)
	for range tries {
		verdict, _ := p.before("Write", fields{"file_path": "notes/authorized_keys", "content": "key"})
		if verdict != "allow" {
			continue
		}
		allowed++
		_ = os.WriteFile(filepath.Join(p.dir, "notes/authorized_keys"), []byte("key"), 0o600) // the directory may be missing for a moment
	}
	if _, err := os.Stat(filepath.Join(p.outside, "authorized_keys")); err == nil || allowed > 0 {
		t.Errorf("%d of %d writes were allowed; outside: %v", allowed, tries, err)
	}
}
