package protect

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// Part is what a name means to git if its directory is, or becomes, a git directory.
type Part uint8

// The parts. The zero value is none.
const (
	NoPart      Part = iota
	ConfigPart       // config, config.worktree: its variables name programs
	HooksPart        // the directory of the hooks
	HookPart         // a file in a directory hooks: git runs it
	PointerPart      // .git and commondir: as files they name a git directory
	ShapePart        // HEAD, objects, refs: with them a directory is a git directory
)

// PartOf returns what the last name of a path means to git, by its text alone.
func PartOf(file string) Part {
	dir, name := path.Split(file)
	switch len(name) {
	case len("HEAD"), len("hooks"), len("config"), len("objects"), len("commondir"), len("config.worktree"):
		switch fold(name) {
		case "config", "config.worktree":
			return ConfigPart
		case "hooks":
			return HooksPart
		case ".git", "commondir":
			return PointerPart
		case "head", "objects", "refs":
			return ShapePart
		}
	default:
		if fold(name) != name { // another spelling, on a file system that ignores case
			return PartOf(dir + fold(name))
		}
	}
	if fold(path.Base(dir)) == "hooks" && !strings.HasSuffix(fold(name), ".sample") {
		return HookPart
	}
	return NoPart
}

// IsGitShape reports whether git takes an open directory for a git directory, or for the one that another names as its common directory, once it
// has a further name, "" for none. It looks at names alone: a process that has a file open may write into it at any time. A directory called
// .git is one whatever it holds, since git init completes it and keeps what is there.
func IsGitShape(dir int, file, further string) bool {
	if fold(path.Base(file)) == ".git" {
		return true
	}
	further = fold(further)
	has := func(name string) bool {
		var stat unix.Stat_t
		return fold(name) == further || statAt(dir, name, &stat) == nil
	}
	return gitShaped(has)
}

// IsPart reports whether git runs or obeys what has a name: it is a hook, a configuration or a pointer, and its directory is a git directory, or will be once
// the name is there. A pointer .git is one everywhere. dir is the directory of the file, open at least as a place. What cannot be looked at is one.
func IsPart(dir int, file string) bool {
	kind, in := PartOf(file), path.Dir(file)
	switch {
	case kind == NoPart || kind == HooksPart || kind == ShapePart:
		return false
	case kind == PointerPart && fold(path.Base(file)) == ".git":
		return true
	case kind == HookPart:
		fd, err := unix.Openat(dir, "..", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return true
		}
		defer unix.Close(fd)
		dir, in = fd, path.Dir(in)
	}
	return IsGitShape(dir, in, path.Base(file))
}

// Judged says of parts of git directories what git may have of them. The zero value lets no program live.
type Judged struct {
	// Known reports whether a file of that name had that content before, or a decision showed it: it stays as it is. nil: never.
	Known func(file string, content []byte) bool
	// Within reports whether a git directory may be named by a pointer in a directory. nil: none.
	Within func(pointer, target string) bool
}

// ErrPart says that something in a git directory cannot be made harmless: it is no regular file, or too large.
var ErrPart = errors.New("it is part of a repository, and toolhost cannot judge what git would make of it")

// maxPart is the size of the largest file that is judged.
const maxPart = maxConfig

// File returns the harmless text of a file of a git directory, and notes in aside what was put aside. old is the text in force,
// whose variables stay.
func (j Judged) File(file string, content, old []byte, aside *Aside) ([]byte, error) {
	if len(content) >= maxPart {
		return nil, ErrPart
	}
	if j.Known != nil && j.Known(file, content) {
		return content, nil
	}
	switch PartOf(file) {
	case ConfigPart:
		inForce := runningOf(string(old))
		without, keys := withoutSome(string(content), func(k gitKey) bool {
			return k.acts() && !(k.isWorktree() && j.holdsWorktree(path.Dir(file), k.value)) && !slices.Contains(inForce, k.name()+"\n"+k.value)
		})
		for _, key := range keys {
			aside.addKey(key)
		}
		if len(keys) > 0 {
			return []byte(without), nil
		}
	case HookPart:
		if !harmlessHook(content) {
			aside.addHook(path.Base(file))
			return stubOf(content), nil
		}
	case PointerPart:
		if !j.pointer(file, string(content)) {
			aside.addFile(file)
			return nil, ErrPart
		}
	}
	return content, nil
}

// pointer reports whether a pointer leads to where one may lead. One that leads nowhere may be written: git obeys none of it.
func (j Judged) pointer(file, text string) bool {
	target, ok := text, true
	if fold(path.Base(file)) == ".git" {
		target, ok = strings.CutPrefix(text, "gitdir:")
	}
	target = strings.TrimRight(strings.TrimLeft(target, " "), "\r\n")
	if !ok || target == "" {
		return true
	}
	return !strings.ContainsRune(target, 0) && j.Leads(file, target)
}

// Leads reports whether the text of a pointer or link may stand at a path.
func (j Judged) Leads(file, target string) bool {
	target = absolute(target, path.Dir(file))
	if place := real(target); place != "" {
		target = place
	}
	return j.Within != nil && j.Within(file, target)
}

// holdsWorktree reports whether a git directory may have a work tree: one that it lies in, which no link can take the place of, or that of a submodule. A
// checkout by the user's git writes there.
func (j Judged) holdsWorktree(git, value string) bool {
	if value == "" || strings.HasPrefix(value, "~") || strings.ContainsAny(value, "%:\x00") {
		return false
	}
	top := absolute(value, git)
	_, module, _ := strings.Cut(git, "/.git/modules/")
	return agenttool.Within(top, git) && j.Leads(agenttool.Join(git, "config"), top) || module != "" && j.Leads(agenttool.Join(git, "config"), top)
}

// runningOf are the variables of a configuration that act, with their values.
func runningOf(text string) (all []string) {
	for _, k := range gitKeys(strings.ReplaceAll(text, "\r\n", "\n")) {
		if k.acts() {
			all = append(all, k.name()+"\n"+k.value)
		}
	}
	return all
}

// The lines of a hook that was put aside: those of a text, of other content in base64, and the text of a link.
const (
	shell       = "#!/bin/sh\n"
	asideCoded  = "# put aside by toolhost (base64): "
	asideLinked = "# put aside by toolhost (link): "
	codedLine   = 72
)

// stubOf is a hook that does nothing, and holds another one in comments.
func stubOf(content []byte) []byte {
	var b strings.Builder
	b.WriteString(shell)
	text := string(content)
	if strings.ContainsAny(text, "\x00\r") || text == "" || !strings.HasSuffix(text, "\n") {
		coded := base64.StdEncoding.EncodeToString(content)
		for coded != "" {
			n := min(codedLine, len(coded))
			b.WriteString(asideCoded + coded[:n] + "\n")
			coded = coded[n:]
		}
		return []byte(b.String())
	}
	for line := range strings.Lines(text) {
		b.WriteString(aside + line)
	}
	return []byte(b.String())
}

// StubOfLink is a hook that does nothing, and holds the text of a link in a comment.
func StubOfLink(text string) []byte {
	return []byte(shell + asideLinked + base64.StdEncoding.EncodeToString([]byte(text)) + "\n")
}

// HookOf returns the hook that a stub holds, or the text of the link. ok is false for any other content.
func HookOf(content []byte) (hook []byte, link string, ok bool) {
	text, found := strings.CutPrefix(string(content), shell)
	if !found || text == "" {
		return nil, "", false
	}
	if coded, found := strings.CutPrefix(text, asideLinked); found {
		target, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(coded, "\n"))
		return nil, string(target), err == nil && len(target) > 0
	}
	var plain, coded strings.Builder
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(line, aside); found && coded.Len() == 0 {
			plain.WriteString(rest)
		} else if rest, found := strings.CutPrefix(line, asideCoded); found && plain.Len() == 0 {
			coded.WriteString(strings.TrimSuffix(rest, "\n"))
		} else {
			return nil, "", false
		}
	}
	if plain.Len() > 0 {
		return []byte(plain.String()), "", true
	}
	hook, err := base64.StdEncoding.DecodeString(coded.String())
	return hook, "", err == nil
}

// harmlessHook reports whether a hook is a script of the shell that has comments and empty lines alone.
func harmlessHook(content []byte) bool {
	rest, found := bytes.CutPrefix(content, []byte(shell))
	if !found {
		return len(content) == 0
	}
	if bytes.IndexByte(rest, 0) >= 0 {
		return false
	}
	for line := range bytes.Lines(rest) {
		if trimmed := bytes.TrimLeft(line, " \t"); len(bytes.TrimSpace(line)) > 0 && trimmed[0] != '#' {
			return false
		}
	}
	return true
}

// Disarm makes a directory harmless that is about to become a git directory, or the hooks of one: each part gets another inode, which no process
// has open, with the judged text. dir is open for reading. It follows no link, and fails at what it cannot judge: the directory must not become one then.
func (j Judged) Disarm(dir int, file string) (Aside, error) {
	done := Aside{Git: file}
	for _, name := range []string{"config", "config.worktree", "commondir"} {
		if err := j.renew(dir, file, name, &done); err != nil {
			return done, err
		}
	}
	var stat unix.Stat_t
	err := statAt(dir, "hooks", &stat)
	switch {
	case errors.Is(err, unix.ENOENT):
		return done, nil
	case err != nil:
		return done, fmt.Errorf("%s/hooks: %w", file, err)
	case kindOf(&stat) == Symlink:
		return done, fmt.Errorf("%s/hooks: %w", file, ErrPart)
	case kindOf(&stat) != Dir:
		return done, nil
	}
	hooks, err := openBeneath(dir, "hooks", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return done, fmt.Errorf("%s/hooks: %w", file, err)
	}
	defer unix.Close(hooks)
	return done, j.DisarmHooks(hooks, agenttool.Join(file, "hooks"), &done)
}

// DisarmHooks is Disarm of a directory of hooks.
func (j Judged) DisarmHooks(dir int, file string, done *Aside) error {
	names, err := hooksIn(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, name := range names {
		if err := j.renew(dir, file, name, done); err != nil {
			return err
		}
	}
	return nil
}

// hooksIn lists the hooks in an open directory that git would run. Samples are none.
func hooksIn(dir int) (found []string, err error) {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	err = list(fd, make([]byte, snapBuffer), func(raw []byte, _ Kind) bool {
		if name := string(raw); !strings.HasSuffix(name, ".sample") {
			found = append(found, name)
		}
		return len(found) <= maxListed
	})
	if err == nil && len(found) > maxListed {
		err = ErrPart
	}
	slices.Sort(found)
	return found, err
}

// renew replaces a file of an open directory by a new one with the judged text, if it is there.
func (j Judged) renew(dir int, at, name string, done *Aside) error {
	file := agenttool.Join(at, name)
	var stat unix.Stat_t
	err := statAt(dir, name, &stat)
	switch kind := kindOf(&stat); {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	case kind == Dir, kind == Other && PartOf(file) == HookPart: // git reads and runs none
		return nil
	case kind == Symlink && PartOf(file) == HookPart:
		text, err := readlinkAt(dir, name)
		if err == nil {
			done.addHook(name)
			err = Replace(dir, name, StubOfLink(text), 0o755, nil)
		}
		return err
	case kind != File:
		return fmt.Errorf("%s: %w", file, ErrPart)
	}
	content, err := ReadPart(dir, name)
	if err == nil {
		content, err = j.File(file, content, nil, done)
	}
	if err == nil {
		err = Replace(dir, name, content, stat.Mode&0o7777, &stat)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// ReadPart reads a regular file of an open directory whole, or fails with [ErrPart] if it is larger than what is judged.
func ReadPart(dir int, name string) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return ReadOpenPart(fd)
}

// ReadOpenPart is ReadPart of an open file, which it closes.
func ReadOpenPart(fd int) ([]byte, error) {
	content, err := readRegular(fd, maxPart)
	if err == nil && len(content) >= maxPart {
		err = ErrPart
	}
	return content, err
}

// Replace puts a new file with some content in place of a name, in one step. It has the times of another one, if given, and its group as far as that
// may be kept. Nobody can have it open for writing: its first name is drawn by lot, and it has its mode only when it is whole.
func Replace(dir int, name string, content []byte, mode uint32, like *unix.Stat_t) error {
	draft, fd, err := draftIn(dir)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	err = writeAll(fd, content)
	if err == nil && like != nil {
		_ = unix.Fchown(fd, -1, int(like.Gid))
		err = unix.UtimesNanoAt(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), []unix.Timespec{like.Atim, like.Mtim}, 0)
	}
	if err == nil {
		err = unix.Fchmod(fd, mode&0o1777)
	}
	if err == nil {
		err = unix.Renameat(dir, draft, dir, name)
	}
	if err != nil {
		_ = unix.Unlinkat(dir, draft, 0)
	}
	return err
}

func writeAll(fd int, content []byte) error {
	for len(content) > 0 {
		n, err := retry(func() (int, error) { return unix.Write(fd, content) })
		if err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}
