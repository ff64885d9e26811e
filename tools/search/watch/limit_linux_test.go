package watch

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

const limits = "limits" // the part of reachLimits

// The limits are set in a user namespace of a child, where they bind nobody else.
func TestLimits(t *testing.T) {
	c := child(t, limits, plant(t))
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
}

func reachLimits(base string) error {
	for _, what := range []string{"watches", "instances"} {
		if err := os.WriteFile("/proc/sys/user/max_inotify_"+what, []byte("1"), 0); err != nil {
			return fmt.Errorf("set a limit of this namespace: %w", err)
		}
	}
	w, err := New()
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := New(); !errors.Is(err, ErrLimit) {
		return fmt.Errorf("second watcher: %v", err)
	}
	id, err := addPath(w, base+"/d")
	if err != nil {
		return err
	}
	if _, err := addPath(w, base+"/elsewhere"); !errors.Is(err, ErrLimit) {
		return fmt.Errorf("second watch: %v", err)
	}
	if again, err := addPath(w, base+"/d"); err != nil || again != id {
		return fmt.Errorf("the first one again: %d, %v", again, err)
	}
	w.Remove(id)
	_, err = addPath(w, base+"/elsewhere")
	return err
}
