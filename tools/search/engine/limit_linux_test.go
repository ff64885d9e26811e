package engine

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// watchLimit tells the test in a child process how many watches it may have.
const watchLimit = "TOOLHOST_TEST_WATCHES"

// Where the system grants too few watches, none at all or none any more, a search goes by the status of files. The limit
// is set in a user namespace of a child, where it binds nobody else.
func TestWatchLimitEqualsCold(t *testing.T) {
	for _, limit := range []string{"0", "3", "60"} {
		t.Run(limit, func(t *testing.T) {
			c := exec.Command(os.Args[0], "-test.run=^TestWithWatchLimit$", "-test.v")
			c.Env = append(os.Environ(), watchLimit+"="+limit)
			c.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  syscall.CLONE_NEWUSER,
				UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
			}
			out, err := c.CombinedOutput()
			if len(out) == 0 && err != nil {
				t.Skip("no user namespace can be made here:", err)
			}
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestWithWatchLimit is the child's part.
func TestWithWatchLimit(t *testing.T) {
	limit := os.Getenv(watchLimit)
	if limit == "" {
		t.Skip("this is a part of TestWatchLimitEqualsCold")
	}
	if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte(limit), 0); err != nil {
		t.Fatal("set the limit of this namespace:", err)
	}
	equalsCold(t, 5, rounds(t, 12)/3)
}
