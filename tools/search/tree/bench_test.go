package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// corpora are the trees that are measured: Go's own source, and the directory that TOOLHOST_CORPUS names.
func corpora(b *testing.B) map[string]string {
	b.Helper()
	dirs := map[string]string{}
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		dirs["goroot"] = filepath.Join(strings.TrimSpace(string(root)), "src")
	}
	if dir := os.Getenv("TOOLHOST_CORPUS"); dir != "" {
		dirs["corpus"] = dir
	}
	return dirs
}

func BenchmarkFirst(b *testing.B) {
	for name, dir := range corpora(b) {
		b.Run(name, func(b *testing.B) {
			defer cpu(b)()
			for b.Loop() {
				t := open(b, dir, Options{})
				report(b, refreshed(b, t))
				t.Close()
			}
		})
	}
}

func BenchmarkAgain(b *testing.B) {
	for name, dir := range corpora(b) {
		b.Run(name, func(b *testing.B) {
			t := open(b, dir, Options{})
			for range 2 {
				refreshed(b, t)
			}
			defer cpu(b)()
			for b.Loop() {
				report(b, refreshed(b, t))
			}
		})
	}
}

// cpu begins to measure; the result reports the milliseconds of processor time that each round took, which other
// programs on the machine disturb less than the time on the clock.
func cpu(b *testing.B) func() {
	used := func() int64 {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/1e6/float64(b.N), "cpu-ms/op") }
}

func report(b *testing.B, l *List) {
	b.ReportMetric(float64(len(l.Files)), "files")
	b.ReportMetric(float64(len(l.Dirs)), "dirs")
}
