package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/protect"
	"toolhost/sandbox/notify"
)

// judge decides about the calls that a filter hands over: nobody writes a protected name, whether it exists or not, and
// where no mounts hold it, nobody changes what lies outside.
type judge struct {
	names  *protect.Map
	open   []string // below which writing is allowed; nil where mounts see to it
	report func(Violation)

	mu  sync.Mutex
	own map[string]uint64 // names of secrets that the command itself wrote, with their inodes as far as known; nil: too many

	fresh atomic.Bool // a name was written that would be protected had its directory been there before
}

// moves are the calls that take a whole directory away from its name.
var moves = []string{"rename", "renameat", "renameat2", "rmdir", "unlinkat"}

// attempt judges one call.
func (j *judge) attempt(a notify.Attempt) notify.Verdict {
	for _, path := range a.Paths {
		path = strings.TrimSuffix(path, " (deleted)")
		if _, named := protect.Asks(path, ""); named || filepath.Base(path) == "HEAD" {
			j.fresh.Store(true)
		}
		if j.open != nil && !j.within(path) {
			j.report(Violation{Wall: FileSystem, Path: path, Call: a.Call, Grant: "write:" + path, Certain: true})
			return notify.Verdict(syscall.EPERM)
		}
		j.note(path)
		rule, held := j.names.Judge(path)
		if !held && slices.Contains(moves, a.Call) && !occupied(a.Call, path) {
			rule, held = j.names.Pinned(path)
		}
		if held {
			j.report(Violation{Wall: ProtectedName, Path: path, Call: a.Call, Rule: string(rule), Grant: "write:" + path, Certain: true})
			return notify.Verdict(syscall.EPERM)
		}
	}
	if j.open != nil && !expected(a.Cause) {
		return notify.Verdict(syscall.EPERM) // no mount stands behind us
	}
	return notify.Continue
}

// maxOwn bounds what is known of a command's own secrets. Of one that makes more nothing is masked.
const maxOwn = 1000

// note remembers a secret that the command is about to write.
func (j *judge) note(path string) {
	if _, secret := j.names.Secret(path, 0, 0); !secret {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.own == nil {
		return
	}
	if _, known := j.own[path]; !known {
		j.own[path] = 0
	}
	if len(j.own) > maxOwn {
		j.own = nil
	}
}

// wrote reports whether the secret that has come into being at path is the command's own: the first file there after it named
// it as only a writer does. Another one is somebody else's.
func (j *judge) wrote(path string) bool {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return true // it is gone already
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.own == nil {
		return true
	}
	inode, named := j.own[path]
	if named && inode == 0 {
		inode = st.Ino
		j.own[path] = inode
	}
	return named && inode == st.Ino
}

// occupied reports whether a directory is to be removed that is not empty: the kernel will say so, and programs try it.
func occupied(call, path string) bool {
	if strings.HasPrefix(call, "rename") {
		return false
	}
	dir, err := os.Open(path)
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(1)
	return len(names) > 0
}

func (j *judge) within(path string) bool {
	return slices.ContainsFunc(j.open, func(dir string) bool { return agenttool.Within(dir, path) })
}

// expected reports whether there is no reason why a name could not be resolved, or one for which the call fails by itself.
func expected(cause error) bool {
	errno, ok := cause.(syscall.Errno)
	return cause == nil || ok && slices.Contains([]syscall.Errno{
		syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EFAULT, syscall.EACCES,
	}, errno)
}
