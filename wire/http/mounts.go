package http

import (
	"fmt"
	nethttp "net/http"
	"path"
	"slices"
	"strings"
)

// mount is a handler and its path.
type mount struct {
	path    string
	handler nethttp.Handler
}

// sortMounts puts the longest path first, which is the one that counts.
func sortMounts(given map[string]nethttp.Handler) ([]mount, error) {
	var mounts []mount
	for path, handler := range given {
		clean := strings.TrimSuffix(path, "/")
		if !strings.HasPrefix(path, "/") || handler == nil || clean == healthPath || clean == eventsPath {
			return nil, fmt.Errorf("a handler cannot be mounted at %q: give it a path of its own that begins with /", path)
		}
		mounts = append(mounts, mount{clean, handler})
	}
	slices.SortFunc(mounts, func(a, b mount) int {
		if d := len(b.path) - len(a.path); d != 0 {
			return d
		}
		return strings.Compare(a.path, b.path)
	})
	return mounts, nil
}

// secret reports whether the path holds a secret that stands for the token. A path that handlers may read as another holds none.
func (s *Server) secret(asked string) bool {
	return s.o.Knows != nil && path.Clean(asked) == asked && s.o.Knows(asked)
}

// mounted returns the handler of a path; nil: there is none.
func (s *Server) mounted(path string) nethttp.Handler {
	for _, m := range s.mounts {
		if path == m.path || strings.HasPrefix(path, m.path+"/") {
			return m.handler
		}
	}
	return nil
}
