package proc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestPorts(t *testing.T) {
	need(t, "python3")
	const script = `
import os, socket
def listen(family, address):
    s = socket.socket(family); s.bind((address, 0)); s.listen(); s.set_inheritable(True); return s
four, six = listen(socket.AF_INET, '127.0.0.1'), listen(socket.AF_INET6, '::1')
all = listen(socket.AF_INET, '0.0.0.0')
idle = socket.socket(); idle.bind(('127.0.0.1', 0)) # does not listen
out = socket.create_connection(four.getsockname())
if os.fork() == 0: os.execvp('sleep', ['sleep', '300']) # holds them too
print(four.getsockname()[1], six.getsockname()[1], all.getsockname()[1], flush=True)
os.read(0, 1)
`
	j := start(t, false, exec.Command("python3", "-c", script))
	var four, six, all int
	if !eventually(hang, func() bool { return strings.HasSuffix(j.output.String(), "\n") }) {
		t.Fatal("does not start")
	}
	if _, err := fmt.Sscan(j.output.String(), &four, &six, &all); err != nil {
		t.Skipf("cannot be done here: %s", j.output)
	}
	name := CommandLine(j.pid)
	want := []Port{{"127.0.0.1", four, j.pid, name}, {"::1", six, j.pid, name}, {"0.0.0.0", all, j.pid, name}}
	byAddress := func(a, b Port) int { return a.Port - b.Port }
	slices.SortFunc(want, byAddress)
	got := Ports(j.all())
	slices.SortFunc(got, byAddress)
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !eventually(hang, func() bool {
		got := Ports(Below(j.pid))
		return len(got) == 3 && got[0].Command == "sleep 300"
	}) {
		t.Errorf("who has inherited them: %+v", Ports(Below(j.pid)))
	}
	sockets, _ := descriptors(processDir(j.pid))
	asked, read := listening(j.pid), fromTable(j.pid, sockets)
	if len(asked) != 3 || !slices.Equal(asked, read) {
		t.Errorf("asked %+v, read %+v", asked, read)
	}
	if got := Ports(nil); len(got) != 0 {
		t.Errorf("nobody's: %+v", got)
	}
}

// The sockets of this process are those of Go, which speak MPTCP where the kernel does.
func TestPortsOfGo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	self, _ := Read(os.Getpid())
	at := l.Addr().(*net.TCPAddr)
	is := func(p Port) bool { return p.Port == at.Port && p.Address == "127.0.0.1" }
	if !slices.ContainsFunc(Ports([]Process{self}), is) {
		t.Errorf("%v is not in %+v", at, Ports([]Process{self}))
	}
}

// A port is looked for in the namespace of its process.
func TestPortsElsewhere(t *testing.T) {
	need(t, "python3")
	cmd := exec.Command("python3", "-c",
		"import os, socket\ns = socket.create_server(('', 4711))\nprint('ready', flush=True)\nos.read(0, 1)")
	j := startApart(t, cmd, syscall.CLONE_NEWNET)
	if !eventually(hang, func() bool { return strings.Contains(j.output.String(), "ready") }) {
		t.Skipf("cannot be done here: %s", j.output)
	}
	if got := Ports(j.all()); len(got) != 1 || got[0].Port != 4711 || got[0].Address != "0.0.0.0" || got[0].PID != j.pid {
		t.Errorf("got %+v", got)
	}
}

func FuzzListeners(f *testing.F) {
	four, _ := os.ReadFile("/proc/self/net/tcp")
	six, _ := os.ReadFile("/proc/self/net/tcp6")
	f.Add(four, []byte{127, 0, 0, 1}, uint16(80))
	f.Add(six, make([]byte, 16), uint16(0))
	f.Add([]byte("h\n0: 0100007F:1F90 0:0 0A 0 0 0 0 0 77\n"), []byte{}, uint16(1))
	f.Fuzz(func(t *testing.T, table, address []byte, port uint16) {
		found := map[uint64]netip.AddrPort{}
		readListeners(bytes.NewReader(table), found)
		for inode, at := range found {
			if inode == 0 || !at.IsValid() {
				t.Errorf("%d at %v", inode, at)
			}
		}
		ip, ok := netip.AddrFromSlice(address)
		if !ok {
			return
		}
		at := netip.AddrPortFrom(ip.Unmap(), port)
		clear(found)
		readListeners(strings.NewReader("heading\n"+line(address, port, "0A")+line(address, port, "01")), found)
		if !maps.Equal(found, map[uint64]netip.AddrPort{77: at}) {
			t.Errorf("%v is read as %v", at, found)
		}
	})
}

// line is one of /proc/net/tcp as the kernel prints it.
func line(address []byte, port uint16, state string) string {
	var words strings.Builder
	for word := range slices.Chunk(address, 4) {
		fmt.Fprintf(&words, "%08X", binary.NativeEndian.Uint32(word))
	}
	return fmt.Sprintf("   0: %s:%04X 0:0 %s 00000000:00000000 00:00000000 00000000 0 0 77 1 0\n", words.String(), port, state)
}
