package proc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"strconv"
)

// maxTable is the number of bytes read of a socket table.
const maxTable = 1 << 20

// listeners reads the tables of a process's network namespace: the addresses of listening sockets, by inode.
func listeners(pid int) map[uint64]netip.AddrPort {
	found := map[uint64]netip.AddrPort{}
	for _, table := range []string{"/net/tcp", "/net/tcp6"} {
		if f, err := os.Open(processDir(pid) + table); err == nil {
			readListeners(io.LimitReader(f, maxTable), found)
			f.Close()
		}
	}
	return found
}

// readListeners parses the lines of the form
//
//	0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 UID 0 INODE …
//
// after a heading. Listening sockets (0A) come first, and parsing stops after them: there may be many others, and the
// kernel searches a large table for them. See proc_pid_net(5).
func readListeners(r io.Reader, found map[uint64]netip.AddrPort) {
	const listening = "0A"
	lines := bufio.NewScanner(r)
	lines.Scan()
	for lines.Scan() {
		f := bytes.Fields(lines.Bytes())
		if len(f) < 10 || string(f[3]) != listening {
			return
		}
		at, ok := parseAddress(f[1])
		inode, err := strconv.ParseUint(string(f[9]), 10, 64)
		if ok && err == nil && inode != 0 {
			found[inode] = at
		}
	}
}

// parseAddress parses ADDRESS:PORT in hexadecimal. The address is one or four 32-bit words, each printed as the
// number that this machine reads from the bytes of the address.
func parseAddress(s []byte) (at netip.AddrPort, ok bool) {
	address, number, _ := bytes.Cut(s, []byte{':'})
	port, err := strconv.ParseUint(string(number), 16, 16)
	if err != nil {
		return at, false
	}
	raw := make([]byte, hex.DecodedLen(len(address)))
	if _, err := hex.Decode(raw, address); err != nil || len(raw)%4 != 0 {
		return at, false
	}
	for word := raw; len(word) > 0; word = word[4:] {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	ip, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(port)), ok
}
