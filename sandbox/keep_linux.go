package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/notify"
)

// keeping announces the changes of a command to its keeper, while each call waits.
type keeping struct {
	keeper  Keeper // nil: nothing is kept
	mayLose bool   // what cannot be kept may be lost
	in      *hostChanges
	p       *Process

	mu     sync.Mutex
	waived bool              // a user lets it be lost
	wishes map[int]Violation // of threads that are about to wait
}

// losing keeps the files that a call would lose. A call that only makes a new name loses nothing, and is noted.
func (k *keeping) losing(a notify.Attempt) (settle func(notify.Outcome), verdict notify.Verdict) {
	if k.keeper == nil || !slices.ContainsFunc(a.Targets, func(t notify.Target) bool { return k.in.has(t.Path) }) {
		return nil, notify.Allow
	}
	first := a.Targets[0]
	switch a.Call {
	case "mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "bind":
		return k.makes(first), notify.Allow
	case "link", "linkat":
		return k.makes(a.Targets[1]), notify.Allow
	case "open", "openat", "creat":
		switch mode := first.Mode(); {
		case mode == 0 && !first.Absent(): // the file is gone, and one that takes its name is not kept yet
			return nil, notify.Again
		case mode == 0:
			return k.makes(first), notify.Allow
		case a.Flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL:
			return nil, notify.Allow // it fails
		case mode&unix.S_IFMT != unix.S_IFREG, !changesContent(a.Flags):
			return nil, notify.Allow
		}
	}
	step := k.keeper.Begin()
	err := announce(step, a)
	if err == errChanged {
		step.End(false)
		return nil, notify.Again
	}
	if err != nil {
		step.End(false)
		if !k.lets() && !k.packs(a) {
			return nil, k.refuse(a, err)
		}
		step = k.keeper.Begin()
	}
	return func(o notify.Outcome) { step.End(o.Done) }, notify.Allow
}

func changesContent(flags int) bool {
	return flags&unix.O_ACCMODE != unix.O_RDONLY || flags&unix.O_TRUNC != 0
}

// makes notes the file that a call has made.
func (k *keeping) makes(t notify.Target) func(notify.Outcome) {
	path := t.Path
	return func(o notify.Outcome) {
		if o.Done {
			k.keeper.Made(path, o.Made)
		}
	}
}

// announce tells the keeper which file a system call is about to change, and how.
func announce(step KeepStep, a notify.Attempt) error {
	first := a.Targets[0]
	switch a.Call {
	case "open", "openat", "creat", "truncate":
		if first.Mode() == 0 {
			return errChanged
		}
		if a.Call == "creat" || strings.HasPrefix(a.Call, "open") && a.Flags&unix.O_TRUNC != 0 {
			return tell(first, step.Emptying)
		}
		return tell(first, step.Overwriting)
	case "unlink", "unlinkat", "rmdir":
		return tell(first, step.Unlinking)
	case "utime", "utimes", "futimesat", "utimensat":
		return tell(first, step.Touching)
	case "rename", "renameat", "renameat2":
		to := a.Targets[1]
		if a.How&unix.RENAME_EXCHANGE != 0 {
			step.Exchanging(first.Path, to.Path)
			return nil
		}
		dev, ino, err := first.Identity()
		toDev, toIno, toErr := to.Identity()
		if err == nil && toErr == nil && dev == toDev && ino == toIno {
			return nil // two names of one file, and both stay
		}
		if toErr == nil && a.How&unix.RENAME_NOREPLACE != 0 {
			return nil // it fails
		}
		if err := tell(to, step.Removing); err != nil {
			return err
		}
		step.Moving(first.Path, to.Path)
	default:
		if slices.Contains(attributeCalls, a.Call) {
			return tell(first, step.Altering)
		}
	}
	return nil
}

// tell announces a file if there is one.
func tell(t notify.Target, announce func(path string, place int) error) error {
	if t.Mode() == 0 || t.Covered() {
		return nil
	}
	place, err := t.Place()
	if err != nil {
		return err
	}
	return announce(strings.TrimSuffix(t.Path, " (deleted)"), place)
}

// errChanged means that the file of a call is gone, and another one may come in its place.
var errChanged = errors.New("the name changed meanwhile")

// packs reports whether git removes one of its own objects: it packs them anew, and does so where they cannot be kept, too. The program is
// one that no command writes.
func (k *keeping) packs(a notify.Attempt) bool {
	if !slices.Contains([]string{"unlink", "unlinkat"}, a.Call) || !isGitObject(a.Targets[0].Path) {
		return false
	}
	exe := fmt.Sprintf("/proc/%d/exe", a.PID)
	path, err := os.Readlink(exe)
	if err != nil || k.in.has(path) || filepath.Base(path) != "git" {
		return false
	}
	runs, err := os.Stat(exe)
	if err != nil {
		return false
	}
	host, err := os.Lstat(path) // a file of that name in the session's own /tmp is another one
	return err == nil && os.SameFile(runs, host)
}

// isGitObject reports whether a path is one of the objects of a repository.
func isGitObject(path string) bool {
	_, inside, found := strings.Cut(path, "/.git/")
	return found && slices.Contains(strings.Split(filepath.Dir(inside), "/"), "objects")
}

func (k *keeping) lets() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mayLose || k.waived
}

// refuse is the verdict of a call whose loss cannot be kept: it waits for a user, who may let the command lose it, or fails.
func (k *keeping) refuse(a notify.Attempt, err error) notify.Verdict {
	v := Violation{Wall: Loss, Path: a.Targets[len(a.Targets)-1].Path, Call: a.Call, Detail: err.Error(), Certain: true, Program: a.Program()}
	v.Grant = "write:" + v.Path
	if !a.Final && k.p.ask != nil && k.p.mayAsk != nil && k.p.mayAsk(v) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.wishes == nil {
			k.wishes = map[int]Violation{}
		}
		k.wishes[a.PID] = v
		return notify.Pause
	}
	k.p.violations.add(v)
	return notify.Verdict(unix.EPERM)
}

// ask is the question about a call that waits because its loss cannot be kept; nil if it waits for something else. One yes is for the whole
// command.
func (k *keeping) ask(a notify.Attempt) notify.Question {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.wishes[a.PID]
	if !ok {
		return nil
	}
	delete(k.wishes, a.PID)
	return func(ctx context.Context) {
		if k.p.ask(ctx, v) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.waived = true
		}
	}
}
