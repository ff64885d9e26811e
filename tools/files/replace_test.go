package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// lstat returns the raw status of a name in the project.
func (p *project) lstat(name string) (st unix.Stat_t) {
	p.t.Helper()
	if err := unix.Lstat(p.path(name), &st); err != nil {
		p.t.Fatal(err)
	}
	return st
}

// noTemporaries fails the test if a temporary was left in the directory.
func (p *project) noTemporaries(dir string) {
	p.t.Helper()
	for _, name := range p.names(dir) {
		if strings.HasPrefix(name, ".toolhost-") {
			p.t.Errorf("%s was left in %s", name, dir)
		}
	}
}

func TestChangeKeepsTheMode(t *testing.T) {
	p := newProject(t, Options{})
	for _, mode := range []os.FileMode{0o750, 0o600, 0o644, 0o4755, 0o2755} {
		p.put("script", "#!/bin/sh\necho one\n")
		bits := mode.Perm()
		if mode&0o4000 != 0 {
			bits |= os.ModeSetuid
		}
		if mode&0o2000 != 0 {
			bits |= os.ModeSetgid
		}
		if err := os.Chmod(p.path("script"), bits); err != nil {
			t.Fatal(err)
		}
		r, err := p.edit("script", "one", "two")
		if err != nil || r.InPlace {
			t.Fatalf("%+v, %v", r, err)
		}
		if info, _ := os.Stat(p.path("script")); info.Mode() != bits {
			t.Errorf("mode %v became %v", bits, info.Mode())
		}
		os.Remove(p.path("script"))
	}
}

func TestChangeFollowsSymlinks(t *testing.T) {
	p := newProject(t, Options{})
	p.put("d/f", "one\n")
	for link, to := range map[string]string{"link": "d/f", "dirlink": "d", "absolute": p.path("d/f"), "dangling": "d/new"} {
		if err := os.Symlink(to, p.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"link", "dirlink/f", "absolute", "d/../d/f"} {
		if _, err := p.edit(name, p.get("d/f"), strings.Repeat("x", i+1)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := p.get("d/f"); got != strings.Repeat("x", i+1) {
			t.Errorf("after %s: %q", name, got)
		}
	}
	if _, err := p.write("dangling", "new"); err != nil || p.get("d/new") != "new" {
		t.Errorf("through a dangling link: %v", err)
	}
	for _, link := range []string{"link", "dirlink", "absolute", "dangling"} {
		if p.lstat(link).Mode&unix.S_IFMT != unix.S_IFLNK {
			t.Errorf("%s is no link any more", link)
		}
	}
}

func TestChangeKeepsHardLinks(t *testing.T) {
	p := newProject(t, Options{})
	p.put("a", "one two\n")
	if err := os.Link(p.path("a"), p.path("b")); err != nil {
		t.Fatal(err)
	}
	before := p.lstat("a").Ino
	for _, change := range [][2]string{{"one two", "1"}, {"1", "longer than before"}} {
		r, err := p.edit("a", change[0], change[1])
		if err != nil || !r.InPlace || !strings.Contains(r.Note, "hard links") {
			t.Fatalf("%+v, %v", r, err)
		}
		if p.get("b") != change[1]+"\n" || p.lstat("a").Ino != before || p.lstat("b").Ino != before {
			t.Errorf("b holds %q", p.get("b"))
		}
	}
}

func TestChangeKeepsXattrs(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", "one\n")
	value := bytes.Repeat([]byte("v"), 300)
	if err := unix.Setxattr(p.path("f"), "user.note", value, 0); err != nil {
		t.Skip("no extended attributes here:", err)
	}
	r, err := p.edit("f", "one", "two")
	if err != nil || r.InPlace {
		t.Fatalf("%+v, %v", r, err)
	}
	got := make([]byte, 1000)
	n, err := unix.Getxattr(p.path("f"), "user.note", got)
	if err != nil || !bytes.Equal(got[:max(n, 0)], value) {
		t.Errorf("attribute %q, %v", got[:max(n, 0)], err)
	}
}

// An access control list is kept, and a directory's default list does not get onto a file that has none.
func TestChangeKeepsACLs(t *testing.T) {
	p := newProject(t, Options{})
	p.put("d/plain", "one\n")
	p.put("d/listed", "one\n")
	// version 2; user::rw- user:1234:r-- group::r-- mask::r-- other::---
	const list = "\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\xd2\x04\x00\x00" +
		"\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x04\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"
	if err := unix.Setxattr(p.path("d/listed"), "system.posix_acl_access", []byte(list), 0); err != nil {
		t.Skip("no access control lists here:", err)
	}
	if err := unix.Setxattr(p.path("d"), "system.posix_acl_default", []byte(list), 0); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"d/plain": "", "d/listed": list} {
		mode := p.lstat(name).Mode
		if r, err := p.edit(name, "one", "two"); err != nil || r.InPlace {
			t.Fatalf("%+v, %v", r, err)
		}
		got := make([]byte, 1000)
		n, _ := unix.Getxattr(p.path(name), "system.posix_acl_access", got)
		if string(got[:max(n, 0)]) != want || p.lstat(name).Mode != mode {
			t.Errorf("%s: list %q, mode %o, want %q, %o", name, got[:max(n, 0)], p.lstat(name).Mode, want, mode)
		}
	}
	if _, err := p.write("d/new", "x"); err != nil {
		t.Fatal(err)
	}
	if n, _ := unix.Getxattr(p.path("d/new"), "system.posix_acl_access", make([]byte, 1000)); n <= 0 {
		t.Error("a new file has not got its directory's default list")
	}
}

func TestChangeWaitsForTheLock(t *testing.T) {
	conform.Held(t, "AT-324")
	p := newProject(t, Options{LockTimeout: 30 * time.Millisecond})
	p.put("f", "one\n")
	other := must[*os.File](t)(os.Open(p.path("f")))
	defer other.Close()
	if err := unix.Flock(int(other.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	_, err := p.edit("f", "one", "two")
	wantError(t, err, agenttool.DependencyUnavailable, "file_locked", "f is locked", "nothing was changed")
	if p.get("f") != "one\n" {
		t.Errorf("file %q", p.get("f"))
	}
	if _, err := p.write("f", "one\n"); !errors.Is(err, agenttool.DependencyUnavailable) {
		t.Errorf("write: %v", err)
	}

	patient := projectIn(t, p.dir, Options{})
	done := make(chan error)
	go func() {
		_, err := patient.edit("f", "one", "two")
		done <- err
	}()
	select {
	case err := <-done:
		t.Errorf("did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	// Whoever holds the lock may put another file there: that one has to be changed.
	p.put("g", "one more\n")
	if err := os.Rename(p.path("g"), p.path("f")); err != nil {
		t.Fatal(err)
	}
	other.Close()
	if err := <-done; err != nil || p.get("f") != "two more\n" {
		t.Errorf("file %q, error %v", p.get("f"), err)
	}
}

func TestChangeOfAFIFODoesNotHang(t *testing.T) {
	p := newProject(t, Options{})
	if err := syscall.Mkfifo(p.path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"write", "edit"} {
		input := in{"path": "fifo", "content": "x"}
		if tool == "edit" {
			input = in{"path": "fifo", "old_string": "x", "new_string": "y"}
		}
		call := p.mustBind(tool, input)
		_, err := call.Run(t.Context(), nil)
		wantError(t, err, agenttool.InvalidArguments, "not_a_file", "FIFO")
		_, err = call.(agenttool.Previewer).Preview(t.Context())
		wantError(t, err, agenttool.InvalidArguments, "not_a_file", "FIFO")
	}
}

func TestChangeOfAPrivatePathIsRefused(t *testing.T) {
	p := newProject(t, Options{})
	w := withPrivate(t, p.dir, Options{}, p.path("state"))
	for _, path := range []string{"state", "state/log"} {
		_, err := w.write(path, "x")
		wantError(t, err, agenttool.PermissionDenied, "private_path")
	}
	if _, err := os.Lstat(p.path("state")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("state: %v", err)
	}
}

// failing is a file that takes so many bytes before it fails, once or for ever.
type failing struct {
	data  []byte
	takes int
	heals bool
}

func (f *failing) WriteAt(b []byte, at int64) (int, error) {
	n := min(len(b), f.takes)
	f.data = append(f.data[:at], append(bytes.Clone(b[:n]), f.data[min(int(at)+n, len(f.data)):]...)...)
	if n == len(b) {
		return n, nil
	}
	if f.takes = 0; f.heals {
		f.takes = 1 << 20
	}
	return n, syscall.ENOSPC
}

func (f *failing) Truncate(size int64) error {
	f.data = f.data[:size]
	return nil
}

func TestOverwriteInPlace(t *testing.T) {
	tests := []struct {
		name, old, now string
		takes          int
		heals          bool
		want           string
		err            error
	}{
		{"longer", "one\n", "one two\n", 100, false, "one two\n", nil},
		{"shorter", "one two\n", "one\n", 100, false, "one\n", nil},
		{"from the first difference", "same old", "same new", 3, false, "same new", nil},
		{"stopped half way", "one two three", "oneTWOTHREEFOUR", 3, true, "one two three", syscall.ENOSPC},
		{"stopped for good", "one two three", "ONE", 1, false, "", agenttool.PartialFailure},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &failing{data: []byte(tt.old), takes: tt.takes, heals: tt.heals}
			err := overwrite(f, []byte(tt.now), []byte(tt.old))
			if !errors.Is(err, tt.err) {
				t.Errorf("error = %v, want %v", err, tt.err)
			}
			if tt.want != "" && string(f.data) != tt.want {
				t.Errorf("file %q, want %q", f.data, tt.want)
			}
		})
	}
}

// Whoever changes the file between the reading and the writing, without asking for the lock, is noticed.
func TestCommitNoticesOtherWriters(t *testing.T) {
	tests := []struct {
		name   string
		meddle func(p *project)
	}{
		{"same size", func(p *project) { p.put("f", "two\n") }},
		{"another file", func(p *project) { p.put("g", "one\n"); os.Rename(p.path("g"), p.path("f")) }},
		{"mode", func(p *project) { os.Chmod(p.path("f"), 0o600) }},
		{"removed", func(p *project) { os.Remove(p.path("f")) }},
		{"linked", func(p *project) { os.Link(p.path("f"), p.path("g")) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", "one\n")
			path := p.mustBind("read", in{"path": "f"}).Facts().Reads[0]
			s := p.tools["edit"].(editTool).session
			target := must[*target](t)(s.acquire(t.Context(), path))
			defer target.close()
			old := must[[]byte](t)(target.read(maxDocument))
			tt.meddle(p)
			before, _ := os.ReadFile(p.path("f"))
			if _, err := target.commit(t.Context(), s, []byte("three\n"), old); !errors.Is(err, errMoved) {
				t.Errorf("commit = %v, want errMoved", err)
			}
			if after, _ := os.ReadFile(p.path("f")); !bytes.Equal(before, after) {
				t.Errorf("file %q", after)
			}
			p.noTemporaries(".")
		})
	}
}

// A change that left the status as it was, since a clock had not ticked, is noticed by the bytes.
func TestCommitComparesRacyFiles(t *testing.T) {
	for _, tt := range []struct {
		meddle string
		err    error
	}{{"one\n", nil}, {"two\n", errMoved}} {
		for _, links := range []int{1, 2} {
			p := newProject(t, Options{})
			p.put("f", "one\n")
			if links == 2 {
				os.Link(p.path("f"), p.path("g"))
			}
			path := p.mustBind("read", in{"path": "f"}).Facts().Reads[0]
			s := p.tools["edit"].(editTool).session
			target := must[*target](t)(s.acquire(t.Context(), path))
			defer target.close()
			if since := time.Since(target.looked); since > time.Minute {
				t.Errorf("the target was looked at %v ago", since)
			}
			p.put("f", tt.meddle)
			target.stat = p.lstat("f")
			target.looked = time.Unix(target.stat.Ctim.Unix())
			if _, err := target.commit(t.Context(), s, []byte("three\n"), []byte("one\n")); !errors.Is(err, tt.err) {
				t.Errorf("%q: commit = %v, want %v", tt.meddle, err, tt.err)
			}
			if tt.err != nil && p.get("f") != tt.meddle {
				t.Errorf("file %q", p.get("f"))
			}
		}
	}
}

// A new file is put in its place in one of three ways, none of which replaces another file.
func TestCreateReplacesNothing(t *testing.T) {
	for name, place := range map[string]func(temp *temporary, name string) error{
		"without a name": (*temporary).become,
		"rename": func(temp *temporary, name string) error {
			return cmp.Or(temp.named(), renameNew(temp.dir.File(), temp.name, name))
		},
		"link": func(temp *temporary, name string) error {
			return cmp.Or(temp.named(), temp.dir.Link(temp.name, name))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, Options{})
			target := p.placed("f")
			for _, content := range []string{"new", "newer"} {
				temp := must[*temporary](t)(newTemporary("", target.dir, 0o666))
				temp.write([]byte(content))
				err := place(temp, "f")
				if cannot(err) {
					t.Skip("not here:", err)
				}
				if errors.Is(err, os.ErrExist) != (content == "newer") || p.get("f") != "new" {
					t.Errorf("file %q, error %v", p.get("f"), err)
				}
				temp.discard()
			}
			p.noTemporaries(".")
		})
	}
}

// placed returns the place of a name in the project.
func (p *project) placed(name string) *target {
	p.t.Helper()
	target := must[*target](p.t)(p.tools["edit"].(editTool).place(p.mustBind("read", in{"path": name}).Facts().Reads[0]))
	p.t.Cleanup(target.close)
	return target
}

// A file system that can do neither makes new files directly.
func TestCreateDirectly(t *testing.T) {
	p := newProject(t, Options{})
	target, s := p.placed("f"), p.tools["edit"].(editTool).session
	if err := target.createDirectly(s, []byte("new")); err != nil || p.get("f") != "new" {
		t.Errorf("file %q, error %v", p.get("f"), err)
	}
	if err := target.createDirectly(s, []byte("newer")); !errors.Is(err, errMoved) || p.get("f") != "new" {
		t.Errorf("again: file %q, error %v", p.get("f"), err)
	}
}

// The kernel takes set-id bits off a file into which an ordinary user writes.
func TestChangeInPlaceKeepsSetID(t *testing.T) {
	p := newProject(t, Options{})
	for _, mode := range []os.FileMode{0o755 | os.ModeSetuid, 0o755 | os.ModeSetgid, 0o755} {
		p.put("f", "one\n")
		os.Link(p.path("f"), p.path("g"))
		if err := os.Chmod(p.path("f"), mode); err != nil {
			t.Fatal(err)
		}
		r, err := p.edit("f", "one", "two")
		if info, _ := os.Stat(p.path("g")); err != nil || !r.InPlace || info.Mode() != mode {
			t.Errorf("%v became %v: %+v, %v", mode, info.Mode(), r, err)
		}
		os.Remove(p.path("f"))
		os.Remove(p.path("g"))
	}
}

// Files above the digest limit are known by their status.
func TestLargeFileIsRemembered(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", "one\n"+strings.Repeat("x", digestLimit))
	for _, change := range [][2]string{{"one\n", "two\n"}, {"two\n", "three\n"}} {
		out, err := p.run("edit", in{"path": "f", "old_string": change[0], "new_string": change[1], "replace_all": true})
		if err != nil || strings.Contains(out.Content[0].Text, "had changed") {
			t.Errorf("%v, %v", out.Content, err)
		}
	}
	f := must[*os.File](t)(os.OpenFile(p.path("f"), os.O_WRONLY, 0))
	f.WriteAt([]byte("x"), digestLimit)
	f.Close()
	_, err := p.run("edit", in{"path": "f", "old_string": "three\n", "new_string": "four\n", "replace_all": true})
	wantError(t, err, agenttool.InvalidArguments, "stale_content")
}

// TestLateCommitWritesNothing: a change whose call has ended while the file system stood still is not made when that goes on.
func TestLateCommitWritesNothing(t *testing.T) {
	for name, prepare := range map[string]func(p *project){
		"a new file":         func(*project) {},
		"a file":             func(p *project) { p.put("f", "one\n") },
		"one with two names": func(p *project) { p.put("f", "one\n"); os.Link(p.path("f"), p.path("g")) },
	} {
		t.Run(name, func(t *testing.T) {
			late := errors.New("late")
			ctx, cancel := context.WithCancelCause(t.Context())
			stands := func(string) (func(), error) {
				cancel(late)
				return func() {}, nil
			}
			p := newProject(t, Options{Writing: stands})
			prepare(p)
			before, _ := os.ReadFile(p.path("f"))
			target := must[*target](t)(p.tools["write"].(writeTool).session.acquire(t.Context(), p.mustBind("write", in{"path": "f", "content": "x"}).Facts().Writes[0]))
			defer target.close()
			if _, err := target.commit(ctx, p.tools["write"].(writeTool).session, []byte("two\n"), before); !errors.Is(err, late) {
				t.Errorf("commit = %v, want %v", err, late)
			}
			if after, _ := os.ReadFile(p.path("f")); !bytes.Equal(before, after) {
				t.Errorf("file %q", after)
			}
			p.noTemporaries(".")
		})
	}
}
