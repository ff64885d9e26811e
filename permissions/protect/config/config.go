// Package config shows the configuration files of a home directory without the secrets in them: commands see what a table allows, and
// nothing else of them.
//
// git, npm, pip and others keep settings and logins in one file. Without it a commit has another author, and a private package is asked for
// at the public registry. So [Reader.Read] makes a view of each listed file (lists/files.txt): the keys that lists/keys.txt names, and
// addresses without logins. A key that no list has is left out and counted. A file that cannot be understood is hidden.
//
//	for _, f := range config.Reader{Home: home, Writable: roots}.Read().Files {
//		if f.Hidden == "" { show(f.Path, f.Text) }
//	}
//
// A view is text for readers. It is never the base of a write: what was left out would be lost.
//
// Files that git includes are followed only where no command writes, and get views of their own.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// maxFile bounds a file that is read, in bytes.
const maxFile = 1 << 20

// Reader says whose files are read.
type Reader struct {
	Home     protect.Home
	Config   string   // XDG_CONFIG_HOME; "" for .config in the home directory
	Writable []string // directories that commands write: nothing there is followed

	// At says where commands see the view of a file; nil: at the file's own path. Includes lead there.
	At func(path string) string
}

// File is a file of configuration as commands may see it.
type File struct {
	Path     string   // absolute: where programs look for it
	Programs []string // that read it
	OfGit    bool     // it is in git's format, and git changes it
	Text     []byte   // what commands see
	Whole    bool     // Text is the whole file, and nothing in it looks like a secret
	LeftOut  []string // keys of the file that Text does not have, sorted
	Hidden   string   // why commands do not see the file; "" if they do
}

// View is what a home directory's configuration looks like to commands.
type View struct {
	Files []File   // sorted by path
	Dirs  []string // directories of hooks that git runs, in the home directory

	seen []stamp // of every file that the view depends on
}

// stamp tells whether a file has changed. The zero numbers are those of a file that is missing.
type stamp struct {
	path                  string
	dev, ino              uint64
	size                  int64
	modified, statusSince unix.Timespec
}

func stampOf(path string) stamp {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return stamp{path: path}
	}
	return stamp{path, uint64(st.Dev), st.Ino, st.Size, st.Mtim, st.Ctim}
}

// Stale reports whether a file that the view depends on has changed since it was made. It takes one system call for each.
func (v *View) Stale() bool {
	return slices.ContainsFunc(v.seen, func(s stamp) bool { return stampOf(s.path) != s })
}

// Read makes the views of the listed files that exist. It waits for nothing: of what is no regular file it says that it is hidden.
func (r Reader) Read() *View {
	v := &View{}
	inRoot := slices.ContainsFunc(r.Writable, func(dir string) bool { return agenttool.Within(dir, r.Home.Dir) })
	if r.Home.Dir == "" || r.Home.Dir == "/" || inRoot { // commands see the files themselves
		return v
	}
	in := reading{Reader: r, view: v}
	for _, e := range entries() {
		in.add(in.path(e.name), e.format, e.programs)
	}
	slices.SortFunc(v.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return v
}

// reading is a view that is being made.
type reading struct {
	Reader
	view *View
}

// path is where a listed file is.
func (r *reading) path(name string) string {
	if rest, ok := strings.CutPrefix(name, ".config/"); ok && filepath.IsAbs(r.Config) {
		return filepath.Join(r.Config, rest)
	}
	return filepath.Join(r.Home.Dir, name)
}

// has reports whether the view has a file.
func (r *reading) has(path string) bool {
	return slices.ContainsFunc(r.view.Files, func(f File) bool { return f.Path == path })
}

// add makes the view of a file, where it exists.
func (r *reading) add(path, format string, programs []string) {
	if r.has(path) {
		return
	}
	r.view.seen = append(r.view.seen, stampOf(path))
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return
	}
	f := File{Path: path, Programs: programs, OfGit: format == "git"}
	text, err := r.text(path)
	if err == nil {
		switch format {
		case "git":
			at := len(r.view.Files)
			r.view.Files = append(r.view.Files, f) // its includes may lead back to it
			g := gitFile{r, filepath.Dir(path), programs, 0}
			f.Text, f.LeftOut, err = g.view(string(text))
			r.view.Files = slices.Delete(r.view.Files, at, at+1)
		case "npm", "go", "gradle":
			f.Text, f.LeftOut, err = lines(format, string(text))
		case "pip":
			f.Text, f.LeftOut, err = sections(format, string(text))
		case "cargo", "uv":
			f.Text, f.LeftOut, err = tomlView(format, text)
		case "yarn":
			f.Text, f.LeftOut, err = yamlView(format, text)
		case "maven":
			f.Text, f.LeftOut, err = xmlView(format, text)
		case "public key":
			if f.Text = text; !isPublicKey(text) {
				err = errors.New("it is no public key")
			}
		default:
			if f.Text = text; holdsSecret(text) {
				err = errors.New("a word of it announces a key or a password")
			}
		}
	}
	if err != nil {
		f.Text, f.LeftOut, f.Hidden = nil, nil, err.Error()
	} else if format != "plain" && format != "public key" {
		if f.Whole = len(f.LeftOut) == 0 && !holdsSecret(text); f.Whole && (r.At == nil || format != "git") {
			f.Text = text
		}
		slices.Sort(f.LeftOut)
		f.LeftOut = slices.Compact(f.LeftOut)
	} else {
		f.Whole = true
	}
	r.view.Files = append(r.view.Files, f)
}

// text reads a file. It follows links as long as they lead through no place that commands write, to a regular file of this user or of root.
func (r *reading) text(path string) ([]byte, error) {
	const maxLinks = 8
	for range maxLinks {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		if r.isWritable(path) {
			return nil, errors.New("it is in " + filepath.Dir(path) + ", where commands write")
		}
		target, err := os.Readlink(path)
		if err != nil {
			return readOwn(path)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = filepath.Clean(target)
	}
	return nil, errors.New("its links go on and on")
}

// isWritable reports whether commands write a path.
func (r *reading) isWritable(path string) bool {
	holds := func(dir string) bool { return agenttool.Within(dir, path) }
	return slices.ContainsFunc(r.Writable, holds) || slices.ContainsFunc(scratch, holds) && !agenttool.Within(r.Home.Dir, path)
}

// scratch are the directories that every command has of its own, and writes.
var scratch = []string{"/tmp", "/var/tmp", "/dev", "/proc", "/run"}

// readOwn reads a regular file of this user or of root, through no link.
func readOwn(path string) ([]byte, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if errors.Is(err, unix.ENXIO) {
		return nil, errors.New("it is no regular file")
	}
	if err != nil {
		return nil, errors.New("it cannot be read: " + err.Error())
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, errors.New("it is no regular file")
	case int(st.Uid) != os.Geteuid() && st.Uid != 0:
		return nil, errors.New("it belongs to another user")
	case st.Size > maxFile:
		return nil, errors.New("it is larger than 1 MiB")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, errors.New("it cannot be read: " + err.Error())
	case len(text) > maxFile: // it has grown
		return nil, errors.New("it is larger than 1 MiB")
	case bytes.IndexByte(text, 0) >= 0:
		return nil, errors.New("it is no text")
	}
	return text, nil
}

// isPublicKey reports whether a file is one line with a public key of ssh.
func isPublicKey(text []byte) bool {
	fields := strings.Fields(string(text))
	if len(fields) < 2 || bytes.Count(bytes.TrimSpace(text), []byte("\n")) > 0 {
		return false
	}
	return slices.ContainsFunc([]string{"ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-"}, func(kind string) bool { return strings.HasPrefix(fields[0], kind) })
}

// Note says what commands do not see of a file although programs do something else without it, "" for nothing: the whole file, logins, the
// programs that bring them, files that it includes.
func (f File) Note() string {
	if f.Hidden != "" {
		return "commands do not see " + f.Path + ": " + f.Hidden
	}
	keys := slices.DeleteFunc(slices.Clone(f.LeftOut), func(key string) bool { return !matters(key) })
	if len(keys) == 0 {
		return ""
	}
	others := ""
	if len(keys) > maxNoted {
		others = fmt.Sprintf(" and %d more", len(keys)-maxNoted)
		keys = keys[:maxNoted]
	}
	return "commands see " + f.Path + " without " + strings.Join(keys, ", ") + others + ": logins and the programs that bring them stay out of the sandbox"
}

// maxNoted bounds the keys that a note names.
const maxNoted = 4

// matters reports whether programs do their work differently without a key.
func matters(key string) bool {
	key = strings.ToLower(key)
	name := key[strings.LastIndexByte(key, '.')+1:]
	return secretNames().MatchString(name) || strings.HasSuffix(key, loginMark) ||
		slices.ContainsFunc([]string{"credential.", "include.", "includeif.", "filter.", "gpg.", "core.sshcommand", "servers", "url.", "npmscopes."}, func(prefix string) bool {
			return strings.HasPrefix(key, prefix)
		})
}

// loginMark stands behind the name of a key whose address was shown without the login in it.
const loginMark = " (the login in it)"
