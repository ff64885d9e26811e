package watch

import (
	"os"
	"strconv"
	"testing"
)

func BenchmarkDrainEmpty(b *testing.B) {
	w := newWatcher(b)
	add(b, w, b.TempDir())
	for b.Loop() {
		if err := w.Drain(func(Event) {}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAdd5000(b *testing.B) {
	base := b.TempDir()
	dirs := make([]*os.File, 0, 5000)
	for i := range cap(dirs) {
		name := base + "/" + strconv.Itoa(i)
		if err := os.Mkdir(name, 0o755); err != nil {
			b.Fatal(err)
		}
		dir, err := os.Open(name)
		if err != nil {
			b.Skip("too few open files are allowed:", err)
		}
		defer dir.Close()
		dirs = append(dirs, dir)
	}
	for b.Loop() {
		w := newWatcher(b)
		for _, dir := range dirs {
			if _, err := w.Add(int(dir.Fd())); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		w.Close()
		b.StartTimer()
	}
}

func BenchmarkDrain4000(b *testing.B) {
	w := newWatcher(b)
	base := b.TempDir()
	makeEvents := pen(b, base)
	add(b, w, base)
	for b.Loop() {
		b.StopTimer()
		makeEvents(4000)
		b.StartTimer()
		if err := w.Drain(func(Event) {}); err != nil {
			b.Fatal(err)
		}
	}
}
