package engine

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// ordinarily reports whether this is an ordinary user: the superuser can read everything, and permissions matter to others
// only. For the superuser it has one run the test.
func ordinarily(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	c := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	c.Dir, c.Env = "/", append(os.Environ(), "TMPDIR=/tmp")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if len(out) == 0 && err != nil {
		t.Skipf("no test can be run as another user here: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v: %s", err, out)
	}
	return false
}

func TestIndexEqualsColdForAnOrdinaryUser(t *testing.T) {
	if ordinarily(t) {
		equalsCold(t, 11, rounds(t, 24)/2)
	}
}

// What is below a directory that can no longer be entered, or be entered again, is no longer found, or again.
func TestChmodOfADirectory(t *testing.T) {
	if !ordinarily(t) {
		return
	}
	for _, mode := range []os.FileMode{0o400, 0o100, 0, 0o200, 0o600, 0o300} {
		t.Run(mode.String(), func(t *testing.T) {
			both(t, func(t *testing.T, p planted, e *Engine) {
				p.write(t, "d/e/g/h.txt", "hotel\n")
				p.warm(t, e)
				defer os.Chmod(p.at("d"), 0o700)
				for range 2 {
					must(t, os.Chmod(p.at("d"), mode))
					p.same(t, e, storing(t, "nothing here"))
					p.same(t, e, storing(t, "charlie"))
					p.same(t, e, storing(t, "hotel"))
					if got, want := p.names(t, e), p.names(t, newEngine(t, Options{Index: Off})); got != want {
						t.Errorf("got %s, want %s", got, want)
					}
					must(t, os.Chmod(p.at("d"), 0o700))
					p.same(t, e, storing(t, "nothing here"))
					p.same(t, e, storing(t, "charlie"))
				}
				must(t, os.Chmod(p.at("d/e/c.txt"), 0))
				for range 3 {
					p.same(t, e, storing(t, "nothing here"))
					p.same(t, e, storing(t, "charlie"))
					settle(t, e)
				}
			})
		})
	}
}
