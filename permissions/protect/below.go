package protect

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Below answers [Map.Secret] for the names in one directory. It computes once everything that depends on the directory alone, so
// that a name that no pattern can match (nearly every one) costs a few comparisons. The zero value knows no secrets. It is
// read-only.
type Below struct {
	m      *Map
	dir    string // "" for /
	open   bool   // all in the directory is granted
	rule   Rule   // why all in the directory is secret
	secret bool
	named  map[string]struct{} // names that the Map spells: a root, a grant, a known secret
	hints  []hint
	bases  *nameHints // of the names that are secrets at any depth below a root; nil outside
}

// Below returns the Map's answers for names in a directory, absolute, clean and resolved, existing or not.
func (m *Map) Below(dir string) Below {
	rule, secret := m.Secret(dir, 0, 0)
	return m.below(dir, rule, secret)
}

// Below is Map.Below of a directory in this one, sooner.
func (b *Below) Below(name string) Below {
	if b.m == nil {
		return Below{}
	}
	rule, secret := b.Secret(name)
	return b.m.below(b.dir+"/"+name, rule, secret)
}

// below knows already what the Map says of the directory itself.
func (m *Map) below(dir string, rule Rule, secret bool) Below {
	b := Below{m: m, dir: strings.TrimSuffix(dir, "/"), open: granted(m.reads, dir), rule: rule, secret: secret}
	if b.open {
		return b
	}
	folded := fold(b.dir)
	if b.dir != "" && path.Clean(folded) != folded { // of a name in it nothing is left
		b.hints = []hint{{}}
		return b
	}
	b.name(m.Roots)
	b.name(m.reads)
	for i := range m.Secrets {
		b.name([]string{m.Secrets[i].Path})
	}
	b.hints = m.deny.hintsIn(folded + "/")
	if rootOf(m.Roots, dir) != "" {
		b.bases = &m.deny.names
	}
	return b
}

// name keeps the paths that are names in the directory.
func (b *Below) name(paths []string) {
	for _, p := range paths {
		if len(p) <= len(b.dir) || p[len(b.dir)] != '/' || !strings.HasPrefix(p, b.dir) {
			continue
		}
		if name := p[len(b.dir)+1:]; !strings.Contains(name, "/") {
			if b.named == nil {
				b.named = make(map[string]struct{})
			}
			b.named[name] = struct{}{}
		}
	}
}

// Secret is Map.Secret of one name in the directory, without an identity.
func (b *Below) Secret(name string) (Rule, bool) {
	if b.open {
		return "", false
	}
	if b.doubtful(name) || b.m != nil && gitConfigName(name) {
		return b.m.Secret(b.dir+"/"+name, 0, 0)
	}
	return b.rule, b.secret
}

// doubtful says whether a name may be judged otherwise than the directory.
func (b *Below) doubtful(name string) bool {
	if len(b.named) > 0 {
		if _, ok := b.named[name]; ok {
			return true
		}
	}
	for i := range b.hints {
		if b.hints[i].means(name) {
			return true
		}
	}
	return b.bases != nil && b.bases.mean(name)
}

// Granted reports whether a name in the directory may be read whatever it is, so that [Map.Identity] does not count.
func (b *Below) Granted(name string) bool {
	return b.open || b.m != nil && b.doubtful(name) && granted(b.m.reads, b.dir+"/"+name)
}

// Identity says whether a file, by (dev, ino) as fstat has them, is a secret that has another name, too. Where no grant
// names the file it completes Below.Secret: together they are Map.Secret. Zeros stand for no file.
func (m *Map) Identity(dev, ino uint64) (Rule, bool) {
	rule, ok := m.secrets[identity{dev, ino}]
	return rule, ok && ino != 0
}

// means says whether the name may fold to one that begins and ends so. A byte that is not ASCII may fold to anything.
func (h hint) means(name string) bool {
	for i := range len(h.prefix) {
		switch {
		case i >= len(name):
			return false
		case name[i] >= utf8.RuneSelf:
			return true
		case lower(name[i]) != h.prefix[i]:
			return false
		}
	}
	for i := 1; i <= len(h.suffix); i++ {
		switch {
		case i > len(name):
			return false
		case name[len(name)-i] >= utf8.RuneSelf:
			return true
		case lower(name[len(name)-i]) != h.suffix[len(h.suffix)-i]:
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// hintsIn returns the hints of absolute rules for names in a folded directory, which ends with a slash.
func (l *denyList) hintsIn(dir string) []hint {
	var hints []hint
	for _, i := range slices.Concat(l.others, l.plainIn[path.Dir(dir+".")]) {
		if r := &l.rules[i]; r.glob != "" {
			if h, ok := hintOfGlob(r.glob, r.plain, dir); ok {
				hints = append(hints, h)
			}
		}
	}
	return hints
}

// hintOfGlob is hintOf for the last component of an absolute pattern, if that may match a name in the directory.
func hintOfGlob(glob string, plain bool, dir string) (hint, bool) {
	literal := glob
	if at := strings.IndexFunc(glob, opaque); at >= 0 && !plain { // a byte that is not UTF-8 matches every other such byte
		literal = glob[:at]
	}
	if !strings.HasPrefix(literal, dir) && (plain || !strings.HasPrefix(dir, literal)) {
		return hint{}, false
	}
	if !plain && strings.ContainsAny(glob, `[{\`) { // brackets and braces may contain a slash
		return hint{}, true
	}
	last := glob[strings.LastIndexByte(glob, '/')+1:]
	return hintOf(last), !plain || len(last)+len(dir) == len(glob)
}
