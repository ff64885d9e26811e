package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/cut"
)

// pidsGroup makes a control group in which so many processes may exist, threads included, and returns its directory. Only root can make
// one; the test ends what is left in it.
func pidsGroup(t *testing.T, most int) string {
	t.Helper()
	parent := "/sys/fs/cgroup/pids"
	if _, err := os.Stat(parent + "/cgroup.procs"); err != nil {
		parent = "/sys/fs/cgroup"
		_ = os.WriteFile(parent+"/cgroup.subtree_control", []byte("+pids"), 0o600) // the limit fails below if it may not be given
	}
	dir, err := os.MkdirTemp(parent, "starved-")
	if err != nil {
		t.Skipf("no control group that counts processes can be made here: %v", err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(frontPatience); unix.Rmdir(dir) == unix.EBUSY && time.Now().Before(end); time.Sleep(time.Millisecond) {
			text, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
			for _, pid := range strings.Fields(string(text)) {
				n, _ := strconv.Atoi(pid)
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "pids.max"), []byte(strconv.Itoa(most)), 0o600); err != nil {
		t.Skipf("no control group here counts processes: %v", err)
	}
	return dir
}

// TestForkingJobsStarveNoHost: a command that starts processes until the kernel refuses more takes none from the host, which answers
// every other call meanwhile and ends as usual. The group bounds what the bomb does to this machine.
func TestForkingJobsStarveNoHost(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a control group")
	}
	for _, most := range []int{40, 64, 128} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			dir := pidsGroup(t, most)
			d := newDoor(t, frontHome(t), "--mode", "accept_edits", "--allow", "Shell")
			d.cmd.Args = append([]string{"sh", "-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, dir, d.cmd.Path}, d.cmd.Args[1:]...)
			d.cmd.Path = "/bin/sh" // it is in the group before it starts a thread
			d.start()
			c := listenTo(d)
			send := func(id, tool, input string) {
				c.send(`{"jsonrpc":"2.0","id":%q,"method":"agenttool/invoke","params":{"id":%q,"tool":%q,"input":%s}}`, id, id, tool, input)
			}
			succeeds := func(id string) {
				if m := c.nativeAnswer(strconv.Quote(id)); !strings.Contains(m.text, `"status":"succeeded"`) {
					t.Errorf("%s: %s", id, cut.Characters(m.text, 600))
				}
			}
			send("bomb", "shell", `{"command":"b() { b | b & }; touch began; b; sleep 20","run_in_background":true}`)
			if m := c.nativeAnswer(`"bomb"`); !strings.Contains(m.text, `"status":"partial_succeeded"`) {
				t.Fatalf("the bomb does not run: %s", cut.Characters(m.text, 2000))
			}
			d.waitForFile("began")
			const calls = 200
			for i := range calls {
				each := []struct{ tool, input string }{
					{"read", `{"path":"small"}`}, {"grep", `{"pattern":"needle"}`}, {"glob", `{"pattern":"*"}`},
					{"write", fmt.Sprintf(`{"path":"new%d","content":"x"}`, i)},
				}[i%4]
				send(strconv.Itoa(i), each.tool, each.input)
			}
			for i := range calls {
				succeeds(strconv.Itoa(i))
			}
			send("kill", "shell_kill", `{"job":"j1"}`)
			c.nativeAnswer(`"kill"`)
			send("after", "shell", `{"command":"cat small | cat | cat"}`)
			succeeds("after")
		})
	}
}

// waitForFile waits until a command has made a file of the workspace.
func (d *serveProcess) waitForFile(name string) {
	d.t.Helper()
	for end := time.Now().Add(frontPatience); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(d.ws, name)); err == nil {
			return
		}
		if time.Now().After(end) {
			d.t.Fatalf("%s was not made", name)
		}
	}
}
