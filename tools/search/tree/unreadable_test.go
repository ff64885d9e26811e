package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// unprivileged names a variable that says that a test runs as another user than root.
const unprivileged = "TOOLHOST_TEST_UNPRIVILEGED"

// Directories that cannot be read are counted, and found when they can be.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	dir := plant(t, map[string]string{"a": "", "closed/b": "", "closed/d/c": "", ".ignore": "*.o\n", "closed/d/c.o": "", "blind/y/z": "", "open/x": ""})
	chmod := func(name string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod("closed", 0)
	chmod("blind", 0o400) // its names can be read, but nothing in it reached
	defer chmod("closed", 0o700)
	defer chmod("blind", 0o700)
	tree := open(t, dir, Options{})
	check := func(unreadable int, want string) {
		t.Helper()
		for _, refresh := range []func() (*List, error){
			func() (*List, error) { return tree.RefreshOnly(t.Context(), tree.dirs()) },
			func() (*List, error) { return tree.Refresh(t.Context()) },
		} {
			l, err := refresh()
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(paths(l), " "); got != want || l.Unreadable != unreadable || l.Partial {
				t.Errorf("got %s", summary(l))
			}
		}
	}
	check(2, "a open/x")
	if l := refreshed(t, tree); l != refreshed(t, tree) {
		t.Error("another list though nothing changed")
	}
	chmod("closed", 0o700)
	check(1, "a closed/b closed/d/c open/x")
	chmod("open", 0)
	defer chmod("open", 0o700)
	chmod("blind", 0o700)
	check(1, "a blind/y/z closed/b closed/d/c")
}

// asNobody runs the test again as a user who is not root.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Getenv(unprivileged) != "" {
		t.Fatal("still root")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("root can read every directory, and there is no setpriv to be somebody else:", err)
	}
	self := filepath.Join(t.TempDir(), "test")
	binary, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip("root can read every directory, and the test cannot be copied:", err)
	}
	if err := os.WriteFile(self, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(self); strings.HasPrefix(filepath.Base(dir), "0") || strings.Contains(dir, t.Name()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	temp := plant(t, nil)
	if err := os.Chmod(temp, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", self, "-test.run=^"+t.Name()+"$")
	cmd.Dir, cmd.Env = temp, append(os.Environ(), unprivileged+"=1", "TMPDIR="+temp, "GOCOVERDIR=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as another user: %v\n%s", err, out)
	}
}
