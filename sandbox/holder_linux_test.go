package sandbox

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The namespaces of a holder that died are not kept by what reached into them.
func TestDeadHolderLeavesNothing(t *testing.T) {
	b := newBench(t, nil)
	b.run(t, Workspace, "true") // starts the holder
	descriptors := openFDs(t)
	for range 5 {
		h := b.holders.current
		if err := unix.Kill(holderPID(t), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-h.exited
		b.run(t, Workspace, "true") // starts another
	}
	limit := time.Now().Add(20 * time.Second)
	for openFDs(t) > descriptors && time.Now().Before(limit) { // they are closed beside
		time.Sleep(10 * time.Millisecond)
	}
	if now := openFDs(t); now > descriptors {
		t.Errorf("%d descriptors are open, %d were", now, descriptors)
	}
}

// holderPID finds the holder among our children.
func holderPID(t *testing.T) int {
	t.Helper()
	children, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range children {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		_, after, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) && strings.Contains(string(line), "holder") {
			return pid
		}
	}
	t.Fatal("there is no holder")
	return 0
}
