package engine

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

const ordinary = "TOOLHOST_TEST_ORDINARY_USER"

// The superuser can read everything: permissions matter to others only.
func TestIndexEqualsColdForAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("TestIndexEqualsCold ran as an ordinary user already")
	}
	c := exec.Command("/proc/self/exe", "-test.run=^TestAsAnOrdinaryUser$", "-test.v")
	c.Dir = "/"
	c.Env = append(os.Environ(), ordinary+"=1", "TMPDIR=/tmp")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if len(out) == 0 && err != nil || strings.Contains(string(out), "--- SKIP") {
		t.Skipf("no test can be run as another user here: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAsAnOrdinaryUser is the child's part.
func TestAsAnOrdinaryUser(t *testing.T) {
	if os.Getenv(ordinary) == "" {
		t.Skip("this is a part of TestIndexEqualsColdForAnOrdinaryUser")
	}
	if err := os.WriteFile(t.TempDir()+"/probe", nil, 0o600); err != nil {
		t.Skip("this user can make no files:", err)
	}
	equalsCold(t, 11, rounds(t, 24)/2)
}
