package wiretest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Process is a program that is spoken to over its stdin and stdout.
type Process struct {
	*Conn
	Cmd *exec.Cmd
}

// ErrLate says that a program did not end after its input.
var ErrLate = errors.New("the host did not end after its input")

// Start starts a program.
func Start(cmd *exec.Cmd, o Options) (*Process, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, hostOut, err := os.Pipe() // a pipe of exec is closed at the program's end, whether it was read or not
	if err != nil {
		return nil, err
	}
	cmd.Stdout = hostOut
	err = cmd.Start()
	hostOut.Close()
	if err != nil {
		out.Close()
		return nil, err
	}
	p := &Process{New(in, out, o), cmd}
	go func() {
		<-p.Ended()
		out.Close()
	}()
	return p, nil
}

// End ends the input and waits for the program's end, which it returns. A program that has not ended its output after limit is killed.
func (p *Process) End(limit time.Duration) error {
	_ = p.CloseInput()
	var late error
	select {
	case <-p.Ended():
	case <-time.After(limit):
		late = fmt.Errorf("%w within %v", ErrLate, limit)
		_ = p.Cmd.Process.Kill()
		<-p.Ended()
	}
	return errors.Join(late, p.Cmd.Wait())
}

// Kill ends the program by SIGKILL and waits for its end.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill()
	<-p.Ended()
	_ = p.Cmd.Wait()
}

// Home are the variables of an environment by which toolhost keeps everything below one directory.
func Home(dir string) []string {
	return []string{"HOME=" + dir, "XDG_STATE_HOME=" + dir + "/state", "XDG_CONFIG_HOME=" + dir + "/config", "XDG_CACHE_HOME=" + dir + "/cache",
		"XDG_RUNTIME_DIR=" + dir + "/run"}
}
