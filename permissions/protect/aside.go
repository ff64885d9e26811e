package protect

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// Aside lists the parts of a git directory that were put aside: git neither runs nor obeys them.
type Aside struct {
	Git   string   // the git directory, or the file that pointed to it
	Hooks []string // names of hooks
	Keys  []string // of its configuration
	Files []string // other files, under their new paths

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

// asideName returns the name under which a file is put aside for the nth time.
func asideName(name string, n int) string { return fmt.Sprintf("%s.quarantined-%d", name, n) }

// gitConfigNames are the configuration files of a git directory.
var gitConfigNames = []string{"config", "config.worktree"}

// PutAside takes the hooks of a git directory out of use, and the variables of its configuration that run programs: the directory of the hooks gets
// another name, and the variables become comments. [Map.LetLive] takes them back. kept says what stays, by name and digest of its content.
// A git directory outside the roots cannot be changed: then the file in a root that points to it is renamed.
func (m *Map) PutAside(git GitDir, kept func(name, digest string) bool) (Aside, error) {
	t, err := openTree(m.Roots)
	if err != nil {
		return Aside{}, err
	}
	defer t.close()
	if t.root(git.Path) == "" {
		return dropPointer(t, git)
	}
	fd, err := t.open(git.Path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return Aside{}, fmt.Errorf("put aside %s: %w", git.Path, err)
	}
	defer unix.Close(fd)
	done := Aside{Git: git.Path}
	var problems []error
	problems = append(problems, done.hooks(fd, kept))
	for _, name := range gitConfigNames {
		keys, file, err := disarm(fd, name, kept)
		done.Keys = append(done.Keys, keys...)
		if file != "" {
			done.Files = append(done.Files, path.Join(git.Path, file))
		}
		problems = append(problems, err)
	}
	return done, errors.Join(problems...)
}

// hooks puts the hooks of an open git directory aside.
func (a *Aside) hooks(git int, kept func(name, digest string) bool) error {
	if state := stateAt(git, "hooks"); state.Kind != Dir && state.Kind != Absent { // a link: anything may write its target
		name, err := moveAside(git, "hooks")
		if err == nil {
			a.Files = append(a.Files, path.Join(a.Git, name))
		}
		return err
	}
	hooks, err := hooksIn(git, "hooks", kept)
	if err != nil || len(hooks) == 0 {
		return err
	}
	if _, err := moveAside(git, "hooks"); err != nil {
		return err
	}
	a.Hooks = hooks
	return nil
}

// dropPointer renames the .git file that leads to a git directory outside the roots.
func dropPointer(t *tree, git GitDir) (Aside, error) {
	if git.Top == "" || t.root(git.Top) == "" {
		return Aside{}, fmt.Errorf("put aside %s: it lies outside the workspace", git.Path)
	}
	fd, err := t.open(git.Top, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return Aside{}, err
	}
	defer unix.Close(fd)
	name, err := moveAside(fd, ".git")
	if err != nil {
		return Aside{}, fmt.Errorf("put aside %s/.git: %w", git.Top, err)
	}
	return Aside{Git: agenttool.Join(git.Top, ".git"), Files: []string{agenttool.Join(git.Top, name)}}, nil
}

// hooksIn lists the hooks in a directory of an open git directory that git would run, but for those that are kept. Samples are none.
func hooksIn(git int, dir string, kept func(name, digest string) bool) ([]string, error) {
	fd, err := openBeneath(git, dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var found []string
	err = list(fd, make([]byte, snapBuffer), func(raw []byte, _ Kind) bool {
		if name := string(raw); !strings.HasSuffix(name, ".sample") {
			found = append(found, name)
		}
		return len(found) < maxListed
	})
	slices.Sort(found)
	return slices.DeleteFunc(found, func(name string) bool {
		state := stateAt(fd, name)
		return kept != nil && state.Kind == File && state.Digest != "" && kept(name, state.Digest)
	}), err
}

// moveAside renames an entry of an open directory, and returns its new name.
func moveAside(dir int, name string) (string, error) {
	var err error
	for n := range quarantineTries {
		to := asideName(name, n)
		if err = renameAside(dir, name, to); err == nil {
			return to, nil
		}
		if !errors.Is(err, unix.EEXIST) {
			break
		}
	}
	return "", err
}

// disarm makes comments of the variables of a configuration file that run programs. A file that cannot be edited is put aside whole,
// under the name that is returned.
func disarm(git int, name string, kept func(name, digest string) bool) (keys []string, file string, err error) {
	state := stateAt(git, name)
	switch {
	case state.Kind == Absent, kept != nil && state.Kind == File && state.Digest != "" && kept(name, state.Digest):
		return nil, "", nil
	case state.Kind != File || state.Size >= maxConfig:
		file, err = moveAside(git, name)
		return nil, file, err
	}
	return edited(git, name, withoutPrograms)
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
		err = writeAll(fd, with)
	}
	if err == nil && len(keys) > 0 {
		return keys, "", unix.Renameat(git, lock, git, name)
	}
	return nil, "", errors.Join(err, unix.Unlinkat(git, lock, 0))
}

func writeAll(fd int, text string) error {
	for text != "" {
		n, err := retry(func() (int, error) { return unix.Write(fd, []byte(text)) })
		if err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
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
	at, hooks := asideHooks(git)
	a.Hooks = hooks
	for _, name := range hooks {
		if fd, err := openBeneath(git, at, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC); err == nil {
			s := stateAt(fd, name)
			fmt.Fprintf(&content, "%q %v %o %d %s %v\n", name, s.Kind, s.Mode, s.Size, s.Digest, s.id)
			unix.Close(fd)
		}
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

// asideHooks returns the directory of hooks that was put aside last, and the hooks in it; nothing if there is none.
func asideHooks(git int) (dir string, hooks []string) {
	for n := range quarantineTries {
		name := asideName("hooks", n)
		if found, err := hooksIn(git, name, nil); err == nil && len(found) > 0 {
			dir, hooks = name, found
		}
	}
	return dir, hooks
}

// ErrOtherHooks says that hooks cannot be put back where others are.
var ErrOtherHooks = errors.New("other hooks are in their place")

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

// letHooksLive gives the hooks that were put aside their place, which only samples may hold.
func letHooksLive(git int) error {
	dir, _ := asideHooks(git)
	if dir == "" {
		return nil
	}
	hooks, err := hooksIn(git, "hooks", nil)
	if err == nil && len(hooks) > 0 {
		err = ErrOtherHooks
	}
	if err != nil {
		return err
	}
	err = renameAside(git, dir, "hooks")
	if errors.Is(err, unix.EEXIST) {
		if _, err = moveAside(git, "hooks"); err == nil {
			err = renameAside(git, dir, "hooks")
		}
	}
	return err
}
