package shell

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify/program"
	"toolhost/permissions/protect"
)

// losses says of what commands destroy whether that is files alone, which the supervisor keeps before they change.
type losses struct {
	tool  *tool
	facts *agenttool.Facts
	home  string // of the user
}

// refineCopies marks the simple commands that destroy nothing but files of the workspace, if that holds for all that the line destroys: each of
// these files is kept when it is about to change, or the change waits for a user.
func (c *call) refineCopies() {
	f := &c.facts
	if f.Destructive != agenttool.Yes || c.tool.o.Keep == nil || f.PartsComplete != agenttool.Yes || f.Unmentioned || !slices.ContainsFunc(f.Parts, destroys) {
		return
	}
	l := losses{c.tool, f, c.home}
	for _, argv := range f.Mentions {
		if !l.mayMention(argv) {
			return
		}
	}
	for i := range f.Parts {
		if destroys(f.Parts[i]) && !l.areFiles(i) {
			return
		}
	}
	for i := range f.Parts {
		f.Parts[i].Copied = destroys(f.Parts[i])
	}
}

func destroys(part agenttool.Part) bool { return part.Destructive == agenttool.Yes }

// mayMention reports whether a command that the line mentions, as one of its simple commands or in the words of another, destroys nothing but
// files. The simple commands are looked at by themselves.
func (l losses) mayMention(argv []string) bool {
	if len(argv) == 0 || strings.Contains(argv[0], agenttool.Unread) {
		return false
	}
	home := l.atHome(argv)
	own := func(part agenttool.Part) bool { return slices.Equal(part.Argv, argv) || slices.Equal(part.Argv, home) }
	name := filepath.Base(argv[0])
	return slices.ContainsFunc(l.facts.Parts, own) || program.OfFiles(name) || program.Destroyer(name, argv[1:]) == nil
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

// areFiles reports whether all that a simple command destroys are files of the workspace, or of directories that the session made.
func (l losses) areFiles(i int) bool {
	part := &l.facts.Parts[i]
	if len(part.Argv) == 0 {
		return false
	}
	worktree := len(part.Argv) > 2 && part.Argv[0] == "git" && part.Argv[1] == "worktree" // which may lie anywhere
	for _, w := range l.facts.Writes {
		if w.By != i+1 {
			continue
		}
		outside := w.Root == "" && w.Seen == "" && !w.Follows && !worktree && l.madeWith(w.Resolved) == "" && !l.isOfRepository(w.Resolved)
		secret := l.tool.o.Keep.Refuses != nil && l.tool.o.Keep.Refuses(w.Resolved) // covered, and in the way of whoever removes it
		if outside || w.Private || secret {
			return false
		}
	}
	switch name := filepath.Base(part.Argv[0]); name {
	case "git":
		return part.Exact && (len(part.Argv) == 2 && part.Argv[1] != "worktree" || len(part.Argv) > 2) && l.gitLosesFiles(part)
	case "go":
		return part.Exact && cleansHere(part.Argv)
	case "rsync":
		return part.Exact // of another machine's files it is known that they are there
	default:
		return program.OfFiles(name)
	}
}

// isOfRepository reports whether a path is in the git directory of the repository that the directory of the command is a part of.
func (l losses) isOfRepository(path string) bool {
	of, ok := protect.CheckoutOf(l.facts.Dir.Resolved, "")
	return ok && agenttool.Within(of.Common, path)
}

// restorable are the verbs of git that change nothing but the work tree, the index and references of the repository they run in.
var restorable = []string{"checkout", "restore", "reset", "clean", "rm", "branch", "tag", "stash"}

// prunesRemote reports whether a command of git removes references to branches that a remote has lost, and does nothing else.
func prunesRemote(words []string) bool {
	return len(words) > 1 && words[0] == "remote" && words[1] == "prune"
}

// gitLosesFiles reports whether a command of git changes nothing but the work tree, the index and references. git keeps commits without a
// reference for two weeks, unless it is told to forget them sooner.
func (l losses) gitLosesFiles(part *agenttool.Part) bool {
	words, dir := part.Argv[1:], l.facts.Dir.Resolved
	if len(part.Dirs) > 1 || slices.ContainsFunc(part.Variables, func(v agenttool.Variable) bool { return v.Influence != agenttool.ShowsOther }) {
		return false
	}
	if len(part.Dirs) == 1 {
		dir = filepath.Clean(part.Dirs[0])
	}
	git, found := findGit(dir)
	common, ok := shared(git)
	if !found || !ok || l.forgets(common) {
		return false
	}
	if words[0] == "worktree" {
		return prunesWorktrees(words) || removesWorktree(dir, words)
	}
	return slices.Contains(restorable, words[0]) || prunesRemote(words)
}

// prunesWorktrees reports whether git forgets work trees that are gone.
func prunesWorktrees(words []string) bool {
	return words[1] == "prune" && !slices.ContainsFunc(words[2:], func(word string) bool { return word != "-v" && word != "--verbose" })
}

// removesWorktree reports whether git removes one linked work tree of the repository that a directory is in, which the sandbox opens for that.
func removesWorktree(dir string, words []string) bool {
	named := slices.DeleteFunc(slices.Clone(words[2:]), func(word string) bool { return slices.Contains([]string{"-f", "--force", "--"}, word) })
	of, known := protect.CheckoutOf(dir, "")
	if words[1] != "remove" || len(named) != 1 || strings.HasPrefix(named[0], "-") || !known {
		return false
	}
	tree := named[0]
	if !filepath.IsAbs(tree) {
		tree = filepath.Join(dir, tree)
	}
	return slices.Contains(of.Linked(), filepath.Join(tree, ".git"))
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

// cleansHere reports whether go clean removes files of packages below the directory that it starts in, and no cache.
func cleansHere(argv []string) bool {
	return len(argv) > 1 && argv[1] == "clean" && !slices.ContainsFunc(argv[2:], func(word string) bool {
		return word != "." && !strings.HasPrefix(word, "./") || slices.Contains(strings.Split(word, "/"), "..")
	})
}

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

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
