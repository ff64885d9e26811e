package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool"
)

// A rule that was written counts although its directory cannot be synced: it is pinned as the person's own, and the error says
// that it counts.
func TestRememberWithoutSync(t *testing.T) {
	dir := t.TempDir()
	o := Options{
		Local: filepath.Join(dir, "ws", ".toolhost", "settings.local.json"), Workspace: filepath.Join(dir, "ws"), Trust: filepath.Join(dir, "trust.json"),
		steps: steps{sync: func(*os.File) error { return syscall.EIO }},
	}
	if err := os.MkdirAll(filepath.Dir(o.Local), 0o700); err != nil {
		t.Fatal(err)
	}
	err := Remember(o, o.Local, agenttool.Allow, "Shell(make)")
	if !IsNotSynced(err) || !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "counts") {
		t.Errorf("Remember: %v", err)
	}
	o.steps = steps{}
	s, err := Load(o)
	if err != nil || len(s.Rules) != 1 {
		t.Errorf("the rule does not count: %v, %+v", err, s)
	}
}

// A file system that cannot sync directories is no failure.
func TestRememberWhereDirectoriesAreNotSynced(t *testing.T) {
	for _, cause := range []error{syscall.EINVAL, syscall.ENOTSUP, syscall.ENOSYS} {
		file := filepath.Join(t.TempDir(), "settings.json")
		if err := replaceFile(file, []byte("{}"), nil, steps{sync: func(*os.File) error { return cause }}); err != nil {
			t.Errorf("%v: %v", cause, err)
		}
	}
}

// A rename that fails after it happened has happened.
func TestReplaceFileRenamed(t *testing.T) {
	for _, tt := range []struct {
		name    string
		happens bool
	}{{"after it happened", true}, {"before", false}} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "settings.json")
			if err := AddRule(file, agenttool.Allow, "Shell(a)", time.Time{}); err != nil {
				t.Fatal(err)
			}
			err := replaceFile(file, []byte("{}"), nil, steps{rename: func(from, to string) error {
				if tt.happens {
					_ = os.Rename(from, to)
				}
				return syscall.EIO
			}})
			content, _ := os.ReadFile(file)
			if done := string(content) == "{}"; done != tt.happens || (err == nil) != tt.happens {
				t.Errorf("%v; the file is %s", err, content)
			}
		})
	}
}
