package protect

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Aside lists the parts of a git directory that were put aside: git neither runs nor obeys them.
type Aside struct {
	Git   string   // the git directory, or the file that pointed to it
	Hooks []string // names of hooks
	Keys  []string // of its configuration
	Files []string // pointers that were not written, and lead where none may lead

	digest string // of the parts put aside
}

// Empty reports whether there was nothing to put aside.
func (a Aside) Empty() bool { return len(a.Hooks)+len(a.Keys)+len(a.Files) == 0 }

// String names what was put aside.
func (a Aside) String() string {
	var parts []string
	if len(a.Hooks) > 0 {
		parts = append(parts, "the hooks "+enumerated(a.Hooks))
	}
	if len(a.Keys) > 0 {
		parts = append(parts, "the configuration "+enumerated(a.Keys))
	}
	if len(a.Files) > 0 {
		parts = append(parts, "the files "+enumerated(a.Files))
	}
	return strings.Join(parts, " and ")
}

// enumerated is a few of some names.
func enumerated(names []string) string {
	const most = 8
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

func (a *Aside) addHook(name string) { addOnce(&a.Hooks, name) }
func (a *Aside) addKey(name string)  { addOnce(&a.Keys, name) }
func (a *Aside) addFile(name string) { addOnce(&a.Files, name) }

func addOnce(all *[]string, name string) {
	if !slices.Contains(*all, name) && len(*all) < maxListed {
		*all = append(*all, name)
	}
}

// Add appends the entries of another Aside.
func (a *Aside) Add(other Aside) {
	for _, name := range other.Hooks {
		a.addHook(name)
	}
	for _, name := range other.Keys {
		a.addKey(name)
	}
	for _, name := range other.Files {
		a.addFile(name)
	}
}

// gitConfigNames are the configuration files of a git directory.
var gitConfigNames = []string{"config", "config.worktree"}

// draftIn makes a file of this user alone in an open directory, under a name that nobody can know before.
func draftIn(dir int) (name string, fd int, err error) {
	name = ".toolhost-" + rand.Text()
	fd, err = unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	return name, fd, err
}

// edited rewrites a configuration file under git's own lock, unless the change changes nothing.
func edited(git int, name string, change func(text string) (string, []string)) (keys []string, file string, err error) {
	lock := name + ".lock"
	fd, err := unix.Openat(git, lock, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, "", fmt.Errorf("%s is locked: %w", name, err)
	}
	defer unix.Close(fd)
	in, err := unix.Openat(git, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	var text []byte
	if err == nil {
		text, err = readRegular(in, maxConfig)
	}
	with := ""
	if err == nil {
		with, keys = change(string(text))
	}
	if err == nil && len(keys) > 0 {
		err = writeAll(fd, []byte(with))
	}
	if err == nil && len(keys) > 0 {
		return keys, "", unix.Renameat(git, lock, git, name)
	}
	return nil, "", errors.Join(err, unix.Unlinkat(git, lock, 0))
}

// Waiting lists what was put aside in the git directories of the map, and waits for the person.
func (m *Map) Waiting() ([]Aside, error) {
	t, err := openTree(m.Roots)
	if err != nil {
		return nil, err
	}
	defer t.close()
	var all []Aside
	for _, git := range m.Git {
		fd, err := t.open(git.Path, unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			continue // it lies outside, or has vanished
		}
		if a := waitingIn(fd, git.Path); !a.Empty() {
			all = append(all, a)
		}
		unix.Close(fd)
	}
	return all, nil
}

// waitingIn lists what was put aside in an open git directory.
func waitingIn(git int, dir string) Aside {
	a := Aside{Git: dir}
	var content strings.Builder
	for _, hook := range asideHooks(git) {
		a.Hooks = append(a.Hooks, hook.name)
		fmt.Fprintf(&content, "%q %o %q %q\n", hook.name, hook.mode, hook.content, hook.link)
	}
	for _, name := range gitConfigNames {
		fd, err := unix.Openat(git, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		if text, err := readRegular(fd, maxConfig); err == nil {
			restored, keys := withPrograms(string(text))
			a.Keys = append(a.Keys, keys...)
			fmt.Fprintf(&content, "%s %q\n", name, restored)
		}
	}
	a.digest = digest([]byte(content.String()))
	return a
}

// asideHook is a hook that was put aside.
type asideHook struct {
	name    string
	mode    uint32
	content []byte
	link    string // the text of the link that it was; "": a file
}

// asideHooks returns those of an open git directory.
func asideHooks(git int) (all []asideHook) {
	dir, err := openBeneath(git, "hooks", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return nil
	}
	defer unix.Close(dir)
	names, _ := hooksIn(dir)
	for _, name := range names {
		var stat unix.Stat_t
		content, err := ReadPart(dir, name)
		if err != nil || statAt(dir, name, &stat) != nil {
			continue
		}
		if hook, link, ok := HookOf(content); ok {
			all = append(all, asideHook{name, stat.Mode & 0o7777, hook, link})
		}
	}
	return all
}

// LetLive puts back what was put aside in a git directory, if it is still what [Map.Waiting] showed.
func (m *Map) LetLive(shown Aside) error {
	t, err := openTree(m.Roots)
	if err != nil {
		return err
	}
	defer t.close()
	fd, err := t.open(shown.Git, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return fmt.Errorf("%s: %w", shown.Git, err)
	}
	defer unix.Close(fd)
	if now := waitingIn(fd, shown.Git); now.digest != shown.digest {
		return fmt.Errorf("%s: %w", shown.Git, ErrChangedAgain)
	}
	if err := letHooksLive(fd); err != nil {
		return fmt.Errorf("%s: %w", shown.Git, err)
	}
	for _, name := range gitConfigNames {
		if _, _, err := edited(fd, name, withPrograms); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("%s: %w", shown.Git, err)
		}
	}
	return nil
}

// letHooksLive puts the hooks back that were put aside.
func letHooksLive(git int) error {
	hooks := asideHooks(git)
	if len(hooks) == 0 {
		return nil
	}
	dir, err := openBeneath(git, "hooks", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	for _, hook := range hooks {
		if hook.link == "" {
			err = Replace(dir, hook.name, hook.content, hook.mode, nil)
		} else if err = unix.Unlinkat(dir, hook.name, 0); err == nil {
			err = unix.Symlinkat(hook.link, dir, hook.name)
		}
		if err != nil {
			return fmt.Errorf("hooks/%s: %w", hook.name, err)
		}
	}
	return nil
}
