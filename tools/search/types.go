package search

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"toolhost/agenttool"
	"toolhost/agenttool/near"
)

//go:embed types.txt
var typeLines string

// fileTypes maps the languages of grep's type, by ripgrep's names, to their file names. Each is a line of types.txt.
var fileTypes = sync.OnceValue(func() map[string][]string {
	types := map[string][]string{}
	for line := range strings.Lines(typeLines) {
		words := strings.Fields(line)
		types[words[0]] = words[1:]
	}
	return types
})

// unknownType returns the error for an unknown type. It lists the types with a similar name, else all.
func unknownType(name string) error {
	all := slices.Sorted(maps.Keys(fileTypes()))
	low := strings.ToLower(name)
	near := slices.DeleteFunc(slices.Clone(all), func(known string) bool { return !similar(low, known) })
	hint := "did you mean " + strings.Join(near, ", ") + "?"
	if len(near) == 0 {
		hint = "known types are " + strings.Join(all, ", ")
	}
	return agenttool.Failure(agenttool.InvalidArguments, "unknown_type",
		fmt.Sprintf("type %q is not known: %s; a glob such as *.%s works for any file", name, hint, low))
}

// similar reports whether one name begins with the other, one is a file extension of the other, or at most two
// letters, and less than half of them, differ.
func similar(name, known string) bool {
	if strings.HasPrefix(known, name) || strings.HasPrefix(name, known) && len(known) > 1 {
		return true
	}
	if slices.Contains(fileTypes()[known], "*."+strings.TrimLeft(name, ".*")) {
		return true
	}
	d := near.Distance(name, known)
	return d <= 2 && 2*d < len(known)
}
