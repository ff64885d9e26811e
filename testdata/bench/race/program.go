package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// cost is what a search took.
type cost struct{ wall, cpu time.Duration }

// sink is where output goes; nil forgets it.
type sink struct{ keep *bytes.Buffer }

// Write implements io.Writer.
func (s sink) Write(p []byte) (int, error) {
	if s.keep != nil {
		s.keep.Write(p)
	}
	return len(p), nil
}

// pipeBuffer is how much is read from a program at a time, ours or theirs.
const pipeBuffer = 64 << 10

// spawn runs one of their programs in the directory, and keeps what it prints if keep is not nil.
func spawn(dir string, args []string, keep *bytes.Buffer) (cost, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		return cost{}, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return cost{}, err
	}
	if _, err := io.CopyBuffer(sink{keep}, struct{ io.Reader }{out}, make([]byte, pipeBuffer)); err != nil {
		return cost{}, err
	}
	err = cmd.Wait()
	wall := time.Since(begin)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // nothing was found
		err = nil
	}
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w", args, err)
	}
	return cost{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}
