package persist

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// The disk is a small tmpfs in a mount namespace of a child, so that nothing of it is left whatever happens.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv("PERSIST_TEST_TMPFS"); dir != "" {
		if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Skipf("mount namespace: %v", err)
		}
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
			t.Skipf("mount a tmpfs: %v", err)
		}
		liveOnAFullDisk(t, dir)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), "PERSIST_TEST_TMPFS="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		t.Skipf("a mount namespace is not permitted here: %v", err)
	case err != nil:
		t.Fatalf("in the mount namespace: %v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("in the mount namespace:\n%s", out)
	}
}

func liveOnAFullDisk(t *testing.T, dir string) {
	o := testOptions(filepath.Join(dir, "sessions"))
	s := New(o)
	if err := s.Reserve(t.Context()); err != nil {
		t.Fatal(err)
	}
	fillDisk(t, filepath.Join(dir, "filler"))

	// What runs is recorded to its end: at least 1 MiB fits.
	group := [][]byte{[]byte(`{"data":"` + strings.Repeat("x", 100<<10) + `"}`)}
	recorded := 0
	var err error
	for err == nil {
		if _, err = s.Append(group...); err == nil {
			recorded += len(group[0])
		}
	}
	if recorded < reserveMin-len(group[0]) {
		t.Errorf("%d bytes were recorded on a full disk", recorded)
	}
	e := wantError(t, err, agenttool.DependencyUnavailable, "journal_unavailable")
	if !errors.Is(err, syscall.ENOSPC) ||
		!strings.Contains(e.Message, "free space in "+o.Dir+", or prune old sessions") {
		t.Errorf("message is %q", e.Message)
	}
	if r := verifyLog(t, logOf(s)); r.TornBytes != 0 {
		t.Errorf("a torn record stayed: %+v", r)
	}

	// Nothing new starts.
	wantError(t, s.Reserve(t.Context()), agenttool.DependencyUnavailable, "journal_unavailable")
	other := New(Options{Dir: o.Dir, ID: "ses_other"})
	wantError(t, other.Reserve(t.Context()), agenttool.DependencyUnavailable, "journal_unavailable")
	p, err := s.Payload("inv_1", "stdout", "text/plain", "full_output")
	if err == nil {
		_, err = p.Write(make([]byte, 1<<20))
		wantError(t, err, agenttool.DependencyUnavailable, "payload_unavailable")
		_, err = p.Close()
	}
	if !errors.Is(err, agenttool.DependencyUnavailable) {
		t.Errorf("payload on a full disk: %v", err)
	}

	// All goes on when there is space.
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	if err := s.Reserve(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, 1, 1)
	if err := errors.Join(s.Close(), other.Reserve(t.Context()), other.Close()); err != nil {
		t.Fatal(err)
	}
	if r := verifyLog(t, logOf(s)); !r.Closed {
		t.Errorf("%+v", r)
	}
	if kinds := types(t, logOf(s)); !slices.Contains(kinds, "journal.gap") {
		t.Errorf("no gap record")
	}
}

// fillDisk writes a file until nothing fits.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err = f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}
