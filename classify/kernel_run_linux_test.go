package classify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// playKernelRole is the other side: the host, or one command of it.
func playKernelRole(t *testing.T, role string) {
	var p kernelPlan
	if err := json.Unmarshal([]byte(os.Getenv(kernelPlanVar)), &p); err != nil {
		t.Fatal(err)
	}
	if role == "host" {
		p.host(t)
		return
	}
	runtime.LockOSThread()
	failure := p.enter(role) // returns only if a wall cannot be made
	io.WriteString(os.NewFile(3, "failure"), failure.Error())
	os.Exit(125)
}

// host answers requests until there are no more. What it runs ends with it, and it ends with the test.
func (p *kernelPlan) host(t *testing.T) {
	failure := p.prepare()
	requests := make(chan []kernelCommand)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(requests)
		defer cancel()
		for d := json.NewDecoder(os.Stdin); ; {
			var commands []kernelCommand
			if d.Decode(&commands) != nil {
				return
			}
			requests <- commands
		}
	}()
	answers := json.NewEncoder(os.NewFile(3, "answers"))
	for commands := range requests {
		results := make([]kernelResult, len(commands))
		if failure == nil {
			p.runAll(ctx, commands, results)
		} else {
			results[0] = kernelResult{Command: commands[0], Failure: failure.Error()}
		}
		if err := answers.Encode(results); err != nil {
			t.Fatal(err)
		}
	}
}

// prepare makes everything read-only but the tmpfs, and builds the repositories there.
func (p *kernelPlan) prepare() error {
	readOnly := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	steps := []struct {
		what string
		do   func() error
	}{
		{"make mounts private", func() error { return unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		{"make mounts read-only", func() error { return unix.MountSetattr(-1, "/", unix.AT_RECURSIVE, readOnly) }},
		{"mount a tmpfs", func() error {
			return unix.Mount("tmpfs", p.Stage, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=192m,nr_inodes=20000,mode=755")
		}},
		{"mount /proc", func() error { return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV, "") }},
		{"enter the tmpfs", func() error { return os.Chdir(p.Stage) }},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return kernelFailure(step.what, err)
		}
	}
	return p.buildRepositories()
}

func (p *kernelPlan) runAll(ctx context.Context, commands []kernelCommand, results []kernelResult) {
	ctx, cancel := context.WithTimeout(ctx, kernelTotal)
	defer cancel()
	var workers sync.WaitGroup
	defer workers.Wait()
	next := make(chan int)
	defer close(next)
	for range kernelAtOnce {
		workers.Go(func() {
			for i := range next {
				results[i] = p.runOne(ctx, "run"+strconv.Itoa(i), commands[i])
			}
		})
	}
	for i := range commands {
		next <- i
	}
}

// runOne runs a command over a fresh layer, and returns what is in the layer then.
func (p *kernelPlan) runOne(ctx context.Context, dir string, c kernelCommand) kernelResult {
	r := kernelResult{Command: c}
	if ctx.Err() != nil {
		r.Failure = "the time for all commands is over"
		return r
	}
	defer os.RemoveAll(dir)
	for _, d := range []string{dir, dir + "/upper", dir + "/work", dir + "/root"} {
		if err := os.Mkdir(d, 0o755); err != nil {
			r.Failure = err.Error()
			return r
		}
	}
	if err := p.mountLayer(dir, c.Repository); err != nil {
		r.Failure = kernelFailure("mount an overlay", err).Error()
		return r
	}
	p.start(ctx, dir, &r)
	err := unix.Unmount(dir+"/root", 0)
	if err != nil {
		r.Failure = err.Error()
	}
	if r.Changed, err = kernelLayer(dir + "/upper"); err != nil && r.Failure == "" {
		r.Failure = err.Error()
	}
	return r
}

// mountLayer puts a layer for a command's writes over the repository's root.
func (p *kernelPlan) mountLayer(dir, repository string) error {
	layers := "lowerdir=" + repository + ",upperdir=" + dir + "/upper,workdir=" + dir + "/work"
	if !p.Root {
		layers += ",userxattr"
	}
	return unix.Mount("overlay", dir+"/root", "overlay", unix.MS_NOSUID|unix.MS_NODEV, layers)
}

// start runs the command of r to its end. Nothing of it survives: its first process ends its pid namespace.
func (p *kernelPlan) start(ctx context.Context, dir string, r *kernelResult) {
	ctx, cancel := context.WithTimeout(ctx, r.Command.Limit)
	defer cancel()
	cmd := p.command(ctx, dir)
	cmd.Args = append(cmd.Args, "--", r.Command.Text)
	stdout, stderr := &kernelBuffer{}, &kernelBuffer{}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, time.Second
	if !p.Root {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: kernelUser, HostID: 0, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: kernelUser, HostID: 0, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	}
	failure, far, err := os.Pipe()
	if err != nil {
		r.Failure = err.Error()
		return
	}
	defer failure.Close()
	cmd.ExtraFiles = []*os.File{far}
	err = cmd.Start()
	far.Close()
	if err != nil {
		r.Failure = kernelFailure("start a command in namespaces", err).Error()
		return
	}
	cmd.Wait()
	message, _ := io.ReadAll(failure) // closed when the command began, at the latest by its end
	r.Failure = string(message)
	r.Exit, r.TimedOut = cmd.ProcessState.ExitCode(), ctx.Err() != nil
	r.Stdout, r.Stderr = stdout.String(), stderr.String()
}

// kernelBuffer keeps the beginning of what is written to it.
type kernelBuffer struct{ bytes.Buffer }

func (b *kernelBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), kernelOutput-b.Len())])
	return len(p), nil
}

// kernelLayer lists what an overlay's upper layer holds. What was removed is a device there.
func kernelLayer(upper string) (changed []string, err error) {
	root, err := os.Stat(upper)
	if err == nil && root.Mode() != fs.ModeDir|0o755 {
		changed = append(changed, "/")
	}
	walk := filepath.WalkDir(upper, func(path string, d fs.DirEntry, err error) error {
		if path != upper {
			changed = append(changed, strings.TrimPrefix(path, upper+"/"))
		}
		return err
	})
	return changed, errors.Join(err, walk)
}
