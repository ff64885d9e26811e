package files

import (
	"os"
	"testing"
)

// TestNothingBesideWhileItIsWritten: a file that is being written has no name in the person's directory, so that a host that is
// killed leaves none.
func TestNothingBesideWhileItIsWritten(t *testing.T) {
	p := newProject(t, Options{})
	target := p.placed("f")
	if f, err := openNameless(target.dir, 0o600); err != nil {
		t.Skip("files here have names from the start:", err)
	} else {
		f.Close()
	}
	for _, mode := range []os.FileMode{0o600, 0o666} {
		temp := must[*temporary](t)(newTemporary(target.dir, mode))
		if err := temp.write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(p.path(".")); err != nil || len(left) != 0 {
			t.Errorf("while it is written the directory has %v (%v)", left, err)
		}
		temp.discard()
	}
	p.noTemporaries(".")
}
