package classify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The host of the kernel check is this test binary, started again in namespaces of its own. There everything is
// read-only but one tmpfs, which holds the repositories and, for each command, what it wrote
// (kernel_run_linux_test.go). It starts the binary once more for each command (kernel_wall_linux_test.go). All that it
// makes vanishes with it.

const (
	kernelTime    = 30 * time.Second // for one command: much more than it takes where little else runs
	kernelBrief   = time.Second      // for one that does not end by itself
	kernelTotal   = 5 * time.Minute  // for all commands of a batch
	kernelOutput  = 16 << 10         // bytes of stdout and of stderr that are kept
	kernelAtOnce  = 2
	kernelRole    = "CLASSIFY_KERNEL_ROLE"
	kernelPlanVar = "CLASSIFY_KERNEL_PLAN"
)

// The repositories.
const (
	kernelUsual   = "usual"
	kernelHostile = "hostile"
)

// kernelPlan is what a host and its commands are told.
type kernelPlan struct {
	Program string // this test binary
	Stage   string // where the tmpfs is mounted
	Outside string // a directory that anybody may write, but for the walls
	Goroot  string // "" if there is none
	Root    bool   // the host is root outside
}

type kernelCommand struct {
	Text       string
	Repository string
	Limit      time.Duration
}

type kernelResult struct {
	Command        kernelCommand
	Failure        string   // of the walls or the host: nothing ran
	Changed        []string // below the root; a removed one is among them
	Stdout, Stderr string
	Exit           int // -1 after a signal
	TimedOut       bool
}

// kernelHost is the test's end of a host.
type kernelHost struct {
	plan     kernelPlan
	requests *json.Encoder
	answers  *json.Decoder
	log      *bytes.Buffer
}

// startKernelHost skips the test where namespaces are not permitted.
func startKernelHost(t *testing.T) *kernelHost {
	h := &kernelHost{plan: newKernelPlan(t), log: &bytes.Buffer{}}
	cmd := h.plan.command(context.Background(), "host")
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = h.log, h.log
	if !h.plan.Root {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	requests, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, far, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{far}
	if err := cmd.Start(); err != nil {
		t.Skipf("namespaces (user, mount, pid, ipc, uts, net) are not permitted here: %v", err)
	}
	far.Close()
	t.Cleanup(func() {
		requests.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the host: %v\n%s", err, h.log)
		}
		answers.Close()
	})
	h.requests, h.answers = json.NewEncoder(requests), json.NewDecoder(answers)
	for _, repository := range []string{kernelUsual, kernelHostile} {
		r := h.run(t, []kernelCommand{{"true", repository, kernelTime}})[0]
		if r.Exit != 0 || r.offence() != "" {
			t.Fatalf("true is not harmless: %+v", r)
		}
	}
	return h
}

func newKernelPlan(t *testing.T) kernelPlan {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "kernel-check-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := kernelPlan{Program: program, Stage: dir + "/stage", Outside: dir + "/outside", Root: os.Geteuid() == 0}
	if out, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		p.Goroot = strings.TrimSpace(string(out))
	}
	err = errors.Join(os.Mkdir(p.Stage, 0o755), os.Mkdir(p.Outside, 0o777), os.Chmod(dir, 0o755),
		os.Chmod(p.Outside, 0o777))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// command returns this test binary in a role, in namespaces of its own.
func (p *kernelPlan) command(ctx context.Context, role string) *exec.Cmd {
	plan, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	cmd := exec.CommandContext(ctx, p.Program, "-test.run=^TestKernel$")
	cmd.Env = []string{kernelRole + "=" + role, kernelPlanVar + "=" + string(plan), "PATH=" + p.path()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID |
		syscall.CLONE_NEWIPC | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS}
	return cmd
}

func (p *kernelPlan) path() string {
	path := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	if p.Goroot != "" {
		path += ":" + p.Goroot + "/bin"
	}
	return path
}

// run runs commands, some at once, and returns their results in order.
func (h *kernelHost) run(t *testing.T, commands []kernelCommand) []kernelResult {
	t.Helper()
	var results []kernelResult
	if err := h.requests.Encode(commands); err != nil {
		t.Fatalf("the host: %v\n%s", err, h.log)
	}
	if err := h.answers.Decode(&results); err != nil || len(results) != len(commands) {
		t.Fatalf("the host gave %d of %d results: %v\n%s", len(results), len(commands), err, h.log)
	}
	for _, r := range results {
		switch {
		case strings.HasPrefix(r.Failure, kernelUnable):
			t.Skip(r.Failure)
		case r.Failure != "":
			t.Fatalf("%q did not run: %s", r.Command.Text, r.Failure)
		}
	}
	return results
}

// runOne runs a command in the usual repository.
func (h *kernelHost) runOne(t *testing.T, text string) kernelResult {
	t.Helper()
	return h.run(t, []kernelCommand{{text, kernelUsual, kernelTime}})[0]
}

// kernelUnable begins the failures that lie in what the system permits.
const kernelUnable = "not permitted here: "

func kernelFailure(what string, err error) error {
	unable := ""
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENODEV) {
		unable = kernelUnable
	}
	return errors.New(unable + what + ": " + err.Error())
}
