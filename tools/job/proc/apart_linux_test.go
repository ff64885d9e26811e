package proc

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// startApart runs a command in a user and a pid namespace of its own, as a sandbox does, and in those of more.
func startApart(t *testing.T, cmd *exec.Cmd, more uintptr) job {
	t.Helper()
	apart := exec.Command("sh", "-c", "true")
	identity := func(attr *syscall.SysProcAttr) {
		attr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | more
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	apart.SysProcAttr = &syscall.SysProcAttr{}
	identity(apart.SysProcAttr)
	if err := apart.Run(); err != nil {
		t.Skipf("no namespaces here: %v", err)
	}
	return startWith(t, false, cmd, identity)
}

// What is asked of processes is answered for those in namespaces below ours.
func TestNamespaces(t *testing.T) {
	need(t, "python3")
	for name, script := range map[string]string{
		"read":   "os.read(0, 1)",
		"select": "select.select([0], [], [])",
		"epoll":  "e = select.epoll(); e.register(0, 1); r, w = os.pipe(); e.register(r, 1); e.poll()",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PROC_TEST_MARK", name)
			cmd := exec.Command("sh", "-c", `python3 -c "$0"; true`, "import os, select\n"+script)
			j := startApart(t, cmd, syscall.CLONE_NEWNS|syscall.CLONE_NEWIPC|syscall.CLONE_NEWUTS)
			check(t, j, true, 0)
			kids := Below(j.pid)
			if len(kids) != 1 || !strings.Contains(CommandLine(kids[0].PID), script) {
				t.Fatalf("got %+v", kids)
			}
			marked := Marked(func(v string) bool { return v == name }, "PROC_TEST_MARK")
			if !containsAll(marked, j.all()) {
				t.Errorf("marked are %+v, want %+v", marked, j.all())
			}
			if err := kids[0].Signal(syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			if !eventually(hang, func() bool { return gone(kids[0]) }) {
				t.Error("is not gone")
			}
		})
	}
}
