package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// memory is a file system in memory that the kernel reaches through FUSE: like one of another machine it may stop answering, and then nothing
// that touches it goes on, not even a look at a name. See fuse(4) and linux/fuse.h; names are those of the kernel.
type memory struct {
	device int
	gate   sync.Mutex // held while nothing is answered
	nodes  map[uint64]*node
	last   uint64
}

// node is a file, directory or link.
type node struct {
	id       uint64
	mode     uint32
	uid, gid uint32
	links    uint32
	data     []byte
	changed  time.Time
	children map[string]*node
	order    []string // names as they were made, for readdir
}

// The requests that are answered with more than "not implemented".
const (
	opLookup, opForget, opGetattr, opSetattr, opReadlink, opSymlink, opMknod, opMkdir = 1, 2, 3, 4, 5, 6, 8, 9
	opUnlink, opRmdir, opRename, opLink, opOpen, opRead, opWrite, opStatfs            = 10, 11, 12, 13, 14, 15, 16, 17
	opRelease, opFsync, opFlush, opInit, opOpendir, opReaddir, opReleasedir           = 18, 20, 25, 26, 27, 28, 29
	opFsyncdir, opCreate, opInterrupt, opBatchForget, opRename2                       = 30, 35, 36, 42, 45
)

const (
	maxWrite  = 128 << 10
	inHeader  = 40
	outHeader = 16
)

// serveMemory is the whole life of the process that serves a directory: the program that waits for a file system must not be the one that
// serves it. It says when the directory is mounted, and then obeys lines: "stop" and "go".
func serveMemory(at string) error {
	device, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("/dev/fuse: %w", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d,default_permissions,allow_other", device, os.Getuid(), os.Getgid())
	if err := syscall.Mount("memory", at, "fuse.memory", syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount of FUSE: %w", err)
	}
	m := &memory{device: device, nodes: map[uint64]*node{}}
	m.add(syscall.S_IFDIR|0o755, uint32(os.Getuid()), uint32(os.Getgid()))
	requests := make(chan []byte, 1<<16) // what was read is the server's: the kernel lets nobody go who waits for that
	go func() {
		for {
			b := make([]byte, maxWrite+4096)
			n, err := syscall.Read(device, b)
			switch err {
			case nil:
				requests <- b[:n]
			case syscall.EINTR, syscall.ENOENT, syscall.EAGAIN:
			default:
				return
			}
		}
	}()
	go func() {
		for request := range requests {
			m.gate.Lock()
			m.serve(request)
			m.gate.Unlock()
		}
	}()
	fmt.Println("mounted")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch lines.Text() {
		case "stop":
			m.gate.Lock()
		case "go":
			m.gate.Unlock()
		}
		fmt.Println("done")
	}
	return nil
}

// server is a process that serves a directory. It ends with us, and with it what waits for the directory.
type server struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

// mountMemory starts one.
func mountMemory(at string) (*server, error) {
	exe, err := os.Executable()
	check(err)
	cmd := exec.Command(exe, "-memory", at)
	in, err := cmd.StdinPipe()
	check(err)
	out, err := cmd.StdoutPipe()
	check(err)
	var said bytes.Buffer
	cmd.Stderr = &said
	check(cmd.Start())
	s := &server{in, bufio.NewScanner(out)}
	if !s.out.Scan() {
		_ = cmd.Wait()
		return nil, errors.New(strings.TrimSpace(said.String()))
	}
	return s, nil
}

func (s *server) say(line string) {
	_, _ = io.WriteString(s.in, line+"\n")
	s.out.Scan()
}

func (m *memory) add(mode, uid, gid uint32) *node {
	m.last++
	n := &node{id: m.last, mode: mode, uid: uid, gid: gid, links: 1, changed: time.Now()}
	if mode&syscall.S_IFMT == syscall.S_IFDIR {
		n.links, n.children = 2, map[string]*node{}
	}
	m.nodes[n.id] = n
	return n
}

func (n *node) put(name string, child *node) {
	n.remove(name)
	n.children[name], n.order = child, append(n.order, name)
	n.changed = time.Now()
}

func (n *node) remove(name string) {
	if n.children[name] == nil {
		return
	}
	delete(n.children, name)
	for i, other := range n.order {
		if other == name {
			n.order[i] = "" // offsets of the others stay what they are
		}
	}
	n.changed = time.Now()
}

var le = binary.LittleEndian

func (m *memory) serve(request []byte) {
	op, unique, id := le.Uint32(request[4:]), le.Uint64(request[8:]), le.Uint64(request[16:])
	if op == opForget || op == opBatchForget || op == opInterrupt {
		return
	}
	answer, errno := m.do(op, m.nodes[id], le.Uint32(request[24:]), le.Uint32(request[28:]), request[inHeader:])
	if errno != 0 {
		answer = nil
	}
	b := le.AppendUint32(nil, uint32(outHeader+len(answer)))
	b = le.AppendUint32(b, uint32(-int32(errno)))
	b = le.AppendUint64(b, unique)
	_, _ = syscall.Write(m.device, append(b, answer...))
}

func (m *memory) do(op uint32, n *node, uid, gid uint32, in []byte) ([]byte, syscall.Errno) {
	if op == opInit {
		out := make([]byte, 64)
		le.PutUint32(out, 7)
		le.PutUint32(out[4:], 31)
		le.PutUint32(out[8:], maxWrite)
		le.PutUint32(out[12:], 1<<5) // FUSE_BIG_WRITES
		le.PutUint16(out[16:], 64)
		le.PutUint16(out[18:], 48)
		le.PutUint32(out[20:], maxWrite)
		le.PutUint32(out[24:], 1)
		return out, 0
	}
	if n == nil {
		return nil, syscall.ESTALE
	}
	text := func(from int) []string { return strings.Split(strings.TrimSuffix(string(in[from:]), "\x00"), "\x00") }
	made := func(mode uint32, name string) *node {
		child := m.add(mode, uid, gid)
		n.put(name, child)
		return child
	}
	switch op {
	case opLookup:
		if child := n.children[text(0)[0]]; child != nil {
			return child.entry(), 0
		}
		return nil, syscall.ENOENT
	case opGetattr:
		return n.attributes(), 0
	case opSetattr:
		valid := le.Uint32(in)
		if valid&1 != 0 {
			n.mode = n.mode&syscall.S_IFMT | le.Uint32(in[68:])&0o7777
		}
		if valid&2 != 0 {
			n.uid = le.Uint32(in[76:])
		}
		if valid&4 != 0 {
			n.gid = le.Uint32(in[80:])
		}
		if valid&8 != 0 {
			n.resize(int(le.Uint64(in[16:])))
		}
		return n.attributes(), 0
	case opReadlink:
		return n.data, 0
	case opSymlink:
		words := text(0)
		child := made(syscall.S_IFLNK|0o777, words[0])
		child.data = []byte(words[1])
		return child.entry(), 0
	case opMknod:
		return made(le.Uint32(in), text(16)[0]).entry(), 0
	case opMkdir:
		return made(syscall.S_IFDIR|le.Uint32(in), text(8)[0]).entry(), 0
	case opCreate:
		return append(made(le.Uint32(in[4:]), text(16)[0]).entry(), make([]byte, 16)...), 0
	case opLink:
		old := m.nodes[le.Uint64(in)]
		if old == nil {
			return nil, syscall.ESTALE
		}
		old.links++
		n.put(text(8)[0], old)
		return old.entry(), 0
	case opUnlink, opRmdir:
		child := n.children[text(0)[0]]
		if child == nil {
			return nil, syscall.ENOENT
		}
		if len(child.children) > 0 {
			return nil, syscall.ENOTEMPTY
		}
		child.links--
		n.remove(text(0)[0])
		return nil, 0
	case opRename, opRename2:
		from, exclusive := 8, false
		if op == opRename2 {
			from = 16
			if flags := le.Uint32(in[8:]); flags > 1 {
				return nil, syscall.EINVAL
			} else {
				exclusive = flags == 1
			}
		}
		words, to := text(from), m.nodes[le.Uint64(in)]
		child := n.children[words[0]]
		switch {
		case child == nil || to == nil:
			return nil, syscall.ENOENT
		case exclusive && to.children[words[1]] != nil:
			return nil, syscall.EEXIST
		}
		n.remove(words[0])
		to.put(words[1], child)
		return nil, 0
	case opOpen, opOpendir:
		return make([]byte, 16), 0
	case opRead:
		at, size := le.Uint64(in[8:]), le.Uint32(in[16:])
		data := n.data[min(at, uint64(len(n.data))):]
		return data[:min(int(size), len(data))], 0
	case opWrite:
		at, size := int(le.Uint64(in[8:])), int(le.Uint32(in[16:]))
		n.resize(max(len(n.data), at+size))
		copy(n.data[at:], in[40:40+size])
		return le.AppendUint64(nil, uint64(size)), 0
	case opReaddir:
		var out []byte
		for i, name := range n.order[min(int(le.Uint64(in[8:])), len(n.order)):] {
			child := n.children[name]
			if child == nil {
				continue
			}
			entry := le.AppendUint64(nil, child.id)
			entry = le.AppendUint64(entry, le.Uint64(in[8:])+uint64(i)+1)
			entry = le.AppendUint32(entry, uint32(len(name)))
			entry = le.AppendUint32(entry, child.mode>>12)
			entry = append(entry, name...)
			entry = append(entry, make([]byte, (8-len(entry)%8)%8)...)
			if len(out)+len(entry) > int(le.Uint32(in[16:])) {
				break
			}
			out = append(out, entry...)
		}
		return out, 0
	case opStatfs:
		out := make([]byte, 80)
		for i := range 5 {
			le.PutUint64(out[8*i:], 1<<20)
		}
		le.PutUint32(out[40:], 4096)
		le.PutUint32(out[44:], 255)
		le.PutUint32(out[48:], 4096)
		return out, 0
	case opRelease, opReleasedir, opFsync, opFsyncdir, opFlush:
		return nil, 0
	}
	return nil, syscall.ENOSYS
}

func (n *node) resize(size int) {
	if size > len(n.data) {
		n.data = append(n.data, make([]byte, size-len(n.data))...)
	}
	n.data, n.changed = n.data[:size], time.Now()
}

// attr is struct fuse_attr.
func (n *node) attr() []byte {
	var b bytes.Buffer
	seconds, rest := uint64(n.changed.Unix()), uint32(n.changed.Nanosecond())
	size := uint64(len(n.data))
	for _, value := range []any{
		n.id, size, (size + 511) / 512, seconds, seconds, seconds, rest, rest, rest,
		n.mode, n.links, n.uid, n.gid, uint32(0), uint32(4096), uint32(0),
	} {
		_ = binary.Write(&b, le, value)
	}
	return b.Bytes()
}

// attributes is struct fuse_attr_out: nothing of it may be kept, so that every look asks.
func (n *node) attributes() []byte { return append(make([]byte, 16), n.attr()...) }

// entry is struct fuse_entry_out.
func (n *node) entry() []byte {
	return append(append(le.AppendUint64(nil, n.id), make([]byte, 32)...), n.attr()...)
}
