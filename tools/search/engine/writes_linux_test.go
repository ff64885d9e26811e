package engine

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Ways to write without write.
func TestOtherWrites(t *testing.T) {
	for name, write := range map[string]func(t *testing.T, p planted, f *os.File){
		"copy_file_range": func(t *testing.T, p planted, f *os.File) {
			p.write(t, "src", "needle\n")
			s, err := os.Open(p.at("src"))
			must(t, err)
			defer s.Close()
			_, err = unix.CopyFileRange(int(s.Fd()), nil, int(f.Fd()), nil, 7, 0)
			must(t, err)
		},
		"splice": func(t *testing.T, p planted, f *os.File) {
			r, w, err := os.Pipe()
			must(t, err)
			w.WriteString("needle\n")
			_, err = unix.Splice(int(r.Fd()), nil, int(f.Fd()), nil, 7, 0)
			must(t, err)
		},
		"sendfile": func(t *testing.T, p planted, f *os.File) {
			p.write(t, "src", "needle\n")
			s, err := os.Open(p.at("src"))
			must(t, err)
			defer s.Close()
			_, err = unix.Sendfile(int(f.Fd()), int(s.Fd()), nil, 7)
			must(t, err)
		},
		"pwritev": func(t *testing.T, p planted, f *os.File) {
			_, err := unix.Pwritev(int(f.Fd()), [][]byte{[]byte("needle\n")}, 0)
			must(t, err)
		},
		"ftruncate": func(t *testing.T, p planted, f *os.File) { must(t, f.Truncate(3)) },
		"fallocate": func(t *testing.T, p planted, f *os.File) {
			if err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_ZERO_RANGE, 0, 6); err != nil {
				t.Skip(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, p planted, e *Engine) {
				p.write(t, "src", "nothing\n")
				p.warm(t, e)
				f, err := os.OpenFile(p.at("a.txt"), os.O_RDWR, 0)
				must(t, err)
				defer f.Close()
				write(t, p, f)
				p.same(t, e, storing(t, "needle"))
				p.same(t, e, storing(t, "alpha"))
			})
		})
	}
}
