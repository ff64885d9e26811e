package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"toolhost/permissions/protect"
	"toolhost/sandbox/notify"
)

// maxConfig is the size of the longest git configuration in which upstreams are noted.
const maxConfig = 256 << 10

// notesUpstreams does the rename by which git puts a new configuration in force, if that changes nothing but which branches the branches
// follow. The file stays the same, and sealed: the supervisor writes the text into it that [protect.Upstreams] made of both.
func notesUpstreams(a notify.Attempt) bool {
	if !slices.Contains([]string{"rename", "renameat", "renameat2"}, a.Call) || len(a.Paths) != 2 || len(a.Targets) != 2 {
		return false
	}
	lock, config := a.Targets[0], a.Targets[1]
	dir := filepath.Dir(config.Path)
	if filepath.Base(config.Path) != "config" || lock.Path != config.Path+".lock" || !protect.IsGitDir(dir) {
		return false
	}
	changed, err := lock.Read(maxConfig)
	if err != nil {
		return false
	}
	file, err := openSame(config)
	if err != nil {
		return false
	}
	defer file.Close()
	if !replace(file, func(old string) (string, bool) { return protect.Upstreams(old, string(changed)) }) {
		return false
	}
	_ = lock.Remove() // a lock that stays hinders git until a user removes it, as after a crash
	return true
}

// openSame opens on the host the file that a command sees at a path: it is the same one, or none is opened.
func openSame(t notify.Target) (*os.File, error) {
	dev, ino, err := t.Identity()
	if err != nil {
		return nil, err
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, t.Path, &unix.OpenHow{
		Flags: unix.O_RDWR | unix.O_NONBLOCK | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Dev != dev || st.Ino != ino || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1 || st.Size > maxConfig {
		_ = unix.Close(fd)
		return nil, unix.EINVAL
	}
	return os.NewFile(uintptr(fd), t.Path), nil
}

// replace writes a text in place of that of a file, with one call: a reader, or a process that ends, leaves no half of it. A shorter
// text has empty lines at its end until the file is cut.
func replace(file *os.File, by func(old string) (string, bool)) bool {
	old := make([]byte, maxConfig+1)
	n, err := unix.Pread(int(file.Fd()), old, 0)
	if err != nil || n > maxConfig {
		return false
	}
	text, ok := by(string(old[:n]))
	if !ok || len(text) > maxConfig {
		return false
	}
	padded := []byte(text)
	for len(padded) < n {
		padded = append(padded, '\n')
	}
	if written, err := unix.Pwrite(int(file.Fd()), padded, 0); err != nil || written != len(padded) {
		return false
	}
	return unix.Ftruncate(int(file.Fd()), int64(len(text))) == nil
}
