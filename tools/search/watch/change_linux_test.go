package watch

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// change is something that happens to the directory base/d, which is watched and holds the file "file", the directory
// "sub", and the file "twin", whose other name is base/elsewhere/twin. The link base/link leads to "file".
type change struct {
	name string
	act  func(base string) error
	want []Event // without Dir; in order, without repetitions
}

func content(name string) Event { return Event{Name: name} }
func named(name string) Event   { return Event{Name: name, Names: true} }

var happenings = []change{
	{"create", func(base string) error {
		return os.WriteFile(base+"/d/new", []byte("x"), 0o644)
	}, []Event{named("new"), content("new")}},
	{"delete", func(base string) error {
		return os.Remove(base + "/d/file")
	}, []Event{named("file")}},
	{"rename in", func(base string) error {
		return os.Rename(base+"/elsewhere/file", base+"/d/came")
	}, []Event{named("came")}},
	{"rename out", func(base string) error {
		return os.Rename(base+"/d/file", base+"/elsewhere/left")
	}, []Event{named("file")}},
	{"rename within", func(base string) error {
		return os.Rename(base+"/d/file", base+"/d/other")
	}, []Event{named("file"), named("other")}},
	{"exchange", func(base string) error {
		return unix.Renameat2(unix.AT_FDCWD, base+"/d/file", unix.AT_FDCWD, base+"/elsewhere/file", unix.RENAME_EXCHANGE)
	}, []Event{named("file")}},
	{"atomic replace", func(base string) error {
		if err := os.WriteFile(base+"/d/file~", []byte("new"), 0o644); err != nil {
			return err
		}
		return os.Rename(base+"/d/file~", base+"/d/file")
	}, []Event{named("file~"), content("file~"), named("file~"), named("file")}},
	{"write in place, not closed", func(base string) error {
		return write(base+"/d/file", os.O_WRONLY, "X")
	}, []Event{content("file")}},
	{"append through a link", func(base string) error {
		return write(base+"/link", os.O_WRONLY|os.O_APPEND, "more")
	}, []Event{content("file")}},
	{"time set back", func(base string) error {
		return os.Chtimes(base+"/d/file", time.Unix(1, 0), time.Unix(1, 0))
	}, []Event{content("file")}},
	{"mode", func(base string) error {
		return os.Chmod(base+"/d/file", 0o600)
	}, []Event{content("file")}},
	{"truncate", func(base string) error {
		return os.Truncate(base+"/d/file", 1)
	}, []Event{content("file")}},
	{"mapping", mapped, []Event{content("file")}},
	{"subdirectory made", func(base string) error {
		return os.Mkdir(base+"/d/made", 0o755)
	}, []Event{named("made")}},
	{"subdirectory made readable", func(base string) error {
		return os.Chmod(base+"/d/sub", 0o700)
	}, []Event{named("sub")}},
	{"link to a file", func(base string) error {
		return os.Link(base+"/elsewhere/file", base+"/d/hard")
	}, []Event{named("hard")}},
	{"symbolic link", func(base string) error {
		return os.Symlink("file", base+"/d/soft")
	}, []Event{named("soft")}},
	{"mode of the directory", func(base string) error {
		return os.Chmod(base+"/d", 0o700)
	}, []Event{named("")}},
	{"odd name", func(base string) error {
		return os.Mkdir(base+"/d/\xff\n ", 0o755)
	}, []Event{named("\xff\n ")}},
	{"longest name", func(base string) error {
		return os.Mkdir(base+"/d/"+longest, 0o755)
	}, []Event{named(longest)}},
	{"renamed itself", func(base string) error {
		return os.Rename(base+"/d", base+"/e")
	}, []Event{{Gone: true}}},
	{"removed itself", func(base string) error {
		d := base + "/d"
		return errors.Join(os.Remove(d+"/file"), os.Remove(d+"/twin"), os.Remove(d+"/sub"), os.Remove(d))
	}, []Event{named("file"), named("twin"), named("sub"), {Gone: true}}},
	{"through a name elsewhere: not told", func(base string) error {
		return write(base+"/elsewhere/twin", os.O_WRONLY, "X")
	}, nil},
	{"read: not told", func(base string) error {
		_, err := os.ReadFile(base + "/d/file")
		_, dirErr := os.ReadDir(base + "/d/sub")
		return errors.Join(err, dirErr)
	}, nil},
}

var longest = string(slices.Repeat([]byte{'n'}, unix.NAME_MAX))

// write leaves the file open.
func write(name string, flag int, text string) error {
	fd, err := unix.Open(name, flag, 0)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte(text))
	return err
}

// mapped stores to a shared mapping of a file that is closed, and ends it.
func mapped(base string) error {
	fd, err := unix.Open(base+"/d/file", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	data, err := unix.Mmap(fd, 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	unix.Close(fd)
	data[0] = 'X'
	return unix.Munmap(data)
}

// plant makes what a change expects and returns base.
func plant(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	err := errors.Join(
		os.MkdirAll(base+"/d/sub", 0o755),
		os.Mkdir(base+"/elsewhere", 0o755),
		os.WriteFile(base+"/d/file", []byte("text"), 0o644),
		os.WriteFile(base+"/d/twin", []byte("text"), 0o644),
		os.WriteFile(base+"/elsewhere/file", []byte("text"), 0o644),
		os.Link(base+"/d/twin", base+"/elsewhere/twin"),
		os.Symlink("d/file", base+"/link"),
	)
	if err != nil {
		t.Fatal(err)
	}
	return base
}

func TestChangesAreReported(t *testing.T) {
	for _, c := range happenings {
		t.Run(c.name, func(t *testing.T) {
			checkChange(t, c, c.act)
		})
		t.Run(c.name+", by another process", func(t *testing.T) {
			checkChange(t, c, func(base string) error { return run(child(t, c.name, base)) })
		})
	}
}

func checkChange(t *testing.T, c change, act func(base string) error) {
	base := plant(t)
	w := newWatcher(t)
	id := add(t, w, base+"/d")
	if err := act(base); err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(c.want)
	for i := range want {
		want[i].Dir = id
	}
	got := slices.Compact(drain(t, w)) // write and close, of one name, are two events alike
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
