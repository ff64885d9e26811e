package proc

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxPorts   = 64                     // maximum number of ports in a result
	portSearch = 200 * time.Millisecond // for searching a job's processes
)

// Ports returns the TCP ports that the processes listen on, each socket once, sorted by port, with addresses in the
// process's network namespace. It returns at most 64 and examines 4096 descriptors per process.
func Ports(among []Process) []Port {
	var ports []Port
	seen := map[uint64]bool{}
	for _, p := range atMost(portSearch, among) {
		found, _ := within(p.PID, func() []listener { return listening(p.PID) })
		for _, l := range found {
			if seen[l.inode] || len(ports) == maxPorts {
				continue
			}
			seen[l.inode] = true
			ports = append(ports, Port{l.at.Addr().String(), int(l.at.Port()), p.PID, CommandLine(p.PID)})
		}
	}
	slices.SortStableFunc(ports, func(p, q Port) int { return cmp.Compare(p.Port, q.Port) })
	return ports
}

// listener is a socket that accepts connections.
type listener struct {
	inode uint64
	at    netip.AddrPort
}

// listening returns the listeners that a process has open. It queries the sockets themselves through copies of their
// descriptors, because reading the kernel's table takes milliseconds on a machine with much memory. If the
// descriptors cannot be copied (before Linux 5.6, in many containers), it reads the table.
func listening(pid int) (found []listener) {
	all, _ := descriptors(processDir(pid))
	sockets := slices.DeleteFunc(all, func(d descriptor) bool { _, is := inode(d.link, "socket"); return !is })
	if len(sockets) == 0 {
		return nil
	}
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fromTable(pid, sockets)
	}
	defer unix.Close(handle)
	for _, d := range sockets {
		copied, err := unix.PidfdGetfd(handle, d.number, 0)
		switch {
		case err == unix.EPERM || err == unix.ENOSYS:
			return fromTable(pid, sockets)
		case err != nil: // it was closed
			continue
		}
		number, _ := inode(d.link, "socket")
		if at, ok := acceptsAt(copied); ok {
			found = append(found, listener{number, at})
		}
		unix.Close(copied)
	}
	return found
}

// acceptsAt returns the address of a listening TCP socket.
func acceptsAt(socket int) (at netip.AddrPort, ok bool) {
	accepts, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	if err != nil || accepts == 0 {
		return at, false
	}
	protocol, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_PROTOCOL)
	if err != nil || protocol != unix.IPPROTO_TCP && protocol != unix.IPPROTO_MPTCP {
		return at, false
	}
	address, err := unix.Getsockname(socket)
	switch address := address.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(address.Addr), uint16(address.Port)), err == nil
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(address.Addr).Unmap(), uint16(address.Port)), err == nil
	}
	return at, false
}

// fromTable finds the listeners among sockets in the tables of the process's network namespace.
func fromTable(pid int, sockets []descriptor) (found []listener) {
	table := listeners(pid)
	for _, d := range sockets {
		number, _ := inode(d.link, "socket")
		if at, ok := table[number]; ok {
			found = append(found, listener{number, at})
		}
	}
	return found
}
