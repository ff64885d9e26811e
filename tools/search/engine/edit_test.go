package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/sys/unix"

	"toolhost/tools/racy"
)

// editor changes a tree at random, in every way that a search has to notice. What an edit runs into is no failure:
// names are few, so that they meet.
type editor struct {
	*rand.Rand
	dir     string
	outside string   // another directory, with names of files in the tree
	done    []string // what was done, for who has to find out what went wrong
	maps    bool     // a store into a mapping shows in the status of the file
}

func newEditor(t testing.TB, seed uint64, dir string) *editor {
	t.Helper()
	e := &editor{Rand: rand.New(rand.NewPCG(seed, 8)), dir: dir, outside: t.TempDir()}
	for range 200 {
		e.make(e.file())
	}
	for i := range 8 {
		os.Link(e.file(), filepath.Join(e.outside, fmt.Sprint(i)))
	}
	e.make(filepath.Join(e.dir, "names/first"))
	e.maps = e.showsMapped()
	t.Cleanup(func() { // what an ordinary user could not remove
		exec.Command("chmod", "-R", "u+rwx", dir).Run()
	})
	return e
}

// showsMapped reports whether the file system notes the time of a store into a mapping; tmpfs does not.
func (e *editor) showsMapped() bool {
	name := filepath.Join(e.outside, "mapped")
	e.put(name, "text", os.O_TRUNC)
	before, err := os.Stat(name)
	if err != nil {
		return false
	}
	time.Sleep(racy.Window)
	e.storeMapped(name)
	after, err := os.Stat(name)
	return err == nil && after.ModTime() != before.ModTime()
}

func (e *editor) pick(of ...string) string { return of[e.IntN(len(of))] }

// folder returns a path at which there may be a directory.
func (e *editor) folder() string {
	path := e.dir
	for range e.IntN(4) {
		path = filepath.Join(path, e.pick("a", "b", "a.b", "ab", ".h", "c", "d"))
	}
	return path
}

// file returns a path at which there may be a file.
func (e *editor) file() string {
	return filepath.Join(e.folder(), e.pick("f0", "f1", "f2", "f3", "a.go", "b.go", "c.log", "d.log", ".dot"))
}

// secondName returns a path for another name of a file. Names that are made where no search looks, since the file was
// indexed, are the hole in watched mode that the package's documentation tells of; these are in a directory that is
// always listed.
func (e *editor) secondName() string {
	return filepath.Join(e.dir, "names", e.pick("n0", "n1", "n2", "n3", "n4", "n5"))
}

// word returns one of 64 words.
func (e *editor) word() string {
	n := e.IntN(64)
	word := fmt.Sprintf("word%c%c", 'a'+n/8, 'a'+n%8)
	if e.IntN(8) == 0 {
		word = strings.ToUpper(word)
	}
	return word
}

// text returns the content of a file, of some sort.
func (e *editor) text() string {
	var b strings.Builder
	size := 1 + e.IntN(300)
	switch e.IntN(60) {
	case 0:
		return ""
	case 1:
		size = 60_000 + e.IntN(20_000)
	case 2:
		size = 250_000 + e.IntN(30_000)
	}
	for b.Len() < size {
		b.WriteString(e.line(size))
	}
	text := b.String()
	switch e.IntN(16) {
	case 0:
		return strings.ReplaceAll(text, "\n", "\r\n")
	case 1:
		return text + "\x00"
	case 2:
		return "\xef\xbb\xbf" + text
	case 3:
		return wide(text)
	case 4:
		return strings.TrimSuffix(text, "\n")
	}
	return text
}

func (e *editor) line(size int) string {
	switch e.IntN(8) {
	case 0:
		return "func_" + e.word() + "(" + e.word() + ")\n"
	case 1:
		return "\n"
	case 2:
		if size > 1000 {
			return strings.Repeat("some filling text, ", e.IntN(3000)) + e.word() + "\n"
		}
	}
	return e.word() + " " + e.word() + "é \xff\n"
}

// wide returns text in UTF-16 with its mark.
func wide(text string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}

func (e *editor) put(name, text string, how int) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|unix.O_NONBLOCK|how, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	f.WriteString(text)
}

func (e *editor) make(name string) {
	os.MkdirAll(filepath.Dir(name), 0o755)
	e.put(name, e.text(), os.O_TRUNC)
}

func (e *editor) rules() string {
	var text string
	for range e.IntN(3) {
		text += e.pick("*.log", "a.b", "/b/", "!a.b", "a/*", "f1", "**/ab", "b/f2", "!*.log") + "\n"
	}
	return text
}

// edits are what an editor does, each by its name.
var edits = []struct {
	name string
	do   func(e *editor, file, folder string)
}{
	{"write", func(e *editor, file, _ string) { e.put(file, e.text(), os.O_TRUNC) }},
	{"append", func(e *editor, file, _ string) { e.put(file, e.text(), os.O_APPEND) }},
	{"append by a link", func(e *editor, file, _ string) {
		link := filepath.Join(e.outside, "link")
		os.Remove(link)
		os.Symlink(file, link)
		e.put(link, e.text(), os.O_APPEND)
	}},
	{"make", func(e *editor, file, _ string) { e.make(file) }},
	{"replace", func(e *editor, file, _ string) {
		e.put(file+"~", e.text(), os.O_TRUNC)
		os.Rename(file+"~", file)
	}},
	{"replace from outside", func(e *editor, file, _ string) {
		e.put(filepath.Join(e.outside, "new"), e.text(), os.O_TRUNC)
		os.Rename(filepath.Join(e.outside, "new"), file)
	}},
	{"rename", func(e *editor, file, _ string) { os.Rename(file, e.file()) }},
	{"rename a directory", func(e *editor, _, folder string) { os.Rename(folder, e.folder()) }},
	{"move a directory out and in", func(e *editor, _, folder string) {
		away := filepath.Join(e.outside, "away")
		if folder != e.dir && os.Rename(folder, away) == nil {
			e.put(filepath.Join(away, "f0"), e.text(), os.O_TRUNC)
			os.Rename(away, e.folder())
		}
	}},
	{"remove", func(e *editor, file, _ string) { os.Remove(file) }},
	{"remove a directory", func(e *editor, _, folder string) {
		if folder != e.dir && e.IntN(3) == 0 {
			os.RemoveAll(folder)
		}
	}},
	{"make a directory anew", func(e *editor, _, folder string) {
		if folder != e.dir && e.IntN(2) == 0 {
			os.RemoveAll(folder)
			e.make(filepath.Join(folder, "f1"))
		}
	}},
	{"new directories", func(e *editor, _, folder string) { e.make(filepath.Join(folder, "a/b/c/d/f0")) }},
	{"rules", func(e *editor, _, folder string) {
		e.put(filepath.Join(folder, e.pick(".gitignore", ".ignore")), e.rules(), os.O_TRUNC)
	}},
	{"rules of the root", func(e *editor, _, _ string) { e.put(filepath.Join(e.dir, ".gitignore"), e.rules(), os.O_TRUNC) }},
	{"no rules", func(e *editor, _, folder string) { os.Remove(filepath.Join(folder, e.pick(".gitignore", ".ignore"))) }},
	{"a repository", func(e *editor, _, folder string) {
		os.MkdirAll(filepath.Join(folder, ".git/info"), 0o755)
		e.put(filepath.Join(folder, ".git/info/exclude"), e.rules(), os.O_TRUNC)
	}},
	{"no repository", func(e *editor, _, folder string) { os.RemoveAll(filepath.Join(folder, ".git")) }},
	{"link", func(e *editor, file, _ string) { os.Link(file, e.secondName()) }},
	{"link and write", func(e *editor, file, _ string) {
		if other := e.secondName(); os.Link(file, other) == nil {
			e.put(other, e.text(), os.O_TRUNC)
		}
	}},
	{"write a second name", func(e *editor, _, _ string) { e.put(e.secondName(), e.text(), os.O_APPEND) }},
	{"remove a second name", func(e *editor, _, _ string) { os.Remove(e.secondName()) }},
	{"write from outside", func(e *editor, _, _ string) {
		e.put(filepath.Join(e.outside, fmt.Sprint(e.IntN(8))), e.text(), os.O_TRUNC)
	}},
	{"link from outside", func(e *editor, file, _ string) { os.Link(filepath.Join(e.outside, fmt.Sprint(e.IntN(8))), file) }},
	{"store", func(e *editor, file, _ string) {
		if e.maps {
			e.storeMapped(file)
		}
	}},
	{"the same size", func(e *editor, file, _ string) { e.sameSize(file, 0) }},
	{"truncate to the same size", func(e *editor, file, _ string) { e.sameSize(file, os.O_TRUNC) }},
	{"touch", func(e *editor, file, _ string) { os.Chtimes(file, time.Unix(1e9, 0), time.Unix(1e9, 0)) }},
	{"write and touch", func(e *editor, file, _ string) {
		e.put(file, e.text(), os.O_TRUNC)
		os.Chtimes(file, time.Unix(1e9, 0), time.Unix(1e9, 0))
	}},
	{"permissions of a file", func(e *editor, file, _ string) { os.Chmod(file, os.FileMode(e.IntN(8)<<6)) }},
	{"permissions of a directory", func(e *editor, _, folder string) {
		if folder != e.dir {
			os.Chmod(folder, os.FileMode(e.IntN(8)<<6))
		}
	}},
	{"all permissions", func(e *editor, _, folder string) { os.Chmod(folder, 0o700) }},
	{"all permissions", func(e *editor, file, folder string) {
		os.Chmod(filepath.Dir(file), 0o700)
		os.Chmod(file, 0o600)
	}},
	{"another kind", func(e *editor, file, _ string) {
		os.Remove(file)
		switch e.IntN(3) {
		case 0:
			os.Symlink(e.pick("f0", "..", file), file)
		case 1:
			unix.Mkfifo(file, 0o644)
		case 2:
			os.Mkdir(file, 0o755)
		}
	}},
	{"another process", func(e *editor, file, folder string) { e.shell(file, folder) }},
}

// edit does one thing.
func (e *editor) edit() {
	what, file, folder := edits[e.IntN(len(edits))], e.file(), e.folder()
	e.done = append(e.done, fmt.Sprintf("%s: %s or %s", what.name, file, folder))
	what.do(e, file, folder)
}

// sameSize writes another text of the size that a file has.
func (e *editor) sameSize(file string, how int) {
	st, err := os.Lstat(file)
	if err != nil || !st.Mode().IsRegular() {
		return
	}
	text := strings.Repeat(e.word()+"\n", int(st.Size())/7+1)
	e.put(file, text[:st.Size()], how)
}

// storeMapped writes a word into a file by a mapping that ends at once.
func (e *editor) storeMapped(file string) {
	f, err := os.OpenFile(file, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return
	}
	copy(b[e.IntN(len(b)):], e.word())
	unix.Munmap(b)
}

// shell has another process do several things.
func (e *editor) shell(file, folder string) {
	var script bytes.Buffer
	for range 1 + e.IntN(4) {
		fmt.Fprintln(&script, e.pick(
			`[ -p "$1" ] || echo "$3" > "$1"`, `[ -p "$1" ] || echo "$3" >> "$1"`, `mv -T "$1" "$4"`, `rm -f "$1"`, `mkdir -p "$2/a/b"`,
			`[ "$2" = "$5" ] || rm -rf "$2"`, `touch -d "2001-01-01" "$1"`, `ln -f "$1" "$6"`, `echo "*.log" > "$2/.gitignore"`,
			`rm -f "$2/.gitignore"`, `[ -p "$1" ] || cp "$1" "$2/b.go"`, `[ -f "$1" ] && sed -i "1s/.*/$3/" "$1"`, `truncate -s 100 "$2/f0"`,
		))
	}
	cmd := exec.Command("sh", "-c", script.String(), "sh", file, folder, e.word(), e.file(), e.dir, e.secondName())
	cmd.Run()
	e.done = append(e.done, "  "+strings.ReplaceAll(script.String(), "\n", "; "))
}
