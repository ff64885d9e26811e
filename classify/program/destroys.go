package program

import (
	"slices"
	"strings"
)

// Destroyer returns the description of the program with this name if it may destroy with these words, nil if it does not or nothing is
// known. It finds programs that Lookup does not.
func Destroyer(name string, words []string) *Spec {
	if strings.HasPrefix(name, "mkfs") {
		name = "mkfs" // mkfs.ext4
	}
	e := registry()[name]
	if e == nil {
		return nil
	}
	spec, carried := e.read()
	switch {
	case !carried.Destroys:
		return nil
	case destroysItself(spec):
		return spec
	}
	for _, word := range words {
		if sub := spec.table().sub[word]; sub != nil && mayDestroy(sub) {
			return spec
		}
	}
	return nil
}

// mayDestroy reports whether a use of a program may destroy.
func mayDestroy(s *Spec) bool { return destroysItself(s) || slices.ContainsFunc(s.Sub, mayDestroy) }

// destroysItself reports whether it may whatever its subcommand is.
func destroysItself(s *Spec) bool {
	return s.Loses || strings.Contains(s.Effects, "destroys") || strings.Contains(s.Options, "destroys")
}

// Destroys says what a command destroys, "" if it is not known to destroy. Not all of its words need be known: where they are not
// understood, it looks for a subcommand behind any of them.
func (m *Memory) Destroys(spec *Spec, argv []Word) string {
	_, use := m.Parse(spec, argv)
	switch {
	case use.Has(Destroys):
		told := use.Told()
		at := slices.IndexFunc(told, func(r Reason) bool { return r.Fact == factOf[Destroys] })
		if at < 0 { // one reason is that of all facts
			at = slices.IndexFunc(told, func(r Reason) bool { return r.Fact == "" })
		}
		return use.Sentence(told[at], argv)
	case !use.Understood && m.subDestroys(spec, argv):
		return use.Sentence(because(effectPhrase[Destroys]), argv)
	}
	return ""
}

// maxSubcommands is how many words are taken for a subcommand of a command that is not understood.
const maxSubcommands = 4

func (m *Memory) subDestroys(spec *Spec, argv []Word) bool {
	subs, tried := spec.table().sub, 0
	for i := 1; i < len(argv) && subs != nil && tried < maxSubcommands; i++ {
		sub := subs[argv[i].Text]
		if sub == nil || !argv[i].Static {
			continue
		}
		tried++
		if !mayDestroy(sub) {
			continue
		}
		if _, use := m.Parse(sub, argv[i:]); use.Has(Destroys) || m.subDestroys(sub, argv[i:]) {
			return true
		}
	}
	return false
}

// judgeWords is a Judge of programs that destroy where one of some words stands, in capitals or not, wherever that is. A word that ends
// in a dash is the beginning of one.
func judgeWords(what string, words ...string) func(*Args, *Use) {
	return func(a *Args, u *Use) {
		for _, w := range a.Argv[1:] {
			for _, each := range words {
				text := w.Text
				if strings.HasSuffix(each, "-") {
					text = text[:min(len(text), len(each))]
				}
				if strings.EqualFold(text, each) {
					u.Add(Destroys, what)
					return
				}
			}
		}
	}
}
