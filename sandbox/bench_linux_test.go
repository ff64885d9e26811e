package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"toolhost/permissions/protect"
)

// BenchmarkStart is what a sandbox costs over the command itself, beside the peer with the same mounts, in turns so that
// noise hits all alike. It reports medians in ms over bash -c true:
//
//	go test -run '^$' -bench Start -benchtime 300x ./sandbox
func BenchmarkStart(b *testing.B) {
	for _, carved := range []int{0, 20, 100} {
		b.Run(fmt.Sprintf("carved=%d", carved), func(b *testing.B) { benchStart(b, carved) })
	}
}

func benchStart(b *testing.B, carved int) {
	s := newBench(b, nil)
	var peer []string
	for i := range (carved + 2) / 3 { // a repository takes three mounts: a pin, its hooks, its configuration
		for _, dir := range []string{"hooks", "objects", "refs"} {
			if err := os.MkdirAll(filepath.Join(s.ws, fmt.Sprint("r", i), ".git", dir), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		git := filepath.Join(s.ws, fmt.Sprint("r", i), ".git")
		s.write(b, fmt.Sprintf("r%d/.git/HEAD", i), "ref: refs/heads/main")
		s.write(b, fmt.Sprintf("r%d/.git/config", i), "[core]")
		peer = append(peer, "--bind", git, git, "--ro-bind", git+"/hooks", git+"/hooks", "--ro-bind", git+"/config", git+"/config")
	}
	s.o.Protected.Close()
	s.o.Protected = protect.NewCache(protect.Options{Roots: paths(s.view.roots)}, time.Hour)
	bwrap := slices.Concat([]string{"--ro-bind", "/", "/", "--bind", s.dirs.tmp.path, "/tmp", "--bind", s.dirs.varTmp.path, "/var/tmp", "--bind", s.ws, s.ws,
		"--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run", "--ro-bind", s.home, s.home, "--bind", s.dirs.cache.path, s.dirs.cache.path}, peer,
		[]string{"--unshare-all", "--die-with-parent", "--", "/bin/bash", "-c", "true"})
	variants := []struct {
		name string
		run  func() error
	}{
		{"direct", func() error { return exec.Command("/bin/bash", "-c", "true").Run() }},
		{"bwrap", func() error { return exec.Command("bwrap", bwrap...).Run() }},
		{"read_only", func() error { return s.once(ReadOnly) }},
		{"workspace", func() error { return s.once(Workspace) }},
	}
	if _, err := exec.LookPath("bwrap"); err != nil {
		b.Log("bwrap is not installed: there is nobody to compare with")
		variants = slices.Delete(variants, 1, 2)
	}
	took := make([][]float64, len(variants))
	for b.Loop() {
		for i, v := range variants {
			start := time.Now()
			if err := v.run(); err != nil {
				b.Fatal(v.name, err)
			}
			took[i] = append(took[i], float64(time.Since(start).Microseconds())/1000)
		}
	}
	direct := median(took[0])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(direct, "direct-ms")
	for i, v := range variants[1:] {
		b.ReportMetric(median(took[i+1])-direct, v.name+"+ms")
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// once runs bash -c true and waits for its end.
func (b *bench) once(access Access) error {
	p, err := b.command(access)
	if err == nil {
		<-p.Exited()
	}
	return err
}

// command starts bash -c true.
func (b *bench) command(access Access) (*Process, error) {
	dir, err := os.Open(b.ws)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return b.Start(context.Background(), &Command{Path: "/bin/bash", Args: []string{"bash", "-c", "true"}, Dir: b.ws, At: dir, Env: os.Environ(),
		Streams: [3]*os.File{null, null, null}, Profile: Profile{Access: access}})
}

// BenchmarkUnconfined is what a helper costs over the command itself, from Start to Gone, in ms:
//
//	go test -run '^$' -bench Unconfined -benchtime 500x ./sandbox
func BenchmarkUnconfined(b *testing.B) {
	dir := b.TempDir()
	s, err := Open(Options{Level: None})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	box := &bench{Session: s, ws: dir}
	var direct, start, exit, gone []float64
	since := func(at time.Time) float64 { return float64(time.Since(at).Microseconds()) / 1000 }
	for b.Loop() {
		at := time.Now()
		if err := exec.Command("/bin/bash", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
		direct = append(direct, since(at))
		at = time.Now()
		p, err := box.command(Unconfined)
		if err != nil {
			b.Fatal(err)
		}
		start = append(start, since(at))
		<-p.Exited()
		exit = append(exit, since(at))
		<-p.Gone()
		gone = append(gone, since(at))
	}
	base := median(direct)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(base, "direct-ms")
	b.ReportMetric(median(start), "start-ms")
	b.ReportMetric(median(exit)-base, "exited+ms")
	b.ReportMetric(median(gone)-base, "gone+ms")
}

// BenchmarkKill is how long a command that sleeps takes from Kill to Gone.
func BenchmarkKill(b *testing.B) {
	for _, access := range []Access{Unconfined, Workspace} {
		b.Run(string(access), func(b *testing.B) {
			box := newBench(b, func(o *Options) {
				if access == Workspace {
					o.Level = LandlockNotify
				}
			})
			var took []float64
			for b.Loop() {
				p := box.start(b, Profile{Access: access}, "setsid sleep 1000 & exec sleep 1000")
				time.Sleep(5 * time.Millisecond) // until it has started what it starts
				at := time.Now()
				p.Kill()
				<-p.Gone()
				took = append(took, float64(time.Since(at).Microseconds())/1000)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(took), "ms")
		})
	}
}
