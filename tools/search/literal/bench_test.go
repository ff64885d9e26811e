package literal

import (
	"bytes"
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"testing"
)

// corpus is size bytes of Go source, of the standard library that comes with the compiler.
func corpus(b *testing.B, size int) []byte {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", "net", "http", "*.go"))
	if err != nil || len(files) == 0 {
		b.Skip("the source of the standard library is missing")
	}
	var text []byte
	for len(text) < size {
		for _, name := range files {
			content, err := os.ReadFile(name)
			if err != nil {
				b.Fatal(err)
			}
			text = append(text, content...)
		}
	}
	return text[:size]
}

// passOver finds all occurrences in text.
func passOver(text []byte, index func([]byte) int) (found int) {
	for at := 0; ; found++ {
		i := index(text[at:])
		if i < 0 {
			return found
		}
		at += i + 1
	}
}

func benchmark(b *testing.B, size int, index func([]byte) int) {
	text := corpus(b, size)
	b.SetBytes(int64(size))
	found := 0
	for b.Loop() {
		found = passOver(text, index)
	}
	b.ReportMetric(float64(found), "found")
}

func BenchmarkIndex(b *testing.B) {
	for _, tt := range []struct{ name, text string }{
		{"rare", "spin_lock_IRQ"},
		{"common first byte", "tetrahedron"},
		{"common", "func ("},
		{"common pair", "the "},
		{"absent, common pair", "rete"},
		{"brace", "}\n\n"},
		{"one byte", "="},
	} {
		n, folded := New([]byte(tt.text), false), New([]byte(tt.text), true)
		for _, size := range []struct {
			name  string
			bytes int
		}{{"15K", 15 << 10}, {"256K", 256 << 10}, {"16M", 16 << 20}} {
			run := func(name string, index func([]byte) int) {
				b.Run(tt.name+"/"+size.name+"/"+name, func(b *testing.B) { benchmark(b, size.bytes, index) })
			}
			run("stdlib", func(text []byte) int { return bytes.Index(text, n.text) })
			run("exact", n.Index)
			run("fold", folded.Index)
			run("words", func(text []byte) int { return n.search(text, false) })
			run("words fold", func(text []byte) int { return folded.search(text, false) })
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for _, tt := range []struct {
		name  string
		texts []string
	}{
		{"one", []string{"spin_lock_irqsave"}},
		{"three", []string{"spin_lock_irqsave", "kmalloc_array", "mutex_trylock"}},
		{"three words", []string{"unexpected", "deadline", "hijack"}},
		{"three short", []string{"todo", "fixme", "xxx"}},
		{"three common", []string{"foo", "bar", "baz"}},
		{"three most common", []string{"return", "func ", "if err"}},
		{"eight", []string{"spin_lock", "kmalloc", "mutex", "hijack", "quux", "zebra", "xyzzy", "deadbeef"}},
	} {
		for _, size := range []struct {
			name  string
			bytes int
		}{{"15K", 15 << 10}, {"256K", 256 << 10}, {"16M", 16 << 20}} {
			for _, fold := range []bool{false, true} {
				c := Clause{}
				for _, text := range tt.texts {
					c = append(c, New([]byte(text), fold))
				}
				for i, f := range each(c) {
					b.Run(fmt.Sprintf("%s/%s/fold=%t/%s", tt.name, size.name, fold, []string{"together", "separate"}[i]), func(b *testing.B) {
						if i == 0 && len(f.groups) == len(c) {
							b.Skip("cannot be looked for together")
						}
						benchmarkFinder(b, f, corpus(b, size.bytes))
					})
				}
			}
		}
	}
}

func benchmarkFinder(b *testing.B, f *Finder, text []byte) {
	b.SetBytes(int64(len(text)))
	found := 0
	for b.Loop() {
		found = 0
		f.Reset(text)
		for at, _ := f.Next(0); at >= 0; at, _ = f.Next(at + 1) {
			found++
		}
	}
	b.ReportMetric(float64(found), "found")
}

func BenchmarkNewFinder(b *testing.B) {
	c := Clause{New([]byte("spin_lock_irqsave"), false), New([]byte("kmalloc_array"), false), New([]byte("mutex_trylock"), false)}
	for b.Loop() {
		NewFinder(c)
	}
}
