package http

import (
	"fmt"
	nethttp "net/http"
	"slices"
	"strings"
)

// mount is a handler and its path.
type mount struct {
	path    string
	handler nethttp.Handler
}

// routes are handlers, that of the longest path first: it is the one that counts.
type routes []mount

// sortMounts puts the longest path first, which is the one that counts.
func sortMounts(given map[string]nethttp.Handler) (routes, error) {
	var sorted routes
	for path, handler := range given {
		clean := strings.TrimSuffix(path, "/")
		if !strings.HasPrefix(path, "/") || handler == nil || clean == healthPath || clean == eventsPath {
			return nil, fmt.Errorf("a handler cannot be mounted at %q: give it a path of its own that begins with /", path)
		}
		sorted = append(sorted, mount{clean, handler})
	}
	slices.SortFunc(sorted, func(a, b mount) int {
		if d := len(b.path) - len(a.path); d != 0 {
			return d
		}
		return strings.Compare(a.path, b.path)
	})
	return sorted, nil
}

// at returns the handler of a path; nil: there is none.
func (all routes) at(path string) nethttp.Handler {
	for _, m := range all {
		if path == m.path || strings.HasPrefix(path, m.path+"/") {
			return m.handler
		}
	}
	return nil
}

const (
	healthPath = "/healthz"
	eventsPath = "/events"
)
