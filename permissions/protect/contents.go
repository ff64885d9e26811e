package protect

import (
	"bytes"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/secret"
)

// contents are what a file may hold that makes it a secret. The zero value is no condition.
type contents uint8

const (
	privateKey contents = 1 << iota
	anySecret           // one of any kind that the table of secrets knows
	inLines             // with anySecret: commands see the file without the lines that hold secrets
)

// contentOf reads the word for a content in a list.
func contentOf(word string) (c contents, known bool) {
	switch word {
	case "any":
		return 0, true
	case "private_key":
		return privateKey, true
	case "token":
		return anySecret, true
	case "lines":
		return anySecret | inLines, true
	}
	return 0, false
}

// maxHead is how much of a file is looked at, in bytes. A key stands at the beginning, or behind a chain of certificates.
const maxHead = 64 << 10

// anyContent says that a file may hold anything.
func anyContent(contents) bool { return true }

// at reports whether the file at a path without links holds one of the contents. What cannot be read may hold it, and what is missing or no
// regular file does not.
func (c contents) at(file string) bool {
	fd, err := unix.Open(file, headFlags, 0)
	return c.of(fd, err)
}

const headFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// of is at for a file that was opened, which it closes.
func (c contents) of(fd int, err error) bool {
	if err != nil {
		return !gone(err) && err != unix.ENXIO
	}
	f := os.NewFile(uintptr(fd), "")
	defer f.Close()
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || kindOf(&st) != File {
		return false
	}
	text, err := io.ReadAll(io.LimitReader(f, maxHead))
	return err != nil || c.in(text)
}

// in reports whether the beginning of a file holds one of the contents.
func (c contents) in(text []byte) bool {
	if c&privateKey != 0 && (isDERKey(text) || bytes.HasPrefix(text, []byte("PuTTY-User-Key-File-"))) {
		return true
	}
	return slices.ContainsFunc(secret.All().Find(text), func(s secret.Span) bool { return c&anySecret != 0 || s.Kind == "private_key" })
}

// isDERKey reports whether text begins as a private key in DER does: a sequence that begins with the version 0, of PKCS #1 and PKCS #8, or 1,
// of an elliptic curve.
func isDERKey(text []byte) bool {
	if len(text) < 40 || text[0] != 0x30 {
		return false
	}
	at := 2
	if text[1] > 0x80 {
		at += int(text[1] & 0x7f)
	}
	return at < 6 && (bytes.HasPrefix(text[at:], []byte{2, 1, 0}) || bytes.HasPrefix(text[at:], []byte{2, 1, 1, 4}))
}

// Cut reports whether commands of a sandbox see the file of that path, which the list denies, without the lines that hold secrets.
func (s *Secrets) Cut(file string) bool {
	folded := fold(file)
	return s.list.cut(folded, rootOf(s.roots, folded))
}

// Cut is [Secrets.Cut] of the Map's list. A file that has a second name, or that may be read, is never cut.
func (m *Map) Cut(file string) bool {
	return !granted(m.reads, file) && (m.deny.cut(fold(file), fold(rootOf(m.Roots, file))) || m.isCloneConfig(file))
}

// isCloneConfig reports whether a file outside of the roots is the configuration of a git directory, as caches of the home have many, and holds a
// secret. Inside, the list says what is one.
func (m *Map) isCloneConfig(file string) bool {
	return gitConfigName(path.Base(file)) && rootOf(m.Roots, file) == "" && IsGitDir(path.Dir(file)) && HoldsSecret(file)
}

func gitConfigName(name string) bool { return name == "config" || name == "config.worktree" }

// HoldsSecret reports whether the file at a path without links holds a secret of any kind near its beginning. What cannot be read may hold one.
func HoldsSecret(file string) bool { return anySecret.at(file) }

// cut reports whether the list denies a folded path for its content alone, and in lines.
func (l *denyList) cut(folded, root string) bool {
	d := l.denied(folded, root)
	return d.denied && d.content&inLines != 0 && d.content&privateKey == 0 && !l.covers(path.Dir(folded), root, anyContent)
}

// asides are directories of dependencies, tests and examples, as they are usually called: the keys in them are everybody's, and builds and
// tests read them.
const asides = " node_modules bower_components vendor third_party site-packages dist-packages" +
	" test tests __tests__ testing testdata test-data test_data spec specs e2e fixture fixtures __fixtures__ mock mocks __mocks__ example examples "

// besideProject reports whether a folded path lies below such a directory in its folded root.
func besideProject(folded, root string) bool {
	dirs := strings.Split(below(root, folded), "/")
	return slices.ContainsFunc(dirs[:len(dirs)-1], func(dir string) bool { return strings.Contains(asides, " "+dir+" ") && !strings.Contains(dir, " ") })
}

// head is what is known of the content of a file in one state of it.
type head struct {
	id      identity
	changed unix.Timespec
	looked  contents // for what
	holds   bool
}

// maxHeads bounds the files that one walk looks into; more are secrets by their names.
const maxHeads = 2000

// holds reports whether the entry of a directory has a content that makes it a secret. A link is followed later.
func (w *walk) holds(file string, c child, dir int, content contents) bool {
	switch c.kind {
	case Symlink:
		return true
	case File:
	default:
		return false
	}
	var st unix.Stat_t
	if statAt(dir, c.name, &st) != nil {
		return false
	}
	now := head{id: identityOf(&st), changed: st.Ctim, looked: content}
	if known, ok := w.held.heads[file]; ok && known.id == now.id && known.changed == now.changed && known.looked == content {
		now.holds = known.holds
	} else {
		if w.heads++; w.heads > maxHeads {
			w.short(file, "not looked into: there are too many files whose content decides whether they are secrets")
			return true
		}
		fd, err := unix.Openat(dir, c.name, headFlags, 0)
		now.holds = content.of(fd, w.tree.noted(err))
		if err != nil && w.tree.short != nil {
			return true // and the walk fails: this is not remembered
		}
	}
	if w.held.heads == nil {
		w.held.heads = map[string]head{}
	}
	if len(w.held.heads) < maxHeld {
		w.held.heads[file] = now
	}
	if !now.holds {
		w.m.looked = append(w.m.looked, file)
	}
	return now.holds
}
