package persist

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A file system that cannot sync directories, as that of /proc, is no failure.
func TestDirectoriesThatCannotBeSynced(t *testing.T) {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc:", err)
	}
	defer dir.Close()
	if err := dir.Sync(); !errors.Is(err, unix.EINVAL) {
		t.Skip("it can be synced here:", err)
	}
	if err := syncDir(dir); err != nil {
		t.Error(err)
	}
}
