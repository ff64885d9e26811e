package validate

import (
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxPlaces bounds the places in a schema, in bytes of their pointers together; indexLength is what an index adds.
const (
	maxPlaces   = 4 << 20
	indexLength = 5
)

// weighPlaces returns how long the pointers to v, which is at bytes long, and to all in it are together, with the
// addresses that the places of a schema are given: the library writes each place down in full, several times.
func weighPlaces(v any, at int) int {
	total := at
	switch v := v.(type) {
	case map[string]any:
		for _, keyword := range []string{"$id", "id"} {
			address, _ := v[keyword].(string)
			at += len(address)
		}
		for name, inner := range v {
			total += weighPlaces(inner, at+1+len(name))
		}
	case []any:
		for _, inner := range v {
			total += weighPlaces(inner, at+indexLength)
		}
	}
	return total
}

// oddReference returns a reference in v that writes an index in a way of its own, or "". The library would compile what
// stands there once more for every way of writing it.
func oddReference(v any) string {
	switch v := v.(type) {
	case map[string]any:
		for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			if ref, ok := v[keyword].(string); ok && hasOddIndex(ref) {
				return ref
			}
		}
		return oddReferenceIn(maps.Values(v))
	case []any:
		return oddReferenceIn(slices.Values(v))
	}
	return ""
}

func oddReferenceIn(values iter.Seq[any]) string {
	for v := range values {
		if ref := oddReference(v); ref != "" {
			return ref
		}
	}
	return ""
}

func hasOddIndex(ref string) bool {
	_, fragment, _ := strings.Cut(ref, "#")
	fragment, err := url.PathUnescape(fragment)
	return err == nil && slices.ContainsFunc(strings.Split(fragment, "/"), func(name string) bool {
		i, err := strconv.Atoi(name)
		return err == nil && strconv.Itoa(i) != name
	})
}
