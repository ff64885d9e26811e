package sandbox

import (
	"os"
	"os/exec"
	"testing"
)

// BenchmarkStart is what a sandbox costs over the command itself, with the peer in the same run:
//
//	go test -run '^$' -bench Start -benchtime 300x ./sandbox
func BenchmarkStart(b *testing.B) {
	s := newBench(b, nil)
	direct := func() error { return exec.Command("/bin/bash", "-c", "true").Run() }
	peer := func() error {
		return exec.Command("bwrap", "--ro-bind", "/", "/", "--bind", s.ws, s.ws, "--bind", s.tmp.path, "/tmp", "--dev", "/dev", "--proc",
			"/proc", "--tmpfs", "/run", "--unshare-all", "--", "/bin/bash", "-c", "true").Run()
	}
	run := func(access Access) func() error {
		return func() error {
			dir, err := os.Open(s.ws)
			if err != nil {
				return err
			}
			defer dir.Close()
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer null.Close()
			p, err := s.Start(&Command{Path: "/bin/bash", Args: []string{"bash", "-c", "true"}, Dir: s.ws, At: dir, Env: os.Environ(),
				Streams: [3]*os.File{null, null, null}, Profile: Profile{Access: access}})
			if err != nil {
				return err
			}
			<-p.Exited()
			return nil
		}
	}
	for _, c := range []struct {
		name string
		run  func() error
	}{{"direct", direct}, {"bwrap", peer}, {"read_only", run(ReadOnly)}, {"workspace", run(Workspace)}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
