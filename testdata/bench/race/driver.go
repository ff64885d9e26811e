package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// driver is a started host.
type driver struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	pipe    *os.File
	answers *json.Decoder

	mu    sync.Mutex
	more  *sync.Cond
	read  int64         // bytes of its output
	ended bool          // there is no more of it
	keep  *bytes.Buffer // nil: output is forgotten
}

// start starts a host that searches the directory, and returns when it is ready.
func (r *race) start(index string) (*driver, error) {
	d := &driver{cmd: exec.Command(r.driver, "-index", index, r.dir)}
	d.more = sync.NewCond(&d.mu)
	d.cmd.Stderr = os.Stderr
	answers, child, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer child.Close()
	d.cmd.ExtraFiles = []*os.File{child}
	d.pipe, d.answers = answers, json.NewDecoder(bufio.NewReader(answers))
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	go d.pump(out)
	_, err = d.answer()
	return d, err
}

// pump reads the host's output until it ends.
func (d *driver) pump(out io.Reader) {
	buf := make([]byte, pipeBuffer)
	for {
		n, err := out.Read(buf)
		d.mu.Lock()
		_, _ = sink{d.keep}.Write(buf[:n])
		d.read += int64(n)
		d.ended = err != nil
		d.mu.Unlock()
		d.more.Signal()
		if err != nil {
			return
		}
	}
}

// answer is what the driver says of a request.
type answer struct {
	Bytes int64         `json:"bytes"`
	CPU   time.Duration `json:"cpu_ns"`
	Error string        `json:"error"`
}

func (d *driver) answer() (a answer, err error) {
	if err = d.answers.Decode(&a); err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a, err
}

// ask has the host do a request, and keeps what it finds if keep is not nil. The clock runs until the last byte is here.
func (d *driver) ask(r request, keep *bytes.Buffer) (cost, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return cost{}, err
	}
	d.mu.Lock()
	d.keep, d.read = keep, 0
	d.mu.Unlock()
	begin := time.Now()
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		return cost{}, err
	}
	a, err := d.answer()
	if err != nil {
		return cost{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.read < a.Bytes && !d.ended {
		d.more.Wait()
	}
	if d.read != a.Bytes {
		return cost{}, errors.New("the driver's output ended early")
	}
	return cost{time.Since(begin), a.CPU}, nil
}

// end ends the host.
func (d *driver) end() {
	d.in.Close()
	_ = d.cmd.Wait()
	d.pipe.Close()
}
