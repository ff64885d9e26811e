package shell

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// prints maps commands to their output, for commands that print the repository's place or its branch.
func prints(command, dir string, lookup func(string) string) map[string]string {
	known := map[string]string{}
	if strings.Contains(command, "go env GOROOT") {
		if root := filepath.Dir(filepath.Dir(realPath(lookup("go")))); goRoot(root) {
			known["go env GOROOT"] = root
		}
	}
	if !strings.Contains(command, "git ") {
		return known
	}
	git, found := findGit(dir)
	if !found || filepath.Base(git) != ".git" || !agenttool.Within(filepath.Dir(git), dir) || elsewhereTree(git) {
		return known
	}
	known["git rev-parse --show-toplevel"] = filepath.Dir(git)
	if name := branch(git); name != "" {
		known["git rev-parse --abbrev-ref HEAD"], known["git branch --show-current"] = name, name
	}
	return known
}

// goRoot reports whether a directory is where Go is installed.
func goRoot(dir string) bool {
	_, version := os.Stat(filepath.Join(dir, "VERSION"))
	_, tools := os.Stat(filepath.Join(dir, "pkg", "tool"))
	return version == nil && tools == nil
}

// realPath resolves the links of a path; "" on failure.
func realPath(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return real
}

// asksPlainTags reports whether the tags of the repository have usual names, if the command asks for them.
func asksPlainTags(command, dir string) bool {
	if !strings.Contains(command, "describe") {
		return false
	}
	git, found := findGit(dir)
	git, shares := shared(git)
	return found && shares && plainTags(git)
}

// branch returns the current branch of a repository, "" if there is none or its name is unusual.
func branch(git string) string {
	text, err := os.ReadFile(filepath.Join(git, "HEAD"))
	name, ok := strings.CutPrefix(strings.TrimRight(string(text), "\n"), "ref: refs/heads/")
	if err != nil || !ok || !usualName(name) {
		return ""
	}
	return name
}

// plainTags reports whether each tag of a repository has a usual name.
func plainTags(git string) bool {
	packed, err := os.ReadFile(filepath.Join(git, "packed-refs"))
	if err != nil && !os.IsNotExist(err) || len(packed) > 16<<20 {
		return false
	}
	for line := range strings.Lines(string(packed)) {
		if _, name, ok := strings.Cut(strings.TrimRight(line, "\n"), " refs/tags/"); ok && !usualName(name) {
			return false
		}
	}
	tags, seen := filepath.Join(git, "refs", "tags"), 0
	err = filepath.WalkDir(tags, func(path string, _ fs.DirEntry, err error) error {
		if path == tags && os.IsNotExist(err) {
			return nil
		}
		if seen++; err != nil || seen > maxEntries || path != tags && !usualName(filepath.Base(path)) {
			return fs.ErrInvalid
		}
		return nil
	})
	return err == nil
}

// usualName reports whether a git name contains no characters with a meaning to a shell or a program.
func usualName(name string) bool {
	const usual = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+@-"
	return name != "" && strings.Trim(name, usual) == "" && name[0] != '-' && name[0] != '/' && !strings.Contains(name, "//") && !strings.Contains(name, "..")
}

// elsewhereTree reports whether the configuration of a repository may name a work tree other than its own directory.
func elsewhereTree(git string) bool {
	text, err := os.ReadFile(filepath.Join(git, "config"))
	if err != nil || len(text) > maxPointer*16 {
		return true
	}
	lower := strings.ToLower(string(text))
	return slices.ContainsFunc([]string{"worktree", "include", "bare"}, func(word string) bool {
		return strings.Contains(strings.ReplaceAll(lower, "bare = false", ""), word)
	})
}
