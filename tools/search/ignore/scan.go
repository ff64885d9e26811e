package ignore

import (
	"path"
	"strings"

	"toolhost/permissions/protect/gitconfig"
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
	sha256   bool          // extensions.objectFormat is sha256, the same
}

// file reads the configuration file at name, if there is one, and those that it includes; depth counts the files that
// include it.
func (s *scan) file(name string, depth int) {
	if name == "" || s.left == 0 || depth > maxNested {
		return
	}
	s.left--
	for v := range gitconfig.Parse(string(s.read(name))) { // up to the first error, as git does
		value, ok := v.Bool()
		switch {
		case v.Key == "include.path" && !v.Bare:
			s.file(s.locate(v.Value, path.Dir(name)), depth+1)
		case v.Key == "core.excludesfile" && !v.Bare:
			s.exclude(s.locate(v.Value, ""))
		case v.Key == "core.ignorecase" && ok:
			s.fold = value
		case v.Key == "extensions.worktreeconfig" && ok && depth == 0:
			s.worktree = value
		case v.Key == "extensions.objectformat" && depth == 0:
			s.sha256 = strings.EqualFold(v.Value, "sha256")
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
