package program

import "strings"

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
var gitHarmlessKeys = WordSet(`blame.coloring blame.showemail blame.showroot blame.blankboundary blame.date log.date
	log.decorate log.abbrevcommit log.follow log.showroot log.mailmap user.name user.email core.quotepath core.abbrev core.precomposeunicode core.ignorecase core.filemode core.autocrlf
	core.eol core.safecrlf core.whitespace core.commentchar core.preloadindex core.bigfilethreshold
	core.logallrefupdates core.warnambiguousrefs core.checkstat core.trustctime core.symlinks core.longpaths
	diff.algorithm diff.renames diff.renamelimit diff.noprefix diff.mnemonicprefix diff.context diff.interhunkcontext
	diff.colormoved diff.colormovedws diff.wserrorhighlight diff.statgraphwidth diff.statnamewidth diff.ignoresubmodules
	diff.submodule diff.suppressblankempty diff.wordregex diff.relative diff.indentheuristic diff.autorefreshindex
	diff.dirstat grep.linenumber grep.column grep.patterntype grep.extendedregexp grep.threads grep.fullname
	grep.fallbacktonoindex merge.renames merge.renamelimit merge.conflictstyle merge.ff pull.rebase
	pull.ff push.default fetch.prune rebase.autosquash rebase.autostash commit.verbose commit.gpgsign tag.gpgsign
	tag.sort branch.sort stash.showpatch stash.showstat submodule.recurse fetch.recursesubmodules gc.auto
	maintenance.auto protocol.version init.defaultbranch`)

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
