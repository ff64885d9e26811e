package shell

import (
	"syscall"
	"time"
)

// job is a command while it runs, with whatever it started. Its owner watches exited, ends what is left, and then calls
// reap or abandon, once.
type job interface {
	exited() <-chan struct{}   // closed when the command itself has exited
	signal(sig syscall.Signal) // to the command and to all that it started
	alive() bool               // somebody other than the command is left
	// end kills who is left when patience is over, or spares them where it can, and names them.
	end(patience time.Duration, spare bool) []string
	reap() ending // how the command ended; it must have exited
	abandon()     // it does not die
	number() int  // of its process
}

// direct is a command that runs as the person does: a process and those that are found to come from it.
type direct struct {
	*process
	*session
}

func (d direct) exited() <-chan struct{} { return d.process.exited }
func (d direct) reap() ending            { return endingOf(d.process.reap()) }
func (d direct) number() int             { return d.Pid }
func (d direct) end(patience time.Duration, _ bool) []string {
	return d.session.end(patience)
}
func (d direct) signal(s syscall.Signal) { d.session.signal(s) }
