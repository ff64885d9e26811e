package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/cut"
)

// TestFloodLeavesLittle: a host gives the memory of a burst of large results and lines back once it is quiet.
func TestFloodLeavesLittle(t *testing.T) {
	if underRace {
		t.Skip("the race detector keeps memory of its own")
	}
	t.Parallel()
	c := openLines(t)
	c.noise(500)
	c.greets(false)
	calls := count(30, 60)
	go func() {
		for i := range calls {
			c.call(i, "read", `{"path":"picture.png"}`)
		}
	}()
	for i := range calls {
		if r := c.answer(fmt.Sprint(i)).result(t); r.IsError {
			t.Fatalf("call %d: %+v", i, r)
		}
	}
	most := c.resident()
	eventually(t, "the memory is given back", func() bool { return c.resident() < 64_000_000 })
	t.Logf("%d MB after the flood, %d MB left", most/1e6, c.resident()/1e6)
}

// memoryGroup makes a control group that may use so many bytes, of version 1 or 2, and returns its directory and how many of its processes
// the kernel has killed. Only root can make one.
func memoryGroup(t *testing.T, limit int) (dir string, kills func() int) {
	t.Helper()
	parent, bound, events := "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.oom_control"
	if _, err := os.Stat(parent + "/cgroup.procs"); err != nil {
		parent, bound, events = "/sys/fs/cgroup", "memory.max", "memory.events"
		_ = os.WriteFile(parent+"/cgroup.subtree_control", []byte("+memory"), 0o600) // the limit fails below if it may not be given
	}
	dir, err := os.MkdirTemp(parent, "flood-")
	if err != nil {
		t.Skipf("no control group that counts memory can be made here: %v", err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(frontPatience); unix.Rmdir(dir) == unix.EBUSY && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, bound), []byte(strconv.Itoa(limit)), 0o600); err != nil {
		t.Skipf("no control group here counts memory: %v", err)
	}
	return dir, func() (n int) {
		text, err := os.ReadFile(filepath.Join(dir, events))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(text), "oom_kill ")
		if _, err := fmt.Sscan(rest, &n); !found || err != nil {
			t.Fatalf("%q says nothing of kills", text)
		}
		return n
	}
}

// TestFloodInControlGroup: a host whose control group has 64 MiB answers every call of a burst of large results and batches, and the kernel
// never has to kill it.
func TestFloodInControlGroup(t *testing.T) {
	if os.Getuid() != 0 || underRace {
		t.Skip("only root can make a control group, and the race detector takes more than it has")
	}
	t.Parallel()
	group, kills := memoryGroup(t, 64<<20)
	d := newDoor(t, frontHome(t))
	d.cmd.Args = append([]string{"sh", "-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, group, d.cmd.Path}, d.cmd.Args[1:]...)
	d.cmd.Path = "/bin/sh" // it is in the group before it starts a thread
	d.noise(500)
	d.put("text", bytes.Repeat([]byte("a line of text that is found\n"), 40_000))
	d.start()
	c := listenTo(d)
	c.greets(false)
	const each, greps = 40, 16
	go func() {
		var members []string
		for i := range 100 {
			members = append(members, fmt.Sprintf(`{"id":"m%d","tool":"read","input":{"path":"text","offset":%d}}`, i, i))
		}
		c.send(`{"jsonrpc":"2.0","id":"batch","method":"agenttool/batch","params":{"id":"b","calls":[%s]}}`, strings.Join(members, ","))
		for i := range each {
			c.call(i, "read", `{"path":"picture.png"}`)
		}
		for i := range greps {
			c.call(each+i, "grep", `{"pattern":"text .* found","path":"text","output_mode":"content","limit":4000,"multiline":true}`)
		}
	}()
	for i := range each + greps {
		if r := c.answer(fmt.Sprint(i)).result(t); r.IsError {
			t.Errorf("call %d: %+v", i, r)
		}
	}
	if m := c.nativeAnswer(`"batch"`); strings.Count(m.text, `"status":"succeeded"`) < 100 {
		t.Errorf("the batch: %s", cut.Characters(m.text, 600))
	}
	_ = c.in.Close()
	if code := c.exits(); code != exitOK || kills() != 0 {
		t.Errorf("exit code %d, %d processes were killed", code, kills())
	}
}
