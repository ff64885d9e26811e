package sandbox

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/notify"
)

// hostChanges are the changes of a command in places of the host. The sandbox's own places, as /tmp, are not the host's.
type hostChanges struct {
	changes
	in      []string    // the places that the command may write
	opening *opening    // ... and those that are opened to it
	seen    atomic.Bool // a supervisor is there
}

// note notes an effect of a call.
func (h *hostChanges) note(c notify.Change) {
	ours, others := h.has(c.Path), c.To != "" && h.has(c.To)
	if !ours && !others {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case c.Kind == notify.Removed, c.Kind == notify.Renamed && !others:
		h.remove(c.Path)
	case c.Kind == notify.Created:
		h.create(c.Path, "")
	case c.Kind == notify.Written:
		h.write(c.Path)
	case c.Kind == notify.Linked && !others:
	case c.Kind == notify.Linked && ours && !strings.HasSuffix(c.Path, " (deleted)"):
		h.create(c.To, c.Path)
	case c.Kind == notify.Linked, c.Kind == notify.Renamed && !ours && !c.Replaced:
		h.create(c.To, "")
	case c.Kind == notify.Renamed && !ours:
		h.write(c.To)
	case c.Kind == notify.Renamed:
		h.rename(c.Path, c.To, c.Replaced)
	case c.Kind == notify.Exchanged && ours && others:
		h.exchange(c.Path, c.To)
	case c.Kind == notify.Exchanged && ours:
		h.write(c.Path)
	default:
		h.write(c.To)
	}
	if c.Tree && ours && others {
		h.exchangeBelow(c.Path, c.To)
	}
}

// has reports whether the file at path is one of the host's, which the command may write.
func (h *hostChanges) has(path string) bool { return inAny(h.in, path) || h.opening.within(path) }

// maxCarried bounds the entries that are looked at below a directory that moves. One that holds more does not move to where names
// are protected.
const maxCarried = 200_000

// carries returns an entry of a directory that must not move to its new path: a name that is protected there, or a link that
// leads out of the checked tree; nil if it may move. Nothing below it changes meanwhile. A user who opened the new path opened none below it.
func (j *judge) carries(m notify.Move) *Violation {
	if !j.opens(m.To) && !j.names.Reaches(m.To) {
		return nil
	}
	left := maxCarried
	at, err := m.Dir()
	if err != nil {
		return unchecked(m.To, err)
	}
	return j.carriesBelow(at, m.To, &left)
}

// unchecked refuses a move since a directory below it cannot be looked at.
func unchecked(to string, err error) *Violation {
	return &Violation{Wall: FileSystem, Path: to, Detail: "the content of the moving directory could not be checked: " + err.Error()}
}

func (j *protection) carriesBelow(at int, to string, left *int) *Violation {
	fd, err := unix.Openat(at, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return unchecked(to, err)
	}
	dir := os.NewFile(uintptr(fd), "/proc/self/fd/"+strconv.Itoa(fd)) // for entries whose type readdir does not tell
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if *left -= len(entries); err != nil || *left < 0 {
		return &Violation{Wall: FileSystem, Path: to, Detail: "too much is in the directory that moves to look at it all"}
	}
	for _, e := range entries {
		path := to + "/" + e.Name()
		if rule, held := j.names.Judge(path); held {
			return &Violation{Wall: ProtectedName, Path: path, Rule: string(rule)}
		}
		link := e.Type()&os.ModeSymlink != 0
		if !link && !e.IsDir() || !j.names.Reaches(path) {
			continue
		}
		if link {
			return &Violation{Wall: FileSystem, Path: path, Detail: "a link in place of a directory in which names are protected"}
		}
		child, err := unix.Openat(fd, e.Name(), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return unchecked(path, err)
		}
		v := j.carriesBelow(child, path, left)
		_ = unix.Close(child)
		if v != nil {
			return v
		}
	}
	return nil
}
