package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// manyCommands is the argument by which the test binary runs many command lines of toolhost in one process: a process for each row of a
// table takes a hundred times as long as the row.
const manyCommands = "many-commands"

// commandLine is a command line of toolhost and its stdin. Each is a line of JSON.
type commandLine struct {
	Args  []string
	Stdin string
}

// commandOutput is the answer to a command line, a line of JSON too.
type commandOutput struct {
	Code           int
	Stdout, Stderr string
}

// runManyCommands runs the command lines on stdin, one after the other, until it ends.
func runManyCommands(in io.Reader, out io.Writer) int {
	lines, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var line commandLine
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			return exitOK
		} else if err != nil {
			return exitUsage
		}
		var stdout, stderr bytes.Buffer
		root := newRoot()
		root.SetArgs(line.Args)
		root.SetIn(strings.NewReader(line.Stdin))
		root.SetOut(&stdout)
		root.SetErr(&stderr)
		code := execute(root)
		if err := answers.Encode(commandOutput{code, stdout.String(), stderr.String()}); err != nil {
			return exitFailed
		}
	}
}

// commandLines is a process that runs command lines.
type commandLines struct {
	cmd    *exec.Cmd
	in     *json.Encoder
	out    *json.Decoder
	stderr bytes.Buffer // what is written past cobra
}

func startCommandLines(t testing.TB, cmd *exec.Cmd) *commandLines {
	t.Helper()
	c := &commandLines{cmd: cmd}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = &c.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	c.in, c.out = json.NewEncoder(in), json.NewDecoder(out)
	return c
}

// run runs one command line.
func (c *commandLines) run(t testing.TB, line commandLine) commandOutput {
	t.Helper()
	late := time.AfterFunc(2*time.Minute, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	var out commandOutput
	err := c.in.Encode(line)
	if err == nil {
		err = c.out.Decode(&out)
	}
	if err != nil {
		_ = c.cmd.Process.Kill()
		t.Fatalf("toolhost %q: %v", line.Args, err)
	}
	return out
}

// copySelf copies the test binary, which is toolhost under that name, to where every user may run it.
func copySelf(t testing.TB, to string) {
	t.Helper()
	self, err := os.Executable()
	if err == nil {
		err = copyFile(self, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// linkSelf gives the test binary that name. For toolhost it is the same program then, of which it knows what the machine holds.
func linkSelf(t testing.TB, to string) {
	t.Helper()
	if self, err := os.Executable(); err != nil || os.Link(self, to) != nil {
		copySelf(t, to)
	}
}

// copyFile copies a program. Not by ourselves: a child that is forked meanwhile would hold the copy open for writing, and it could not
// be run.
func copyFile(from, to string) error {
	if err := exec.Command("cp", from, to).Run(); err != nil {
		return err
	}
	return os.Chmod(to, 0o755)
}
