package protect

import (
	"path"
	"slices"
	"strings"
	"sync"

	"toolhost/agenttool"
)

// Name is one name of the table: the last components of a path, folded, wherever below a root they stand. A "*" in the
// first component stands for any text.
type Name struct {
	Path string // "name" or "directory/name"
	Rule Rule
	Dir  bool // it is usually a directory, and all below it counts
	Hold Hold
	Runs string // which programs run or obey it, and when
}

// Names returns the table.
func Names() []Name { return listed(namesList) }

// HomeNames returns the names that count in a home directory alone, relative to it.
func HomeNames() []Name { return listed(homeNamesList) }

// tail is the rest of a name after its first components matched.
type tail struct {
	name Name
	rest string // folded, "" when the name is complete
}

// index is Names by first component.
type index struct {
	exact map[string][]tail
	wild  []wildcard
}

// wildcard is a first component with a "*" in it.
type wildcard struct {
	prefix, suffix string
	tail           tail
}

// table is the index of Names, built at the first question.
var table = sync.OnceValue(func() index {
	x := index{exact: make(map[string][]tail)}
	for _, name := range Names() {
		first, rest, _ := strings.Cut(name.Path, "/")
		if prefix, suffix, wild := strings.Cut(first, "*"); wild {
			x.wild = append(x.wild, wildcard{prefix, suffix, tail{name, rest}})
			continue
		}
		x.exact[first] = append(x.exact[first], tail{name, rest})
	}
	return x
})

// first returns the names of the table whose first component is this folded one.
func (x index) first(component string) []tail {
	found := x.exact[component]
	for _, w := range x.wild {
		if len(component) > len(w.prefix)+len(w.suffix) && strings.HasPrefix(component, w.prefix) && strings.HasSuffix(component, w.suffix) {
			found = append(found[:len(found):len(found)], w.tail)
		}
	}
	return found
}

// advance matches one more component against the tails and the names of the table, and returns the new tails.
func advance(tails []tail, component string) []tail {
	next := table().first(component)
	for _, t := range tails {
		if first, rest, _ := strings.Cut(t.rest, "/"); t.rest != "" && first == component {
			next = append(next[:len(next):len(next)], tail{t.name, rest})
		}
	}
	return next
}

// Asks returns the rule that makes writing the path need the user's approval, from its text alone: every name of the table counts,
// sealed or not, at any depth below root. The directories above root do not count. An empty root judges the whole path.
func Asks(file, root string) (Rule, bool) {
	file = path.Clean(file)
	if root != "" && agenttool.Within(root, file) {
		file = file[len(root):]
	}
	components := strings.Split(fold(file), "/")
	return match(components, func(n Name, _, end int) bool { return n.Dir || end == len(components) })
}

// AsksAtHome reports whether a path is one of those that count in a home directory alone, or lies below one.
func AsksAtHome(file, home string) bool {
	file = path.Clean(file)
	if home == "" || home == "/" || !agenttool.Within(home, file) {
		return false
	}
	folded := fold(below(home, file))
	return slices.ContainsFunc(homeTable(), func(name string) bool { return folded == name || strings.HasPrefix(folded, name+"/") })
}

// homeTable are the names of HomeNames.
var homeTable = sync.OnceValue(func() []string {
	var names []string
	for _, n := range HomeNames() {
		names = append(names, n.Path)
	}
	return names
})

// match returns the rule of the first name of the table that the folded components hold, and that counts: at is the
// index of its first component, end that after its last.
func match(components []string, counts func(n Name, at, end int) bool) (Rule, bool) {
	var open []tail
	for i, component := range components {
		open = advance(open, component)
		for _, t := range open {
			at := i - strings.Count(t.name.Path, "/")
			if t.rest == "" && counts(t.name, at, i+1) {
				return t.name.Rule, true
			}
		}
	}
	return "", false
}
