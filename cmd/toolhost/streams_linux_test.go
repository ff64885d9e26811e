package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/cut"
)

// streamsHome is the environment of a toolhost that keeps nothing in the real home.
func streamsHome(t *testing.T, cmd *exec.Cmd) {
	home := frontHome(t)
	cmd.Dir = home + "/ws"
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home+"/state", "XDG_CONFIG_HOME="+home+"/config", "XDG_RUNTIME_DIR="+home+"/run")
}

// TestSandboxWithNonBlockingStreams gives a sandboxed command streams in non-blocking mode, as node does.
func TestSandboxWithNonBlockingStreams(t *testing.T) {
	t.Parallel()
	for fd, name := range []string{"stdin", "stdout", "stderr"} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(toolhostProgram(t), "sandbox", "--quiet", "--", "sh", "-c", "cat; echo out; echo err >&2")
			streamsHome(t, cmd)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs := r, w
			if fd == 0 {
				ours, theirs = w, r
			}
			if err := unix.SetNonblock(int(theirs.Fd()), true); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("in\n"), &out, &errs
			read := make(chan string, 1)
			switch fd {
			case 0:
				cmd.Stdin = theirs
				_, _ = io.WriteString(ours, "in\n")
				ours.Close()
			case 1:
				cmd.Stdout = theirs
			case 2:
				cmd.Stderr = theirs
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			theirs.Close()
			if fd > 0 {
				go func() {
					b, _ := io.ReadAll(ours)
					read <- string(b)
				}()
			}
			err = cmd.Wait()
			got := []string{"", out.String(), errs.String()}
			if fd > 0 {
				got[fd] = <-read
			}
			if err != nil || got[1] != "in\nout\n" || got[2] != "err\n" {
				t.Errorf("%v, stdout %q, stderr %s", err, got[1], cut.Characters(got[2], 500))
			}
		})
	}
}

// TestServeOverStreamsThatBecomeNonBlocking lets the client make the streams non-blocking while the session uses them, over
// pipes and over sockets, and read slowly: every answer comes.
func TestServeOverStreamsThatBecomeNonBlocking(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"pipes", "sockets"} {
		t.Run(kind, func(t *testing.T) {
			in, theirIn, theirOut, out := streamPair(t, kind)
			cmd := exec.Command(toolhostProgram(t), "serve")
			streamsHome(t, cmd)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, os.Stderr
			if err := os.WriteFile(cmd.Dir+"/large", bytes.Repeat([]byte("a line of text\n"), 1900), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			stuck := time.AfterFunc(frontPatience, func() { // this process holds both ends, so a session that ended is no end of file
				_ = cmd.Process.Kill()
				_ = unix.Shutdown(int(out.Fd()), unix.SHUT_RDWR)
				theirOut.Close()
			})
			defer stuck.Stop()
			lines := bufio.NewReaderSize(out, 1<<20)
			const calls = 60 // 28 KB each: the pipe is full many times
			send := func(i int) {
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"agenttool/invoke","params":{"id":"c%d","tool":"read","input":{"path":"large"}}}`+"\n", i, i)
			}
			send(0)
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			for _, f := range []*os.File{theirIn, theirOut} { // the open files are shared with the session
				if err := unix.SetNonblock(int(f.Fd()), true); err != nil {
					t.Fatal(err)
				}
			}
			for i := 1; i < calls; i++ {
				send(i)
			}
			time.Sleep(50 * time.Millisecond) // the output fills; however long it takes, nothing may be lost
			for i := 1; i < calls; i++ {
				line, err := lines.ReadString('\n')
				if err != nil || !strings.Contains(line, `"result"`) {
					t.Fatalf("answer %d: %v %s", i, err, cut.Characters(line, 200))
				}
			}
			theirIn.Close()
			theirOut.Close()
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("toolhost ended with %v", err)
			}
		})
	}
}

// streamPair returns both ends of a process's stdin and stdout.
func streamPair(t *testing.T, kind string) (in, theirIn, theirOut, out *os.File) {
	t.Helper()
	var err error
	if kind == "pipes" {
		theirIn, in, err = os.Pipe()
		if err == nil {
			out, theirOut, err = os.Pipe()
		}
		if err != nil {
			t.Fatal(err)
		}
		return in, theirIn, theirOut, out
	}
	pair := func() (*os.File, *os.File) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	}
	in, theirIn = pair()
	out, theirOut = pair()
	return in, theirIn, theirOut, out
}
