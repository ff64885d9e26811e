package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool"
)

// tree makes a workspace beside a directory that is outside of it:
//
//	ws/dir/file  ws/in → dir  ws/out → ../outside  ws/loop → loop  ws/abs → <outside>/secret  ws/state/log
//	outside/secret
func tree(t testing.TB) (*Workspace, string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"ws/dir", "ws/state", "outside"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"ws/dir/file": "inside", "ws/state/log": "log", "outside/secret": "secret"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"ws/in": "dir", "ws/out": "../outside", "ws/loop": "loop", "ws/abs": filepath.Join(top, "outside/secret")} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Open([]string{filepath.Join(top, "ws")}, filepath.Join(top, "ws/state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w, top
}

func locate(t testing.TB, w *Workspace, spelling string) (agenttool.Path, error) {
	t.Helper()
	p, err := Path(agenttool.Scope{Dir: w.Roots()[0], Home: "/home/me"}, spelling)
	if err != nil {
		return p, err
	}
	return p, w.Locate(&p)
}

func TestLocate(t *testing.T) {
	w, top := tree(t)
	for _, c := range []struct {
		name, spelling, want string // want is relative to top
		inside, private      bool
		code                 string
	}{
		{"a file", "dir/file", "ws/dir/file", true, false, ""},
		{"the workspace", ".", "ws", true, false, ""},
		{"dots", "dir/../dir/./file", "ws/dir/file", true, false, ""},
		{"slashes", "dir//file", "ws/dir/file", true, false, ""},
		{"a new file", "new/deep/file", "ws/new/deep/file", true, false, ""},
		{"a link inside", "in/file", "ws/dir/file", true, false, ""},
		{"a link outside", "out/secret", "outside/secret", false, false, ""},
		{"an absolute link", "abs", "outside/secret", false, false, ""},
		{"up", "../outside/secret", "outside/secret", false, false, ""},
		{"up through a link", "out/../ws/dir", "ws/dir", true, false, ""},
		{"a sibling that begins alike", "../ws2/x", "ws2/x", false, false, ""},
		{"our own state", "state/log", "ws/state/log", true, true, ""},
		{"up from what is missing", "nope/../dir/file", "", false, false, "not_found"},
		{"a loop", "loop/x", "", false, false, "path_changed"},
		{"below a file", "dir/file/x", "ws/dir/file/x", true, false, ""}, // opening it says so
		{"a NUL", "dir\x00", "", false, false, "bad_path"},
		{"nothing", "", "", false, false, "empty_path"},
		{"too long", strings.Repeat("x", 300), "", false, false, "bad_path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := locate(t, w, c.spelling)
			if c.code != "" {
				if e := (*agenttool.Error)(nil); !errors.As(err, &e) || e.Code != c.code {
					t.Fatalf("%v, want code %s", err, c.code)
				}
				return
			}
			if err != nil || p.Resolved != filepath.Join(top, c.want) || (p.Root != "") != c.inside || p.Private != c.private {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

func TestPathMeansHome(t *testing.T) {
	for spelling, want := range map[string]string{"~": "/home/me", "~/x": "/home/me/x", "~you": "/w/~you", "x": "/w/x", "/x": "/x"} {
		if p, err := Path(agenttool.Scope{Dir: "/w", Home: "/home/me"}, spelling); err != nil || p.Absolute != want {
			t.Errorf("%s: %s, %v; want %s", spelling, p.Absolute, err, want)
		}
	}
}

func TestOpenFile(t *testing.T) {
	w, top := tree(t)
	if err := syscall.Mkfifo(filepath.Join(top, "ws/fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	for spelling, want := range map[string]string{
		"in/file": "", "abs": "", "dir": "not_a_file", "fifo": "not_a_file", "nope": "not_found", "state/log": "private_path", "/dev/null": "not_a_file",
		"in/file/x": "not_a_directory",
	} {
		p, err := locate(t, w, spelling)
		if err != nil {
			t.Fatal(err)
		}
		f, err := w.OpenFile(p)
		if err == nil {
			f.Close()
		}
		if e := (*agenttool.Error)(nil); (err == nil) != (want == "") || err != nil && (!errors.As(err, &e) || e.Code != want) {
			t.Errorf("%s: %v, want %q", spelling, err, want)
		}
	}
}

// A program that waits for the reader of a FIFO goes on waiting: whoever asked what is there is not that reader.
func TestFIFOIsNotOpened(t *testing.T) {
	w, top := tree(t)
	fifo := filepath.Join(top, "ws/fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() {
		f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString("for the reader")
			f.Close()
		}
		wrote <- err
	}()
	time.Sleep(50 * time.Millisecond) // until it waits; if it does not yet, less is tested
	p, err := locate(t, w, "fifo")
	if err != nil {
		t.Fatal(err)
	}
	if f, err := w.OpenFile(p); err == nil {
		f.Close()
		t.Error("it was opened")
	}
	text, err := os.ReadFile(fifo)
	if err != nil || string(text) != "for the reader" {
		t.Errorf("the reader got %q, %v", text, err)
	}
	if err := <-wrote; err != nil {
		t.Error("the writer:", err)
	}
}

// TestWhatWasResolvedIsOpened: a link put in the way after Locate is an error, at the end and in the middle of the
// path, by openat2 and step by step.
func TestWhatWasResolvedIsOpened(t *testing.T) {
	for name, spelling := range map[string]string{"the file": "dir/file", "its directory": "dir/file2"} {
		t.Run(name, func(t *testing.T) {
			w, top := tree(t)
			p, err := locate(t, w, spelling)
			if err != nil {
				t.Fatal(err)
			}
			victim := filepath.Join(top, "ws/dir/file")
			if name == "its directory" {
				victim = filepath.Join(top, "ws/dir")
				if err := os.WriteFile(filepath.Join(top, "outside/file2"), []byte("secret"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.RemoveAll(victim); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(top, "outside"), victim); err != nil {
				t.Fatal(err)
			}
			if f, err := w.OpenFile(p); err == nil {
				f.Close()
				t.Error("the planted link was followed")
			}
			if f, err := w.roots[0].dir.stepwise(relative(w.roots[0].path, p.Resolved), os.O_RDONLY); err == nil {
				f.Close()
				t.Error("the planted link was followed, step by step")
			}
			if dir, _, err := w.Parent(p, true); err == nil && name == "its directory" {
				dir.Close()
				t.Error("the planted link was followed to the parent")
			}
		})
	}
}

// TestStepwiseAgrees: without openat2 the same files open.
func TestStepwiseAgrees(t *testing.T) {
	w, top := tree(t)
	for _, path := range []string{"ws/dir/file", "ws/dir", "ws", "ws/in/file", "ws/in", "outside/secret", "ws/nope", "ws/dir/file/x"} {
		at, rel := &Dir{}, filepath.Join(top, path)
		if strings.HasPrefix(path, "ws") {
			at, rel = w.roots[0].dir, relative(w.roots[0].path, rel)
		}
		a, errA := at.beneath(rel, os.O_RDONLY)
		b, errB := at.stepwise(rel, os.O_RDONLY)
		if (errA == nil) != (errB == nil) {
			t.Errorf("%s: %v and %v", path, errA, errB)
		}
		for _, f := range []*os.File{a, b} {
			if f != nil {
				f.Close()
			}
		}
	}
}

func TestParentCreates(t *testing.T) {
	w, top := tree(t)
	p, err := locate(t, w, "a/b/c/file")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Parent(p, false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without create: %v", err)
	}
	dir, name, err := w.Parent(p, true)
	if err != nil || name != "file" {
		t.Fatalf("%q, %v", name, err)
	}
	defer dir.Close()
	if info, err := os.Stat(filepath.Join(top, "ws/a/b/c")); err != nil || !info.IsDir() {
		t.Error(err)
	}
	if p, err = locate(t, w, "."); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Parent(p, true); err == nil {
		t.Error("the workspace has a parent to write in")
	}
}

func TestOpenRefuses(t *testing.T) {
	_, top := tree(t)
	for name, dir := range map[string]string{"missing": "ws/nope", "a file": "ws/dir/file", "a loop": "ws/loop"} {
		if w, err := Open([]string{filepath.Join(top, dir)}); err == nil {
			w.Close()
			t.Errorf("%s opened", name)
		}
	}
}

// FuzzResolve: what resolve says a path leads to is where the kernel goes, and it holds no link.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"in/file", "out/../dir", "loop", "dir/./file", "abs/", "../outside", "in/in", "x/y", "..", "dir/file/.."} {
		f.Add(seed)
	}
	_, top := tree(f)
	f.Fuzz(func(t *testing.T, spelling string) {
		if strings.ContainsRune(spelling, 0) || len(spelling) > 200 {
			return
		}
		got, err := view{}.resolve(top + "/ws/" + spelling)

		info, statErr := os.Stat(top + "/ws/" + spelling)
		if err != nil {
			if statErr == nil {
				t.Errorf("%q: %v, but the kernel finds %v", spelling, err, info.Name())
			}
			return
		}
		if statErr != nil {
			return // a new name
		}
		mine, err := os.Stat(got)
		if err != nil || !os.SameFile(mine, info) {
			t.Errorf("%q leads to %s; the kernel goes elsewhere: %v", spelling, got, err)
		}
		if fast, err := withoutLinks(top + "/ws/" + spelling); err == nil && fast != got {
			t.Errorf("%q leads to %s, but at once to %s", spelling, got, fast)
		}
		if again, _ := (view{}).resolve(got); again != got {
			t.Errorf("%q: %s is not resolved: %s", spelling, got, again)
		}
	})
}

// TestShowNew: before the directory exists, the workspace below it is where it is, with the links in it.
func TestShowNew(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at, scratch := filepath.Join(top, "at"), filepath.Join(top, "state", "new")
	ws := filepath.Join(at, "x", "ws")
	if err := os.MkdirAll(filepath.Join(ws, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("d", filepath.Join(ws, "link")); err != nil {
		t.Fatal(err)
	}
	w, err := Open([]string{ws})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.ShowNew(at, scratch)
	for path, want := range map[string]string{
		ws + "/link/new": ws + "/d/new", ws + "/new": ws + "/new", at + "/x/other": scratch + "/x/other", at + "/new": scratch + "/new", at + "/x": scratch + "/x",
	} {
		p := agenttool.Path{Spelling: path, Absolute: path}
		if err := w.Locate(&p); err != nil || p.Resolved != want {
			t.Errorf("%s: %s, want %s: %v", path, p.Resolved, want, err)
		}
	}
}

// What commands see as /tmp is what file tools find there, the workspace below it excepted.
func TestShow(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at, scratch := filepath.Join(top, "at"), filepath.Join(top, "state", "scratch")
	ws := filepath.Join(at, "x", "ws")
	for _, dir := range []string{filepath.Join(ws, "d"), filepath.Join(scratch, "x", "ws"), filepath.Join(scratch, "made")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{filepath.Join(ws, "out"): filepath.Join(at, "made"), filepath.Join(scratch, "in"): filepath.Join(ws, "d")} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Open([]string{ws}, filepath.Join(top, "state"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Show(at, scratch, nil); err != nil {
		t.Fatal(err)
	}
	if roots := w.Roots(); len(roots) != 1 || roots[0] != ws {
		t.Errorf("roots %v", roots)
	}
	tests := []struct{ name, path, resolved, root string }{
		{"the place itself", at, scratch, scratch},
		{"below it", at + "/made/f", scratch + "/made/f", scratch},
		{"missing", at + "/new/f", scratch + "/new/f", scratch},
		{"the workspace", ws + "/d", ws + "/d", ws},
		{"beside the workspace", at + "/x/other", scratch + "/x/other", scratch},
		{"up from the workspace", ws + "/../../made", scratch + "/made", scratch},
		{"up and out", at + "/../at/made", scratch + "/made", scratch},
		{"up beyond", at + "/..", top, ""},
		{"a link out of the workspace", ws + "/out/f", scratch + "/made/f", scratch},
		{"a link into the workspace", at + "/in/f", ws + "/d/f", ws},
		{"down into the workspace", at + "/x/ws/d", ws + "/d", ws},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := agenttool.Path{Spelling: tt.path, Absolute: tt.path}
			if err := w.Locate(&p); err != nil {
				t.Fatal(err)
			}
			if p.Resolved != tt.resolved || p.Root != tt.root || p.Private {
				t.Errorf("%+v", p)
			}
		})
	}
	p := agenttool.Path{Spelling: "log", Absolute: filepath.Join(top, "state", "log")}
	if err := w.Locate(&p); err != nil || !p.Private {
		t.Errorf("%+v, %v: only the scratch is not private", p, err)
	}
}

// TestQuotedSpelling: a path that is quoted for no reason is named as it is, since rules and messages repeat the spelling.
func TestQuotedSpelling(t *testing.T) {
	for spelling, want := range map[string]string{"$'a b'": "a b", "$'/etc/shadow'": "/etc/shadow", "$'a\\xff'": "$'a\\xff'", "a": "a"} {
		if p, err := Path(agenttool.Scope{Dir: "/ws"}, spelling); err != nil || p.Spelling != want {
			t.Errorf("%s is spelt %s, want %s; %v", spelling, p.Spelling, want, err)
		}
	}
}

// TestShownIsOpenedAgain: a shown directory that somebody removes is made and opened again, while other calls use it. Neither a link nor another
// user's directory in its place is opened, and nothing that a link leads to is.
func TestShownIsOpenedAgain(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at, scratch, ws, elsewhere := filepath.Join(top, "at"), filepath.Join(top, "scratch"), filepath.Join(top, "ws"), filepath.Join(top, "elsewhere")
	for _, dir := range []string{scratch, ws, elsewhere} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Open([]string{ws})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	again := func() error {
		if err := os.Mkdir(scratch, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		return nil
	}
	if err := w.Show(at, scratch, again); err != nil {
		t.Fatal(err)
	}
	write := func(name string) error {
		p := agenttool.Path{Spelling: name, Absolute: filepath.Join(at, name)}
		if err := w.Locate(&p); err != nil {
			return err
		}
		dir, base, err := w.Parent(p, true)
		if err != nil {
			return err
		}
		defer dir.Close()
		f, err := dir.Open(base, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		return f.Close()
	}
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for range 50 {
				// The directory may go between two steps of a write; nothing else may be wrong with it.
				if err := write(fmt.Sprint("f", i)); err != nil && !strings.Contains(err.Error(), "does not exist") && !errors.Is(err, os.ErrNotExist) {
					t.Error(err)
				}
			}
		})
	}
	for range 50 {
		if err := os.RemoveAll(scratch); err != nil && !errors.Is(err, syscall.ENOTEMPTY) {
			t.Error(err)
		}
	}
	writers.Wait()
	remove := func() {
		t.Helper()
		if err := os.RemoveAll(scratch); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	if err := write("new/file"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(scratch, "new", "file")); err != nil {
		t.Error(err)
	}
	remove()
	if err := os.Symlink(elsewhere, scratch); err != nil {
		t.Fatal(err)
	}
	if err := write("file"); err == nil {
		t.Error("a link in the place of the directory was followed")
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Remove(scratch), os.Mkdir(scratch, 0o777), os.Chown(scratch, 65534, 65534)); err != nil {
			t.Fatal(err)
		}
		if err := write("file"); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("another user's directory: %v", err)
		}
	}
	remove()
	if err := write("file"); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(elsewhere); len(left) != 0 {
		t.Errorf("the link was followed to %v", left)
	}
}
