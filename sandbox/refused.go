package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// refusedPaths are paths of calls that failed since their place is read-only, as the supervisor resolved them: the last ones. The zero value
// is ready for use.
type refusedPaths struct {
	mu   sync.Mutex
	list []string
}

// maxRefused bounds the paths. Programs try some places in vain, and go on.
const maxRefused = 64

// add keeps a path, as the last one.
func (r *refusedPaths) add(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(known string) bool { return known == path })
	if len(r.list) == maxRefused {
		r.list = r.list[1:]
	}
	r.list = append(r.list, path)
}

// named returns the path that a line of a program's output is about: the last one that it names whole, else by its last component; "" if
// it names none.
func (r *refusedPaths) named(line string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range []func(string) string{filepath.Clean, filepath.Base} {
		for _, path := range slices.Backward(r.list) {
			if mentions(line, name(path)) {
				return path
			}
		}
	}
	return ""
}

// mentions reports whether a line holds a name as a whole: no part of a longer name stands beside it.
func mentions(line, name string) bool {
	longer := func(text string) bool {
		const inNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/"
		return text != "" && strings.Contains(inNames, text)
	}
	for at := 0; ; {
		i := strings.Index(line[at:], name)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(name)
		before, after := line[max(0, begin-1):begin], line[end:min(len(line), end+1)]
		if before == "/" && name[0] != '/' {
			before = "" // its last component
		}
		if !longer(before) && !longer(after) {
			return true
		}
		at = begin + 1
	}
}
