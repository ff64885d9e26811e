package dirs

import (
	"os"
	"path/filepath"
)

// Real is path without links, or path itself where it leads nowhere.
func Real(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// RealAll are directories made absolute and without links. Those that cannot be made absolute are left out.
func RealAll(dirs []string) []string {
	var real []string
	for _, dir := range dirs {
		if dir, err := filepath.Abs(dir); err == nil {
			real = append(real, Real(dir))
		}
	}
	return real
}

// Target is where a path leads. Its last names need not exist: a link may lead to a name that is still to be made.
func Target(path string) string {
	const maxLinks = 40
	for range maxLinks {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		target, err := os.Readlink(path)
		if err != nil {
			if dir := filepath.Dir(path); dir != path {
				return filepath.Join(Target(dir), filepath.Base(path))
			}
			return path
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}
