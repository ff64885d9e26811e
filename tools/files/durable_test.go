package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// synced has every sync of p noted: the name of what is synced, and what the file f holds at that moment.
func (p *project) synced(result error) *[]string {
	var noted []string
	p.tools["write"].(writeTool).session.sync = func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		what := "file"
		if info.IsDir() {
			what = filepath.Base(p.dir)
			for _, name := range []string{"a/b/c", "a/b", "a"} {
				if other, err := os.Stat(p.path(name)); err == nil && os.SameFile(info, other) {
					what = name
				}
			}
			what = strings.Replace(what, filepath.Base(p.dir), ".", 1)
		}
		content, err := os.ReadFile(p.path("f"))
		if err != nil {
			content = []byte("nothing")
		}
		noted = append(noted, fmt.Sprintf("%s while f is %s", what, content))
		return errors.Join(f.Sync(), result)
	}
	return &noted
}

func TestDurability(t *testing.T) {
	replace := func(p *project) error { _, err := p.edit("f", "old", "new"); return err }
	create := func(p *project) error { os.Remove(p.path("f")); _, err := p.write("f", "new"); return err }
	linked := func(p *project) error { os.Link(p.path("f"), p.path("g")); return replace(p) }
	deep := func(p *project) error { _, err := p.write("a/b/c/new", "new"); return err }
	same := func(p *project) error { p.read("f"); _, err := p.write("f", "old"); return err }
	tests := []struct {
		name       string
		durability Durability
		do         func(p *project) error
		want       []string
	}{
		{"replace, none", agenttool.NotSynced, replace, nil},
		{"replace, file", agenttool.FileSynced, replace, []string{"file while f is old"}},
		{"replace, full", agenttool.FullySynced, replace, []string{"file while f is old", ". while f is new"}},
		{"create, none", agenttool.NotSynced, create, nil},
		{"create, file", agenttool.FileSynced, create, []string{"file while f is nothing"}},
		{"create, full", agenttool.FullySynced, create, []string{"file while f is nothing", ". while f is new"}},
		{"in place, none", agenttool.NotSynced, linked, nil},
		{"in place, file", agenttool.FileSynced, linked, []string{"file while f is new"}},
		{"in place, full", agenttool.FullySynced, linked, []string{"file while f is new"}},
		{"directories, file", agenttool.FileSynced, deep, []string{"file while f is old"}},
		{"directories, full", agenttool.FullySynced, deep, []string{
			"file while f is old", "a/b/c while f is old", "a/b while f is old", "a while f is old", ". while f is old",
		}},
		{"unchanged, full", agenttool.FullySynced, same, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{Durability: func() Durability { return tt.durability }})
			p.put("f", "old")
			noted := p.synced(nil)
			if err := tt.do(p); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(*noted, tt.want) {
				t.Errorf("synced %q, want %q", *noted, tt.want)
			}
			p.noTemporaries(".")
		})
	}
}

func TestSyncFails(t *testing.T) {
	conform.Held(t, "AT-326")
	t.Run("before the rename", func(t *testing.T) {
		p := newProject(t, Options{Durability: func() Durability { return agenttool.FullySynced }})
		p.put("f", "old")
		p.synced(syscall.EIO)
		_, err := p.edit("f", "old", "new")
		wantError(t, err, agenttool.ExecutionFailed, "io_error")
		if p.get("f") != "old" {
			t.Errorf("file %q", p.get("f"))
		}
		p.noTemporaries(".")
	})
	t.Run("in place", func(t *testing.T) {
		p := newProject(t, Options{Durability: func() Durability { return agenttool.FileSynced }})
		p.put("f", "old")
		os.Link(p.path("f"), p.path("g"))
		p.synced(syscall.EIO)
		_, err := p.edit("f", "old", "new")
		wantError(t, err, agenttool.PartialFailure, "not_durable", "holds its new content")
	})
	for _, tt := range []struct {
		err   error
		fails bool
	}{{syscall.EIO, true}, {syscall.EINVAL, false}, {syscall.ENOTSUP, false}, {syscall.ENOSYS, false}} {
		t.Run("of the directory: "+tt.err.Error(), func(t *testing.T) {
			p := newProject(t, Options{Durability: func() Durability { return agenttool.FullySynced }})
			p.put("f", "old")
			p.tools["write"].(writeTool).session.sync = func(f *os.File) error {
				if info, err := f.Stat(); err != nil || info.IsDir() {
					return errors.Join(err, tt.err)
				}
				return f.Sync()
			}
			_, err := p.edit("f", "old", "new")
			if p.get("f") != "new" || (err != nil) != tt.fails {
				t.Errorf("file %q, error %v", p.get("f"), err)
			}
			if tt.fails {
				wantError(t, err, agenttool.PartialFailure, "not_durable", "holds its new content")
			}
		})
	}
}

// Without a setting the content of a file is on the disk before the file takes its name.
func TestDurableByDefault(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", "old")
	noted := p.synced(nil)
	if _, err := p.edit("f", "old", "new"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"file while f is old"}; !slices.Equal(*noted, want) {
		t.Errorf("synced %q, want %q", *noted, want)
	}
}

func BenchmarkWrite8KB(b *testing.B) {
	for _, d := range []Durability{agenttool.NotSynced, agenttool.FileSynced, agenttool.FullySynced} {
		b.Run(string(d), func(b *testing.B) {
			p := newProject(b, Options{Overwrite: true, Durability: func() Durability { return d }})
			text := strings.Repeat("a line of text\n", 8500/15)
			p.put("f", text)
			calls := []agenttool.Call{
				p.mustBind("write", in{"path": "f", "content": text + "1"}), p.mustBind("write", in{"path": "f", "content": text + "2"}),
			}
			for i := 0; b.Loop(); i++ {
				if _, err := calls[i%2].Run(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
