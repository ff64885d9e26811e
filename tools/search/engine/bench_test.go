package engine

import (
	"context"
	"go/build"
	"os"
	"path/filepath"
	"testing"

	"toolhost/agenttool"
	"toolhost/tools/search/match"
	"toolhost/tools/workspace"
)

// corpus is the tree that is searched: what TOOLHOST_CORPUS names, else the sources of Go.
func corpus(b *testing.B) (*workspace.Workspace, string) {
	b.Helper()
	dir := os.Getenv("TOOLHOST_CORPUS")
	if dir == "" {
		dir = filepath.Join(build.Default.GOROOT, "src")
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		b.Skip("nothing to search:", err)
	}
	w, err := workspace.Open([]string{dir})
	if err != nil {
		b.Skip("nothing to search:", err)
	}
	b.Cleanup(w.Close)
	return w, dir
}

func root(b testing.TB, w *workspace.Workspace, dir string) Root {
	b.Helper()
	d, err := w.OpenDir(agenttool.Path{Resolved: dir, Root: dir})
	if err != nil {
		b.Fatal(err)
	}
	return Root{Dir: d, Path: dir}
}

// BenchmarkList lists: at first, and again.
func BenchmarkList(b *testing.B) {
	w, dir := corpus(b)
	list := func(b *testing.B, e *Engine) {
		n := 0
		if _, err := e.List(context.Background(), root(b, w, dir), nil, func(FoundFile) bool { n++; return true }); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n), "files")
	}
	b.Run("first", func(b *testing.B) {
		for range b.N {
			e := New(Options{})
			list(b, e)
			e.Close()
		}
	})
	b.Run("again", func(b *testing.B) {
		e := New(Options{})
		defer e.Close()
		list(b, e)
		for b.Loop() {
			list(b, e)
		}
	})
}

// BenchmarkGrep searches: at first, and again in each mode.
func BenchmarkGrep(b *testing.B) {
	w, dir := corpus(b)
	for _, tc := range []struct {
		name, pattern string
		options       match.Options
	}{
		{"rare", "spin_lock_bh_nested", match.Options{}},
		{"fold", "deadlock", match.Options{IgnoreCase: true}},
		{"alternation", "EXPORT_SYMBOL_NS_GPL|kmem_cache_create_user|nested_lock_depth", match.Options{}},
		{"prefix", `spin_lock_[a-z]+save\(`, match.Options{}},
		{"classes", `(\w{5}\s+){6}\w{5}`, match.Options{}},
		{"anchored", `^[a-z]+\s+[A-Z]\w+\s+=\s+\d+$`, match.Options{}},
		{"common", "the", match.Options{}},
	} {
		p, err := match.Compile(tc.pattern, tc.options)
		if err != nil {
			b.Fatal(err)
		}
		grep := func(b *testing.B, e *Engine) {
			n := 0
			_, err := e.Grep(context.Background(), root(b, w, dir), Query{Pattern: p, Store: true}, func(p Part) bool { n += p.Count; return true })
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(n), "lines")
		}
		b.Run(tc.name+"/first", func(b *testing.B) {
			for range b.N {
				e := New(Options{Index: Off})
				grep(b, e)
				e.Close()
			}
		})
		for name, mode := range map[string]Mode{"strict": Strict, "watched": Watched} {
			b.Run(tc.name+"/"+name, func(b *testing.B) {
				e := New(Options{Index: mode})
				defer e.Close()
				for range 3 {
					grep(b, e)
					if err := e.Settle(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
				for b.Loop() {
					grep(b, e)
				}
			})
		}
	}
}
