package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"toolhost/sandbox/enter"
)

// Programs finds the files of programs, to keep commands from those that rules deny whole. The zero value is ready for use; it is safe for
// concurrent use.
type Programs struct {
	mu    sync.Mutex
	names map[fileState][]string // of files with several hard links
	has   map[fileState]map[string]bool
}

// fileState is a file that has not changed, and has got no other name.
type fileState struct {
	inode
	changed syscall.Timespec
}

// programFiles are the files of a program that a rule denies whole.
type programFiles struct {
	hidden []string // those that no other program needs: absolute, without links
	files  []inode  // of the program itself, hidden or not
	whole  bool     // a command that does not see these finds the program in no searched directory, and under no other name there
}

// multicall are programs that do the work of others, by the name under which they are started or by their first argument.
var multicall = []string{"busybox", "busybox.static", "toybox", "coreutils", "sbase-box", "ubase-box"}

// servedNames are programs of which a multi-call program that the system needs serves one.
var servedNames = []string{"sh", "ls", "cat", "cp", "mkdir", "grep", "sed", "mount", "ps", "vi"}

// find finds the files of a program in directories. inside reports whether a path is one that commands may write: what is there is not hidden.
func (ps *Programs) find(name string, dirs []string, inside func(path string) bool) programFiles {
	found := programFiles{whole: true}
	hide := func(path string) {
		switch {
		case inside(path):
			found.whole = false
		case !slices.Contains(found.hidden, path):
			found.hidden = append(found.hidden, path)
		}
	}
	known := false
	for _, dir := range dirs {
		real, st, ok := programAt(filepath.Join(dir, name))
		if !ok {
			continue
		}
		known = true
		if filepath.Base(real) != name {
			found.whole = false // a link to a program of another name, which others may need
			continue
		}
		names, all := ps.linksOf(real, st, dirs)
		if slices.ContainsFunc(names, isMulticall) {
			found.whole = false
			continue
		}
		found.whole = found.whole && all
		found.files = append(found.files, inode{uint64(st.Dev), st.Ino})
		for _, path := range names {
			hide(path)
		}
	}
	for _, box := range multicall {
		for _, dir := range dirs {
			real, st, ok := programAt(filepath.Join(dir, box))
			switch {
			case !ok || !ps.serves(real, st, name):
			case st.Nlink > 1 || servesSystem(st, dirs):
				found.whole = false
			default:
				hide(real)
			}
		}
	}
	found.whole = found.whole && known
	return found
}

// programAt finds the file to which a path leads.
func programAt(path string) (real string, st *syscall.Stat_t, ok bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", nil, false
	}
	real, err = filepath.EvalSymlinks(path)
	return real, info.Sys().(*syscall.Stat_t), err == nil
}

func isMulticall(path string) bool { return slices.Contains(multicall, filepath.Base(path)) }

// linksOf returns the hard links of a file in directories, and whether these are all that it has.
func (ps *Programs) linksOf(path string, st *syscall.Stat_t, dirs []string) (names []string, all bool) {
	if st.Nlink == 1 {
		return []string{path}, true
	}
	state := fileState{inode{uint64(st.Dev), st.Ino}, st.Ctim}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	names, ok := ps.names[state]
	if !ok {
		for _, dir := range append([]string{filepath.Dir(path)}, dirs...) {
			names = append(names, linksIn(dir, state.inode)...)
		}
		slices.Sort(names)
		names = slices.Compact(names)
		if ps.names == nil {
			ps.names = map[fileState][]string{}
		}
		ps.names[state] = names
	}
	return names, uint64(len(names)) == uint64(st.Nlink)
}

// linksIn returns the names of a file in a directory.
func linksIn(dir string, file inode) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if st := info.Sys().(*syscall.Stat_t); st.Ino == file.ino && uint64(st.Dev) == file.dev {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}

// serves reports whether a multi-call program does the work of a program of that name. Most have the names as strings; of the others it is
// not known.
func (ps *Programs) serves(box string, st *syscall.Stat_t, name string) bool {
	if filepath.Base(box) == "coreutils" {
		return true
	}
	state := fileState{inode{uint64(st.Dev), st.Ino}, st.Ctim}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	serves, ok := ps.has[state][name]
	if !ok {
		content, err := os.ReadFile(box)
		serves = err != nil || bytes.Contains(content, []byte("\x00"+name+"\x00"))
		if ps.has == nil {
			ps.has = map[fileState]map[string]bool{}
		}
		if ps.has[state] == nil {
			ps.has[state] = map[string]bool{}
		}
		ps.has[state][name] = serves
	}
	return serves
}

// servesSystem reports whether a multi-call program stands behind a name that other programs start.
func servesSystem(box *syscall.Stat_t, dirs []string) bool {
	for _, dir := range dirs {
		for _, name := range servedNames {
			if _, st, ok := programAt(filepath.Join(dir, name)); ok && st.Ino == box.Ino && st.Dev == box.Dev {
				return true
			}
		}
	}
	return false
}

// startsOthers reports whether a program is a shell by which other programs start programs: without it nothing would run. What a rule says of it
// is held by the words of commands alone.
func startsOthers(name string) bool {
	if name == "sh" || name == "bash" {
		return true
	}
	real, err := filepath.EvalSymlinks("/bin/sh")
	return err == nil && filepath.Base(real) == name
}

// Holds reports whether no command of a session of a level, with roots and an environment, can run a program that a rule denies whole.
func (ps *Programs) Holds(program string, level Level, roots, env []string) bool {
	if startsOthers(program) || level != Full && level != LandlockNotify {
		return false
	}
	inside := func(path string) bool { return inAny(roots, path) }
	return judgesStarts() || level == Full && ps.find(program, searchedDirs(env), inside).whole
}

// Holds reports whether no command of the session, with an environment, can run a program that a rule denies whole.
func (s *Session) Holds(program string, env []string) bool {
	return s.programs.Holds(program, s.level, paths(s.view.roots), env)
}

// findDenied finds the files of the programs that rules deny whole, to hide them, and has what this does not hold judged when it starts.
func (p *plan) findDenied() {
	denied := p.c.Profile.Denied
	if denied.Denies == nil {
		p.judgeStarts(nil, true)
		return
	}
	inside := func(path string) bool { return p.s.view.inRoot(path) || inAny(paths(p.opened.write), path) }
	whole, dirs := p.level == Full, searchedDirs(p.c.Env)
	files := map[inode]DeniedProgram{}
	for _, d := range denied.Programs {
		if startsOthers(d.Name) {
			continue
		}
		found := p.s.programs.find(d.Name, dirs, inside)
		whole = whole && found.whole
		for _, file := range found.files {
			files[file] = d
		}
		for _, path := range found.hidden {
			if p.level == Full && p.layout.visible(path) {
				p.denied = append(p.denied, covering{path, enter.Mask})
			}
		}
	}
	p.judgeStarts(files, whole)
}

// hideDenied hides the files that findDenied has found.
func (p *plan) hideDenied() {
	for _, c := range p.denied {
		p.mask(c.path)
	}
}
