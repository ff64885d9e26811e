package program

import (
	"slices"
	"strings"
)

// judgeGit judges what stands before the subcommand, and moves what the subcommand touches to where that says.
func judgeGit(a *Args, u *Use) {
	gitElsewhere(a, u)
	for _, dir := range a.Values("gitdir") {
		if !dir.Static {
			u.Add(RunsCode, "which repository git uses is not known, and its configuration can run programs")
		}
	}
	for _, dir := range a.Values("gittree") {
		u.Reads = append(u.Reads, dir)
		if !dir.Static || dir.Text != "." {
			u.Unknown("git --work-tree reads "+spelled(dir)+" as if it were the work tree of this repository", dir)
		}
	}
	for _, path := range a.Values("execpath") {
		u.Add(RunsCode, "git looks for its programs in "+path.Text)
	}
	for _, setting := range a.Values("gitconfig") {
		if !harmlessGitSetting(setting) {
			u.Add(RunsCode, "configuration can run programs, and this key is not known to be harmless: "+setting.Text)
		}
		if !setting.Static || strings.HasPrefix(strings.ToLower(setting.Text), "gc.") {
			u.Add(Destroys, "sets how long git keeps objects without a name: "+setting.Text)
		}
	}
	gitMeans(u)
	if a.Has("--paginate") {
		u.Add(RunsCode, "the pager is a program that configuration names")
	}
}

// gitMeans says in git's words what effects mean that no reason is about.
func gitMeans(u *Use) {
	for _, means := range [...]Reason{
		{Fact: "read_only", Text: "changes the repository"}, {Fact: "open_world", Text: "reaches the host of the remote"},
	} {
		about := func(r Reason) bool { return r.Fact == means.Fact || r.Fact == "" }
		has := u.Has(Writes) && means.Fact == "read_only" || u.Has(Reaches) && means.Fact == "open_world"
		if has && !u.Has(RunsCode) && !slices.ContainsFunc(u.Reasons, about) {
			u.Reasons = append(u.Reasons, means)
		}
	}
}

// gitElsewhere makes paths relative to the directory of -C, and puts the files of the git directory below .git or the value of
// --git-dir, which is right at the top of the work tree.
func gitElsewhere(a *Args, u *Use) {
	top, dir := Lit(""), Lit(".git")
	u.Git = &GitUse{Dir: top}
	for _, o := range a.Options {
		switch o.Name {
		case "-C":
			top = below(top, o.Value)
			u.Git.Dir = top
		case "--git-dir":
			dir = o.Value
			u.Git.GitDir = dir
		case "--help":
			u.Git.Verb = "help"
		}
	}
	if len(a.Operands) > 0 && u.Git.Verb == "" {
		u.Git.Verb = a.Operands[0].Text
	}
	if top.Text != "" || !top.Static {
		for _, list := range [][]Word{u.Reads, u.Looks, u.Writes} {
			for i, w := range list {
				list[i] = below(top, w)
			}
		}
	}
	if top.Text != "" || !top.Static {
		u.Reads = append(u.Reads, top)
	}
	if u.Git.GitDir != (Word{}) {
		u.Reads = append(u.Reads, below(top, dir))
	}
	if (u.Has(GitConfig) || u.Has(GitUpstream)) && !slices.Contains(u.Locks, "config.lock") {
		u.Locks = append(u.Locks, "config.lock")
	}
	gitLocks(u, top, dir)
	switch {
	case u.Has(GitConfig):
		u.gitFiles = append(u.gitFiles, "config")
	case u.Has(GitUpstream):
		u.Follows = append(u.Follows, below(below(top, dir), Lit("config")))
	}
	if len(u.gitFiles)+len(u.Follows) > 0 {
		u.Add(ReadsElsewhere, "the git directory, and its other changes, are known only from the disk")
	}
	for _, name := range u.gitFiles {
		u.Writes = append(u.Writes, below(below(top, dir), Lit(name)))
	}
}

// gitLocks takes the locks of git to the git directory; where that is not known, none is named.
func gitLocks(u *Use, top, dir Word) {
	locks := u.Locks[:0]
	for _, name := range u.Locks {
		if w := below(below(top, dir), Lit(name)); w.Static {
			locks = append(locks, w.Text)
		}
	}
	u.Locks = locks
}

// below returns a path as it is below a directory, "" being the one where the command runs.
func below(dir, path Word) Word {
	switch {
	case strings.HasPrefix(path.Text, "/"), dir.Static && (dir.Text == "" || dir.Text == "."):
		return path
	case !dir.Static:
		return Word{Line: path.Line, Column: path.Column}
	}
	path.Text = strings.TrimRight(dir.Text, "/") + "/" + path.Text
	path.Local = false
	return path
}

// GitCommand finds the subcommand behind the options of git. It is ok if there are options, and all that they change is what git shows and the
// directory where it runs: in is that directory, as -C says it, relative to the one of the command; "" if no -C is there.
func GitCommand(argv []Word) (from int, in string, ok bool) {
	options := Lookup("git").table()
	dir := Lit("")
	for from = 1; from < len(argv); from++ {
		word := argv[from]
		if !word.Static {
			return 0, "", false
		}
		if !strings.HasPrefix(word.Text, "-") {
			return from, dir.Text, from > 1
		}
		switch o := options.options[word.Text]; {
		case o == nil:
			return 0, "", false
		case o.kind == "" && len(o.effects) == 0:
		case word.Text == "-C" && from+1 < len(argv) && argv[from+1].Static && argv[from+1].Text != "":
			from++
			dir = below(dir, argv[from])
		case word.Text == "-c" && from+1 < len(argv) && argv[from+1].Static && harmlessGitSetting(argv[from+1]):
			from++
		default:
			return 0, "", false
		}
	}
	return 0, "", false
}
