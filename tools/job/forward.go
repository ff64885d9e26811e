package job

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
)

// Forward is a listener on the machine's loopback that leads to a port of a job, on the loopback of its session. It ends with the job.
type Forward struct {
	job      *Job
	to       netip.AddrPort
	listener net.Listener
	done     chan struct{} // closed when it takes no connections

	mu    sync.Mutex
	conns map[net.Conn]bool // nil: it has ended
}

const (
	maxForwards     = 16  // of a job
	maxForwardConns = 256 // of a forward
	forwardDial     = 10 * time.Second
)

// NewForward makes a port of a job reachable at 127.0.0.1 of the machine. Port 0 stands for the only one. Without a port for the
// listener, as 0, it has the same port if that is free, and another one otherwise. Errors are of class invalid_arguments.
func NewForward(j *Job, port, as int) (*Forward, error) {
	to, err := forwardable(j, port)
	if err != nil {
		return nil, agenttool.Failure(agenttool.InvalidArguments, "no_such_port", err.Error())
	}
	same := int(to.Port())
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(cmp.Or(as, same))))
	if err != nil && as == 0 {
		listener, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return nil, agenttool.Failure(agenttool.InvalidArguments, "port_taken", err.Error())
	}
	f := &Forward{job: j, to: to, listener: listener, done: make(chan struct{}), conns: map[net.Conn]bool{}}
	if !j.forwards.add(f) {
		listener.Close()
		return nil, agenttool.Failure(agenttool.RateLimited, "too_many_forwards", fmt.Sprintf("%d ports of job %s are forwarded already", maxForwards, j.id))
	}
	go f.accept()
	go func() { // ends with the job, or with the forward
		select {
		case <-j.Done():
		case <-f.done:
		}
		f.Close()
	}()
	return f, nil
}

// forwardable finds the listener for a port.
func forwardable(j *Job, port int) (netip.AddrPort, error) {
	ports := j.Ports()
	var open []string
	for _, p := range ports {
		if n := strconv.Itoa(p.Port); !slices.Contains(open, n) {
			open = append(open, n)
		}
	}
	switch {
	case j.over():
		return netip.AddrPort{}, fmt.Errorf("job %s has ended", j.id)
	case !j.OwnLoopback():
		return netip.AddrPort{}, fmt.Errorf("job %s has no loopback of its own: its ports are those of this machine", j.id)
	case len(ports) == 0:
		return netip.AddrPort{}, fmt.Errorf("job %s listens on no port", j.id)
	case port == 0 && len(open) > 1:
		return netip.AddrPort{}, fmt.Errorf("job %s listens on several ports: name one of %s", j.id, strings.Join(open, ", "))
	}
	i := slices.IndexFunc(ports, func(p agenttool.JobPort) bool { return port == 0 || p.Port == port })
	if i < 0 {
		return netip.AddrPort{}, fmt.Errorf("job %s does not listen on port %d, but on %s", j.id, port, strings.Join(open, ", "))
	}
	at := netip.MustParseAddr("127.0.0.1")
	if listens, err := netip.ParseAddr(ports[i].Address); err == nil && listens.Unmap().IsLoopback() {
		at = listens.Unmap()
	} else if err == nil && listens.Is6() && !listens.Is4In6() {
		at = netip.IPv6Loopback()
	}
	return netip.AddrPortFrom(at, uint16(ports[i].Port)), nil
}

// Address is the machine's address that leads to the port.
func (f *Forward) Address() string { return f.listener.Addr().String() }

// Port is the port of the job.
func (f *Forward) Port() int { return int(f.to.Port()) }

// Done returns a channel that is closed when the forward has ended.
func (f *Forward) Done() <-chan struct{} { return f.done }

// Close ends the forward and its connections.
func (f *Forward) Close() error {
	err := f.listener.Close()
	f.job.forwards.remove(f)
	f.mu.Lock()
	conns := f.conns
	f.conns = nil
	f.mu.Unlock()
	for c := range conns {
		c.Close()
	}
	return err
}

func (f *Forward) accept() {
	defer close(f.done)
	for {
		c, err := f.listener.Accept()
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			continue
		}
		if agenttool.IsShortage(err) { // the listener goes on
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if err != nil {
			return
		}
		if !f.join(c) {
			c.Close()
			continue
		}
		go func() { // ends with either side, or with the forward
			defer f.leave(c)
			f.carry(c)
		}()
	}
}

// join adds a connection, unless there are too many or the forward has ended.
func (f *Forward) join(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conns == nil || len(f.conns) >= 2*maxForwardConns {
		return false
	}
	f.conns[c] = true
	return true
}

func (f *Forward) leave(c net.Conn) {
	c.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, c)
}

// carry connects to the job's port and carries bytes until both sides have ended.
func (f *Forward) carry(c net.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), forwardDial)
	up, err := f.job.jobs.o.Session.DialLoopback(ctx, f.to)
	cancel()
	if err != nil || !f.join(up) {
		if up != nil {
			up.Close()
		}
		return
	}
	defer f.leave(up)
	done := make(chan struct{})
	go func() {
		defer close(done)
		pour(up, c)
	}()
	pour(c, up)
	<-done
}

// pour copies until src ends and passes the end on. An error ends both.
func pour(dst, src net.Conn) {
	_, err := io.Copy(dst, src)
	half, ok := dst.(*net.TCPConn)
	if err != nil || !ok || half.CloseWrite() != nil {
		dst.Close()
		src.Close()
	}
}

// forwards are the open ones of a job. The zero value is empty.
type forwards struct {
	mu  sync.Mutex
	all []*Forward
}

func (fs *forwards) add(f *Forward) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(fs.all) >= maxForwards {
		return false
	}
	fs.all = append(fs.all, f)
	return true
}

func (fs *forwards) remove(f *Forward) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.all = slices.DeleteFunc(fs.all, func(other *Forward) bool { return other == f })
}

// mark sets the addresses of the machine that lead to ports.
func (fs *forwards) mark(ports []agenttool.JobPort) []agenttool.JobPort {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for i := range ports {
		for _, f := range fs.all {
			if f.Port() == ports[i].Port {
				ports[i].Forward = f.Address()
			}
		}
	}
	return ports
}
