package shell

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify"
	"toolhost/classify/program"
)

// refineNames judges a command that is not provably read-only again with facts from the disk: the names of files, and
// the state of its repository. It returns the paths of the facts if they improved.
func (c *call) refineNames(ctx context.Context) ([]*agenttool.Path, bool) {
	f := &c.facts
	proved := f.ReadOnly == agenttool.Yes && f.PathsComplete == agenttool.Yes && f.OpenWorld == agenttool.No
	if proved || f.Destructive == agenttool.Yes || f.Dir.Resolved == "" {
		return nil, false
	}
	at := classify.Context{Dir: filepath.Clean(f.Dir.Absolute), Home: c.home, Git: c.git}
	looked, ok := classify.Looked(c.input.Command, at, classify.Disk{Prints: c.prints(), PlainTags: c.plainTags(), Absent: c.absent})
	if !ok || looked.ReadOnly != agenttool.Yes && (len(looked.Globs) > 0 || looked.OpenWorld == f.OpenWorld) {
		return nil, false
	}
	for _, paths := range [2][]agenttool.Path{looked.Reads, looked.Writes} {
		for i := range paths {
			if c.tool.w.Locate(&paths[i]) != nil {
				return nil, false
			}
		}
	}
	if len(looked.Globs) > 0 {
		m := lookUp(ctx, looked.Globs, c.tool.w.Locate)
		if m == nil || m.outside {
			return nil, false
		}
		looked.Reads = append(looked.Reads, m.paths...)
		looked.PathsComplete = agenttool.Yes
		for i := range looked.Parts {
			looked.Parts[i].PathsComplete = agenttool.Yes
		}
	}
	looked.Dir = f.Dir
	for _, path := range f.Reads { // keep the earlier findings about git
		if !slices.ContainsFunc(looked.Reads, func(p agenttool.Path) bool { return p.Absolute == path.Absolute }) {
			looked.Reads = append(looked.Reads, path)
		}
	}
	*f = looked
	return append(pointers(f.Reads), pointers(f.Writes)...), true
}

// prints maps commands to their output, for commands that print the repository's place or its branch.
func (c *call) prints() map[string]string {
	known := map[string]string{}
	if strings.Contains(c.input.Command, "go env GOROOT") {
		if root := filepath.Dir(filepath.Dir(realPath(c.tool.lookup("go")))); goRoot(root) {
			known["go env GOROOT"] = root
		}
	}
	if !strings.Contains(c.input.Command, "git ") {
		return known
	}
	git, found := findGit(c.facts.Dir.Resolved)
	if !found || filepath.Base(git) != ".git" || !agenttool.Within(filepath.Dir(git), c.facts.Dir.Resolved) || elsewhereTree(git) {
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

// plainTags reports whether the tags of the repository have usual names, if the command asks for them.
func (c *call) plainTags() bool {
	if !strings.Contains(c.input.Command, "describe") {
		return false
	}
	git, found := findGit(c.facts.Dir.Resolved)
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

// absent reports whether no file exists that would change the meaning of a use.
func (c *call) absent(dir string, of program.Settled) bool {
	missing := func(dir string, names []string) bool {
		return !slices.ContainsFunc(names, func(name string) bool {
			_, err := os.Lstat(filepath.Join(dir, name))
			return err == nil
		})
	}
	if !missing(dir, of.Absent) {
		return false
	}
	for at := filepath.Clean(dir); at != c.home; at = filepath.Dir(at) { // files in the home directory belong to the user
		if !missing(at, of.Upward) {
			return false
		}
		if at == "/" {
			break
		}
	}
	return true
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
