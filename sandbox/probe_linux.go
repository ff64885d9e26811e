package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/permissions/protect"
	"toolhost/sandbox/enter"
)

// Probe finds the strongest level that this machine holds, by making each sandbox for real and trying to write out of it.
// It makes its files in a directory below dir, and removes those that earlier probes left there.
func Probe(dir string) Finding {
	var f Finding
	sweepProbes(dir)
	f.LandlockABI = landlockABI()
	for _, level := range agenttool.Levels {
		if level == None || (level != Full && f.LandlockABI < 1) {
			continue
		}
		err := try(dir, level)
		if err == nil {
			f.Level = level
			if f.LandlockABI < 1 {
				f.Missing = append(f.Missing, Missing{Landlock, "the kernel has none, so that mounts and the filter stand alone"})
			}
			return f
		}
		f.Missing = append(f.Missing, Missing{level, cause(err)})
		f.Momentary = f.Momentary || isShortage(err) || fewDescriptors()
	}
	f.Level = None
	return f
}

// shortages are errors that prevent sandboxes for a while only.
var shortages = append(agenttool.Shortages(), unix.EAGAIN, unix.EINTR)

// probeDescriptors is more than a probe takes.
const probeDescriptors = 64

// fewDescriptors reports whether this process, or the machine, may not open as many files as a probe takes. A failure may then
// come from that, whatever its error says.
func fewDescriptors() bool {
	var open []int
	defer func() {
		for _, fd := range open {
			_ = unix.Close(fd)
		}
	}()
	for range probeDescriptors {
		fd, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return true
		}
		open = append(open, fd)
	}
	return false
}

// unusable are the errors of a directory in which no entry can be made.
var unusable = []unix.Errno{unix.ENOSPC, unix.EDQUOT, unix.EROFS, unix.EACCES, unix.EPERM, unix.ENOENT, unix.ENOTDIR, unix.EIO}

// is reports whether err is one of some errors, which the helper reports in words.
func is(err error, errnos []unix.Errno) bool {
	return slices.ContainsFunc(errnos, func(e unix.Errno) bool { return errors.Is(err, e) || strings.Contains(err.Error(), e.Error()) })
}

// Failing is the error of a disk that prevented the probe, nil for none: it says nothing about the machine's level.
func (f Finding) Failing() error {
	for _, m := range f.Missing {
		for _, e := range []unix.Errno{unix.EIO, unix.EROFS} {
			if is(errors.New(m.Why), []unix.Errno{e}) {
				return e
			}
		}
	}
	return nil
}

// cause is the text of an error without our own prefixes.
func cause(err error) string {
	if inner := errors.Unwrap(err); inner != nil && errors.As(err, new(*agenttool.Error)) {
		return inner.Error()
	}
	return err.Error()
}

// isShortage reports whether err is one of the shortages. That the machine allows no namespaces is none.
func isShortage(err error) bool {
	if without, ok := errors.AsType[noNamespaces](err); ok && without.forbidden() {
		return false
	}
	return errors.Is(err, errStalled) || is(err, shortages)
}

// try runs our own program in a sandbox of a level; it tries to create a file there and must fail.
func try(dir string, level Level) error {
	dir, lock, err := probeDir(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		return err
	}
	o := Options{Roots: []string{root}, Dir: filepath.Join(dir, "scratch", "session"), Cache: filepath.Join(dir, "cache"), Level: level}
	if level == Full { // less has no masks
		secret := filepath.Join(root, enter.ProbeSecret)
		if err := os.WriteFile(secret, nil, 0o600); err != nil {
			return err
		}
		o.Protected = protect.NewCache(protect.Options{Roots: o.Roots, ReadDeny: []string{secret}}, 0)
	}
	s, err := Open(o)
	if err != nil {
		return err
	}
	defer s.Close()
	s.reserved.own = true
	for _, t := range []struct {
		access Access
		want   int
	}{{ReadOnly, enter.ProbeDenied}, {Workspace, enter.ProbeWritten}} {
		if err := selfTest(s, root, t.access, t.want); err != nil {
			return err
		}
	}
	return nil
}

// selfTest runs the probe under a profile.
func selfTest(s *Session, root string, access Access, want int) error {
	at, err := os.Open(root)
	if err != nil {
		return err
	}
	defer at.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	p, err := s.Start(context.Background(), &Command{
		Path: "/proc/self/exe", Args: []string{enter.ProbeName}, Dir: root, At: at, Streams: [3]*os.File{null, null, null},
		Profile: Profile{Access: access},
	})
	if err != nil {
		return err
	}
	defer p.Kill()
	select {
	case <-p.Exited():
	case <-time.After(patience):
		return fmt.Errorf("the self-test of %s did not end", access)
	}
	if got := p.Ended().Status.ExitStatus(); got != want {
		return fmt.Errorf("the self-test of %s %s", access, outcomes[got])
	}
	return nil
}

// keptFinding is the content of the file that Remember writes.
type keptFinding struct {
	Key string
	Finding
}

const levelFile = "sandbox-level.json"

// ProbeOnce returns the finding that [Remember] wrote in one of dirs, as long as kernel, settings, program and user are
// the same. Otherwise it is [ProbeNow] with the last of dirs, and Remember.
func ProbeOnce(dirs ...string) Finding {
	for _, dir := range dirs {
		if found, ok := remembered(dir); ok {
			return found
		}
	}
	found := ProbeNow(dirs[len(dirs)-1])
	Remember(found, dirs...)
	return found
}

// Forget removes what [Remember] wrote: a sandbox of that level could not be made.
func Forget(dirs ...string) {
	for _, dir := range dirs {
		if _, ok := remembered(dir); ok {
			_ = os.Remove(filepath.Join(dir, levelFile))
		}
	}
}

// remembered returns the finding that Remember wrote in dir, if the file is this user's.
func remembered(dir string) (Finding, bool) {
	var kept keptFinding
	f, err := os.OpenFile(filepath.Join(dir, levelFile), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return Finding{}, false
	}
	defer f.Close()
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil || int(st.Uid) != os.Geteuid() {
		return Finding{}, false
	}
	b, err := io.ReadAll(io.LimitReader(f, 1<<20))
	ok := err == nil && json.Unmarshal(b, &kept) == nil && kept.Key == machine() && kept.Level != ""
	return kept.Finding, ok
}

// Remember keeps a finding in a file of the first of dirs that takes it, and makes that directory. It keeps only Full: a failure may be gone
// the next time.
func Remember(found Finding, dirs ...string) {
	if found.Level != Full {
		return
	}
	b, err := json.Marshal(keptFinding{machine(), found})
	for i := 0; i < len(dirs) && err == nil; i++ {
		if _, ok := remembered(dirs[i]); ok {
			return
		}
		made := dirs[i] // or the directory in which it is made
		for made != "/" && errors.Is(ours(made), os.ErrNotExist) {
			made = filepath.Dir(made)
		}
		if ours(made) != nil { // under sudo -E the directories are another user's, who could not use what we made in them
			continue
		}
		if os.MkdirAll(dirs[i], 0o700) == nil && ours(dirs[i]) == nil && replaceFile(filepath.Join(dirs[i], levelFile), b) == nil {
			return
		}
	}
}

// ProbeNow is Probe in a directory for temporary files, or in dir where there is none to be used.
func ProbeNow(dir string) (f Finding) {
	for _, place := range slices.Concat(probePlaces, []string{dir}) {
		if f = Probe(place); f.Level != None || !is(errors.New(f.Why()), unusable) {
			break
		}
	}
	return f
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".level-")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// machine identifies the facts that the level depends on.
func machine() string {
	h := sha256.New()
	for _, path := range []string{
		"/proc/sys/kernel/random/boot_id", "/proc/self/uid_map", "/proc/self/attr/current", userNamespaceLimit, cloneSetting, appArmorSetting,
	} {
		b, _ := os.ReadFile(path) // a missing file is missing next time too
		fmt.Fprintf(h, "%s=%q\n", path, b)
	}
	var ns, exe unix.Stat_t
	_ = unix.Stat("/proc/self/ns/mnt", &ns)
	_ = unix.Stat("/proc/self/exe", &exe)
	seccomp, _ := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	fmt.Fprintln(h, os.Getuid(), os.Geteuid(), os.Getgid(), ns.Ino, exe.Ino, exe.Size, exe.Mtim, seccomp)
	return hex.EncodeToString(h.Sum(nil))
}

// outcomes are the bad exit codes of a self-test.
var outcomes = map[int]string{
	enter.ProbeWritten: "wrote what it must not write",
	enter.ProbeDenied:  "could not write what it may write",
	enter.ProbeRead:    "read a secret",
}
