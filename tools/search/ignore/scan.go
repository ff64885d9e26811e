package ignore

import (
	"path"
	"strings"
)

const (
	maxConfigs = 64 // configuration files that are read for one repository
	maxNested  = 10 // depth of nested includes, as in git
)

// scan is the state after reading some configuration files.
type scan struct {
	read func(path string) []byte // User or Own of the Reader, depending on the owner of the file
	env  Environment
	left int // configuration files that may still be read

	fold     bool
	global   func() []byte // text of core.excludesFile
	worktree bool          // extensions.worktreeConfig, of no included file
}

// file reads the configuration file at name, if there is one, and those that it includes; depth counts the files that
// include it.
func (s *scan) file(name string, depth int) {
	if name == "" || s.left == 0 || depth > maxNested {
		return
	}
	s.left--
	for v := range settings(s.read(name)) {
		value, ok := v.boolean()
		switch {
		case v.name == "include.path" && !v.bare:
			s.file(s.locate(v.value, path.Dir(name)), depth+1)
		case v.name == "core.excludesfile" && !v.bare:
			s.exclude(s.locate(v.value, ""))
		case v.name == "core.ignorecase" && ok:
			s.fold = value
		case v.name == "extensions.worktreeconfig" && ok && depth == 0:
			s.worktree = value
		}
	}
}

// exclude sets core.excludesFile to name, to be read with the rights of the file that names it.
func (s *scan) exclude(name string) {
	read := s.read
	s.global = func() []byte { return text(read, name) }
}

// text returns the text of the file at name, nil for "".
func text(read func(path string) []byte, name string) []byte {
	if name == "" {
		return nil
	}
	return read(name)
}

// locate resolves a path in a configuration file relative to dir; "" if that is impossible.
func (s *scan) locate(value, dir string) string {
	value = strings.TrimPrefix(value, ":(optional)")
	rest, home := strings.CutPrefix(value, "~")
	switch {
	case value == "" || strings.HasPrefix(value, "%(prefix)/"):
		return ""
	case !home:
		return from(dir, value)
	case s.env.Home == "" || rest != "" && rest[0] != '/':
		return ""
	}
	return s.env.Home + rest
}

// from resolves name relative to dir; "" is the repository's top.
func from(dir, name string) string {
	if dir == "" || path.IsAbs(name) {
		return name
	}
	return dir + "/" + name
}

// within returns the path of a file in dir, "" where there is no dir.
func within(dir, name string) string {
	if dir == "" {
		return ""
	}
	return dir + "/" + name
}
