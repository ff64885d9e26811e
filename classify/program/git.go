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

// GitCommand finds the subcommand behind the options of git. It is ok if there are options, and all that they change is what git
// shows and the directory where it runs: in is that directory, as -C says it, relative to the one of the command; "" if no -C is
// there.
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

// judgeGitConfig finds the forms that write: an action says so, a subcommand says so, or a name has a value.
func judgeGitConfig(a *Args, u *Use) {
	writes := a.Has("--replace-all", "--add", "--unset", "--unset-all", "--rename-section", "--remove-section",
		"--edit")
	reads := a.Has("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "--list")
	if !writes && !reads && gitConfigSets(a.Operands, u) {
		u.Add(Writes, "sets a value in git's configuration")
		writes = true
	}
	files := a.Values("file")
	if writes {
		u.Writes = append(u.Writes, files...)
		judgeGitTargets(a, u)
		return
	}
	u.Reads = append(u.Reads, files...)
	if a.Has("--includes") {
		u.Add(ReadsElsewhere, "the configuration may include other files")
	}
}

// judgeGitTargets names the files that git config writes, besides those of --file.
func judgeGitTargets(a *Args, u *Use) {
	if a.Has("--global") {
		u.Add(GitGlobal, "writes git's configuration of the person")
	}
	if a.Has("--system") {
		u.Writes = append(u.Writes, Lit("/etc/gitconfig"))
	}
	if a.Has("--worktree") {
		u.gitFiles = append(u.gitFiles, "config.worktree")
	}
	if !a.Has("--global", "--system", "--file") { // with one work tree, --worktree means the whole repository
		u.Add(GitConfig, "writes the configuration of the repository")
	}
}

func gitConfigSets(operands []Word, u *Use) bool {
	for _, w := range operands {
		if w.Many {
			u.Unknown("git config with a second operand sets a value", w)
			return false
		}
	}
	if len(operands) == 0 {
		return false
	}
	switch verb := operands[0]; {
	case !verb.Static && len(operands) > 1:
		return true
	case verb.Text == "list" || verb.Text == "get":
		return false
	case verb.Text == "edit":
		u.Add(Interactive, "opens an editor")
		return true
	}
	return len(operands) > 1
}

// gitHarmlessSections are the sections without any key that names a program, a file, a host or a repository.
var gitHarmlessSections = WordSet("color column advice status i18n versionsort")

// gitHarmlessKeys are harmless keys of other sections.
var gitHarmlessKeys = WordSet(`
	blame.coloring blame.showemail blame.showroot blame.blankboundary blame.date log.date log.decorate log.abbrevcommit
	log.follow log.showroot log.mailmap user.name user.email core.quotepath core.abbrev core.precomposeunicode
	core.ignorecase core.filemode core.autocrlf core.eol core.safecrlf core.whitespace core.commentchar core.preloadindex
	core.bigfilethreshold core.logallrefupdates core.warnambiguousrefs core.checkstat core.trustctime core.symlinks
	core.longpaths diff.algorithm diff.renames diff.renamelimit diff.noprefix diff.mnemonicprefix diff.context
	diff.interhunkcontext diff.colormoved diff.colormovedws diff.wserrorhighlight diff.statgraphwidth diff.statnamewidth
	diff.ignoresubmodules diff.submodule diff.suppressblankempty diff.wordregex diff.relative diff.indentheuristic
	diff.autorefreshindex diff.dirstat grep.linenumber grep.column grep.patterntype grep.extendedregexp grep.threads
	grep.fullname grep.fallbacktonoindex merge.renames merge.renamelimit merge.conflictstyle merge.ff pull.rebase pull.ff
	push.default fetch.prune rebase.autosquash rebase.autostash commit.verbose commit.gpgsign tag.gpgsign tag.sort
	branch.sort stash.showpatch stash.showstat submodule.recurse fetch.recursesubmodules gc.auto maintenance.auto
	protocol.version init.defaultbranch`)

// gitHarmlessValues are settings that are harmless with just this value: they turn something off.
var gitHarmlessValues = WordSet(`core.fsmonitor=false core.fsmonitor= core.pager=cat core.pager= diff.external=
	core.hookspath=/dev/null log.showsignature=false core.attributesfile=/dev/null core.excludesfile=/dev/null
	core.untrackedcache=false`)

// harmlessGitSetting judges the value of -c, NAME or NAME=VALUE. Section and key are compared without case.
func harmlessGitSetting(w Word) bool {
	name, value, assigned := strings.Cut(w.Text, "=")
	if !w.Static && !assigned {
		return false
	}
	name = strings.ToLower(name)
	if w.Static && gitHarmlessValues[name+"="+value] {
		return true
	}
	section, rest, ok := strings.Cut(name, ".")
	switch {
	case !ok || name == "log.showsignature" || name == "log.diffmerges":
		return false
	case section == "pager":
		return w.Static && (value == "false" || value == "cat" || value == "")
	case name == "branch.sort" || name == "tag.sort":
		return w.Static && !strings.Contains(value, "signature")
	case name == "format.pretty":
		return w.Static && !gitSigns(value)
	case strings.Contains(rest, ".") && section != "color" && section != "branch":
		return false
	}
	return gitHarmlessSections[section] || gitHarmlessKeys[name]
}
