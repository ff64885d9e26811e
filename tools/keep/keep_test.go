package keep

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// announcer changes files as the supervisor of a command does: each change is announced first.
type announcer struct {
	t    *testing.T
	call *Call
}

func (a announcer) step(announce func(*Step) error, change func() error) {
	a.t.Helper()
	step := a.call.Begin()
	err := announce(step)
	if err == nil {
		err = change()
	}
	step.End(err == nil)
	if err != nil {
		a.t.Fatal(err)
	}
}

// place opens what has a name; -1 if nothing has it.
func place(path string) int {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

func (a announcer) remove(path string) {
	a.t.Helper()
	fd := place(path)
	defer unix.Close(fd)
	a.step(func(s *Step) error { return s.Removing(path, fd) }, func() error { return os.Remove(path) })
}

func (a announcer) write(path, content string) {
	a.t.Helper()
	fd := place(path)
	if fd < 0 {
		if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
			a.t.Fatal(err)
		}
		a.made(path)
		return
	}
	defer unix.Close(fd)
	a.step(func(s *Step) error { return s.Overwriting(path, fd) }, func() error { return os.WriteFile(path, []byte(content), 0o640) })
}

func (a announcer) made(path string) {
	fd := place(path)
	defer unix.Close(fd)
	a.call.Made(path, fd)
}

func (a announcer) rename(path, to string) {
	a.t.Helper()
	fd := place(to)
	defer unix.Close(fd)
	a.step(func(s *Step) error {
		if fd >= 0 {
			if err := s.Removing(to, fd); err != nil {
				return err
			}
		}
		s.Moving(path, to)
		return nil
	}, func() error { return os.Rename(path, to) })
}

func (a announcer) exchange(path, other string) {
	a.t.Helper()
	a.step(func(s *Step) error { s.Exchanging(path, other); return nil }, func() error {
		return unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
	})
}

// tree describes all below a directory: names, kinds, modes, times of files, contents, attributes, and which names are one file.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	first := map[uint64]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%s %o %d:%d", rel, st.Mode, st.Uid, st.Gid)
		switch {
		case d.Type().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			value := make([]byte, 100)
			n, _ := unix.Getxattr(path, "user.note", value)
			fmt.Fprintf(&b, " %d.%d %q %q", st.Mtim.Sec, st.Mtim.Nsec, content, value[:max(n, 0)])
			if st.Nlink > 1 && first[st.Ino] != "" {
				fmt.Fprintf(&b, " is %s", first[st.Ino])
			}
			if first[st.Ino] == "" {
				first[st.Ino] = rel
			}
		case d.Type() == fs.ModeSymlink:
			target, _ := os.Readlink(path)
			fmt.Fprintf(&b, " %s", target)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// fill makes a tree of everything that a user's directory may have.
func fillTree(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"a", "b", "c", "d/e", "d/f", "d/g/h", "odd\xffname", `"quoted"`} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("content of "+name), 0o604); err != nil {
			t.Fatal(err)
		}
		_ = unix.Setxattr(path, "user.note", []byte("note of "+name), 0)
	}
	for _, err := range []error{
		os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "d/a2")), os.Symlink("d/e", filepath.Join(dir, "link")),
		unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600), os.Mkdir(filepath.Join(dir, "empty"), 0o711),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPutBack changes a tree in random ways, puts the call back, and then puts that back.
func TestPutBack(t *testing.T) {
	for seed := range uint64(60) {
		dir := realTemp(t)
		store := &Store{Dir: filepath.Join(realTemp(t), "copies")}
		fillTree(t, dir)
		before := tree(t, dir)
		a := announcer{t, store.Call("inv-1")}
		random := rand.New(rand.NewPCG(seed, 1))
		for n := range 30 {
			a.change(random, dir, n)
		}
		if err := a.call.Close(); err != nil {
			t.Fatal(err)
		}
		after := tree(t, dir)
		report, err := store.PutBack(context.Background(), "inv-1")
		if errors.Is(err, ErrUnknown) && before == after {
			continue
		}
		if err != nil || len(report.Problems) > 0 {
			t.Fatalf("seed %d: %v %q", seed, err, report.Problems)
		}
		if got := tree(t, dir); got != before {
			t.Fatalf("seed %d: it is\n%s\nand was\n%s", seed, got, before)
		}
		again, err := store.PutBack(context.Background(), report.As)
		if err != nil || len(again.Problems) > 0 {
			t.Fatalf("seed %d, again: %v %q", seed, err, again.Problems)
		}
		if got := names(tree(t, dir)); got != names(after) {
			t.Fatalf("seed %d: done again it is\n%s\nand was\n%s", seed, got, after)
		}
	}
}

// names are the names and contents of a tree, without times and modes, which files that are made again do not keep.
func names(tree string) string {
	var b strings.Builder
	for line := range strings.Lines(tree) {
		name, rest, _ := strings.Cut(line, " ")
		_, content, _ := strings.Cut(rest, `"`)
		b.WriteString(name + " " + content + "\n")
	}
	return b.String()
}

// change does one change that is possible.
func (a announcer) change(random *rand.Rand, dir string, n int) {
	var files, dirs []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		switch {
		case d.IsDir():
			dirs = append(dirs, path)
		default:
			files = append(files, path)
		}
		return nil
	})
	if len(files) == 0 {
		return
	}
	file, other, in := files[random.IntN(len(files))], files[random.IntN(len(files))], dirs[random.IntN(len(dirs))]
	fresh := filepath.Join(in, fmt.Sprintf("new%d", n))
	info, err := os.Lstat(file)
	if err != nil {
		a.t.Fatal(err)
	}
	switch random.IntN(8) {
	case 0:
		a.remove(file)
	case 1, 2:
		if info.Mode().IsRegular() {
			a.write(file, fmt.Sprint("written ", n))
		}
	case 3:
		a.write(fresh, fmt.Sprint("made ", n))
	case 4:
		var st, to unix.Stat_t
		_, _ = unix.Lstat(file, &st), unix.Lstat(other, &to)
		if st.Ino != to.Ino {
			a.rename(file, other)
		}
	case 5:
		if file != other {
			a.exchange(file, other)
		}
	case 6:
		if in != dir && !strings.HasPrefix(fresh, in+"/new/") {
			a.rename(in, filepath.Join(dir, fmt.Sprintf("moved%d", n)))
		}
	case 7:
		if info.Mode().IsRegular() && os.Link(file, fresh) == nil {
			a.call.Made(fresh, -1)
		}
	}
}

// TestGitHasIt: of a file that has no room for a copy git's object serves, if git gives the very bytes of the file. The index alone is no proof:
// commands write it.
func TestGitHasIt(t *testing.T) {
	dir := realTemp(t)
	git := func(words ...string) string {
		t.Helper()
		git := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, words...)...)
		git.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := git.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v %s", words, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	for name, text := range map[string]string{"same": "one", "forged": "two", "other": "six"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		old := unix.NsecToTimespec(1e18)
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{old, old}, 0); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-qm", "one")
	index := filepath.Join(dir, ".git/index")
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	objectOf := func(name string) []byte {
		object, err := hex.DecodeString(git("rev-parse", ":"+name))
		if err != nil {
			t.Fatal(err)
		}
		return object
	}
	forged := bytes.Replace(text, objectOf("forged"), objectOf("other"), 1)
	body := len(forged) - sha1.Size
	sum := sha1.Sum(forged[:body])
	if err := os.WriteFile(index, append(forged[:body], sum[:]...), 0o644); err != nil {
		t.Fatal(err)
	}
	store := &Store{Dir: filepath.Join(realTemp(t), "copies")}
	before := tree(t, dir)
	a := announcer{t, store.Call("inv-1")}
	a.call.copied = maxCopied // nothing more fits
	a.write(filepath.Join(dir, "same"), "lost")
	step := a.call.Begin()
	place, err := unix.Open(filepath.Join(dir, "forged"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(place)
	if err := step.Overwriting(filepath.Join(dir, "forged"), place); err == nil {
		t.Error("what an index says of a file was believed")
	}
	step.End(false)
	if err := a.call.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := store.PutBack(context.Background(), "inv-1"); err != nil || len(report.Problems) > 0 {
		t.Fatal(err, report.Problems)
	}
	if got := tree(t, dir); got != before {
		t.Error("it is not as it was")
	}
}

// TestNoFileHoldsUp: a pipe where git has a file is no repository.
func TestNoFileHoldsUp(t *testing.T) {
	dir := realTemp(t)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, make([]byte, 10), 0o600); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(file, &st); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".git/index", ".git/commondir", ".git"} {
		path := filepath.Join(dir, name)
		_ = os.RemoveAll(filepath.Join(dir, ".git"))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if object, _, _ := (&Store{Dir: dir}).inGit(file, -1, &st); object != "" { // hangs where it waits for a writer
			t.Errorf("%s: %s", name, object)
		}
	}
}

// TestNotKept: what holds secrets, and what has no room, is an error.
func TestNotKept(t *testing.T) {
	dir := realTemp(t)
	store := &Store{Dir: filepath.Join(realTemp(t), "copies"), Refuses: func(path string) bool { return filepath.Base(path) == "secret" }}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, maxCopied+1); err != nil {
		t.Fatal(err)
	}
	call := store.Call("inv-1")
	for _, name := range []string{"secret", "large"} {
		path := filepath.Join(dir, name)
		fd := place(path)
		step := call.Begin()
		var not *NotKept
		if err := step.Overwriting(path, fd); !errors.As(err, &not) {
			if name == "large" && err == nil {
				t.Skip("the file system shares blocks: no copy is too large")
			}
			t.Errorf("%s: %v", name, err)
		}
		step.End(false)
		unix.Close(fd)
	}
}

// TestCallsMakeAnyNumber: a call that makes more files than undoing takes away loses as few as any other, and its own files are none.
func TestCallsMakeAnyNumber(t *testing.T) {
	dir := realTemp(t)
	store := &Store{Dir: filepath.Join(realTemp(t), "copies")}
	mine, own := filepath.Join(dir, "mine"), filepath.Join(dir, "own")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := announcer{t, store.Call("inv-1")}
	for n := range maxMade + 10 {
		a.call.Made(filepath.Join(dir, "many", fmt.Sprint(n)), -1)
	}
	a.write(own, "own")
	a.write(own, "own again")
	a.remove(own)
	a.remove(mine)
	if err := a.call.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := store.PutBack(context.Background(), "inv-1"); err != nil {
		t.Fatal(err, report.Problems)
	}
	if got, _ := os.ReadFile(mine); string(got) != "mine" {
		t.Errorf("it is %q", got)
	}
}

// TestNamesTellOfLosses: a journal that the power cut off after its last line that was written out is as good as a whole one: what was removed
// since is known by its names, and what was not removed after all is left alone.
func TestNamesTellOfLosses(t *testing.T) {
	t.Parallel()
	dir := realTemp(t)
	ws := filepath.Join(dir, "ws")
	for _, d := range []string{"a/b/c", "e"} {
		if err := os.MkdirAll(filepath.Join(ws, d), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{"a/1", "a/2", "a/b/1", "a/b/c/1", "e/1"}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(ws, f), []byte("content of "+f), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, ws)
	store := &Store{Dir: filepath.Join(dir, "store")}
	a := announcer{t, store.Call("c1")}
	journal := filepath.Join(store.Dir, "c1", journalName)
	var written int64
	for _, f := range files {
		path := filepath.Join(ws, f)
		fd := place(path)
		step := a.call.Begin()
		if err := step.Unlinking(path, fd); err != nil {
			t.Fatal(err)
		}
		if f != "e/1" { // the power fails before this is removed
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		unix.Close(fd)
		step.End(true)
		content, err := os.ReadFile(journal)
		if err != nil {
			t.Fatal(err)
		}
		written = int64(strings.LastIndex(string(content), `{"did":"stood"`))
		written += int64(strings.Index(string(content[written:]), "\n")) + 1
	}
	for _, d := range []string{"a/b/c", "a/b", "a"} {
		if err := os.Remove(filepath.Join(ws, d)); err != nil {
			t.Fatal(err)
		}
	}
	a.call.journal.Close()
	if err := os.Truncate(journal, written); err != nil {
		t.Fatal(err)
	}
	if kept := store.Calls(); len(kept) != 1 || kept[0].Changes < len(files)-1 {
		t.Fatalf("the store has %v", kept)
	}
	report, err := store.PutBack(context.Background(), "c1")
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("%+v %v", report, err)
	}
	if after := tree(t, ws); after != before {
		t.Errorf("undone:\n%s\nbefore:\n%s", after, before)
	}
}

// TestPutBackArmsNothing: what comes back under a name that git runs or obeys is what was judged there. Commands write such names where there is no
// repository, and may have made one there since.
func TestPutBackArmsNothing(t *testing.T) {
	t.Parallel()
	const evil, config, harmless = "#!/bin/sh\nevil\n", "[core]\n\tbare = false\n\tpager = evil\n", "[core]\n\tbare = true\n"
	repository := func(a announcer, dir string) {
		for _, name := range []string{"objects", "refs"} {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				a.t.Fatal(err)
			}
		}
		a.write(filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n")
	}
	for name, change := range map[string]func(a announcer, dir string) (later func()){
		"removed before there was a repository": func(a announcer, dir string) func() {
			a.remove(filepath.Join(dir, "config"))
			a.remove(filepath.Join(dir, "hooks/pre-commit"))
			return func() { repository(a, dir) }
		},
		"written before there was a repository": func(a announcer, dir string) func() {
			a.write(filepath.Join(dir, "config"), harmless)
			a.write(filepath.Join(dir, "hooks/pre-commit"), "")
			return func() { repository(a, dir) }
		},
		"moved before there was a repository": func(a announcer, dir string) func() {
			a.rename(filepath.Join(dir, "config"), filepath.Join(dir, "x"))
			a.rename(filepath.Join(dir, "hooks"), filepath.Join(dir, "y"))
			return func() { repository(a, dir) }
		},
		"exchanged before there was a repository": func(a announcer, dir string) func() {
			a.write(filepath.Join(dir, "x"), harmless)
			a.exchange(filepath.Join(dir, "config"), filepath.Join(dir, "x"))
			a.remove(filepath.Join(dir, "hooks/pre-commit"))
			return func() { repository(a, dir) }
		},
		"a repository comes back around it": func(a announcer, dir string) func() {
			for _, part := range []string{"config", "hooks/pre-commit"} {
				if err := os.Rename(filepath.Join(dir, part), filepath.Join(dir, "later-"+filepath.Base(part))); err != nil {
					a.t.Fatal(err)
				}
			}
			repository(a, dir)
			a.remove(filepath.Join(dir, "refs"))
			return func() {
				for _, part := range []string{"config", "hooks/pre-commit"} {
					if err := os.Rename(filepath.Join(dir, "later-"+filepath.Base(part)), filepath.Join(dir, part)); err != nil {
						a.t.Fatal(err)
					}
				}
			}
		},
		"a directory becomes .git again": func(a announcer, dir string) func() {
			// it was harmless when it was called so
			if err := os.Rename(dir, dir+"-was"); err != nil {
				a.t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
				a.t.Fatal(err)
			}
			a.rename(filepath.Join(dir, ".git"), filepath.Join(dir, "x"))
			return func() {
				if err := os.Remove(filepath.Join(dir, "x")); err != nil {
					a.t.Fatal(err)
				}
				if err := os.Rename(dir+"-was", filepath.Join(dir, "x")); err != nil {
					a.t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := realTemp(t)
			dir := filepath.Join(top, "g")
			store := &Store{Dir: filepath.Join(top, "kept")}
			if err := os.MkdirAll(filepath.Join(dir, "hooks"), 0o755); err != nil {
				t.Fatal(err)
			}
			for file, content := range map[string]string{"config": config, "hooks/pre-commit": evil} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			a := announcer{t, store.Call("inv")}
			later := change(a, dir)
			if err := a.call.Close(); err != nil {
				t.Fatal(err)
			}
			a.call = store.Call("later")
			later()
			if err := a.call.Close(); err != nil {
				t.Fatal(err)
			}
			report, err := store.PutBack(t.Context(), "inv")
			if err != nil {
				t.Fatal(err)
			}
			for _, git := range []string{dir, filepath.Join(dir, ".git")} {
				if got, _ := os.ReadFile(filepath.Join(git, "config")); strings.Contains(string(got), "\n\tpager") {
					t.Errorf("git obeys %s: %q, %v", git, got, report)
				}
				if got, _ := os.ReadFile(filepath.Join(git, "hooks/pre-commit")); strings.Contains(string(got), "\nevil") {
					t.Errorf("git runs %s: %q, %v", git, got, report)
				}
			}
		})
	}
	t.Run("what was judged comes back", func(t *testing.T) {
		t.Parallel()
		top := realTemp(t)
		dir := filepath.Join(top, "g")
		store := &Store{Dir: filepath.Join(top, "kept")}
		a := announcer{t, store.Call("before")}
		if err := os.MkdirAll(filepath.Join(dir, "hooks"), 0o755); err != nil {
			t.Fatal(err)
		}
		repository(a, dir)
		a.write(filepath.Join(dir, "config"), config)
		a.write(filepath.Join(dir, "hooks/pre-commit"), evil)
		before := tree(t, dir)
		a.call = store.Call("inv")
		a.write(filepath.Join(dir, "config"), harmless)
		a.remove(filepath.Join(dir, "hooks/pre-commit"))
		a.rename(filepath.Join(dir, "config"), filepath.Join(dir, "config.worktree"))
		if err := a.call.Close(); err != nil {
			t.Fatal(err)
		}
		report, err := store.PutBack(t.Context(), "inv")
		if err != nil || len(report.Problems) > 0 || tree(t, dir) != before {
			t.Errorf("%v, %v\n%s\n%s", report, err, tree(t, dir), before)
		}
	})
}

// dying is a context that ends the one who asks for its error for the nth time.
type dying struct {
	context.Context
	n int
}

func (d *dying) Err() error {
	if d.n--; d.n == 0 {
		panic(d)
	}
	return nil
}

// killed undoes a call until it is killed, and reports whether it was. The journal of what was there is left open.
func killed(t *testing.T, store *Store, id string, after int) (report Report, was bool) {
	t.Helper()
	defer func() { was = recover() != nil }()
	report, err := store.PutBack(&dying{context.Background(), after}, id)
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("%v %q", err, report.Problems)
	}
	return report, false
}

// TestUndoGoesOn: an undoing that is killed again and again, between changes and after it has noted the next one, does what is left.
func TestUndoGoesOn(t *testing.T) {
	for seed := range uint64(8) {
		dir := realTemp(t)
		store := &Store{Dir: filepath.Join(realTemp(t), "copies")}
		fillTree(t, dir)
		before := tree(t, dir)
		a := announcer{t, store.Call("inv-1")}
		random := rand.New(rand.NewPCG(seed, 2))
		for n := range 30 {
			a.change(random, dir, n)
		}
		if err := a.call.Close(); err != nil {
			t.Fatal(err)
		}
		after := tree(t, dir)
		record := filepath.Join(store.Dir, "inv-1")
		kills := 0
		report, was := killed(t, store, "inv-1", 2+random.IntN(4))
		for ; was; report, was = killed(t, store, "inv-1", 2+random.IntN(4)) {
			kills++
			entries, err := wholeJournal(filepath.Join(record, journalName))
			if err != nil {
				t.Fatal(err)
			}
			p, err := store.openProgress(record, "inv-1")
			if err != nil {
				t.Fatal(err)
			}
			for n, e := range slices.Backward(entries) {
				if _, begun := p.begun[n]; !p.done[n] && !begun && random.IntN(2) == 0 {
					_, err = p.begin(n, e)
					break
				}
			}
			if err := errors.Join(err, p.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if kills == 0 && before != after {
			t.Errorf("seed %d: it was never killed", seed)
		}
		if got := tree(t, dir); got != before {
			t.Fatalf("seed %d, %d kills: it is\n%s\nand was\n%s", seed, kills, got, before)
		}
		for range 100 { // the journals of the killed are open in this process until they are collected
			lock, err := lockCall(filepath.Join(store.Dir, report.As), 0)
			if err == nil {
				lock.Close()
				break
			}
			runtime.GC()
		}
		again, err := store.PutBack(context.Background(), report.As)
		if err != nil || len(again.Problems) > 0 {
			t.Fatalf("seed %d, again: %v %q", seed, err, again.Problems)
		}
		if got := names(tree(t, dir)); got != names(after) {
			t.Fatalf("seed %d: done again it is\n%s\nand was\n%s", seed, got, after)
		}
	}
}

// TestNumbersComeAgain: a file of the user's that has the inode number of one that the call made, or has changed, is kept.
func TestNumbersComeAgain(t *testing.T) {
	dir := realTemp(t)
	store := &Store{Dir: filepath.Join(realTemp(t), "copies")}
	a := announcer{t, store.Call("inv-1")}
	path := filepath.Join(dir, "f")
	numbers := map[uint64]bool{}
	again := 0
	for n := range 20 {
		a.write(path, "made by the call")
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			t.Fatal(err)
		}
		numbers[st.Ino] = true
		mine := fmt.Sprint("the user's, ", n)
		if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte(mine), 0o600), unix.Lstat(path, &st)); err != nil {
			t.Fatal(err)
		}
		if numbers[st.Ino] {
			again++
		}
		a.write(path, "lost")
		lost := a.call.losses.Replaced
		if err := os.Remove(path); err != nil { // by the user
			t.Fatal(err)
		}
		if lost != n+1 {
			t.Errorf("the file that came %d. is not kept", n+1)
		}
	}
	if again == 0 {
		t.Skip("no number came again")
	}
}

// TestNoRoomOnTheDisk: a change is refused that the disk has no room to note, the journal stays whole, and later changes are kept.
func TestNoRoomOnTheDisk(t *testing.T) {
	dir := realTemp(t)
	store := &Store{Dir: filepath.Join(realTemp(t), "copies")}
	a := announcer{t, store.Call("inv-1")}
	for _, name := range []string{"first", "refused", "last"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, dir)
	a.remove(filepath.Join(dir, "first"))
	info, err := a.call.journal.Stat()
	if err != nil {
		t.Fatal(err)
	}
	limited(t, uint64(info.Size())+20, func() { // a part of the line fits
		path := filepath.Join(dir, "refused")
		fd := place(path)
		defer unix.Close(fd)
		step := a.call.Begin()
		var not *NotKept
		if err := step.Removing(path, fd); !errors.As(err, &not) {
			t.Errorf("a full disk: %v", err)
		}
		step.End(false)
		step = a.call.Begin()
		if err := step.Altering(path, fd); !errors.As(err, &not) {
			t.Errorf("attributes, and a full disk: %v", err)
		}
		step.End(false)
	})
	a.remove(filepath.Join(dir, "last"))
	if err := a.call.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := store.PutBack(context.Background(), "inv-1")
	if err != nil || len(report.Problems) > 0 || report.Changes != 2 {
		t.Fatalf("%+v %v", report, err)
	}
	if got := tree(t, dir); got != before {
		t.Errorf("it is\n%s\nand was\n%s", got, before)
	}
}

// limited runs a function in which no file grows beyond a size: writing there fails in the middle, as on a full disk.
func limited(t *testing.T, size uint64, f func()) {
	t.Helper()
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(unix.SIGXFSZ)
	defer signal.Reset(unix.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_FSIZE, &was)
	f()
}

// TestBusy: a record that goes on is neither undone nor removed for room.
func TestBusy(t *testing.T) {
	dir := realTemp(t)
	store := &Store{Dir: filepath.Join(realTemp(t), "copies")}
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := announcer{t, store.Call("inv-1")}
	a.write(path, "lost")
	other := &Store{Dir: store.Dir} // of another host
	if _, err := other.PutBack(context.Background(), "inv-1"); !errors.Is(err, ErrBusy) {
		t.Errorf("undone while it goes on: %v", err)
	}
	other.trim(maxStore, time.Now().Add(2*maxAge))
	if err := a.call.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.PutBack(context.Background(), "inv-1"); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "mine" {
		t.Errorf("it is %q", got)
	}
}

// TestLinesWithoutChanges: the disk can have the lines of changes that the power kept from it. Undoing leaves alone what was not lost, and a
// move that was made is undone by the line that came before it.
func TestLinesWithoutChanges(t *testing.T) {
	t.Parallel()
	dir := realTemp(t)
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o750); err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(ws, name) }
	for _, f := range []string{"kept", "gone", "moved", "stays"} {
		if err := os.WriteFile(path(f), []byte("content of "+f), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, ws)
	store := &Store{Dir: filepath.Join(dir, "store")}
	call := store.Call("c1")
	announcer{t, call}.remove(path("gone"))
	step := call.Begin()
	step.Moving(path("stays"), path("elsewhere"))
	step.End(true) // but the disk does not have it
	fd := place(path("kept"))
	step = call.Begin()
	if err := step.Unlinking(path("kept"), fd); err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	content, err := filepath.Glob(filepath.Join(store.Dir, "c1", "*", "kept"))
	if err != nil || len(content) != 1 {
		t.Fatalf("the store has %q, %v", content, err)
	}
	if err := os.Remove(content[0]); err != nil { // nor this second name
		t.Fatal(err)
	}
	step.End(true)
	step = call.Begin()
	step.Moving(path("moved"), path("new"))
	if err := os.Rename(path("moved"), path("new")); err != nil {
		t.Fatal(err)
	}
	call.journal.Close() // the power fails before the step ends
	report, err := (&Store{Dir: store.Dir}).PutBack(context.Background(), "c1")
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("%+v %v", report, err)
	}
	if after := tree(t, ws); after != before {
		t.Errorf("undone:\n%s\nbefore:\n%s", after, before)
	}
}
