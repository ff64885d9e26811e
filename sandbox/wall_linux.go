package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// The rights that a Landlock domain handles, by the ABI version that added them. Executing is not handled, and reading only if
// no mounts mask secrets.
const (
	writeRights = landlock.AccessFSWriteFile | landlock.AccessFSRemoveDir | landlock.AccessFSRemoveFile |
		landlock.AccessFSMakeChar | landlock.AccessFSMakeDir | landlock.AccessFSMakeReg | landlock.AccessFSMakeSock |
		landlock.AccessFSMakeFifo | landlock.AccessFSMakeBlock | landlock.AccessFSMakeSym // 1
	neverGranted = landlock.AccessFSMakeChar | landlock.AccessFSMakeBlock
	fileRights   = landlock.AccessFSExecute | landlock.AccessFSWriteFile | landlock.AccessFSReadFile |
		landlock.AccessFSTruncate | landlock.AccessFSIoctlDev // rights that a rule for a file may have
	tcpRights = landlock.AccessNetBindTCP | landlock.AccessNetConnectTCP
	allScopes = landlock.ScopeAbstractUnixSocket | landlock.ScopeSignal
)

// wall is the content of a Landlock domain.
type wall struct {
	attr    landlock.RulesetAttr
	open    []placement // with all rights that anything is granted
	devices *os.File    // likewise: a /dev that no path leads to; nil for none
	read    []string    // places that may be read, if they exist
}

// ruleset makes the ruleset of the wall.
func (w *wall) ruleset() (*os.File, error) {
	fd, err := landlock.LandlockCreateRuleset(&w.attr, 0)
	if err != nil {
		return nil, fmt.Errorf("landlock: %w", err)
	}
	ruleset := os.NewFile(uintptr(fd), "ruleset")
	if err := w.addRules(fd); err != nil {
		ruleset.Close()
		return nil, fmt.Errorf("landlock: %w", err)
	}
	return ruleset, nil
}

// rights are those on files that version abi handles.
func rights(abi int) uint64 {
	r := uint64(writeRights)
	for _, since := range []struct {
		abi   int
		right uint64
	}{
		{2, landlock.AccessFSRefer}, {3, landlock.AccessFSTruncate}, {5, landlock.AccessFSIoctlDev},
	} {
		if abi >= since.abi {
			r |= since.right
		}
	}
	return r
}

// landlockABI is the version that the kernel has, 0 for none.
func landlockABI() int {
	abi, err := landlock.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return abi
}

func (w *wall) addRules(ruleset int) error {
	granted := w.attr.HandledAccessFS &^ neverGranted
	for _, at := range w.open {
		if err := allow(ruleset, at.from, granted); err != nil {
			return err
		}
	}
	if w.devices != nil {
		if err := addRule(ruleset, int(w.devices.Fd()), granted); err != nil {
			return err
		}
	}
	for _, path := range w.read {
		err := allow(ruleset, identity{path: path}, landlock.AccessFSReadFile)
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EACCES) { // it went away, or cannot be reached
			return err
		}
	}
	return nil
}

// allow grants rights at and below a place, if that is unchanged: a place without numbers means the entry there now.
func allow(ruleset int, at identity, rights uint64) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, at.path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return &os.PathError{Op: "open", Path: at.path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: at.path, Err: err}
	}
	if at.ino != 0 && (uint64(st.Dev) != at.dev || st.Ino != at.ino) {
		return &os.PathError{Op: "open", Path: at.path, Err: unix.ESTALE}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	return addRule(ruleset, fd, rights)
}

func addRule(ruleset, fd int, rights uint64) error {
	return landlock.LandlockAddPathBeneathRule(ruleset, &landlock.PathBeneathAttr{AllowedAccess: rights, ParentFd: fd}, 0)
}

// walls keeps the rulesets of a session; most commands have one of two. A rule holds the file itself, so its grant
// stays the same. The zero value is ready for use.
type walls struct {
	mu  sync.Mutex
	all map[string]*os.File
}

// maxWalls bounds what is kept.
const maxWalls = 64

// ruleset returns the ruleset of a wall. kept says that other commands use the same one: the caller must not close it.
func (k *walls) ruleset(w wall) (ruleset *os.File, kept bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := fmt.Sprint(w.attr, w.open)
	if ruleset := k.all[key]; ruleset != nil {
		return ruleset, true, nil
	}
	if ruleset, err = w.ruleset(); err != nil || len(k.all) == maxWalls {
		return ruleset, false, err
	}
	if k.all == nil {
		k.all = map[string]*os.File{}
	}
	k.all[key] = ruleset
	return ruleset, true, nil
}

func (k *walls) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, ruleset := range k.all {
		ruleset.Close()
	}
	k.all = nil
}
