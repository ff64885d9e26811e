package shell

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolhost/agenttool"
)

// TestRefineUnderLoad: the same verdict each time, while the machine is kept busy.
func TestRefineUnderLoad(t *testing.T) {
	b := newBench(t, Options{})
	for i := range 200 {
		writeFile(t, filepath.Join(b.dir, fmt.Sprintf("d%d/f%d.txt", i%20, i)))
	}
	var stop atomic.Bool
	var busy sync.WaitGroup
	for range 20 {
		busy.Go(func() {
			for n := 0; !stop.Load(); n++ {
				if n%1000 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	defer busy.Wait()
	defer stop.Store(true)
	want := refinedReads(t, b, "cat */*.txt")
	if n := len(strings.Fields(want)); n != 200 {
		t.Fatalf("%d paths: %s", n, want)
	}
	for i := range 300 {
		if got := refinedReads(t, b, "cat */*.txt"); got != want {
			t.Fatalf("repetition %d: %q, want %q", i, got, want)
		}
	}
}

// TestRefineSlowDisk: what takes long is found all the same, and what never comes ends with the call.
func TestRefineSlowDisk(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/x.md", "b/x.md"} {
		writeFile(t, filepath.Join(dir, name))
	}
	globs := []agenttool.Glob{{Pattern: dir + "/*/*.md"}}
	answer := make(chan struct{})
	slow := func(p *agenttool.Path) error {
		<-answer
		p.Resolved, p.Root = filepath.Clean(p.Absolute), dir
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if m := lookUp(ctx, globs, slow); m != nil {
		t.Errorf("a disk that does not answer: %v", m.paths)
	}
	time.AfterFunc(50*time.Millisecond, func() { close(answer) })
	m := lookUp(t.Context(), globs, slow)
	if m == nil || len(m.paths) != 2 {
		t.Fatalf("a slow disk: %+v", m)
	}
}

// TestVerdictsHaveNoClock: no file that computes a verdict knows the time.
func TestVerdictsHaveNoClock(t *testing.T) {
	var files []string
	for _, pattern := range []string{"globs.go", "gitdir.go", "facts.go", "describe.go", "../../classify/*.go", "../../classify/program/*.go", "../../permissions/*.go", "../../agenttool/facts.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range tree.Imports {
			if slices.Contains([]string{`"time"`, `"math/rand"`, `"math/rand/v2"`}, spec.Path.Value) {
				t.Errorf("%s imports %s: the same input and files have to give the same verdict", file, spec.Path.Value)
			}
		}
	}
}
