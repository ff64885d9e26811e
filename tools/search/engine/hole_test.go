package engine

import (
	"context"
	"os"
	"strings"
	"testing"

	"toolhost/permissions/protect"
)

// A small file with a NUL is binary to the index as it is to a search.
func TestSmallBinaryFile(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		p.write(t, "small.bin", "needle\n\x00\n")
		p.warm(t, e)
		p.same(t, e, storing(t, "needle"))
	})
}

// A directory that takes another one's place may have its inode number. Its watch ended.
func TestDirectoryMadeAnew(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		for range 5 { // some file systems give a number again, others soon, others never
			if err := os.RemoveAll(p.at("d/e")); err != nil {
				t.Fatal(err)
			}
			p.write(t, "d/e/c.txt", "charlie\n")
			p.warm(t, e)
			p.write(t, "d/e/c.txt", "needle\n")
			p.write(t, "d/e/new.txt", "needle\n")
			p.same(t, e, storing(t, "needle"))
		}
	})
}

// A second name that is made in the tree lets a file change without an event of its first name.
func TestLinkMadeInTheTree(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		if err := os.Link(p.at("a.txt"), p.at("d/e/link")); err != nil {
			t.Fatal(err)
		}
		p.grep(t, e, storing(t, "needle"))
		p.write(t, "d/e/link", "needle\n")
		p.same(t, e, storing(t, "needle"))
	})
}

// The same, when the second name is gone before the next search.
func TestLinkMadeAndRemovedInTheTree(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		if err := os.Link(p.at("a.txt"), p.at("d/e/link")); err != nil {
			t.Fatal(err)
		}
		p.write(t, "d/e/link", "needle\n")
		if err := os.Remove(p.at("d/e/link")); err != nil {
			t.Fatal(err)
		}
		p.same(t, e, storing(t, "needle"))
	})
}

// A search that is cut short leaves nothing unnoticed by the next one.
func TestChangeAfterCanceledSearch(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := e.Grep(ctx, p.root(t), storing(t, "x"), func(Part) bool { return true }); err != nil {
			t.Fatal(err)
		}
		p.write(t, "a.txt", "needle\n")
		p.same(t, e, storing(t, "needle"))
	})
}

// Nor does a directory that was made before it stay unwatched.
func TestDirectoryMadeBeforeCanceledSearch(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		p.write(t, "new/f.txt", "foxtrot\n")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := e.Grep(ctx, p.root(t), storing(t, "x"), func(Part) bool { return true }); err != nil {
			t.Fatal(err)
		}
		p.warm(t, e)
		p.write(t, "new/f.txt", "needle\n")
		p.write(t, "new/g.txt", "needle\n")
		p.same(t, e, storing(t, "needle"))
	})
}

// The root may vanish; the work in the background, which comes later, must bear it.
func TestRootVanishes(t *testing.T) {
	for name, mode := range map[string]Mode{"strict": Strict, "watched": Watched} {
		t.Run(name, func(t *testing.T) {
			outer := plant(t, map[string]string{"root/a.txt": "alpha\n"})
			p := planted{dir: outer.at("root")}.open(t)
			e := newEngine(t, keen(mode))
			p.warm(t, e)
			place := e.places[0]
			place.enter()
			defer place.leave()
			r := p.root(t)
			if err := os.RemoveAll(p.dir); err != nil {
				t.Fatal(err)
			}
			sum, err := e.Grep(context.Background(), r, storing(t, "x"), func(Part) bool { return true })
			t.Log(sum, err)
			defer func() {
				if r := recover(); r != nil {
					t.Error("in the background:", r)
				}
			}()
			place.due.Store(true)
			place.watch() // what background does, in this goroutine
			place.compare()
			place.build()
		})
	}
}

// Whether a secret under another name counts as denied says nothing of its content.
func TestSecretUnderAnotherName(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		p.write(t, ".env", "password\n")
		secrets, err := protect.Scan(context.Background(), protect.Options{Roots: []string{p.dir}, ReadDeny: protect.DefaultReadDeny()})
		if err != nil {
			t.Fatal(err)
		}
		p.ws.Guard(func() (*protect.Map, error) { return secrets, nil })
		if err := os.Link(p.at(".env"), p.at("d/harmless")); err != nil {
			t.Skip("no link can be made:", err)
		}
		p.warm(t, e)
		if got := p.grep(t, e, storing(t, "password")); !strings.Contains(got, "Denied:1") || strings.Contains(got, "harmless") {
			t.Errorf("a secret is not denied: %s", got)
		}
		p.same(t, e, storing(t, "no such text"))
	})
}

// A name that was there becomes another name of a file.
func TestLinkInThePlaceOfAFile(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		if os.Remove(p.at("d/b.txt")) != nil || os.Link(p.at("a.txt"), p.at("d/b.txt")) != nil {
			t.Fatal("no link can be made")
		}
		p.grep(t, e, storing(t, "needle"))
		p.write(t, "d/b.txt", "needle\n")
		p.same(t, e, storing(t, "needle"))
	})
}

// A second name comes with a new directory.
func TestLinkInANewDirectory(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		p.write(t, "new/deep/", "")
		if err := os.Link(p.at("a.txt"), p.at("new/deep/link")); err != nil {
			t.Fatal(err)
		}
		p.write(t, "new/deep/link", "needle\n")
		p.same(t, e, storing(t, "needle"))
	})
}

// The events of a descriptor whose name is gone are about a file that has another one.
func TestWriteByARemovedName(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		f, err := os.OpenFile(p.at("a.txt"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if os.Link(p.at("a.txt"), p.at("d/other")) != nil || os.Remove(p.at("a.txt")) != nil {
			t.Fatal("no link can be made")
		}
		p.warm(t, e)
		if _, err := f.WriteString("needle\n"); err != nil {
			t.Fatal(err)
		}
		p.same(t, e, storing(t, "needle"))
	})
}
