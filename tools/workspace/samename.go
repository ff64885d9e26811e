package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
)

// maxListed is the number of names of one directory that are compared with a missing one.
const maxListed = 100_000

// Likeness is how two names differ.
type Likeness int

const (
	SameForm  Likeness = iota + 1 // only in their Unicode form, such as NFC and NFD
	SameLooks                     // in quotes, dashes or blanks that look the same, too
	SameCase                      // in the case of letters, too
)

// String says it after "the same name".
func (l Likeness) String() string {
	switch l {
	case SameForm:
		return "in another Unicode form"
	case SameLooks:
		return "with other quotes, dashes or blanks"
	}
	return "in other letter case"
}

// SameName is the name of an existing file that reads like a name that was looked for.
type SameName struct {
	Spelling string // as calls take it
	Likeness Likeness
}

// Hint says after "does not exist" that a file of the same name does.
func (n SameName) Hint() string {
	return fmt.Sprintf("; the same name %v does: %s", n.Likeness, n.Spelling)
}

// Beside says of a new file that it has a double.
func (n SameName) Beside() string {
	return fmt.Sprintf("beside it is the same name %v: %s", n.Likeness, n.Spelling)
}

// Suggest adds the path that reads like p to an error that says that p does not exist.
func (w *Workspace) Suggest(p agenttool.Path, err error) error {
	failure, ok := errors.AsType[*agenttool.Error](err)
	if !ok || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	same, ok := w.SameName(p)
	if !ok {
		return err
	}
	told := *failure
	told.Message += same.Hint()
	return &told
}

// SameName finds the existing path that reads like a located path that does not exist. ok is false if there is none, or
// if several are equally alike.
func (w *Workspace) SameName(p agenttool.Path) (found SameName, ok bool) {
	existing, missing := p.Resolved, []string{}
	var dir *Dir
	for existing != "/" && existing != "." && existing != "" && dir == nil {
		missing = append([]string{filepath.Base(existing)}, missing...)
		existing = filepath.Dir(existing)
		dir, _ = w.OpenDir(agenttool.Path{Spelling: existing, Absolute: existing, Resolved: existing})
	}
	if dir == nil {
		return found, false
	}
	names := make([]string, 0, len(missing))
	for i, name := range missing {
		actual, likeness := likest(dir, name)
		dir.Close()
		if actual == "" {
			return found, false
		}
		names, found.Likeness = append(names, actual), max(found.Likeness, likeness)
		if i == len(missing)-1 {
			break
		}
		below := filepath.Join(existing, filepath.Join(names...))
		next, err := w.OpenDir(agenttool.Path{Spelling: below, Absolute: below, Resolved: below})
		if err != nil {
			return found, false
		}
		dir = next
	}
	found.Spelling = spell(p, missing, names, found.Likeness)
	return found, found.Likeness > 0
}

// spell returns the path of p with other last names, in the spelling that calls take. Characters that can be taken for
// others are written as bytes.
func spell(p agenttool.Path, missing, names []string, l Likeness) string {
	path := filepath.Join(strings.TrimSuffix(p.Resolved, strings.Join(missing, "/")), filepath.Join(names...))
	spelling := filepath.Clean(agenttool.ParsePath(p.Spelling))
	if above, ok := strings.CutSuffix("/"+spelling, "/"+strings.Join(missing, "/")); ok && !filepath.IsAbs(spelling) {
		path = strings.TrimPrefix(above+"/"+strings.Join(names, "/"), "/")
	}
	if l == SameCase {
		return agenttool.PrintPath(path)
	}
	return agenttool.EscapePath(path)
}

// likest returns the name in dir that is most like name, "" if there is none or two are equally alike. Likeness 0 means
// that it is the same.
func likest(dir *Dir, name string) (actual string, best Likeness) {
	others, _ := dir.f.Readdirnames(maxListed) // what cannot be listed is not suggested
	wanted := looks(name)
	times := 0
	for _, other := range others {
		l := likeness(wanted, other)
		switch {
		case other == name:
			return name, 0
		case l > 0 && l == best:
			times++
		case l > 0 && (best == 0 || l < best):
			actual, best, times = other, l, 1
		}
	}
	if times > 1 {
		return "", 0
	}
	return actual, best
}

// form is a name as it is read: in one Unicode form, then with plain quotes and blanks, then in one case.
type form [SameCase + 1]string

func looks(name string) form {
	var f form
	f[SameForm] = norm.NFC.String(name)
	f[SameLooks] = visible.OnKeyboard(f[SameForm]) // macOS writes a narrow no-break space into the names of screenshots
	f[SameCase] = strings.ToLower(strings.ToUpper(f[SameLooks]))
	return f
}

// likeness compares a name with one that is wanted; 0: they are not alike.
func likeness(wanted form, name string) Likeness {
	if !utf8.ValidString(name) {
		return 0
	}
	f := looks(name)
	for l := SameForm; l <= SameCase; l++ {
		if f[l] == wanted[l] {
			return l
		}
	}
	return 0
}

// Lookalike finds an existing name beside a located path that does not exist, which only its bytes tell apart.
func (w *Workspace) Lookalike(p agenttool.Path) (found SameName, ok bool) {
	name := filepath.Base(p.Resolved)
	ascii := !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
	if ascii && !strings.ContainsAny(name, `'" `) {
		return found, false
	}
	if _, err := os.Lstat(filepath.Dir(p.Resolved)); err != nil {
		return found, false
	}
	found, ok = w.SameName(p)
	return found, ok && found.Likeness < SameCase
}
