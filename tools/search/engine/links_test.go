package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// must fails the test for the first error.
func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (p planted) link(t testing.TB, from, to string) {
	t.Helper()
	if err := os.Link(p.at(from), p.at(to)); err != nil {
		t.Skip("no link can be made:", err)
	}
}

// A link that is made among more names than are looked at one by one, of which two become one.
func TestLinkAmongManyNames(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		touch := func(name string) {
			fd, err := unix.Open(p.at(name), unix.O_CREAT|unix.O_RDONLY, 0o600)
			must(t, err, unix.Close(fd))
		}
		touch("d/from")
		touch("d/to")
		for i := range maxTouched - 2 {
			touch(fmt.Sprintf("d/n%d", i))
		}
		p.link(t, "a.txt", "d/link")
		must(t, os.Rename(p.at("d/from"), p.at("d/to")))
		p.grep(t, e, storing(t, "needle"))
		p.write(t, "d/link", "needle\n")
		p.same(t, e, storing(t, "needle"))
	})
}

// A listed name becomes another name of a file, by which that is written, and is gone.
func TestLinkInThePlaceOfAFileWrittenAndRemoved(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		must(t, os.Remove(p.at("d/b.txt")))
		p.link(t, "a.txt", "d/b.txt")
		p.write(t, "d/b.txt", "needle\n")
		must(t, os.Remove(p.at("d/b.txt")))
		p.same(t, e, storing(t, "needle"))
	})
}

// A second name by which a file is written is that of another file before the next search.
func TestLinkWrittenAndReplaced(t *testing.T) {
	for _, name := range []string{"d/b.txt", "d/x.txt"} {
		for how, replace := range map[string]func(t *testing.T, p planted){
			"made anew": func(t *testing.T, p planted) {
				must(t, os.Remove(p.at(name)))
				p.write(t, name, "new\n")
			},
			"by a rename": func(t *testing.T, p planted) {
				p.write(t, "new~", "new\n")
				must(t, os.Rename(p.at("new~"), p.at(name)))
			},
			"renamed, and that replaced": func(t *testing.T, p planted) {
				must(t, os.Rename(p.at(name), p.at("d/y.txt")))
				p.write(t, "new~", "new\n")
				must(t, os.Rename(p.at("new~"), p.at("d/y.txt")))
			},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				both(t, func(t *testing.T, p planted, e *Engine) {
					os.Remove(p.at(name))
					p.link(t, "a.txt", name)
					p.write(t, name, "needle\n")
					replace(t, p)
					p.same(t, e, storing(t, "needle"))
				})
			})
		}
	}
}

// A directory is moved, and after that a second name in it is made, written and removed.
func TestLinkInAMovedDirectory(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		must(t, os.Rename(p.at("d/e"), p.at("moved")))
		p.link(t, "a.txt", "moved/x")
		p.write(t, "moved/x", "needle\n")
		must(t, os.Remove(p.at("moved/x")))
		p.same(t, e, storing(t, "needle"))
	})
}

// A second name is made in the tree, and moved out of it before the next search.
func TestLinkMovedOut(t *testing.T) {
	for name, move := range map[string]string{"a name": "d/e/x", "its directory": "d/e", "the directory above": "d"} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, p planted, e *Engine) {
				out := t.TempDir()
				p.link(t, "a.txt", "d/e/x")
				must(t, os.Rename(p.at(move), filepath.Join(out, filepath.Base(move))))
				p.grep(t, e, storing(t, "needle"))
				p.grep(t, e, storing(t, "needle"))
				outer := planted{dir: out}
				outer.write(t, strings.TrimPrefix("d/e/x"[strings.LastIndex("/"+move, "/"):], "/"), "needle\n")
				p.same(t, e, storing(t, "needle"))
			})
		})
	}
}

// watches returns how many directories this process has the kernel watch.
func watches(t *testing.T) (n int) {
	t.Helper()
	infos, err := filepath.Glob("/proc/self/fdinfo/*")
	must(t, err)
	for _, info := range infos {
		text, _ := os.ReadFile(info)
		n += strings.Count(string(text), "inotify wd:")
	}
	return n
}

// What left the tree is not watched any more.
func TestMovedOutIsNotWatched(t *testing.T) {
	p := plant(t, smallFiles())
	e := newEngine(t, keen(Watched))
	p.warm(t, e)
	before := watches(t)
	if before < 3 {
		t.Fatalf("%d directories are watched", before)
	}
	out := t.TempDir()
	for i := range 20 {
		p.write(t, "x/y/f.txt", "text\n")
		p.grep(t, e, storing(t, "needle"))
		must(t, os.Rename(p.at("x"), filepath.Join(out, fmt.Sprint(i))))
		p.grep(t, e, storing(t, "needle"))
	}
	if after := watches(t); after > before+1 {
		t.Errorf("%d directories are watched, %d before", after, before)
	}
}
