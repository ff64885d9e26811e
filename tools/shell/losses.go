package shell

import (
	"encoding/binary"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/classify/program"
	"toolhost/permissions/protect"
	"toolhost/tools/gitindex"
	"toolhost/tools/shell/keep"
)

// losses finds the files that a command destroys.
type losses struct {
	tool  *tool
	facts *agenttool.Facts
	home  string // of the user
}

// include reports whether the losses are all that a command which the line mentions can cause: it is one of the simple commands of the line,
// or it neither destroys nor moves files. One that moves files may stand where all others only read.
func (l losses) include(argv []string) bool {
	home := l.atHome(argv)
	own := func(part agenttool.Part) bool {
		return part.Exact && (slices.Equal(part.Argv, argv) || slices.Equal(part.Argv, home))
	}
	n := slices.IndexFunc(l.facts.Parts, own)
	if len(argv) == 0 || moves(argv) && (n < 0 || othersWrite(l.facts, n+1)) {
		return false
	}
	if n >= 0 {
		return true
	}
	return !strings.Contains(argv[0], agenttool.Unread) && program.Lookup(filepath.Base(argv[0])) == nil && program.Destroyer(filepath.Base(argv[0]), argv[1:]) == nil
}

// atHome returns words with the home directory for a tilde, which lines are mentioned with as well.
func (l losses) atHome(argv []string) []string {
	words := slices.Clone(argv)
	for i, word := range words {
		if rest, ok := strings.CutPrefix(word, "~/"); ok && l.home != "" {
			words[i] = l.home + "/" + rest
		}
	}
	return words
}

func destroys(part agenttool.Part) bool { return part.Destructive == agenttool.Yes }

// movers are programs that give files other names, or put their content under another one and remove them; moversByOption do so with a word
// that matches.
var (
	movers = []string{
		"mv", "ln", "rename", "mmv", "exch", "mount",
		"gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma", "unlzma", "compress", "uncompress", "lzip", "lzop", "pigz", "pbzip2",
	}
	moversByOption = map[string]*regexp.Regexp{
		"git": regexp.MustCompile("^(mv|move|pop)"), "rsync": regexp.MustCompile("^--remove-s"), "tar": regexp.MustCompile("^--rem"),
		"zip": regexp.MustCompile("^-[^-]*m|^--mo"), "zstd": regexp.MustCompile("^--rm"), "lz4": regexp.MustCompile("^--rm|^-[^-]*m"),
		"7z": regexp.MustCompile("^-sdel"),
	}
)

// moves reports whether a command gives files other names: the file that has a name now is not the one that is removed there.
func moves(argv []string) bool {
	name := filepath.Base(argv[0])
	option := moversByOption[name]
	return slices.Contains(movers, name) || option != nil && slices.ContainsFunc(argv[1:], option.MatchString)
}

// namesTarget matches the option of mv that names the directory to move to.
var namesTarget = regexp.MustCompile("^-[^-]*t|^--t")

// refineMoves marks commands that move files of the user to the session's own /tmp as ones that destroy: they end with the session.
func refineMoves(f *agenttool.Facts) {
	for i := range f.Parts {
		part := &f.Parts[i]
		if len(part.Argv) < 3 || filepath.Base(part.Argv[0]) != "mv" {
			continue
		}
		named := slices.ContainsFunc(part.Argv, namesTarget.MatchString)
		ends := func(w agenttool.Path) bool { return w.By == i+1 && w.Seen == "" }
		into := func(w agenttool.Path) bool {
			return w.By == i+1 && w.Seen != "" && (named || w.Spelling == part.Argv[len(part.Argv)-1])
		}
		if slices.ContainsFunc(f.Writes, ends) && slices.ContainsFunc(f.Writes, into) {
			part.Destructive, f.Destructive = agenttool.Yes, agenttool.Yes
			part.Reasons = append(slices.Clip(part.Reasons), agenttool.Reason{
				Fact: "destructive", Text: "`mv` takes files to the session's own /tmp, which ends with the session", Line: part.Line, Column: part.Column,
			})
		}
	}
}

// of returns the places that a simple command removes or overwrites, if they are known.
func (l losses) of(i int) (keep.Places, bool) {
	part := &l.facts.Parts[i]
	if !part.Exact || len(part.Argv) == 0 {
		return nil, false
	}
	if len(part.Argv) > 2 && slices.Equal(part.Argv[:2], []string{"git", "worktree"}) {
		return l.byWorktree(part)
	}
	if part.PathsComplete == agenttool.Yes {
		return l.byName(i)
	}
	dir, ok := l.startOf(part)
	if !ok {
		return nil, false
	}
	switch {
	case part.Argv[0] == "git" && len(part.Argv) > 1:
		return l.byGit(dir, part.Argv[1:])
	case part.Argv[0] == "go" && cleansHere(part.Argv):
		return l.inTree(dir, false)
	case part.Argv[0] == "find":
		return l.byFind(dir, part.Argv[1:])
	}
	return nil, false
}

// startOf returns the directory that a simple command starts in, without links.
func (l losses) startOf(part *agenttool.Part) (string, bool) {
	dir := l.facts.Dir.Resolved
	if len(part.Dirs) > 1 {
		return "", false
	}
	if len(part.Dirs) == 1 {
		dir = filepath.Clean(part.Dirs[0])
	}
	real, err := l.tool.real(dir)
	return dir, err == nil && real == dir && l.rootOf(dir) != ""
}

// rootOf returns the root of the workspace that holds a path, "" if none does.
func (l losses) rootOf(path string) string {
	for _, root := range l.tool.w.Roots() {
		if root != "/" && agenttool.Within(root, path) {
			return root
		}
	}
	return ""
}

// byName returns the paths that a simple command names as written. Those in the session's own /tmp end with the session.
func (l losses) byName(i int) (places keep.Places, ok bool) {
	named := false
	for _, w := range l.facts.Writes {
		if w.By != i+1 {
			continue
		}
		named = true
		switch clean := filepath.Clean(w.Absolute); {
		case w.Loose:
			return nil, false
		case w.Seen != "" && w.Seen == clean:
		case w.Private || w.Resolved != clean:
			return nil, false
		default:
			place, ok := l.placeOf(w)
			if !ok {
				return nil, false
			}
			places = append(places, place)
		}
	}
	return places, named
}

// placeOf returns the place of a path in the workspace, or in a directory that the session made. What protects names in such a directory
// ends with it: they are copied, and so are repositories.
func (l losses) placeOf(w agenttool.Path) (place keep.Place, ok bool) {
	root := w.Root
	if root == "" {
		if root = l.madeWith(w.Resolved); root == w.Resolved {
			return keep.Place{Root: filepath.Dir(root), Path: root, Git: true}, root != ""
		}
	} else if l.rootOf(w.Resolved) != root {
		return keep.Place{}, false
	}
	holds := func(path string) bool { return l.tool.w.Protects(path, root) }
	return keep.Place{Root: root, Path: w.Resolved, Holds: holds}, root != "" && root != w.Resolved
}

// madeWith returns the directory made by the session that holds a path outside of the workspace, "" if none does.
func (l losses) madeWith(path string) string {
	if l.tool.o.Made == nil {
		return ""
	}
	for _, dir := range l.tool.o.Made() {
		if agenttool.Within(dir, path) {
			return dir
		}
	}
	return ""
}

// refineLoose marks paths whose directory is not there, and none that the line itself makes: another command of the line may put a link to
// other files in its place. All are marked where a command may bring files of the user from elsewhere; mv is looked at by itself.
func refineLoose(f *agenttool.Facts) {
	brings := slices.ContainsFunc(f.Mentions, func(argv []string) bool {
		return len(argv) > 0 && moves(argv) && !slices.Contains([]string{"mv", "ln"}, filepath.Base(argv[0]))
	})
	for i := range f.Writes {
		w := &f.Writes[i]
		dir := filepath.Dir(filepath.Clean(w.Absolute))
		made := func(of agenttool.Path) bool { return of.Makes && agenttool.Within(dir, filepath.Clean(of.Absolute)) }
		leads := w.Resolved != "" && (filepath.Dir(w.Resolved) == w.Root || exists(filepath.Dir(w.Resolved)))
		w.Loose = brings || !leads && othersWrite(f, w.By) && !slices.ContainsFunc(f.Writes, made)
	}
}

// othersWrite reports whether a line has a simple command, beside the one of a number from 1, that does not only read.
func othersWrite(f *agenttool.Facts, number int) bool {
	for i := range f.Parts {
		if i+1 != number && f.Parts[i].ReadOnly != agenttool.Yes {
			return true
		}
	}
	return false
}

// restorable are the verbs of git that change nothing but the work tree, the index and references of the repository they run in.
var restorable = []string{"checkout", "restore", "reset", "clean", "rm", "branch", "tag", "stash"}

// prunesRemote reports whether a command of git removes references to branches that a remote has lost, and does nothing else.
func prunesRemote(words []string) bool {
	return len(words) > 1 && words[0] == "remote" && words[1] == "prune"
}

// rootOfGit returns the directory below which a git directory is copied: a root of the workspace, or the repository that dir is a work tree of.
func (l losses) rootOfGit(dir, git string) string {
	if root := l.rootOf(git); root != "" {
		return root
	}
	if of, ok := protect.CheckoutOf(dir, ""); ok && agenttool.Within(of.Common, git) {
		return of.Common
	}
	return ""
}

// byGit returns the references and the index, and the files of the work tree that are not as the index has them. git stores the content
// of all others, and keeps commits without a reference for two weeks.
func (l losses) byGit(dir string, words []string) (keep.Places, bool) {
	verb := words[0]
	git, found := findGit(dir)
	common, ok := shared(git)
	if !found || !ok || !slices.Contains(restorable, verb) && !prunesRemote(words) || elsewhereTree(common) || inBare(dir) || l.forgets(common) {
		return nil, false
	}
	var places keep.Places
	if verb != "branch" && verb != "tag" && verb != "remote" {
		if places, ok = l.inTree(dir, verb == "clean"); !ok {
			return nil, false
		}
	}
	for _, at := range [][]string{{git, "index", "HEAD", "logs", "reftable"}, {common, "packed-refs", "refs", "logs", "reftable"}} {
		root := l.rootOfGit(dir, at[0])
		if root == "" {
			return nil, false
		}
		for _, name := range at[1:] {
			places = append(places, keep.Place{Root: root, Path: filepath.Join(at[0], name), Git: true})
		}
	}
	return places, true
}

// forgets reports whether git may forget objects without a name sooner than it does by itself, or what it is told cannot be read.
func (l losses) forgets(git string) bool {
	return slices.ContainsFunc(append(userConfigs(l.home), filepath.Join(git, "config")), func(file string) bool {
		config, ok := readGitConfig(file)
		for key := range config {
			if strings.HasPrefix(key, "gc.") && strings.Contains(key[strings.LastIndexByte(key, '.'):], "expire") {
				return true
			}
		}
		return !ok && !isMissing(file)
	})
}

// byWorktree returns the files of a linked work tree that git does not have, and those that its repository has for it.
func (l losses) byWorktree(part *agenttool.Part) (keep.Places, bool) {
	dir, ok := l.startOf(part)
	words := slices.DeleteFunc(slices.Clone(part.Argv[3:]), func(word string) bool { return slices.Contains([]string{"-f", "--force", "-v", "--"}, word) })
	of, known := protect.CheckoutOf(dir, "")
	switch {
	case !ok || !known || l.forgets(of.Common):
		return nil, false
	case part.Argv[2] == "prune" && len(words) == 0:
		root := l.rootOfGit(dir, of.Common)
		return keep.Places{{Root: root, Path: filepath.Join(of.Common, "worktrees"), Git: true}}, root != ""
	case part.Argv[2] != "remove" || len(words) != 1 || strings.HasPrefix(words[0], "-"):
		return nil, false
	}
	tree := words[0]
	if !filepath.IsAbs(tree) {
		tree = filepath.Join(dir, tree)
	}
	if !slices.Contains(of.Linked(), filepath.Join(tree, ".git")) {
		return nil, false
	}
	git, _ := findGit(tree)
	root := l.rootOfGit(dir, git)
	places, ok := l.inTree(tree, true)
	if !ok || root == "" || len(places) != 1 {
		return nil, false
	}
	places[0].Root = tree
	pointer := keep.Place{Root: tree, Path: filepath.Join(tree, ".git"), Git: true} // without it git takes the tree for a part of another
	return append(places, pointer, keep.Place{Root: root, Path: git, Git: true}), true
}

// inBare reports whether git may find a repository without .git on the way up from a directory. Its configuration can name any work tree.
func inBare(dir string) bool {
	for ; !exists(filepath.Join(dir, ".git")) && dir != "/"; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, "HEAD")) && (exists(filepath.Join(dir, "objects")) || exists(filepath.Join(dir, "commondir"))) {
			return true
		}
	}
	return false
}

// inTree returns the work tree that holds a directory, or the directory, without the files that are as the index has them. Secrets, which
// git rarely has and the sandbox covers, count only for a command that removes all untracked files.
func (l losses) inTree(dir string, untracked bool) (keep.Places, bool) {
	secret := func(path string) bool {
		return !untracked && l.tool.o.Keep.Refuses != nil && l.tool.o.Keep.Refuses(path)
	}
	git, found := findGit(dir)
	if !found {
		return keep.Places{{Root: dir, Path: dir, Skip: func(path string, _ fs.FileInfo) bool { return secret(path) }}}, true
	}
	top := dir
	for !exists(filepath.Join(top, ".git")) {
		top = filepath.Dir(top)
	}
	root := l.rootOf(top)
	if root == "" { // the workspace is a part of the tree: commands write nothing above
		root = l.rootOf(dir)
	}
	stored, ok := storedFiles(git, top)
	skip := func(path string, info fs.FileInfo) bool {
		return path == filepath.Join(top, ".git") || secret(path) || stored(path, info)
	}
	return keep.Places{{Root: root, Path: deeper(root, top), Skip: skip}}, ok
}

// deeper returns the inner one of two directories, if one of them holds the other.
func deeper(a, b string) string {
	if len(a) > len(b) {
		return a
	}
	return b
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// storedFiles returns a function that reports whether a file of a work tree is as git's index has it, by the attributes that git compares.
// git has the content of such a file.
func storedFiles(git, top string) (stored func(string, fs.FileInfo) bool, ok bool) {
	index, err := os.Stat(filepath.Join(git, "index"))
	if err != nil {
		return func(string, fs.FileInfo) bool { return false }, os.IsNotExist(err)
	}
	entries := map[string][40]byte{}
	ok = readIndex(git, func(e gitindex.Entry) bool {
		entries[string(e.Path)] = [40]byte(e.Stat)
		return len(entries) <= maxStored
	})
	return func(path string, info fs.FileInfo) bool {
		var st unix.Stat_t
		name, err := filepath.Rel(top, path)
		entry, known := entries[name]
		return known && err == nil && info.Mode().IsRegular() && info.ModTime().Before(index.ModTime()) && unix.Lstat(path, &st) == nil && unchanged(entry, &st)
	}, ok
}

// maxStored bounds the files of an index.
const maxStored = 200_000

// unchanged compares the change and modification times, the inode and the size, see gitformat-index(5).
func unchanged(entry [40]byte, st *unix.Stat_t) bool {
	word := func(at int) uint32 { return binary.BigEndian.Uint32(entry[at:]) }
	return word(0) == uint32(st.Ctim.Sec) && word(4) == uint32(st.Ctim.Nsec) && word(8) == uint32(st.Mtim.Sec) && word(12) == uint32(st.Mtim.Nsec) &&
		word(20) == uint32(st.Ino) && word(36) == uint32(st.Size)
}

// cleansHere reports whether go clean removes files of packages below the directory that it starts in, and no cache.
func cleansHere(argv []string) bool {
	return len(argv) > 1 && argv[1] == "clean" && !slices.ContainsFunc(argv[2:], func(word string) bool {
		return word != "." && !strings.HasPrefix(word, "./") || slices.Contains(strings.Split(word, "/"), "..")
	})
}

// byFind returns the files that find deletes, if its expression only names, types and deletes.
func (l losses) byFind(dir string, words []string) (places keep.Places, ok bool) {
	n := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") || w == "!" || w == "(" })
	if n < 0 {
		return nil, false
	}
	names, ok := foundNames(words[n:])
	if !ok {
		return nil, false
	}
	starts := words[:n]
	if n == 0 {
		starts = []string{"."}
	}
	for _, start := range starts {
		at := agenttool.Path{Spelling: start, Absolute: start}
		if !filepath.IsAbs(start) {
			at.Absolute = filepath.Join(dir, start)
		}
		if l.tool.w.Locate(&at) != nil || at.Root == "" || at.Resolved != filepath.Clean(at.Absolute) || l.rootOf(at.Resolved) != at.Root {
			return nil, false
		}
		other := func(path string, info fs.FileInfo) bool { return !info.IsDir() && !names(filepath.Base(path)) }
		holds := func(path string) bool { return strings.Contains(path, "/.git/") && names(filepath.Base(path)) }
		places = append(places, keep.Place{Root: at.Root, Path: at.Resolved, Skip: other, Holds: holds, Git: true})
	}
	return places, true
}

// foundNames returns which names an expression of find may delete.
func foundNames(words []string) (match func(string) bool, ok bool) {
	if words[len(words)-1] != "-delete" {
		return nil, false
	}
	patterns := []string{}
	for i := 0; i < len(words)-1; i++ {
		switch words[i] {
		case "-empty", "-depth":
		case "-type", "-maxdepth", "-mindepth":
			i++
		case "-name":
			if i++; i >= len(words)-1 || strings.ContainsAny(words[i], `?[\`) { // the locale says how long a character is
				return nil, false
			}
			patterns = append(patterns, words[i])
		default:
			return nil, false
		}
	}
	return func(name string) bool {
		return !slices.ContainsFunc(patterns, func(p string) bool { found, err := path.Match(p, name); return err == nil && !found })
	}, true
}
