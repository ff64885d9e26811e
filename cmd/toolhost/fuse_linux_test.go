package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// poorFS is a file system of FUSE that shows a directory and cannot do some things.
type poorFS struct {
	sync, links, permissions bool // what it cannot

	back  string
	paths map[uint64]string // of the nodes, below back
	nodes map[string]uint64
	open  map[uint64]*os.File
	last  uint64 // node or file handle
}

// poorName is the name under which the test binary serves a poorFS. It does so in a process of its own: Go waits in epoll_ctl for the file system
// without letting other goroutines run.
const poorName = "serve-poor-fs"

// mountPoor mounts it at dir. It needs root.
func mountPoor(t *testing.T, dir string, l poorFS) {
	t.Helper()
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no FUSE:", err)
	}
	defer f.Close()
	options := "fd=" + strconv.Itoa(int(f.Fd())) + ",rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions"
	if err := unix.Mount("poor", dir, "fuse.poor", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		t.Skip("FUSE cannot be mounted:", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(self)
	server.Args = []string{poorName, t.TempDir(), fmt.Sprint(l.sync), fmt.Sprint(l.links), fmt.Sprint(l.permissions)}
	server.ExtraFiles, server.Stderr = []*os.File{f}, os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = unix.Unmount(dir, unix.MNT_DETACH)
		_ = server.Process.Kill()
		_ = server.Wait()
	})
}

// servePoor serves the file system at descriptor 3.
func servePoor() {
	l := poorFS{sync: os.Args[2] == "true", links: os.Args[3] == "true", permissions: os.Args[4] == "true", back: os.Args[1]}
	l.paths, l.nodes, l.open, l.last = map[uint64]string{1: "."}, map[string]uint64{".": 1}, map[uint64]*os.File{}, 1
	l.serve()
}

// What the kernel asks, from linux/fuse.h.
const (
	fuseLookup, fuseForget, fuseGetattr, fuseSetattr, fuseReadlink, fuseSymlink     = 1, 2, 3, 4, 5, 6
	fuseMkdir, fuseUnlink, fuseRmdir, fuseRename, fuseLink, fuseOpen, fuseRead      = 9, 10, 11, 12, 13, 14, 15
	fuseWrite, fuseStatfs, fuseRelease, fuseFsync, fuseFlush, fuseInit, fuseOpendir = 16, 17, 18, 20, 25, 26, 27
	fuseReaddir, fuseReleasedir, fuseFsyncdir, fuseCreate, fuseInterrupt, fuseBatch = 28, 29, 30, 35, 36, 42
	fuseFD                                                                          = 3 // of the server

	setMode, setSize uint32 = 1, 8
)

var byteOrder = binary.NativeEndian

// serve answers the kernel until the file system is unmounted.
func (l *poorFS) serve() {
	buffer := make([]byte, 256<<10)
	for {
		n, err := unix.Read(fuseFD, buffer)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil || n < 40 {
			return
		}
		op, unique, node := byteOrder.Uint32(buffer[4:]), byteOrder.Uint64(buffer[8:]), byteOrder.Uint64(buffer[16:])
		if op == fuseForget || op == fuseBatch || op == fuseInterrupt {
			continue
		}
		reply, err := l.do(op, node, buffer[40:n])
		head := make([]byte, 16)
		var errno unix.Errno
		if err != nil && !errors.As(err, &errno) {
			errno = unix.EIO
		}
		if errno != 0 {
			reply = nil
		}
		byteOrder.PutUint32(head, uint32(16+len(reply)))
		byteOrder.PutUint32(head[4:], uint32(-int32(errno)))
		byteOrder.PutUint64(head[8:], unique)
		_, _ = unix.Write(fuseFD, append(head, reply...)) // a request that was interrupted has no taker
	}
}

func cstring(b []byte) string { s, _, _ := strings.Cut(string(b), "\x00"); return s }

func (l *poorFS) path(node uint64) string { return filepath.Join(l.back, l.paths[node]) }

func (l *poorFS) below(node uint64, name string) string { return filepath.Join(l.paths[node], name) }

// do does what the kernel asks.
func (l *poorFS) do(op uint32, node uint64, in []byte) ([]byte, error) {
	switch op {
	case fuseInit:
		out := make([]byte, 64)
		byteOrder.PutUint32(out, 7)
		byteOrder.PutUint32(out[4:], 31)
		byteOrder.PutUint32(out[20:], 128<<10) // of a write
		return out, nil
	case fuseLookup:
		return l.entry(l.below(node, cstring(in)))
	case fuseGetattr:
		return l.attributes(node)
	case fuseSetattr:
		return l.set(node, in)
	case fuseMkdir:
		name := l.below(node, cstring(in[8:]))
		if err := os.Mkdir(filepath.Join(l.back, name), os.FileMode(byteOrder.Uint32(in)&0o777)); err != nil {
			return nil, err
		}
		return l.entry(name)
	case fuseUnlink:
		return nil, unix.Unlink(filepath.Join(l.back, l.below(node, cstring(in))))
	case fuseRmdir:
		return nil, unix.Rmdir(filepath.Join(l.back, l.below(node, cstring(in))))
	case fuseRename:
		from := cstring(in[8:])
		return nil, l.rename(l.below(node, from), l.below(byteOrder.Uint64(in), cstring(in[8+len(from)+1:])))
	case fuseLink, fuseSymlink:
		return l.link(op, node, in)
	case fuseReadlink:
		target, err := os.Readlink(l.path(node))
		return []byte(target), err
	case fuseOpen:
		return l.opened(os.OpenFile(l.path(node), int(byteOrder.Uint32(in))&(unix.O_ACCMODE|unix.O_APPEND), 0))
	case fuseCreate:
		name := l.below(node, cstring(in[16:]))
		out, err := l.opened(os.OpenFile(filepath.Join(l.back, name), os.O_RDWR|os.O_CREATE|int(byteOrder.Uint32(in))&unix.O_EXCL, os.FileMode(byteOrder.Uint32(in[4:])&0o777)))
		if err != nil {
			return nil, err
		}
		entry, err := l.entry(name)
		return append(entry, out...), err
	case fuseRead:
		out := make([]byte, byteOrder.Uint32(in[16:]))
		n, _ := l.open[byteOrder.Uint64(in)].ReadAt(out, int64(byteOrder.Uint64(in[8:]))) // less at the end
		return out[:n], nil
	case fuseWrite:
		f, size := l.open[byteOrder.Uint64(in)], byteOrder.Uint32(in[16:])
		n, err := unix.Pwrite(int(f.Fd()), in[40:40+size], int64(byteOrder.Uint64(in[8:])))
		out := make([]byte, 8)
		byteOrder.PutUint32(out, uint32(max(n, 0)))
		return out, err
	case fuseStatfs:
		out := make([]byte, 80)
		for i := range 5 {
			byteOrder.PutUint64(out[8*i:], 1<<20)
		}
		byteOrder.PutUint32(out[40:], 4096)
		byteOrder.PutUint32(out[44:], 255)
		byteOrder.PutUint32(out[48:], 4096)
		return out, nil
	case fuseFsync, fuseFsyncdir:
		if l.sync {
			return nil, unix.EINVAL
		}
		return nil, nil
	case fuseOpendir:
		return make([]byte, 16), nil
	case fuseReaddir:
		return l.names(node, int(byteOrder.Uint64(in[8:])), int(byteOrder.Uint32(in[16:])))
	case fuseRelease:
		l.open[byteOrder.Uint64(in)].Close()
		delete(l.open, byteOrder.Uint64(in))
		return nil, nil
	case fuseReleasedir, fuseFlush:
		return nil, nil
	}
	return nil, unix.ENOSYS
}

func (l *poorFS) opened(f *os.File, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	l.last++
	l.open[l.last] = f
	out := make([]byte, 16)
	byteOrder.PutUint64(out, l.last)
	return out, nil
}

func (l *poorFS) link(op uint32, node uint64, in []byte) ([]byte, error) {
	if l.links {
		return nil, unix.EPERM
	}
	if op == fuseLink {
		name := l.below(node, cstring(in[8:]))
		if err := os.Link(l.path(byteOrder.Uint64(in)), filepath.Join(l.back, name)); err != nil {
			return nil, err
		}
		return l.entry(name)
	}
	name := cstring(in)
	if err := os.Symlink(cstring(in[len(name)+1:]), filepath.Join(l.back, l.below(node, name))); err != nil {
		return nil, err
	}
	return l.entry(l.below(node, name))
}

func (l *poorFS) rename(from, to string) error {
	if err := os.Rename(filepath.Join(l.back, from), filepath.Join(l.back, to)); err != nil {
		return errors.Unwrap(err)
	}
	delete(l.nodes, to)
	for path, node := range l.nodes {
		if rest, is := strings.CutPrefix(path, from); is && (rest == "" || rest[0] == '/') {
			delete(l.nodes, path)
			l.nodes[to+rest], l.paths[node] = node, to+rest
		}
	}
	return nil
}

func (l *poorFS) set(node uint64, in []byte) ([]byte, error) {
	valid, path := byteOrder.Uint32(in), l.path(node)
	if valid&setMode != 0 {
		if l.permissions {
			return nil, unix.EPERM
		}
		if err := os.Chmod(path, os.FileMode(byteOrder.Uint32(in[68:])&0o777)); err != nil {
			return nil, err
		}
	}
	if valid&setSize != 0 {
		if err := os.Truncate(path, int64(byteOrder.Uint64(in[16:]))); err != nil {
			return nil, err
		}
	}
	return l.attributes(node)
}

// attributes is the fuse_attr_out of a node.
func (l *poorFS) attributes(node uint64) ([]byte, error) {
	attr, err := l.attr(l.path(node))
	return append(make([]byte, 16), attr...), err
}

// entry is the fuse_entry_out of a name.
func (l *poorFS) entry(name string) ([]byte, error) {
	attr, err := l.attr(filepath.Join(l.back, name))
	if err != nil {
		return nil, err
	}
	node := l.nodes[name]
	if node == 0 || l.paths[node] != name {
		l.last++
		node = l.last
		l.nodes[name], l.paths[node] = node, name
	}
	out := make([]byte, 40)
	byteOrder.PutUint64(out, node)
	return append(out, attr...), nil
}

// attr is a fuse_attr.
func (l *poorFS) attr(path string) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return nil, err
	}
	if l.permissions {
		st.Mode |= 0o777
	}
	out := make([]byte, 0, 88)
	for _, n := range []uint64{st.Ino, uint64(st.Size), uint64(st.Blocks), uint64(st.Atim.Sec), uint64(st.Mtim.Sec), uint64(st.Ctim.Sec)} {
		out = byteOrder.AppendUint64(out, n)
	}
	for _, n := range []uint32{uint32(st.Atim.Nsec), uint32(st.Mtim.Nsec), uint32(st.Ctim.Nsec), st.Mode, uint32(st.Nlink), st.Uid, st.Gid, 0, 4096, 0} {
		out = byteOrder.AppendUint32(out, n)
	}
	return out, nil
}

// names are the fuse_dirents of a directory from one on, as many as fit.
func (l *poorFS) names(node uint64, from, size int) (out []byte, err error) {
	entries, err := os.ReadDir(l.path(node))
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	for i := from; i < len(entries); i++ {
		name := entries[i].Name()
		if len(out)+24+len(name)+8 > size {
			break
		}
		out = byteOrder.AppendUint64(out, 1<<40) // the number counts for nothing
		out = byteOrder.AppendUint64(out, uint64(i+1))
		out = byteOrder.AppendUint32(out, uint32(len(name)))
		out = byteOrder.AppendUint32(out, 0) // the kind is asked for
		out = append(out, name...)
		out = append(out, make([]byte, (8-len(name)%8)%8)...)
	}
	return out, nil
}
