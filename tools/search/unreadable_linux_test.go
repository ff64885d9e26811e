package search

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What a user may not read is counted. The superuser may read everything, and has another user look in a child process.
func TestUnreadableIsCounted(t *testing.T) {
	if os.Geteuid() == 0 {
		asOrdinaryUser(t)
		return
	}
	tr := plant(t, map[string]string{"a": "needle\n", "closed/b": "needle\n", "file": "needle\n", "listed/c": "needle\n"})
	for name, mode := range map[string]os.FileMode{"closed": 0, "file": 0, "listed": 0o400} {
		if err := os.Chmod(filepath.Join(tr.dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(filepath.Join(tr.dir, "closed"), 0o755)
	defer os.Chmod(filepath.Join(tr.dir, "listed"), 0o755)
	for range 2 {
		_, got := tr.grep(t, `{"pattern":"needle"}`)
		if got.Skipped.Unreadable != 3 || got.Total != 1 {
			t.Errorf("%+v", got)
		}
	}
}

func asOrdinaryUser(t *testing.T) {
	t.Helper()
	c := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	c.Dir = "/"
	c.Env = append(os.Environ(), "TMPDIR=/tmp")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if len(out) == 0 && err != nil {
		t.Skip("no test can be run as another user here:", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v: %s", err, out)
	}
}
