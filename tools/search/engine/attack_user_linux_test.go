package engine

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestAttackUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	c := exec.Command("/proc/self/exe", "-test.run=^TestAttackAsUser$", "-test.v")
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

func TestAttackAsUser(t *testing.T) {
	if os.Getenv(ordinary) == "" {
		t.Skip("this is a part of TestAttackUser")
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
