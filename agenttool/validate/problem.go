package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolhost/agenttool/cut"
)

// problem is one thing that is wrong with a document.
type problem struct {
	path  []string // to the offending place, member by member; for a missing field, to where it belongs
	code  string
	text  string             // without the place
	owner *jsonschema.Schema // the hint lists its allowed fields; nil: those of the whole schema

	unplaced bool     // text says all: the place is the last of path, and text names it
	meant    string   // of unknown_field: the field that it seems to stand for
	want     []string // of wrong_type: the types that are allowed
}

const maxPointer = 1_024 // bytes

// pointer returns the JSON pointer to the place (RFC 6901), or to an enclosing value if that pointer would be very long.
func (p problem) pointer() string {
	var b strings.Builder
	for _, name := range p.path {
		if b.Len()+1+len(name) > maxPointer {
			break
		}
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(name))
	}
	return b.String()
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// sentence returns the place and the problem: `edits[0].old_string: got integer, want string`.
func (p problem) sentence() string {
	path := p.path
	if p.unplaced {
		path = path[:len(path)-1]
	}
	if len(path) == 0 {
		if p.unplaced {
			return p.text
		}
		return "input: " + p.text
	}
	return place(path) + ": " + p.text
}

const maxPlace = 8 // names in a place

// place writes a path as a programmer would: edits[0].old_string. Of a long one it writes the end.
func place(path []string) string {
	var b strings.Builder
	if more := len(path) - maxPlace; more > 0 {
		b.WriteString("….")
		path = path[more:]
	}
	for i, name := range path {
		switch _, err := strconv.ParseUint(name, 10, 32); {
		case err == nil && i > 0:
			fmt.Fprintf(&b, "[%s]", name)
		case !isPlain(name):
			fmt.Fprintf(&b, "[%s]", quote(name))
		case i > 0:
			b.WriteString("." + name)
		default:
			b.WriteString(name)
		}
	}
	return b.String()
}

const maxQuoted = 64 // bytes of a name in a message

func isPlain(name string) bool {
	return name != "" && len(name) <= maxQuoted && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && r != '$' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// quote writes a name of the input or schema so that it cannot pass for part of the message, and cuts a long one.
func quote(name string) string {
	if len(name) > maxQuoted {
		return strconv.QuoteToASCII(cut.Head(name, maxQuoted)) + cut.Mark
	}
	return strconv.QuoteToGraphic(name)
}

func others(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " (and 1 other problem)"
	}
	return fmt.Sprintf(" (and %d other problems)", n)
}

// arrange sorts problems by place, drops repetitions, and takes a missing field and the misspelt one that stands for it
// as one problem.
func arrange(problems []problem) []problem {
	meant := map[string]bool{}
	for _, p := range problems {
		if p.meant != "" {
			meant[sibling(p.path, p.meant)] = true
		}
	}
	found := slices.DeleteFunc(slices.Clone(problems), func(p problem) bool {
		return p.code == "missing_field" && meant[p.pointer()]
	})
	slices.SortFunc(found, func(a, b problem) int {
		return cmp.Or(comparePaths(a.path, b.path), cmp.Compare(a.code, b.code),
			cmp.Compare(a.text, b.text))
	})
	return slices.CompactFunc(found, func(a, b problem) bool {
		return slices.Equal(a.path, b.path) && a.code == b.code && a.text == b.text
	})
}

// sibling returns the pointer to the field name beside the last of path.
func sibling(path []string, name string) string {
	return problem{path: append(slices.Clone(path[:len(path)-1]), name)}.pointer()
}

func comparePaths(a, b []string) int { return slices.CompareFunc(a, b, compareNames) }

// compareNames orders indexes by number, all else by bytes.
func compareNames(a, b string) int {
	if a == b || !isIndex(a) || !isIndex(b) {
		return cmp.Compare(a, b)
	}
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	if errX == nil && errY == nil {
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	}
	return cmp.Compare(a, b)
}

func isIndex(name string) bool { return name != "" && strings.Trim(name, "0123456789") == "" }
