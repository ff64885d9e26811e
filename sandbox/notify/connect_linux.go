package notify

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxWaiting bounds one listener. A connect takes a thread while it blocks, as one does to a local socket whose backlog is full;
// those that find all threads taken wait, and from some number on fail.
const maxWaiting = 512

// recheck is how often a connect that blocks is looked at: whether its caller still waits.
const recheck = 250 * time.Millisecond

// connects does the connects of a listener's filter.
type connects struct {
	l *Listener

	mu      sync.Mutex
	running map[*dial]struct{}
	workers int
	waiting []connecting
	ended   bool
	all     sync.WaitGroup
}

// connecting is a connect that is to be done.
type connecting struct {
	n     notification
	final bool // it has paused before
}

// begin takes a connect over. It does not block.
func (c *connects) begin(next connecting) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended:
	case c.workers == 0, c.l.judges.Room.takeThread():
		c.workers++
		c.all.Go(func() { c.work(next) }) // ends when nothing waits, or by end
	case len(c.waiting) < maxWaiting:
		c.waiting = append(c.waiting, next)
	default:
		return c.l.answer(&next.n, Verdict(unix.EAGAIN))
	}
	return nil
}

// work does one connect, and then those that wait.
func (c *connects) work(next connecting) {
	for more := true; more; next, more = c.next() {
		c.serve(next)
	}
}

func (c *connects) next() (next connecting, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || len(c.waiting) == 0 {
		if c.workers--; c.workers > 0 {
			c.l.judges.Room.giveThread()
		}
		return next, false
	}
	next, c.waiting = c.waiting[0], c.waiting[1:]
	return next, true
}

// end gives up what still runs and waits until nothing does.
func (c *connects) end() {
	c.mu.Lock()
	c.ended, c.waiting = true, nil
	for d := range c.running {
		d.cancel()
	}
	c.mu.Unlock()
	c.all.Wait()
}

// serve does a connect and answers, unless the caller has gone. Our duplicate of the socket is closed by then, so that
// the other end notices when the caller closes its own. An error ends the listener, and the next receive returns it.
func (c *connects) serve(next connecting) {
	n := &next.n
	verdict, question, valid := c.connect(next)
	switch {
	case !valid:
	case verdict == Pause:
		_ = c.l.pauses.hold(n, question, Verdict(unix.EACCES), func() { _ = c.begin(connecting{*n, true}) })
	default:
		_ = c.l.answer(n, verdict)
	}
}

// connect does a connect. The verdict is its error, or Pause with a question; valid is false if the caller has gone.
func (c *connects) connect(next connecting) (verdict Verdict, question Question, valid bool) {
	n := &next.n
	from := newCaller(n)
	defer from.leave()
	address, asked, err := from.prepare(n)
	if !c.l.valid(n.id) { // the memory was the caller's only if the caller still waits
		return 0, nil, false
	}
	if err != nil {
		return failure(err), nil, true
	}
	verdict, asked.Final = Verdict(unix.EACCES), next.final
	if judge := c.l.judges.Connect; judge != nil {
		verdict = judge(asked)
		from.place = asked.Place
	}
	if verdict != Allow {
		return verdict, asked.Question, true
	}
	if address == nil {
		if from.place < 0 {
			return Verdict(unix.ECONNREFUSED), nil, true
		}
		address = localAddress(from.place)
	}
	return c.dial(n, from, address), nil, true
}

// prepare reads the arguments of the connect and describes it for the judge. The address is nil where a place replaces it: a
// path is never passed to the kernel.
func (c *caller) prepare(n *notification) ([]byte, *Connection, error) {
	if err := c.take(int(int32(n.data.args[0]))); err != nil {
		return nil, nil, err
	}
	asked := &Connection{PID: c.pid, Socket: c.socket, Place: -1}
	family, err := unix.GetsockoptInt(c.socket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return nil, nil, err
	}
	asked.Family = family
	address, err := c.address(n.data.args[1], n.data.args[2])
	if err != nil {
		return nil, nil, err
	}
	if family == unix.AF_UNIX {
		if name, ok := localName(address); ok {
			c.find(name, asked)
			address = nil
		}
	}
	return address, asked, nil
}

// failure is the verdict where the caller's memory could not be read.
func failure(err error) Verdict {
	switch err {
	case unix.EBADF, unix.EINVAL, unix.EFAULT, unix.ENOTSOCK:
		return Verdict(err.(unix.Errno))
	}
	return Verdict(shortOr(err, unix.EACCES))
}

// dial does an allowed connect, as long as the caller waits for it.
func (c *connects) dial(n *notification, from *caller, address []byte) Verdict {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d := &dial{socket: from.socket, decoy: from.handle, thread: unix.Gettid()}
	if !c.enter(d, n.id) {
		return Verdict(unix.EACCES)
	}
	defer c.exit(d)
	errno := connectCall(d.socket, address)
	for errno == unix.EINTR && !d.cancelled() { // a signal of our own runtime's
		errno = connectCall(d.socket, address)
	}
	return Verdict(errno)
}

// dial is a connect that may block. It cannot be made not to: the file status flags belong to the caller.
type dial struct {
	mu            sync.Mutex
	socket, decoy int // decoy is some descriptor that is no socket
	thread        int
	gone, over    bool
	watch         *time.Timer
}

// look cancels the dial if its caller has gone, and otherwise looks again later.
func (d *dial) look(valid bool) {
	if !valid {
		d.cancel()
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.over {
		d.watch.Reset(recheck)
	}
}

// cancel makes the thread return: it puts something else in the place of the socket, then interrupts. If the call is
// begun anew after the signal, or only begins then, it fails, for it finds no socket.
func (d *dial) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over || d.gone {
		return
	}
	d.gone = true
	_ = unix.Dup3(d.decoy, d.socket, unix.O_CLOEXEC)
	_ = unix.Tgkill(unix.Getpid(), d.thread, unix.SIGURG) // which the runtime itself uses for no more than this
}

func (d *dial) cancelled() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gone
}

// enter notes a dial for the caller of a notification, unless everything ends.
func (c *connects) enter(d *dial, id uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.running[d] = struct{}{}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watch = time.AfterFunc(recheck, func() { d.look(c.l.valid(id)) })
	return true
}

// exit forgets a dial. Its descriptors and thread are not touched any more.
func (c *connects) exit(d *dial) {
	d.mu.Lock()
	d.over = true
	d.watch.Stop()
	d.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, d)
}
