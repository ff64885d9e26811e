package proc

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxPorts   = 64                     // that are named
	portSearch = 200 * time.Millisecond // for going through a job's processes
)

// Ports returns the TCP ports on which processes of among listen, each socket once, sorted by port, with the addresses of
// the network namespace that the process is in. 64 are named at most, and 4096 descriptors of a process are looked at.
func Ports(among []Process) []Port {
	var ports []Port
	told := map[uint64]bool{}
	for _, p := range atMost(portSearch, among) {
		found, _ := within(p.PID, func() []listener { return listening(p.PID) })
		for _, l := range found {
			if told[l.inode] || len(ports) == maxPorts {
				continue
			}
			told[l.inode] = true
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

// listening finds the listeners that a process has open. The sockets are asked themselves, through copies of their
// descriptors: the kernel's table takes milliseconds to read on a machine with much memory. Where they may not be copied
// (before Linux 5.6, in many containers), the table is read.
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

// acceptsAt returns the address of a TCP socket that listens.
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

// fromTable finds the listeners among sockets in the tables of the network namespace of the process.
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
