package watch

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTrusted(t *testing.T) {
	for name, magic := range map[string]int64{"/dev/shm": unix.TMPFS_MAGIC, "/proc": unix.PROC_SUPER_MAGIC} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.Open(name)
			if err != nil {
				t.Skip("there is none:", err)
			}
			defer dir.Close()
			var st unix.Statfs_t
			if err := unix.Fstatfs(int(dir.Fd()), &st); err != nil || int64(st.Type) != magic {
				t.Skipf("it is something else here: %#x", st.Type)
			}
			if got, want := Trusted(int(dir.Fd())), magic == unix.TMPFS_MAGIC; got != want {
				t.Errorf("got %t, want %t", got, want)
			}
		})
	}
	if Trusted(-1) {
		t.Error("what is not open is trusted")
	}
}
