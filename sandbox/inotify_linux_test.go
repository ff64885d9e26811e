package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A directory that is replaced while it is watched is watched on when it is added again, and forgetting it is no error.
func TestInotify(t *testing.T) {
	n, err := newInotify()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.follow(func(path string) { seen <- path })
	}()
	top := t.TempDir()
	d := filepath.Join(top, "d")
	expect := func(want string) {
		t.Helper()
		for limit := time.After(hang); ; {
			select {
			case got := <-seen:
				if got == want {
					return
				}
			case <-limit:
				t.Fatalf("%s was not seen", want)
			}
		}
	}
	make := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 3 {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{top, d, d} {
			if err := n.add(dir); err != nil {
				t.Fatal(err)
			}
		}
		make(filepath.Join(d, "f"))
		expect(filepath.Join(d, "f"))
		if err := os.Rename(d, filepath.Join(top, "old")); err != nil {
			t.Fatal(err)
		}
		expect(filepath.Join(top, "old"))
		if round == 1 {
			n.remove(d)
		}
		if err := os.RemoveAll(filepath.Join(top, "old")); err != nil {
			t.Fatal(err)
		}
	}
	n.remove(d)
	n.remove(top)
	n.close()
	<-done
	if err := n.add(top); err == nil {
		t.Error("what is closed watches")
	}
}
