package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

const block = 4096 // bytes that a disk writes as a whole or not at all

// disk is a disk that can lose power. It is one file of a FUSE file system, below a loop device: so every write and every flush of the
// file system above comes here, in order, and what was not flushed can be dropped.
type disk struct {
	dir  string // where the file is
	size int64
	fuse *os.File
	done chan struct{}

	mu      sync.Mutex
	blocks  map[int64][]byte // as the file system sees them
	flushed map[int64][]byte // what was on the disk for sure when recording began
	events  []event          // since then; nil records nothing
	record  bool
}

// event is one block that was written, or a flush.
type event struct {
	at   int64 // of the block; -1 for a flush
	data []byte
}

// newDisk serves an empty disk at dir.
func newDisk(dir string, size int64) (*disk, error) {
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", f.Fd())
	if err := unix.Mount("power", dir, "fuse.power", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		f.Close()
		return nil, fmt.Errorf("mount fuse: %w", err)
	}
	d := &disk{dir: dir, size: size, fuse: f, done: make(chan struct{}), blocks: map[int64][]byte{}}
	go d.serve()
	return d, nil
}

func (d *disk) path() string { return filepath.Join(d.dir, "disk") }

// close ends it; nothing may use it any more.
func (d *disk) close() {
	_ = unix.Unmount(d.dir, unix.MNT_DETACH)
	<-d.done
	d.fuse.Close()
}

// begin has writes recorded from now on; what was written before is taken for safe.
func (d *disk) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flushed, d.record = map[int64][]byte{}, true
	for at, data := range d.blocks {
		d.flushed[at] = data
	}
}

// now is how many events were recorded.
func (d *disk) now() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.events)
}

// write takes bytes. Blocks are never changed in place: events refer to them.
func (d *disk) write(at int64, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(data) > 0 {
		base := at &^ (block - 1)
		n := min(int(base+block-at), len(data))
		fresh := make([]byte, block)
		copy(fresh, d.blocks[base])
		copy(fresh[at-base:], data[:n])
		d.blocks[base] = fresh
		if d.record {
			d.events = append(d.events, event{base, fresh})
		}
		at, data = at+int64(n), data[n:]
	}
}

func (d *disk) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.record {
		d.events = append(d.events, event{at: -1})
	}
}

func (d *disk) read(at int64, n int) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]byte, n)
	for done := 0; done < n; {
		base := (at + int64(done)) &^ (block - 1)
		from := at + int64(done) - base
		if b := d.blocks[base]; b != nil {
			copy(out[done:], b[from:])
		}
		done += int(block - from)
	}
	return out
}

// cut writes to a file what the disk holds when power fails after so many events: all that was flushed, and of what was written since
// none, all, or any part. It returns how many blocks were lost.
func (d *disk) cut(events int, path string, random *rand.Rand) (lost int, err error) {
	safe := 0
	for i := range events {
		if d.events[i].at < 0 {
			safe = i
		}
	}
	held := map[int64][]byte{}
	for at, data := range d.flushed {
		held[at] = data
	}
	chance := []float64{0, 0.5, 0.9, 1}[random.IntN(4)]
	for i, e := range d.events[:events] {
		switch {
		case e.at < 0:
		case i < safe || random.Float64() < chance:
			held[e.at] = e.data
		default:
			lost++
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return lost, err
	}
	defer f.Close()
	if err := f.Truncate(d.size); err != nil {
		return lost, err
	}
	for at, data := range held {
		if _, err := f.WriteAt(data, at); err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// What the kernel asks, from linux/fuse.h.
const (
	opLookup, opForget, opGetattr, opOpen, opRead, opWrite, opStatfs, opRelease, opFsync = 1, 2, 3, 14, 15, 16, 17, 18, 20
	opFlush, opInit, opOpendir, opReaddir, opReleasedir, opAccess, opBatchForget         = 25, 26, 27, 28, 29, 34, 42
	maxWrite                                                                             = 128 << 10
)

// serve answers the kernel until the mount has gone.
func (d *disk) serve() {
	defer close(d.done)
	buffer := make([]byte, maxWrite+block)
	for {
		n, err := unix.Read(int(d.fuse.Fd()), buffer)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if err != nil || n < 40 {
			return // ENODEV: it was unmounted
		}
		op, id, node := binary.LittleEndian.Uint32(buffer[4:]), binary.LittleEndian.Uint64(buffer[8:]), binary.LittleEndian.Uint64(buffer[16:])
		reply, errno := d.answer(op, node, buffer[40:n])
		if op == opForget || op == opBatchForget {
			continue
		}
		head := binary.LittleEndian.AppendUint32(nil, uint32(16+len(reply)))
		head = binary.LittleEndian.AppendUint32(head, uint32(-int32(errno)))
		head = binary.LittleEndian.AppendUint64(head, id)
		_, _ = unix.Write(int(d.fuse.Fd()), append(head, reply...)) // a request that was interrupted has no taker
	}
}

func (d *disk) answer(op uint32, node uint64, in []byte) ([]byte, unix.Errno) {
	le := binary.LittleEndian
	switch op {
	case opInit:
		out := make([]byte, 64)
		le.PutUint32(out, 7)
		le.PutUint32(out[4:], 31)
		le.PutUint32(out[8:], 128<<10)
		le.PutUint32(out[12:], 1<<5) // FUSE_BIG_WRITES
		le.PutUint32(out[20:], maxWrite)
		return out, 0
	case opLookup:
		if unix.ByteSliceToString(in) != "disk" {
			return nil, unix.ENOENT
		}
		out := make([]byte, 40, 128)
		le.PutUint64(out, 2)
		le.PutUint64(out[16:], 3600)
		le.PutUint64(out[24:], 3600)
		return append(out, d.attr(2)...), 0
	case opGetattr:
		out := make([]byte, 16, 104)
		le.PutUint64(out, 3600)
		return append(out, d.attr(node)...), 0
	case opOpen, opOpendir:
		return make([]byte, 16), 0
	case opRead:
		return d.read(int64(le.Uint64(in[8:])), int(le.Uint32(in[16:]))), 0
	case opWrite:
		n := le.Uint32(in[16:])
		d.write(int64(le.Uint64(in[8:])), in[40:40+n])
		return le.AppendUint64(nil, uint64(n)), 0
	case opFsync:
		d.flush()
		return nil, 0
	case opStatfs:
		out := make([]byte, 80)
		le.PutUint32(out[40:], block)
		le.PutUint32(out[44:], 255)
		return out, 0
	case opRelease, opReleasedir, opFlush, opAccess, opReaddir, opForget, opBatchForget:
		return nil, 0
	}
	return nil, unix.ENOSYS
}

// attr is the fuse_attr of the file, or of the directory above it.
func (d *disk) attr(node uint64) []byte {
	var a struct {
		ino, size, blocks, atime, mtime, ctime       uint64
		atimensec, mtimensec, ctimensec, mode, nlink uint32
		uid, gid, rdev, blksize, padding             uint32
	}
	a.ino, a.nlink, a.blksize, a.mode = node, 1, block, unix.S_IFDIR|0o700
	if node == 2 {
		a.mode, a.size, a.blocks = unix.S_IFREG|0o600, uint64(d.size), uint64(d.size/512)
	}
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&a)), unsafe.Sizeof(a))...)
}
