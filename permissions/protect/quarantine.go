package protect

import (
	"errors"
	"fmt"
	"path"

	"golang.org/x/sys/unix"
)

// ErrChangedAgain says that the entry to quarantine was replaced or removed meanwhile.
var ErrChangedAgain = errors.New("it changed again")

// quarantineTries is the number of names that Quarantine tries before it gives up.
const quarantineTries = 100

// Quarantine makes the result of a change harmless without losing it: a file loses its executable bits, and a file or link is
// renamed within its directory, since a hook runs by its name. It returns the new path. Directories, and names that vanished, are
// left alone. It works through the directory's descriptor, follows no link, and acts only if the entry is still the one that the
// change saw. roots are those of the Map.
func Quarantine(roots []string, change Change) (string, error) {
	if change.After.Kind != File && change.After.Kind != Symlink {
		return "", fmt.Errorf("quarantine %s: it is neither file nor link", change.Path)
	}
	t, err := openTree(roots)
	if err != nil {
		return "", err
	}
	defer t.close()
	dir, name := t.split(change.Path)
	fd, err := t.open(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return "", fmt.Errorf("quarantine %s: %w", change.Path, err)
	}
	defer unix.Close(fd)
	if now, _ := stateAt(fd, name); now.id != change.After.id || now.Kind != change.After.Kind {
		return "", fmt.Errorf("quarantine %s: %w", change.Path, ErrChangedAgain)
	}
	if err := dropExecutable(fd, name, change); err != nil {
		return "", fmt.Errorf("quarantine %s: %w", change.Path, err)
	}
	for i := range quarantineTries {
		aside := fmt.Sprintf("%s.quarantined-%d", name, i)
		err = renameAside(fd, name, aside)
		if !errors.Is(err, unix.EEXIST) {
			if err != nil {
				break
			}
			return path.Join(dir, aside), nil
		}
	}
	return "", fmt.Errorf("quarantine %s: %w", change.Path, err)
}

// dropExecutable takes the executable bits from a file, if it is the one that the change saw.
func dropExecutable(dir int, name string, change Change) error {
	if !change.After.Executable() {
		return nil
	}
	flags := unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	fd, err := unix.Openat(dir, name, flags, 0)
	if err != nil {
		return nil // not readable: the new name is enough
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil || identityOf(&stat) != change.After.id {
		return errors.Join(ErrChangedAgain, err)
	}
	if stat.Nlink > 1 {
		return nil // the bits belong to the other names as well
	}
	return unix.Fchmod(fd, uint32(stat.Mode)&0o7777&^0o111)
}
