package sandbox

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
	"toolhost/sandbox/notify"
)

// arming judges the calls by which git would come to run what a command wrote: those that put something under a name that git runs or obeys, and those
// that make a git directory of one that holds such names. What comes to stand there is a new file with judged text, which no process has open for
// writing. It holds wherever a command writes: a pointer may lead git into a scratch, too. A git directory keeps this when it moves: its names count, and
// not its place.
type arming struct {
	judged   protect.Judged
	free     func(path string) bool // the user has named the path, or opened it
	*staging                        // of the session; nil: there is none

	mu     sync.Mutex
	asides map[string]*protect.Aside // of git directories, by the paths that they had
	untold map[string]bool           // those of which somebody has to hear
}

// arm prepares the judge for repositories.
func (j *judge) arm(plan *plan) {
	g := &j.arming
	g.staging = &plan.s.staging
	g.judged.Within = j.leads
	named := slices.DeleteFunc(slices.Clone(plan.c.Profile.Unseal), func(path string) bool {
		_, held := plan.names.all.Judge(path)
		return !held && protect.PartOf(path) == protect.NoPart // to name a directory is not to name what is in it
	})
	g.free = func(path string) bool { return inAny(named, path) || j.opens(path) }
}

// settleNow has parts come into place that processes have written.
func (j *judge) settleNow() {
	j.namesInUse.Lock()
	defer j.namesInUse.Unlock()
	j.arming.settle()
}

// note keeps what was put aside.
func (g *arming) note(a protect.Aside) {
	if a.Empty() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asides == nil {
		g.asides, g.untold = map[string]*protect.Aside{}, map[string]bool{}
	}
	if g.asides[a.Git] == nil {
		if len(g.asides) >= maxViolations {
			return
		}
		g.asides[a.Git] = &protect.Aside{Git: a.Git}
	}
	g.asides[a.Git].Add(a)
	g.untold[a.Git] = true
}

// tell returns what was put aside in the git directories where something was since the last call.
func (g *arming) tell() (all []protect.Aside) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for git := range g.untold {
		all = append(all, *g.asides[git])
	}
	clear(g.untold)
	slices.SortFunc(all, func(a, b protect.Aside) int { return strings.Compare(a.Git, b.Git) })
	return all
}

// part is a name of an attempt that means something to git.
type part struct {
	notify.Target
	kind protect.Part
	dir  int // that has the name, as a place
	name string
	open bool // the caller has it open, and names its descriptor: dir and name are not known
}

// is reports whether the part is one whose content git runs or obeys.
func (p part) is() bool {
	return p.kind == protect.ConfigPart || p.kind == protect.HookPart || p.kind == protect.PointerPart
}

// regular reports whether there is a regular file.
func (p part) regular() bool { return p.Mode()&unix.S_IFMT == unix.S_IFREG }

// inGit reports whether git takes the directory of the part for a git directory, or will once the part is there. A pointer .git counts everywhere.
func (p part) inGit() bool {
	if p.open || p.is() && protect.IsPart(p.dir, p.Path) {
		return true
	}
	return !p.is() && protect.IsGitShape(p.dir, filepath.Dir(p.Path), p.name)
}

// git is the path of the git directory of a part.
func (p part) git() string {
	switch {
	case p.kind == protect.HookPart:
		return filepath.Dir(filepath.Dir(p.Path))
	case p.kind == protect.PointerPart && !strings.EqualFold(p.name, "commondir"):
		return p.Path
	}
	return filepath.Dir(p.Path)
}

// settled has parts come into place that processes have written. Again says that some have.
func (j *judge) settled(a notify.Attempt) notify.Verdict {
	if !j.arming.ready() {
		return notify.Allow
	}
	if a.Alone {
		j.arming.settle()
	}
	return notify.Again
}

// arms judges a call that everything else allows.
func (j *judge) arms(a notify.Attempt) notify.Verdict {
	named := func(path string) bool { return protect.PartOf(path) != protect.NoPart }
	if !slices.ContainsFunc(a.Paths, named) || slices.Contains([]string{"unlink", "unlinkat", "rmdir"}, a.Call) || slices.Contains(attributeCalls, a.Call) {
		return notify.Allow
	}
	parts := make([]part, len(a.Targets))
	for i, t := range a.Targets {
		p := part{Target: t, kind: protect.PartOf(t.Path)}
		if j.arming.free(t.Path) && p.is() {
			p.kind = protect.NoPart
		}
		ok := false
		if p.dir, p.name, ok = t.At(); !ok && p.is() { // it is open already
			if p.kind = protect.NoPart; j.isPart(t, t.Path) {
				p.kind, p.open = protect.PartOf(t.Path), true
			}
		}
		parts[i] = p
	}
	for _, link := range a.Paths { // one that is followed to what a name without meaning holds
		followed := !slices.ContainsFunc(a.Targets, func(t notify.Target) bool { return t.Path == link })
		if followed && !j.arming.free(link) && j.isPart(a.Targets[0], link) {
			return j.keep(a, link)
		}
	}
	if parts[0].open && !strings.HasPrefix(a.Call, "link") {
		return j.keep(a, parts[0].Path)
	}
	switch a.Call {
	case "open", "openat", "creat":
		return j.armsOpen(a, parts[0])
	case "mkdir", "mkdirat", "mknod", "mknodat", "bind":
		return j.armsMake(a, parts[0])
	case "symlink", "symlinkat":
		return j.armsLinkTo(a, parts[0], a.Text, func() error { return nil })
	case "link", "linkat":
		return j.armsLink(a, parts[0], parts[1])
	case "rename", "renameat", "renameat2":
		return j.armsRename(a, parts[0], parts[1])
	case "truncate":
		return j.armsCut(a, parts[0])
	}
	return notify.Allow
}

// isPart reports whether git runs or obeys the file at a path of a call.
func (j *judge) isPart(t notify.Target, path string) bool {
	p := part{Target: t, kind: protect.PartOf(path), name: filepath.Base(path)}
	if !p.is() || strings.HasSuffix(path, " (deleted)") {
		return false
	}
	dir, err := t.Parent(path)
	if err != nil {
		return true
	}
	defer unix.Close(dir)
	p.dir, p.Path = dir, path
	return p.inGit()
}

// attributeCalls change what is known of a file, and not its text.
var attributeCalls = []string{
	"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat", "utime", "utimes", "futimesat", "utimensat",
	"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
}

// keep refuses a call at which something would come into force that cannot be judged.
func (j *judge) keep(a notify.Attempt, path string) notify.Verdict {
	return j.refuse(Violation{Wall: ProtectedName, Path: path, Call: a.Call, Rule: string(protect.VCSConfig)})
}

// failed is the verdict for a part that could not be made harmless.
func (j *judge) failed(a notify.Attempt, path string, err error) notify.Verdict {
	if errno, ok := errors.AsType[syscall.Errno](err); ok && !errors.Is(err, protect.ErrPart) {
		return notify.Verdict(errno)
	}
	return j.keep(a, path)
}

// completes makes a directory harmless if the name makes a git directory of it.
func (j *judge) completes(a notify.Attempt, p part) notify.Verdict {
	file := filepath.Dir(p.Path)
	if p.kind != protect.ShapePart && p.kind != protect.PointerPart || p.Mode() != 0 && !strings.HasPrefix(a.Call, "rename") {
		return notify.Allow
	}
	if protect.IsGitShape(p.dir, file, "") || !protect.IsGitShape(p.dir, file, p.name) {
		return notify.Allow
	}
	if !a.Alone {
		return notify.Again
	}
	j.arming.settleIn(file)
	done, err := j.arming.judged.Disarm(p.dir, file)
	j.arming.note(done)
	if err != nil {
		return j.failed(a, p.Path, err)
	}
	return notify.Allow
}

// armsMake judges directories, pipes, sockets and other nodes.
func (j *judge) armsMake(a notify.Attempt, p part) notify.Verdict {
	if !strings.HasPrefix(a.Call, "mkdir") && p.is() && p.Mode() == 0 && p.inGit() {
		return j.keep(a, p.Path)
	}
	return j.completes(a, p)
}

// armsOpen judges an open that may write.
func (j *judge) armsOpen(a notify.Attempt, p part) notify.Verdict {
	creates, nameless := a.Flags&unix.O_CREAT != 0, a.Flags&unix.O_TMPFILE == unix.O_TMPFILE
	absent := p.Mode() == 0
	if nameless || p.HasSlash() || absent && !creates || !absent && a.Flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL {
		return notify.Allow
	}
	if !absent && a.Flags&unix.O_ACCMODE == unix.O_RDONLY && a.Flags&unix.O_TRUNC == 0 {
		return notify.Allow
	}
	if absent {
		if verdict := j.completes(a, p); verdict != notify.Allow {
			return verdict
		}
	}
	if !p.is() || !p.inGit() {
		return notify.Allow
	}
	switch p.Mode() & unix.S_IFMT {
	case 0:
	case unix.S_IFREG:
		if err := unix.Faccessat(p.dir, p.name, unix.W_OK, unix.AT_EACCESS); err != nil {
			return j.failed(a, p.Path, err)
		}
	case unix.S_IFDIR, unix.S_IFLNK: // the kernel refuses it
		return notify.Allow
	default:
		return j.keep(a, p.Path)
	}
	if !a.Alone {
		return notify.Again
	}
	p.Instead(func() unix.Errno { return errnoOf(j.arming.stage(j, p, a.Flags, a.Mode)) })
	return notify.Allow
}

func errnoOf(err error) unix.Errno {
	errno, ok := errors.AsType[syscall.Errno](err)
	switch {
	case err == nil:
		return 0
	case ok:
		return errno
	}
	return unix.EPERM
}

// becomes has the call put a new file with the judged content under the name of a part, and then do the rest.
func (j *judge) becomes(a notify.Attempt, p part, content []byte, like unix.Stat_t, then func() error) notify.Verdict {
	var old []byte
	if p.regular() {
		old, _ = protect.ReadPart(p.dir, p.name)
	}
	done := protect.Aside{Git: p.git()}
	text, err := j.arming.judged.File(p.Path, content, old, &done)
	j.arming.note(done)
	if err != nil {
		return j.failed(a, p.Path, err)
	}
	p.Instead(func() unix.Errno {
		err := protect.Replace(p.dir, p.name, text, like.Mode&0o7777, &like)
		if err == nil {
			err = then()
		}
		return errnoOf(err)
	})
	return notify.Allow
}

// armsLinkTo judges a symbolic link that gets a name; then is done when the link is there. A hook that is a link is put aside: what it leads to may change.
func (j *judge) armsLinkTo(a notify.Attempt, p part, text string, then func() error) notify.Verdict {
	renames := strings.HasPrefix(a.Call, "rename")
	pointer := p.kind == protect.PointerPart && !strings.EqualFold(p.name, "commondir")
	switch there := p.Mode() != 0; {
	case there && !renames || p.HasSlash(): // the kernel refuses it
		return notify.Allow
	case pointer && j.arming.judged.Leads(p.Path, text):
		return notify.Allow
	case p.kind == protect.HookPart && p.inGit():
		if !a.Alone {
			return notify.Again
		}
		if j.arming.settleAt(p) {
			return notify.Again
		}
		j.arming.note(protect.Aside{Git: p.git(), Hooks: []string{p.name}})
		p.Instead(func() unix.Errno {
			err := protect.Replace(p.dir, p.name, protect.StubOfLink(text), 0o755, nil)
			if err == nil {
				err = then()
			}
			return errnoOf(err)
		})
		return notify.Allow
	case (p.is() || p.kind == protect.HooksPart) && p.inGit():
		return j.keep(a, p.Path)
	}
	return j.completes(a, p)
}

// armsLink judges a further name of a file: a part of a git directory has no other, and gets none.
func (j *judge) armsLink(a notify.Attempt, old, to part) notify.Verdict {
	if to.Mode() != 0 || to.HasSlash() || !(to.is() && to.inGit()) && !(old.is() && old.regular() && old.inGit()) {
		return j.completes(a, to)
	}
	if verdict := j.completes(a, to); verdict != notify.Allow {
		return verdict
	}
	if !a.Alone {
		return notify.Again
	}
	if j.arming.settleAt(old, to) {
		return notify.Again
	}
	fd, err := old.Object()
	var st unix.Stat_t
	if err == nil {
		err = unix.Fstat(fd, &st)
	}
	if err != nil {
		return j.failed(a, to.Path, err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		text, err := readlink(fd, "")
		if err != nil {
			return j.failed(a, to.Path, err)
		}
		return j.armsLinkTo(a, to, text, func() error { return nil })
	}
	copied, err := unix.Open(procFD(fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return j.failed(a, to.Path, err)
	}
	content, err := protect.ReadOpenPart(copied)
	if err != nil {
		return j.failed(a, to.Path, err)
	}
	if to.is() && to.inGit() {
		return j.becomes(a, to, content, st, func() error { return nil })
	}
	to.Instead(func() unix.Errno { return errnoOf(protect.Replace(to.dir, to.name, content, st.Mode&0o7777, &st)) })
	return notify.Allow
}

// armsRename judges a move.
func (j *judge) armsRename(a notify.Attempt, old, to part) notify.Verdict {
	if a.How&unix.RENAME_NOREPLACE != 0 && to.Mode() != 0 {
		return notify.Allow
	}
	moves := [][2]part{{old, to}}
	exchanges := a.How&unix.RENAME_EXCHANGE != 0
	if exchanges {
		moves = append(moves, [2]part{to, old})
	}
	for _, m := range moves {
		if verdict := j.armsMove(a, m[0], m[1], exchanges); verdict != notify.Allow {
			return verdict
		}
	}
	return notify.Allow
}

func (j *judge) armsMove(a notify.Attempt, old, to part, exchanges bool) notify.Verdict {
	kind := old.Mode() & unix.S_IFMT
	if kind == 0 || kind != unix.S_IFDIR && (old.HasSlash() || to.HasSlash()) || sameFile(old, to) {
		return notify.Allow
	}
	in := (to.is() || to.kind == protect.HooksPart) && to.inGit()
	switch {
	case kind == unix.S_IFDIR:
		if in && (to.kind == protect.HooksPart || to.kind == protect.PointerPart) {
			if verdict := j.disarms(a, old, to); verdict != notify.Allow {
				return verdict
			}
		}
	case in && exchanges:
		return j.keep(a, to.Path)
	case kind == unix.S_IFLNK:
		text, err := readlink(old.dir, old.name)
		if err != nil {
			return j.failed(a, to.Path, err)
		}
		return j.armsLinkTo(a, to, text, func() error { return unix.Unlinkat(old.dir, old.name, 0) })
	case in && to.is() && kind == unix.S_IFREG && to.Mode()&unix.S_IFMT != unix.S_IFDIR:
		if verdict := j.completes(a, to); verdict != notify.Allow {
			return verdict
		}
		if !a.Alone || j.arming.settleAt(old, to) {
			return notify.Again
		}
		var st unix.Stat_t
		content, err := protect.ReadPart(old.dir, old.name)
		if err == nil {
			err = unix.Fstatat(old.dir, old.name, &st, unix.AT_SYMLINK_NOFOLLOW)
		}
		if err != nil {
			return j.failed(a, to.Path, err)
		}
		return j.becomes(a, to, content, st, func() error { return unix.Unlinkat(old.dir, old.name, 0) })
	case in && to.is() && kind != unix.S_IFREG:
		return j.keep(a, to.Path)
	}
	return j.completes(a, to)
}

// disarms makes a directory harmless that is to be called .git, or hooks in a git directory.
func (j *judge) disarms(a notify.Attempt, old, to part) notify.Verdict {
	if !a.Alone {
		return notify.Again
	}
	dir, err := unix.Openat(old.dir, old.name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return j.failed(a, to.Path, err)
	}
	defer unix.Close(dir)
	j.arming.settleIn(old.Path)
	done := protect.Aside{Git: to.Path}
	switch {
	case to.kind == protect.HooksPart:
		done.Git = filepath.Dir(to.Path)
		err = j.arming.judged.DisarmHooks(dir, to.Path, &done)
	case !protect.IsGitShape(dir, old.Path, ""): // else it is harmless already
		done, err = j.arming.judged.Disarm(dir, to.Path)
	}
	j.arming.note(done)
	if err != nil {
		return j.failed(a, to.Path, err)
	}
	return notify.Allow
}

// armsCut judges truncate.
func (j *judge) armsCut(a notify.Attempt, p part) notify.Verdict {
	if !p.is() || !p.regular() || p.HasSlash() || !p.inGit() || a.Size < 0 {
		return notify.Allow
	}
	if !a.Alone || j.arming.settleAt(p) {
		return notify.Again
	}
	var st unix.Stat_t
	err := unix.Faccessat(p.dir, p.name, unix.W_OK, unix.AT_EACCESS)
	if err == nil {
		err = unix.Fstatat(p.dir, p.name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	var content []byte
	if err == nil {
		content, err = partText(p)
	}
	if err == nil && a.Size > maxStaged {
		err = protect.ErrPart
	}
	if err != nil {
		return j.failed(a, p.Path, err)
	}
	content = append(content, make([]byte, max(int(a.Size)-len(content), 0))...)[:a.Size]
	return j.becomes(a, p, content, st, func() error { return nil })
}

// partText is the text of a part as its writer knows it: a hook that was put aside is the hook.
func partText(p part) ([]byte, error) {
	content, err := protect.ReadPart(p.dir, p.name)
	if err == nil && p.kind == protect.HookPart {
		if hook, link, ok := protect.HookOf(content); ok && link == "" {
			return hook, nil
		}
	}
	return content, err
}

// readlink returns the text of a link by its name in a directory, or of the open link itself.
func readlink(dir int, name string) (string, error) {
	text := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(dir, name, text)
	return string(text[:max(n, 0)]), err
}

// sameFile reports whether two names are of one file.
func sameFile(a, b part) bool {
	dev, ino, err := a.Identity()
	otherDev, otherIno, otherErr := b.Identity()
	return err == nil && otherErr == nil && dev == otherDev && ino == otherIno
}

// placed judges a text that a process wrote in place of a part.
func (j *judge) placed(s *staged, content, old []byte) ([]byte, error) {
	done := protect.Aside{Git: s.git}
	text, err := j.arming.judged.File(s.path, content, old, &done)
	j.arming.note(done)
	if err != nil && done.Empty() {
		j.report(Violation{Wall: ProtectedName, Path: s.path, Call: "write", Rule: string(protect.VCSConfig), Detail: "it is too large to be judged", Certain: true})
	}
	return text, err
}

// leads reports whether a pointer may name a git directory: one that commands write, since what git runs there was judged; of the host only
// places of the host, as the scratch has names there that are others'.
func (j *judge) leads(pointer, target string) bool {
	target = filepath.Clean(target)
	if j.changes.has(target) || inAny(j.gits, target) {
		return true
	}
	return !j.changes.has(pointer) && agenttool.Within("/", target) && j.within(target)
}
