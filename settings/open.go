package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// readFile returns the content and status of a settings file. It never blocks on a pipe, accepts only a regular file
// of a sensible size, and follows a link at the end of the path only if links is set.
func readFile(file string, links bool) ([]byte, fs.FileInfo, error) {
	flags := unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	if !links {
		flags |= unix.O_NOFOLLOW
	}
	f, err := os.OpenFile(file, flags, 0)
	if errors.Is(err, unix.ELOOP) && !links {
		return nil, nil, errors.New("it is a symbolic link, which is not followed here: put the file itself there")
	}
	if errors.Is(err, unix.ENXIO) {
		return nil, nil, errNotRegular
	}
	if err != nil {
		return nil, nil, bare(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
	if info.Size() > maxSize {
		return nil, nil, errTooLarge
	}
	content, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(content) > maxSize {
		err = errTooLarge
	}
	return content, info, bare(err)
}

// maxSize is the size in bytes of the largest file.
const maxSize = 1 << 20

var (
	errNotRegular = errors.New("it is not a regular file")
	errTooLarge   = fmt.Errorf("it is larger than %d KiB", maxSize>>10)
)

// bare strips the path from an error, since a problem already names it.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// missing reports whether an error means that the file does not exist.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)
}

// checkOwner returns an error with a remedy if another user may have written the file.
func checkOwner(file string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("its owner is not known")
	}
	if uid := int(stat.Uid); uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d: only you and root may say what is allowed; chown it, or remove it", uid)
	}
	mode := info.Mode().Perm()
	if own := os.Geteuid(); own != 0 && int(stat.Gid) == own && os.Getegid() == own { // the user's own group, on systems with umask 002
		mode &^= 0o020
	}
	if mode&0o022 != 0 {
		return fmt.Errorf("others can write it (mode %04o): run chmod go-w %s", mode, shown(quoteShell(file)))
	}
	return nil
}
