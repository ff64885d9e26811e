package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"toolhost/agenttool"
)

// Pin is the word of a person that a workspace's files may loosen what they loosened then.
type Pin struct {
	Workspace string    `json:"-"`
	Digest    string    `json:"digest"` // as [Loosening] returns it
	At        time.Time `json:"at"`
}

// store is the content of the trust store.
type store struct {
	Workspaces map[string]Pin `json:"workspaces"`
}

// maxPins bounds the store, besides the size that a file may have. The oldest pins go first.
const maxPins = 1000

// Loosening returns what the project-supplied files would loosen, whether trusted or not, and the digest that names
// exactly this. Nothing: the list is empty. Files that are broken are an error, as in [Load].
func Loosening(o Options) ([]Untrusted, string, error) {
	s, err := Load(o)
	if err != nil {
		return nil, "", err
	}
	all := make([]Untrusted, len(s.loosening))
	for i, it := range s.loosening {
		all[i] = it.Untrusted
	}
	return all, digestOf(s.loosening), nil
}

// Trust lets the project-supplied files loosen what a person was shown: what [Loosening] returned with the digest. If
// the files say something else by now, or later, they are not trusted.
func Trust(o Options, digest string) error {
	return o.withStore(func(s *store) (bool, error) {
		s.Workspaces[o.Workspace] = Pin{Digest: digest, At: o.now().UTC().Truncate(time.Second)}
		return true, nil
	})
}

// Untrust takes the word back. It reports whether there was one.
func Untrust(o Options) (bool, error) {
	found := false
	err := o.withStore(func(s *store) (bool, error) {
		_, found = s.Workspaces[o.Workspace]
		delete(s.Workspaces, o.Workspace)
		return found, nil
	})
	return found, err
}

// Pins returns what is trusted in a store, by workspace. A missing store holds nothing.
func Pins(file string) ([]Pin, error) {
	s, _, err := readStore(file)
	if err != nil {
		return nil, err
	}
	pins := make([]Pin, 0, len(s.Workspaces))
	for workspace, p := range s.Workspaces {
		p.Workspace = workspace
		pins = append(pins, p)
	}
	slices.SortFunc(pins, func(a, b Pin) int { return strings.Compare(a.Workspace, b.Workspace) })
	return pins, nil
}

// Remember adds a rule to a file of the options, as [AddRule] does, and sees to it that a rule of the person's own
// counts: where what the project supplied was trusted, or loosened nothing, it is trusted again together with the rule.
func Remember(o Options, file string, b agenttool.Behavior, text string) error {
	if b != agenttool.Allow || o.Trust == "" || !o.pinned(file, text) {
		return AddRule(file, b, text, o.now())
	}
	return o.withStore(func(s *store) (bool, error) {
		before, err := Load(o)
		if addErr := AddRule(file, b, text, o.now()); addErr != nil {
			return false, addErr
		}
		if err != nil {
			return false, nil // the rule is kept; what is broken is told by whoever loads it
		}
		return o.repin(s, before, before.and(text))
	})
}

// Forget removes a rule from a file of the options, as [RemoveRule] does. What the project supplied stays trusted if it was.
func Forget(o Options, file string, b agenttool.Behavior, text string) (bool, error) {
	if b != agenttool.Allow || o.Trust == "" || !o.pinned(file, text) {
		return RemoveRule(file, b, text)
	}
	removed := false
	err := o.withStore(func(s *store) (bool, error) {
		before, loadErr := Load(o)
		var err error
		if removed, err = RemoveRule(file, b, text); err != nil || !removed || loadErr != nil {
			return false, err
		}
		left := slices.DeleteFunc(slices.Clone(before.loosening), func(it item) bool {
			return it.Origin.File == file && it.isRule(strings.TrimSpace(text))
		})
		return o.repin(s, before, func(now []item) bool { return digestOf(now) == digestOf(left) })
	})
	return removed, err
}

// pinned reports whether a rule that a person adds to a file has to be trusted to count.
func (o Options) pinned(file, rule string) bool {
	switch file {
	case o.Project:
		return true
	case o.Local:
		return judge(file).supplied || o.Contained == nil || !o.Contained(rule)
	}
	return false
}

// Repin trusts the project-supplied files again after rules of the person's own were added to them. before is from just
// before that: if something was untrusted then, or the files differ from it in more than these allow rules, nothing is
// trusted that was not. Remember does it all at once.
func Repin(o Options, before *Settings, rules ...string) error {
	return o.withStore(func(s *store) (bool, error) { return o.repin(s, before, before.and(rules...)) })
}

// and returns who says whether items are those of the settings and allow rules besides.
func (s *Settings) and(rules ...string) func([]item) bool {
	return func(now []item) bool {
		less := slices.DeleteFunc(slices.Clone(now), func(it item) bool {
			return slices.ContainsFunc(rules, func(r string) bool { return it.isRule(strings.TrimSpace(r)) }) &&
				!slices.ContainsFunc(s.loosening, func(old item) bool { return old.Origin.File == it.Origin.File && old.isRule(it.value.(string)) })
		})
		return digestOf(less) == digestOf(s.loosening)
	}
}

// isRule reports whether the item is an allow rule of that text.
func (it item) isRule(text string) bool { return it.Key == "permissions.allow" && it.value == text }

// repin changes the store if what loosens now is expected after what was trusted before. It reports whether it did.
func (o Options) repin(s *store, before *Settings, expected func([]item) bool) (bool, error) {
	pinned, known := s.Workspaces[o.Workspace]
	if !before.trusted || len(before.loosening) > 0 && pinned.Digest != digestOf(before.loosening) {
		return false, nil
	}
	layers, problems := o.read(nil)
	if len(problems) > 0 {
		return false, nil // told by whoever loads it
	}
	now := o.looseningOf(layers)
	if !expected(now) || len(now) == 0 && !known {
		return false, nil
	}
	if len(now) == 0 {
		delete(s.Workspaces, o.Workspace)
		return true, nil
	}
	s.Workspaces[o.Workspace] = Pin{Digest: digestOf(now), At: o.now().UTC().Truncate(time.Second)}
	return true, nil
}

// trusts reports whether all of what loosens counts. A problem says why what once was trusted is not any more.
func (o Options) trusts(items []item) (bool, *Problem) {
	if len(items) == 0 {
		return true, nil
	}
	if o.Trust == "" {
		return false, nil
	}
	s, _, err := readStore(o.Trust)
	if err != nil {
		return false, &Problem{File: o.Trust, Message: "nothing that projects bring is trusted: " + err.Error()}
	}
	pin, known := s.Workspaces[o.Workspace]
	if !known || pin.Digest == digestOf(items) {
		return known, nil
	}
	return false, &Problem{File: items[0].Origin.File, Message: fmt.Sprintf(
		"the project's settings changed since you trusted them (%s): they only restrict until you look at them again with toolhost trust", pin.At.Format(time.DateOnly))}
}

// readStore reads the trust store, and says what file that was. A missing one is empty.
func readStore(file string) (*store, fs.FileInfo, error) {
	s := &store{Workspaces: map[string]Pin{}}
	content, info, err := readFile(file, false)
	if missing(err) {
		return s, nil, nil
	}
	if err == nil {
		err = checkOwner(file, info)
	}
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(content))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(s)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the trust store %s cannot be used: %s; remove it to begin anew", shown(file), shown(err.Error()))
	}
	if s.Workspaces == nil {
		s.Workspaces = map[string]Pin{}
	}
	return s, info, nil
}

// withStore changes the trust store under its lock. change reports whether it changed anything.
func (o Options) withStore(change func(*store) (bool, error)) error {
	switch {
	case o.Trust == "":
		return errors.New("there is no place to keep what is trusted: set HOME or XDG_STATE_HOME")
	case !filepath.IsAbs(o.Workspace) || !utf8.ValidString(o.Workspace):
		return fmt.Errorf("the workspace %s cannot be named in the trust store: its path must be absolute, and UTF-8", quoted(o.Workspace))
	}
	if err := os.MkdirAll(filepath.Dir(o.Trust), privateDir); err != nil {
		return err
	}
	return locked(o.Trust, func() error {
		s, info, err := readStore(o.Trust)
		if err != nil {
			return err
		}
		changed, err := change(s)
		if !changed || err != nil {
			return err
		}
		encoded, err := s.encode()
		if err != nil {
			return err
		}
		return replaceFile(o.Trust, encoded, info, nil)
	})
}

// encode writes the store, without the oldest pins if there are too many.
func (s *store) encode() ([]byte, error) {
	for {
		encoded, err := json.MarshalIndent(s, "", "  ")
		if err != nil || len(s.Workspaces) <= maxPins && len(encoded) < maxSize {
			return append(encoded, '\n'), err
		}
		oldest := slices.MinFunc(slices.Collect(maps.Keys(s.Workspaces)), func(a, b string) int {
			return s.Workspaces[a].At.Compare(s.Workspaces[b].At)
		})
		delete(s.Workspaces, oldest)
	}
}
