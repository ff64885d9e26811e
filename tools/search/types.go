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

// fileTypes maps the languages of grep's type, by ripgrep's names and by further words that models write, to their file names. Each is a line
// of types.txt.
var fileTypes = sync.OnceValue(func() map[string][]string {
	types := map[string][]string{}
	for line := range strings.Lines(typeLines) {
		words := strings.Fields(line)
		types[words[0]] = words[1:]
	}
	return types
})

// patternsOf returns the file names of a type: a language, or a file extension that some language has, in any case and with or without
// "*." before it. Nil: there is none.
func patternsOf(name string) []string {
	word := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(name), "*"), ".")
	if patterns := fileTypes()[word]; patterns != nil {
		return patterns
	}
	for _, patterns := range fileTypes() {
		if slices.Contains(patterns, "*."+word) {
			return []string{"*." + word}
		}
	}
	return nil
}

// unknownType returns the error for an unknown type. It lists the types with a similar name.
func unknownType(name string) error {
	all := slices.Sorted(maps.Keys(fileTypes()))
	low := strings.ToLower(name)
	near := slices.DeleteFunc(slices.Clone(all), func(known string) bool { return !similar(low, known) })
	hint := "did you mean " + strings.Join(near, ", ") + "? A"
	if len(near) == 0 {
		hint = "it is a language or a file extension, such as go, tsx or yaml; a"
	}
	return agenttool.Failure(agenttool.InvalidArguments, "unknown_type",
		fmt.Sprintf("type %q is not known: %s glob such as *.%s works for any file", name, hint, low))
}

// similar reports whether one name begins with the other, or at most two letters, and less than half of them, differ.
func similar(name, known string) bool {
	if strings.HasPrefix(known, name) || strings.HasPrefix(name, known) && len(known) > 1 {
		return true
	}
	d := near.Distance(name, known)
	return d <= 2 && 2*d < len(known)
}
