package engine

import (
	"context"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What a name stands for may change after it was listed: each of these takes the place of a file just before it would be
// opened. None is waited for or followed.
func TestFileSwappedBeforeItIsOpened(t *testing.T) {
	tests := []struct {
		name string
		swap func(file, outside string) error
		want SkipCounts
	}{
		{"a FIFO", func(file, _ string) error { return unix.Mkfifo(file, 0o644) }, SkipCounts{Special: 1}},
		{"a directory", func(file, _ string) error { return os.Mkdir(file, 0o755) }, SkipCounts{Special: 1}},
		{"a link", func(file, outside string) error { return os.Symlink(outside, file) }, SkipCounts{Unreadable: 1}},
		{"a link to a FIFO", func(file, outside string) error {
			if err := unix.Mkfifo(outside+"-fifo", 0o644); err != nil {
				return err
			}
			return os.Symlink(outside+"-fifo", file)
		}, SkipCounts{Unreadable: 1}},
		{"nothing", func(string, string) error { return nil }, SkipCounts{Unreadable: 1}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			outside := plant(t, map[string]string{"secret": "needle\n"})
			p := plant(t, map[string]string{"a": "alpha\n", "swapped": "alpha\n", "z": "needle\n"})
			for _, e := range []*Engine{newEngine(t, Options{Index: Off}), newEngine(t, keen(Strict))} {
				p.warm(t, e)
				q := storing(t, "needle")
				q.Want = func(_, name string) bool {
					if name == "swapped" {
						os.RemoveAll(p.at(name))
						os.RemoveAll(outside.at("secret-fifo"))
						if err := tc.swap(p.at(name), outside.at("secret")); err != nil {
							t.Error(err)
						}
					}
					return true
				}
				var found []string
				sum, err := e.Grep(context.Background(), p.root(t), q, func(part Part) bool { found = append(found, part.Path); return true })
				if err != nil || strings.Join(found, " ") != "z" || sum.Skipped != tc.want {
					t.Errorf("found %v, %+v, %v", found, sum, err)
				}
				os.RemoveAll(p.at("swapped"))
				p.write(t, "swapped", "alpha\n")
			}
		})
	}
}

// A directory that a link takes the place of is not entered through it.
func TestDirectorySwappedBeforeItIsOpened(t *testing.T) {
	outside := plant(t, map[string]string{"f": "needle\n"})
	p := plant(t, map[string]string{"d/f": "alpha\n", "z": "needle\n"})
	e := newEngine(t, Options{Index: Off})
	q := storing(t, "needle")
	q.Want = func(dir, _ string) bool {
		if dir == "d/" {
			os.RemoveAll(p.at("d"))
			if err := os.Symlink(outside.dir, p.at("d")); err != nil {
				t.Error(err)
			}
		}
		return true
	}
	var found []string
	sum, err := e.Grep(context.Background(), p.root(t), q, func(part Part) bool { found = append(found, part.Path); return true })
	if err != nil || strings.Join(found, " ") != "z" || sum.Skipped.Unreadable != 1 {
		t.Errorf("found %v, %+v, %v", found, sum, err)
	}
}
