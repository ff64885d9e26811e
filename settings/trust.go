package settings

import (
	"cmp"
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
	"toolhost/agenttool/json"
)

// Pin is a user's decision about the files in a workspace.
type Pin struct {
	Workspace string    `json:"-"`
	Digest    string    `json:"digest,omitempty"` // from [Loosening]: the loosening items that are trusted
	Own       []string  `json:"own,omitempty"`    // digests of allow rules that toolhost wrote for the user
	At        time.Time `json:"at"`
}

// storeVersion is the format version of the trust store. A store without a version also has this format.
const storeVersion = 1

// store is the content of the trust store.
type store struct {
	Version    int            `json:"version,omitempty"`
	Workspaces map[string]Pin `json:"workspaces"`
}

// maxPins bounds the number of pins; the file size is bounded too. The oldest pins are dropped first.
const maxPins = 1000

// Loosening returns the loosening items of the workspace files, trusted or not, with their digest. It leaves out
// rules that toolhost wrote for the user. Broken files are an error, as in [Load].
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

// Trust trusts the loosening items that [Loosening] returned with the digest and that the user was shown. If the
// files change, they are not trusted.
func Trust(o Options, digest string) error {
	return o.withStore(func(s *store) (bool, error) {
		s.put(o, Pin{Digest: digest, Own: s.Workspaces[o.pinKey()].Own})
		return true, nil
	})
}

// Untrust removes the decision, including the pins of rules that toolhost wrote. It reports whether there was one.
func Untrust(o Options) (bool, error) {
	found := false
	err := o.withStore(func(s *store) (bool, error) {
		_, found = s.Workspaces[o.pinKey()]
		delete(s.Workspaces, o.pinKey())
		return found, nil
	})
	return found, err
}

// pinKey returns the workspace's key in the store. It differs if the command line names a file in the workspace.
func (o Options) pinKey() string {
	if o.Flag != "" && o.inWorkspace(Layer{Source: agenttool.SourceFlag, File: o.Flag}) {
		return o.Workspace + " --settings " + o.Flag
	}
	return o.Workspace
}

// put stores a pin, or removes it if it is empty.
func (s *store) put(o Options, p Pin) {
	if p.Digest == "" && len(p.Own) == 0 {
		delete(s.Workspaces, o.pinKey())
		return
	}
	p.At = o.now().UTC().Truncate(time.Second)
	s.Workspaces[o.pinKey()] = p
}

// Pins returns the pins in a store, by workspace. A missing store is empty.
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

// PinOf returns the pin of the options' workspace, or the zero Pin.
func PinOf(o Options) (Pin, error) {
	s, _, err := readStore(o.Trust)
	if err != nil {
		return Pin{}, err
	}
	return s.Workspaces[o.pinKey()], nil
}

// Remember adds a rule to a file of the options, as [AddRule] does, and pins it: an allow rule that toolhost wrote
// counts in a workspace file, whatever else the file contains.
func Remember(o Options, file string, b agenttool.Behavior, text string) error {
	if b != agenttool.Allow || !o.pinned(file) {
		return addRule(file, b, text, o.now(), o.steps)
	}
	var warning error
	err := o.withStore(func(s *store) (bool, error) {
		before, err := Load(o)
		if warning = addRule(file, b, text, o.now(), o.steps); warning != nil && !IsNotSynced(warning) {
			return false, warning
		}
		if err == nil && before.trusted && slices.ContainsFunc(before.loosening, o.ruleIn(file, text)) {
			return false, nil // it already counts, because the whole file is trusted
		}
		pin, own := s.Workspaces[o.pinKey()], o.ownRule(file, text)
		if !slices.Contains(pin.Own, own) {
			pin.Own = append(pin.Own, own)
		}
		s.put(o, pin)
		return true, nil
	})
	return cmp.Or(err, warning)
}

// Forget removes a rule from a file of the options, as [removeRule] does. Other trusted items stay trusted.
func Forget(o Options, file string, b agenttool.Behavior, text string) (bool, error) {
	if b != agenttool.Allow || o.Trust == "" || !o.pinned(file) {
		return removeRule(file, b, text)
	}
	removed := false
	err := o.withStore(func(s *store) (bool, error) {
		before, loadErr := Load(o)
		var err error
		if removed, err = removeRule(file, b, text); err != nil && !IsNotSynced(err) || !removed {
			return false, err
		}
		pin, known := s.Workspaces[o.pinKey()]
		if !known {
			return false, nil
		}
		own := o.ownRule(file, text)
		pin.Own = slices.DeleteFunc(pin.Own, func(d string) bool { return d == own })
		if loadErr == nil && before.trusted && pin.Digest != "" {
			left := slices.DeleteFunc(slices.Clone(before.loosening), o.ruleIn(file, text))
			if pin.Digest = digestOf(left); len(left) == 0 {
				pin.Digest = ""
			}
		}
		s.put(o, pin)
		return true, nil
	})
	return removed, err
}

// pinned reports whether a rule that the user adds to a file needs a pin to count.
func (o Options) pinned(file string) bool {
	return slices.ContainsFunc(o.Files(), func(l Layer) bool { return l.File == file && o.inWorkspace(l) })
}

// ownRule returns the digest of an allow rule in a file.
func (o Options) ownRule(file, text string) string {
	var source string
	for _, l := range o.Files() {
		if l.File == file {
			source = l.Source
		}
	}
	return item{Untrusted{Key: "permissions.allow", Origin: agenttool.Origin{Source: source}}, strings.TrimSpace(text)}.digest()
}

// ruleIn returns a test for items that are the allow rule text in a file.
func (o Options) ruleIn(file, text string) func(item) bool {
	return func(it item) bool { return it.Origin.File == file && it.isRule(strings.TrimSpace(text)) }
}

// isRule reports whether the item is the allow rule text.
func (it item) isRule(text string) bool { return it.Key == "permissions.allow" && it.value == text }

// word is the user's decision about the loosening items of workspace files.
type word struct {
	own     func(item) bool // the rule was written by toolhost for the user
	rest    []item          // the others
	all     bool            // the rest counts
	problem *Problem        // the reason why an earlier trust is not valid any more; nil: there was none
}

// wordOn looks up the items in the store.
func (o Options) wordOn(items []item) word {
	none := word{own: func(item) bool { return false }, rest: items, all: len(items) == 0}
	if len(items) == 0 || o.Trust == "" {
		return none
	}
	s, _, err := readStore(o.Trust)
	if err != nil {
		none.problem = &Problem{File: o.Trust, Message: "no file in a workspace is trusted: " + err.Error()}
		return none
	}
	pin := s.Workspaces[o.pinKey()]
	w := word{own: func(it item) bool { return slices.Contains(pin.Own, it.digest()) }}
	w.rest = slices.DeleteFunc(slices.Clone(items), w.own)
	w.all = len(w.rest) == 0 || pin.Digest == digestOf(w.rest)
	if !w.all && pin.Digest != "" {
		w.problem = &Problem{File: w.rest[0].Origin.File, Message: fmt.Sprintf(
			"the project's settings changed since you trusted them (%s): they only restrict until you look at them again with toolhost trust", pin.At.Format(time.DateOnly))}
	}
	return w
}

// readStore reads the trust store and returns the file's status. A missing store is empty.
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
		var form struct {
			Version int `json:"version"`
		}
		if json.Unmarshal(content, &form) == nil && form.Version > storeVersion {
			return nil, nil, fmt.Errorf("a newer version of toolhost wrote the trust store %s, in a form that this version does not know: it is left alone; trust workspaces with that version",
				shown(file))
		}
		err = json.UnmarshalKnown(content, s)
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
		return errors.New("there is no place for the trust store: set HOME or XDG_STATE_HOME")
	case !filepath.IsAbs(o.Workspace) || !utf8.ValidString(o.Workspace):
		return fmt.Errorf("the workspace %s cannot be named in the trust store: its path must be absolute, and UTF-8", quoted(o.Workspace))
	}
	if err := os.MkdirAll(filepath.Dir(o.Trust), privateDir); err != nil {
		if why := agenttool.Obstacle(filepath.Dir(o.Trust)); why != "" {
			err = errors.New(why)
		}
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
		return replaceFile(o.Trust, encoded, info, o.steps)
	})
}

// encode encodes the store, without the oldest pins if there are too many.
func (s *store) encode() ([]byte, error) {
	for {
		encoded, err := json.EncodeIndent(s, "  ")
		if err != nil || len(s.Workspaces) <= maxPins && len(encoded) < maxSize {
			return append(encoded, '\n'), err
		}
		oldest := slices.MinFunc(slices.Collect(maps.Keys(s.Workspaces)), func(a, b string) int {
			return s.Workspaces[a].At.Compare(s.Workspaces[b].At)
		})
		delete(s.Workspaces, oldest)
	}
}
