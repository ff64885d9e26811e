package keep

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// state describes a file before a call changed it: a regular file, directory, symbolic link or pipe, with all that putting it back restores.
type state struct {
	Mode   uint32            `json:"mode"` // type and permissions, as stat has them
	UID    uint32            `json:"uid"`
	GID    uint32            `json:"gid"`
	Access time.Time         `json:"atime"`
	Change time.Time         `json:"mtime"`
	Attrs  map[string][]byte `json:"xattrs,omitempty"`

	Target  name   `json:"target,omitempty"`  // of a symbolic link
	Size    int64  `json:"size,omitempty"`    // of a regular file
	Content name   `json:"content,omitempty"` // the file with the content, in the directory of the call
	Same    bool   `json:"same,omitempty"`    // ... is the very file: its other names are hard links to it
	Own     bool   `json:"own,omitempty"`     // the call had made it: of all this it has the mode alone
	Object  string `json:"object,omitempty"`  // the content is git's object, of the repository in Top
	Top     name   `json:"top,omitempty"`     // the top of the work tree

	Dev uint64 `json:"dev,omitempty"` // of a file with further names, with its inode: they are names of one file
	Ino uint64 `json:"ino,omitempty"`
}

// stateOf is what the status of a file says about it.
func stateOf(st *unix.Stat_t) *state {
	was := &state{Mode: st.Mode, UID: st.Uid, GID: st.Gid, Access: timeOf(st.Atim), Change: timeOf(st.Mtim)}
	if st.Nlink > 1 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		was.Dev, was.Ino = uint64(st.Dev), st.Ino
	}
	return was
}

// keep describes the file at place, and keeps its content in the store. The line about it, which undoing needs, has yet to be written: later
// reports whether it may come to the disk after the change. Otherwise content is what has to be there before, beside the line; nil: nothing.
func (c *Call) keep(l loses, path string, place int, st *unix.Stat_t) (was *state, content *os.File, later bool, err error) {
	was = stateOf(st)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFLNK:
		target, err := readLink(place)
		was.Target = name(target)
		return was, nil, false, err
	case unix.S_IFDIR:
		was.Attrs, err = attributes(place)
		return was, nil, c.homes[path+"/"] != "", err
	default:
		return was, nil, false, nil
	}
	was.Size = st.Size
	if l.did() == removed {
		link, err := c.takeName(l, path, st)
		if err != nil {
			return nil, nil, false, err
		}
		if link != "" {
			if err = c.store.take(st.Size); err == nil {
				was.Content, was.Same = name(link), true
				return was, nil, true, nil
			}
			_ = unix.Unlink(filepath.Join(c.dir, link))
		}
	}
	if was.Attrs, err = attributes(place); err != nil {
		return nil, nil, false, err
	}
	was.Content, content, err = c.copyOf(path, place, st.Size)
	if err == nil {
		return was, content, false, nil
	}
	if object, top, loose := c.store.inGit(path, place, st); object != "" {
		was.Object, was.Top = object, name(top)
		return was, loose, false, nil
	}
	return nil, nil, false, err
}

// copyOf makes a copy of the file at place in the store.
func (c *Call) copyOf(path string, place int, size int64) (into name, content *os.File, err error) {
	if c.store.Refuses != nil && c.store.Refuses(path) {
		return "", nil, &NotKept{Path: path, Why: "it holds secrets, of which toolhost makes no copy"}
	}
	c.contents++
	into = name(strconv.Itoa(c.contents))
	if content, err = c.copyContent(place, filepath.Join(c.dir, string(into)), size); err != nil {
		return "", nil, err
	}
	return into, content, nil
}

func timeOf(t unix.Timespec) time.Time { return time.Unix(t.Sec, t.Nsec) }

func atProc(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

func readLink(place int) (string, error) {
	buffer := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(place, "", buffer)
	if err != nil {
		return "", err
	}
	return string(buffer[:n]), nil
}

// copyContent copies a file into the store. Where the file system can, the copy shares the blocks of the file.
func (c *Call) copyContent(place int, into string, size int64) (to *os.File, err error) {
	from, err := os.OpenFile(atProc(place), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", unwrapped(err))
	}
	defer from.Close()
	to, err = create(into, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			to.Close()
			_ = os.Remove(into)
		}
	}()
	if unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) == nil {
		return to, nil
	}
	if c.copied+size > maxCopied {
		return nil, errors.New("the call has changed more than toolhost copies for one call, which are " + strconv.Itoa(maxCopied>>20) + " MiB")
	}
	if err := c.store.take(size); err != nil {
		return nil, err
	}
	c.copied += size
	return to, copyData(to, from, size)
}

// copyData copies the parts of a file that have data.
func copyData(to, from *os.File, size int64) error {
	for at := int64(0); ; {
		data, err := unix.Seek(int(from.Fd()), at, unix.SEEK_DATA)
		if err == unix.ENXIO {
			return to.Truncate(size)
		}
		if err != nil {
			data = at
		}
		hole, err := unix.Seek(int(from.Fd()), data, unix.SEEK_HOLE)
		if err != nil {
			hole = size
		}
		if _, err := from.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err := to.Seek(data, io.SeekStart); err != nil {
			return err
		}
		n, err := io.Copy(to, io.LimitReader(from, hole-data))
		if err != nil {
			return err
		}
		if at = data + n; n == 0 || at >= size {
			return to.Truncate(max(size, at))
		}
	}
}

// attributes are the extended attributes of a file that its user may set.
func attributes(place int) (map[string][]byte, error) {
	path := atProc(place)
	size, err := unix.Listxattr(path, nil)
	if err != nil || size == 0 {
		return nil, nil // the file system has none
	}
	names := make([]byte, size+1<<10)
	if size, err = unix.Listxattr(path, names); err != nil {
		return nil, err
	}
	attrs := map[string][]byte{}
	for _, attr := range strings.Split(strings.TrimSuffix(string(names[:size]), "\x00"), "\x00") {
		if !strings.HasPrefix(attr, "user.") && !strings.HasPrefix(attr, "system.posix_acl") && attr != "security.capability" {
			continue
		}
		value := make([]byte, 64<<10)
		n, err := unix.Getxattr(path, attr, value)
		if err != nil {
			return nil, err
		}
		attrs[attr] = value[:n:n]
	}
	return attrs, nil
}

// unwrapped is the cause of an error about a file.
func unwrapped(err error) error {
	var of *os.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
