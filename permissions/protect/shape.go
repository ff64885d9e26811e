package protect

import (
	"os"
	"path"
	"slices"
	"strings"
)

// arms reports whether writing the file turns a directory above it into a git directory, or makes git run other commands in one, although
// no name of the table matches: a bare repository needs no .git.
func arms(file string) bool {
	_, _, arms := shapes(file)
	return arms
}

// Completes returns the directory that writing the file makes a git directory.
func Completes(file string) (dir string, completes bool) {
	dir, before, arms := shapes(file)
	return dir, arms && !before
}

// shapes returns the directory above a file that is a git directory when it is written, and whether that was one before.
func shapes(file string) (dir string, before, arms bool) {
	components := strings.Split(path.Clean(file), "/")
	for i := len(components) - 1; i > 0; i-- {
		name := components[i]
		if !slices.Contains([]string{"HEAD", "config", "config.worktree", "commondir", "hooks", "objects", "refs"}, name) {
			continue
		}
		dir := strings.Join(components[:i], "/")
		there := func(entry string) bool {
			_, err := os.Lstat(dir + "/" + entry)
			return err == nil
		}
		before := gitShaped(there)
		if gitShaped(func(entry string) bool { return entry == name || there(entry) }) && (!before || name != "objects" && name != "refs") {
			return dir, before, true
		}
	}
	return "", false, false
}

// gitShaped reports whether git takes a directory with some names for a git directory, or may take it for the one that another names as its common
// directory: that needs no HEAD of its own.
func gitShaped(has func(name string) bool) bool {
	return has("objects") && has("refs") || has("HEAD") && has("commondir")
}
