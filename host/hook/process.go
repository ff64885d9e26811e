package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/locale"
	"toolhost/sandbox"
)

const (
	maxAnswer = 1 << 20 // bytes of stdout
	maxStderr = 4 << 10 // bytes of stderr that are kept, the last ones

	killGrace  = 500 * time.Millisecond // between TERM and KILL
	stuckLimit = 2 * time.Second        // after KILL: a process that is stuck in the kernel for longer is left alone
	drainLimit = 300 * time.Millisecond // for output that others still hold when the process has ended
)

// Why a process was ended by us.
var (
	errTimeout = errors.New("timeout")
	errFlood   = errors.New("more than 1 MiB on stdout")
)

// ending is the exit of a process, and its output.
type ending struct {
	stdout []byte
	stderr []byte
	status *syscall.WaitStatus // nil: it never began, or never ended
	err    error               // why it did not come to its own end: errTimeout, errFlood, the cause of ctx's end, or of its failure to start
}

// process is a running hook. It leads a session of its own, below a supervisor that ends with the host.
type process struct {
	*sandbox.Process
	pipes  [3]*os.File    // our ends: its stdin, stdout and stderr
	copied sync.WaitGroup // the goroutines that feed and read it

	stdout limitedBuffer
	stderr tail
}

// runProcess runs a command to its end with stdin, the parts one after the other, and within timeout. It returns soon after
// ctx has ended. However the process behaves, it comes back: at the latest 3 seconds after the timeout.
func (r *Runner) runProcess(ctx context.Context, c *sandbox.Command, stdin [][]byte, timeout time.Duration) ending {
	p := &process{stdout: limitedBuffer{full: make(chan struct{})}}
	if err := p.start(ctx, r.commands, c); err != nil {
		return ending{err: err}
	}
	p.attend(stdin)
	why := p.await(ctx, timeout)
	if why != nil {
		p.end()
	}
	p.drain()
	if why == nil && p.stdout.exceeded() {
		why = errFlood
	}
	e := ending{stdout: p.stdout.kept, stderr: p.stderr.kept, err: why}
	if ended := p.Ended(); ended != nil {
		e.status = &ended.Status
	}
	return e
}

// start opens the pipes and starts the process.
func (p *process) start(ctx context.Context, commands *sandbox.Session, c *sandbox.Command) (err error) {
	defer func() {
		closeAll(c.Streams[:])
		if err != nil {
			closeAll(p.pipes[:])
		}
	}()
	for i := range p.pipes {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		p.pipes[i], c.Streams[i] = r, w
		if i == 0 {
			p.pipes[i], c.Streams[i] = w, r
		}
	}
	if c.Dir, err = filepath.EvalSymlinks(c.Dir); err != nil {
		return err
	}
	if c.At, err = os.Open(c.Dir); err != nil {
		return err
	}
	defer c.At.Close()
	p.Process, err = commands.Start(ctx, c)
	return err
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// attend writes the process's stdin and reads its output. A process need not read its stdin.
func (p *process) attend(stdin [][]byte) {
	p.copied.Go(func() {
		for _, part := range stdin {
			if _, err := p.pipes[0].Write(part); err != nil {
				break
			}
		}
		_ = p.pipes[0].Close()
	})
	p.copied.Go(func() { _, _ = io.Copy(&p.stdout, p.pipes[1]) })
	p.copied.Go(func() { _, _ = io.Copy(&p.stderr, p.pipes[2]) })
}

// await returns when the process has ended, with nil, or must be.
func (p *process) await(ctx context.Context, timeout time.Duration) error {
	select {
	case <-p.Exited():
		return nil
	case <-p.stdout.full:
		return errFlood
	case <-time.After(timeout):
		return errTimeout
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end ends the process and all its descendants, in any session. Processes that are stuck in the kernel are left alone.
func (p *process) end() {
	p.Signal(syscall.SIGTERM)
	p.within(killGrace)
	p.Kill() // also when it has ended: a process that it started may be left
	p.within(stuckLimit)
}

// within waits until the process has ended, for at most d.
func (p *process) within(d time.Duration) {
	select {
	case <-p.Exited():
	case <-time.After(d):
	}
}

// drain ends the copying. Other processes that hold the pipes may write for a moment longer, no more.
func (p *process) drain() {
	limit := time.Now().Add(drainLimit)
	for _, f := range p.pipes[1:] {
		if f.SetReadDeadline(limit) != nil {
			_ = f.Close()
		}
	}
	_ = p.pipes[0].Close() // no process is left that reads
	p.copied.Wait()
	closeAll(p.pipes[1:])
}

// limitedBuffer keeps the first maxAnswer bytes that are written to it and then fails.
type limitedBuffer struct {
	kept []byte
	full chan struct{} // closed when there was more
}

func (l *limitedBuffer) Write(b []byte) (int, error) {
	if len(l.kept)+len(b) > maxAnswer {
		close(l.full) // io.Copy ends with the first error
		return 0, errFlood
	}
	l.kept = append(l.kept, b...)
	return len(b), nil
}

func (l *limitedBuffer) exceeded() bool {
	select {
	case <-l.full:
		return true
	default:
		return false
	}
}

// tail keeps the last maxStderr bytes written to it.
type tail struct{ kept []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b[max(0, len(b)-maxStderr):]...)
	if over := len(t.kept) - maxStderr; over > 0 {
		t.kept = bytes.Clone(t.kept[over:])
	}
	return len(b), nil
}

// passed are the variables of the host that a hook sees, besides LC_* and PATH.
var passed = map[string]bool{"HOME": true, "USER": true, "LANG": true, "TZ": true, "TMPDIR": true, "TOOLHOST_HOOK": true}

// defaultPath is the PATH of a hook whose host has none that can be used.
const defaultPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

// environ returns the environment of a hook, sorted. It is built, not inherited: no secrets, no variables that make a shell or a
// loader run code, and locales that make bash read a command as it was analysed. Host is "NAME=value" each; of two values of one
// name the first counts.
func environ(host []string, workspace string, set map[string]string, own ...string) []string {
	env := map[string]string{"PATH": defaultPath, "TERM": "dumb"}
	seen := map[string]bool{}
	for _, entry := range host {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || seen[name] || hasNUL(value) {
			continue
		}
		seen[name] = true
		switch {
		case name == "PATH":
			env[name] = trustedPath(value, workspace)
		case passed[name] || strings.HasPrefix(name, "LC_"):
			env[name] = value
		}
	}
	for name, value := range set {
		env[name] = value
	}
	list := own
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	list = locale.Environ(list)
	slices.Sort(list)
	return list
}

// trustedPath returns the entries of a PATH that are absolute and outside of the workspace: a file that
// a call can write must not be found as a program that runs as the user.
func trustedPath(path, workspace string) string {
	entries := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		return !filepath.IsAbs(dir) || agenttool.Within(workspace, filepath.Clean(dir))
	})
	if len(entries) == 0 {
		return defaultPath
	}
	return strings.Join(entries, string(filepath.ListSeparator))
}

// program finds the program of a command: a path is taken as it is, from where the hook runs; a name is looked up in the
// PATH of its own environment.
func program(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	i := slices.IndexFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
	path := strings.TrimPrefix(env[i], "PATH=")
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("there is no program %q in its PATH, %s", name, path)
}
