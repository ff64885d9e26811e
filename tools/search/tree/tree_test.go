package tree

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"toolhost/tools/search/ignore"
)

// summary is a list in words: its files with their kinds, its directories, its counts.
func summary(l *List) string {
	var b strings.Builder
	for _, f := range l.Files {
		fmt.Fprintf(&b, "%q %d\n", f.Path(), f.Kind)
	}
	for _, d := range l.Dirs {
		fmt.Fprintf(&b, "%q\n", d.Path)
	}
	fmt.Fprintf(&b, "ignored %d, hidden %d, unreadable %d, partial %v\n", l.Ignored, l.Hidden, l.Unreadable, l.Partial)
	return b.String()
}

func TestWhatIsLeftOut(t *testing.T) {
	for _, test := range []struct {
		name            string
		files           map[string]string
		options         Options
		want            string
		ignored, hidden int
	}{
		{name: "nothing", want: ""},
		{name: "path order", files: map[string]string{"a.go": "", "a/x": "", "a-b/x": "", "a0": "", "abcdefgh/x": "", "abcdefgh.": "", "abcdefgh0": ""},
			want: "a-b/x a.go a/x a0 abcdefgh. abcdefgh/x abcdefgh0"},
		{name: "names with a dot", files: map[string]string{".a": "", ".d/x": "", "b": "", "c/.e": ""},
			want: "b", hidden: 3},
		{name: "hidden", files: map[string]string{".a": "", ".d/x": "", "b": "", ".git/HEAD": "", "m/.git": "gitdir: nowhere\n"},
			options: Options{Hidden: true}, want: ".a .d/x b"},
		{name: "gitignore", files: map[string]string{".gitignore": "*.o\n/out/\n", "a.c": "", "a.o": "", "out/x": "", "d/out/x": "", "d/b.o": ""},
			want: "a.c d/out/x", ignored: 3, hidden: 1},
		{name: "gitignore below", files: map[string]string{"d/.gitignore": "x\n", "d/x": "", "d/e/x": "", "x": ""},
			options: Options{Hidden: true}, want: "d/.gitignore x", ignored: 2},
		{name: "ignore decides before gitignore", files: map[string]string{".gitignore": "*.o\n", ".ignore": "!a.o\nb\n", "a.o": "", "b": "", "c.o": ""},
			want: "a.o", ignored: 2, hidden: 2},
		{name: "no ignore", files: map[string]string{".gitignore": "*.o\n", ".ignore": "b\n", "a.o": "", "b": ""},
			options: Options{NoIgnore: true}, want: "a.o b", hidden: 2},
		{name: "a repository below begins anew", files: map[string]string{
			".gitignore": "*.o\n", ".ignore": "b\n", "r/.git/HEAD": "", "r/.git/info/exclude": "c\n", "r/a.o": "", "r/b": "", "r/c": "",
			"m/.git": "gitdir: ../r/.git\n", "m/a.o": "",
		}, want: "m/a.o r/a.o", ignored: 2, hidden: 2},
		{name: "exclude", files: map[string]string{".git/info/exclude": "x\n", "x": "", "y": ""}, want: "y", ignored: 1},
		{name: "private", files: map[string]string{"p/x": "", "d/p/x": "", "q": "", ".p/x": ""},
			options: Options{Private: func(path string) bool { return path == "d/p" || path == ".p" }}, want: "p/x q"},
		{name: "an ignored directory is not private", files: map[string]string{".ignore": "p\n", "p/x": ""}, ignored: 1, hidden: 1},
		{name: "an ignore file that is a directory", files: map[string]string{".gitignore/x": "", "a": ""},
			options: Options{Hidden: true}, want: ".gitignore/x a"},
		{name: "an ignore file of a MiB", files: map[string]string{".ignore": strings.Repeat("#\n", maxIgnoreFile/2-1) + "a\nb\nbc", "a": "", "b": "", "bc": ""},
			want: "b bc", ignored: 1, hidden: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := refreshed(t, open(t, plant(t, test.files), test.options))
			if got := strings.Join(paths(l), " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if l.Ignored != test.ignored || l.Hidden != test.hidden || l.Unreadable != 0 || l.Partial {
				t.Errorf("got %s", summary(l))
			}
		})
	}
}

func TestKinds(t *testing.T) {
	outside := plant(t, map[string]string{"secret": "s", "dir/x": ""})
	dir := plant(t, map[string]string{"d/a": "", "e/keep": ""})
	for name, target := range map[string]string{
		"d/loop": "..", "self": "self", "out": outside, "file": filepath.Join(outside, "secret"), "nowhere": "nowhere/at/all",
		"d/.gitignore": filepath.Join(outside, "pattern"), "e/.git": outside,
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(outside, "pattern"), "*\n", false)
	want := "d/a 0, d/loop 1, e/keep 0, file 1, nowhere 1, out 1, self 1"
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
		t.Log("no FIFO can be made here:", err)
	} else {
		want = strings.Replace(want, "file", "fifo 2, file", 1)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "zocket"))
	if err != nil {
		t.Log("no socket can be made here:", err)
	} else {
		defer socket.Close()
		want += ", zocket 2"
	}
	var got []string
	for _, f := range refreshed(t, open(t, dir, Options{})).Files {
		got = append(got, fmt.Sprint(f.Path(), " ", f.Kind))
	}
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// No FIFO in the place of a file that rules come from makes a refresh wait.
func TestIgnoreFilesThatBlock(t *testing.T) {
	dir := plant(t, map[string]string{"a": "", ".git/HEAD": "", ".git/info/": "", "m/.git": "gitdir: ../pipe\n", "m/b": ""})
	for _, name := range []string{".ignore", ".gitignore", ".git/info/exclude", ".git/config", "pipe", "m/.ignore"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o666); err != nil {
			t.Skip("no FIFO can be made here:", err)
		}
	}
	tree := open(t, dir, Options{Git: ignore.Environment{Home: dir}})
	for range 2 {
		if got := paths(refreshed(t, tree)); !slices.Equal(got, []string{"a", "m/b", "pipe"}) {
			t.Errorf("got %q", got)
		}
	}
}

func TestDirFile(t *testing.T) {
	tree := open(t, plant(t, map[string]string{"d/a": "", "d/b.go": "", "d/b/x": "", "d/c": ""}), Options{})
	l := refreshed(t, tree)
	d := l.Dirs[1]
	for name, want := range map[string]bool{"a": true, "b.go": true, "b": false, "c": true, "": false, "d": false} {
		f := d.File(name)
		if (f != nil) != want || want && (f.Name != name || f.Dir != d) {
			t.Errorf("%q: %v", name, f)
		}
	}
	if f := new(Dir).File("a"); f != nil {
		t.Errorf("in an unread directory: %v", f)
	}
}
