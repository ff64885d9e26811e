package program

import "strings"

// judgeGitShow judges revisions, paths and formats.
func judgeGitShow(a *Args, u *Use) {
	judgeGitFormats(a, u)
	u.Reads = append(u.Reads, gitOperands(a, a.Operands)...)
	u.Reads = append(u.Reads, gitLines(a.Values("gitlines"))...)
	for _, o := range a.Options {
		if o.Name == "--submodule" && (o.Value.Text == "diff" || o.Has && !o.Value.Static) {
			u.Unknown("git runs in submodules to show this, with the configuration of each", o.Value)
		}
	}
	for _, format := range a.Values("gitmerges") {
		switch format.Text {
		case "off", "none", "on", "m", "first-parent", "1", "separate", "combined", "c", "dense-combined", "cc":
		default:
			u.Unknown("this way to show merges may write objects: "+format.Text, format)
		}
	}
}

// judgeGitBlame also looks at the word after -- and a file: blame takes it for a revision (git blame -- FILE REV), and reads
// revisions as options.
func judgeGitBlame(a *Args, u *Use) {
	judgeGitShow(a, u)
	rest := a.Argv[len(a.Argv)-afterDashes(a.Argv):]
	for i, w := range rest {
		if i > 0 && (!w.Static || strings.HasPrefix(w.Text, "-")) {
			u.Unknown("after -- and a file, blame takes a word for an option", w)
		}
	}
}

// judgeGitLog judges what is made of the options of revisions and of diffs. Only the latter can be grouped: git takes
// -iS for one option that it does not know, and the word after it for an option.
func judgeGitLog(a *Args, u *Use) {
	judgeGitShow(a, u)
	dashes := len(a.Argv) - afterDashes(a.Argv)
	for _, w := range a.Argv[1:dashes] {
		if len(w.Text) > 2 && w.Text[0] == '-' && w.Text[1] != '-' && !gitGroup(w.Text[1:]) {
			u.Unknown("git does not group these options: "+w.Text, w)
		}
	}
}

// gitGroup reports whether git understands the letters after a dash: a number, letters of diff options, one of them possibly with
// the rest as its value, or -nNUMBER and -LRANGE.
func gitGroup(letters string) bool {
	if Digits(letters) || letters[0] == 'n' || letters[0] == 'L' {
		return true
	}
	rest := strings.TrimLeft(letters, "puWzDwbaRs")
	return rest == "" || strings.ContainsRune("UXBMClISGO", rune(rest[0]))
}

func judgeGitDiff(a *Args, u *Use) {
	judgeGitLog(a, u)
	if a.Has("--no-index") {
		u.Reads = append(u.Reads, a.Operands...)
	}
	u.Reasons = append(u.Reasons, because("git diff refreshes the index, whatever GIT_OPTIONAL_LOCKS says"))
}

func judgeGitGrep(a *Args, u *Use) {
	operands := a.Operands
	if !a.Has("-e") && !a.Has("-f") && len(operands) > 0 {
		operands = operands[1:]
	}
	if !a.Has("--no-index") {
		u.Reads = append(u.Reads, gitOperands(a, operands)...)
		return
	}
	for _, w := range operands {
		u.Reads = append(u.Reads, gitPathspec(w)...)
	}
}

func judgeGitReflog(a *Args, u *Use) {
	judgeGitLog(a, u)
	if len(a.Operands) == 0 {
		return
	}
	switch verb := a.Operands[0]; {
	case !verb.Static:
		u.Unknown("this may be a subcommand of git reflog", verb)
	case verb.Text == "expire" || verb.Text == "delete" || verb.Text == "drop":
		u.Add(Destroys, "removes entries of the reflog, by which lost commits are found")
		u.Add(Writes, "changes the reflog")
	case verb.Text == "write":
		u.Add(Writes, "changes the reflog")
	}
}

// judgeGitArchive judges the format. Git looks for --output and --remote before it knows the other options, even where
// the value of one should be; so only values in the same word count.
func judgeGitArchive(a *Args, u *Use) {
	judgeGitShow(a, u)
	for _, o := range a.Options {
		if o.Name == "--format" && !o.Has {
			u.Unknown("write --format=NAME in one word", a.Argv[0])
		}
	}
	for _, format := range a.Values("archive") {
		if format.Text != "tar" && format.Text != "zip" || !format.Static {
			u.Add(RunsCode, "this archive format may be a filter that configuration names: "+format.Text)
		}
	}
}

// judgeGitFormats finds placeholders that check signatures, which runs gpg.program.
func judgeGitFormats(a *Args, u *Use) {
	for _, format := range a.Values("gitformat") {
		if !format.Static {
			u.Unknown("a format that is not known may check signatures", format)
		} else if gitSigns(format.Text) {
			u.Add(RunsCode, "%G checks signatures with the program that gpg.program names")
		}
	}
	for _, format := range a.Values("refformat") {
		if !format.Static {
			u.Unknown("a format that is not known may check signatures", format)
		} else if strings.Contains(format.Text, "signature") {
			u.Add(RunsCode, "%(signature) runs the program that gpg.program names")
		}
	}
}

// gitSigns reports whether a format has a placeholder %G…, which a sign or a blank may stand in.
func gitSigns(format string) bool {
	for _, after := range strings.Split(format, "%")[1:] {
		if strings.HasPrefix(strings.TrimLeft(after, "+- "), "G") {
			return true
		}
	}
	return false
}

// judgeGitBranch finds the form that creates: a name, and no option that makes git list.
func judgeGitBranch(a *Args, u *Use) {
	judgeGitFormats(a, u)
	if len(a.Operands) == 0 || gitLists(a) || a.Has("--list", "--all", "--remotes", "--show-current", "--delete",
		"-D") {
		return
	}
	u.Add(Writes, "creates a branch (with --list it only shows)")
	gitTracks(a, u, a.Operands[1:])
}

// gitTracks takes note of a new branch that begins at a branch of a remote, which it is made to follow. Which start that
// is no text tells; HEAD is none.
func gitTracks(a *Args, u *Use, start []Word) {
	if len(start) == 0 || a.Has("--no-track") || start[0].Static && strings.HasPrefix(start[0].Text, "HEAD") {
		return
	}
	u.Add(GitUpstream, "notes in the configuration which branch the new one follows")
}

// gitLists reports whether an option was given that makes branch and tag list, whatever else is.
func gitLists(a *Args) bool {
	return a.Has("--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
}

func judgeGitTag(a *Args, u *Use) {
	judgeGitFormats(a, u)
	if len(a.Operands) == 0 || gitLists(a) || a.Has("--list", "-n", "--verify", "--delete") {
		return
	}
	u.Add(Writes, "creates a tag (with --list it only shows)")
}

func judgeGitSymbolicRef(a *Args, u *Use) {
	if len(a.Operands) > 1 || len(a.Operands) == 1 && a.Operands[0].Many {
		u.Add(Writes, "changes the reference that it names first")
	}
}

// judgeGitStashList judges git stash list, which takes the first -- away before it hands its words to git log.
func judgeGitStashList(a *Args, u *Use) {
	judgeGitLog(a, u)
	for _, w := range a.Argv[len(a.Argv)-afterDashes(a.Argv):] {
		if !w.Static && w.Text == "" || strings.HasPrefix(w.Text, "-") {
			u.Unknown("git stash list takes this for an option, although it stands after --", w)
		}
	}
}

func judgeGitStash(a *Args, u *Use) {
	if len(a.Operands) == 0 {
		u.Add(Writes, "takes the changes out of the work tree")
	}
}

func judgeGitWorktree(a *Args, u *Use) {
	u.gitFiles = append(u.gitFiles, "worktrees")
	makesDirs(u, a.Values("write"))
	if a.Has("-b", "-B") {
		gitTracks(a, u, a.Values("start"))
	}
}

// inGit is the Judge of commands that write these files of the git directory.
func inGit(names ...string) func(*Args, *Use) {
	return func(_ *Args, u *Use) { u.gitFiles = append(u.gitFiles, names...) }
}

// judgeGitSubmodules names the repositories of submodules, and the list of them at the top of the work tree.
func judgeGitSubmodules(a *Args, u *Use) {
	switch a.Argv[0].Text {
	case "add", "set-branch", "set-url":
		u.Writes = append(u.Writes, Lit(".gitmodules"))
	}
	switch a.Argv[0].Text {
	case "add", "update", "sync", "absorbgitdirs":
		u.gitFiles = append(u.gitFiles, "modules")
	}
}

// judgeGitForeach judges what runs in every submodule: one word is text for the shell, several are a command.
func judgeGitForeach(a *Args, u *Use) {
	u.Add(RunsCode, "runs a command in repositories with configuration of their own")
	runTextOrCommand(a.Values("foreach"), u)
}

// runTextOrCommand adds what a program runs that gives one word to the shell.
func runTextOrCommand(words []Word, u *Use) {
	switch {
	case len(words) == 1:
		u.Runs = append(u.Runs, Command{Shell: &words[0]})
	case len(words) > 1:
		u.Runs = append(u.Runs, Command{Argv: words})
	}
}

// joined returns words as the text that a shell gets of them, as far as it is known.
func joined(words []Word) *Word {
	if len(words) == 0 {
		return nil
	}
	text := words[0]
	for _, w := range words[1:] {
		if !text.Static {
			break
		}
		text.Text = strings.Join([]string{text.Text, w.Text}, " ")
		text.Static = w.Static
		text.Many = text.Many || w.Many
	}
	return &text
}

// judgeGitRemotes names the host, if the operand is one: NAME is a remote, anything with a colon is an address, and with a slash a path.
func judgeGitRemotes(a *Args, u *Use) {
	remotes := a.Values("remote")
	switch verb := a.Argv[0].Text; {
	case a.Has("--all", "--multiple", "--recurse-submodules"):
	case len(remotes) == 0:
		u.Remotes = append(u.Remotes, GitRemote{Push: verb == "push"})
	case len(remotes) == 1 && remotes[0].Static && !strings.ContainsAny(remotes[0].Text, ":/"):
		u.Remotes = append(u.Remotes, GitRemote{Name: remotes[0].Text, Push: verb == "push"})
	}
	for _, w := range a.Values("remote") {
		switch {
		case strings.Contains(w.Text, "::"):
			u.Add(RunsCode, "runs the transport of "+w.Text+", which is a program")
		case strings.Contains(w.Text, ":"):
			u.Hosts = append(u.Hosts, w)
		case strings.Contains(w.Text, "/") && a.Argv[0].Text == "push":
			u.Writes = append(u.Writes, w)
		case strings.Contains(w.Text, "/"):
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeGitRemotePrune names the remotes that list their branches.
func judgeGitRemotePrune(a *Args, u *Use) {
	for _, w := range a.Values("remote") {
		if w.Static && !strings.ContainsAny(w.Text, ":/") {
			u.Remotes = append(u.Remotes, GitRemote{Name: w.Text})
		} else {
			u.Add(HostsUnknown, "asks "+spelled(w))
		}
	}
}

func judgeGitRemoteShow(a *Args, u *Use) {
	if len(a.Operands) > 0 && !a.Has("-n") {
		u.Add(Reaches, "asks the remote (with -n it does not)")
	}
}

// judgeGitPush finds refspecs that remove or force: :NAME and +NAME.
func judgeGitPush(a *Args, u *Use) {
	judgeGitRemotes(a, u)
	for _, w := range a.Values("refspec") {
		switch {
		case strings.HasPrefix(w.Text, "+"):
			u.Add(Destroys, "replaces what is on the remote: "+w.Text+" is a forced push")
		case strings.HasPrefix(w.Text, ":") && w.Text != ":":
			u.Add(Destroys, "deletes on the remote: "+w.Text+" names no source")
		}
	}
}

func judgeGitClone(a *Args, u *Use) {
	judgeGitRemotes(a, u)
	for _, setting := range a.Values("gitconfig") {
		if !harmlessGitSetting(setting) {
			u.Add(RunsCode, "sets `"+setting.Text+"`, which may run a program")
		}
	}
	to := a.Values("destination")
	if from := a.Values("remote"); len(to) == 0 && len(from) > 0 {
		to = []Word{gitHumanish(from[0], a.Has("--bare", "--mirror"))}
	}
	gitMakes(a, u, to)
}

// gitHumanish returns the directory into which a repository is cloned when none is named: the last name of its address,
// without .git, or with it for a bare one.
func gitHumanish(address Word, bare bool) Word {
	name := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(address.Text, "/"), "/.git"), "/")
	name = strings.TrimSuffix(name[strings.LastIndexAny(name, "/:")+1:], ".git")
	if !address.Static || name == "" {
		return Word{Line: address.Line, Column: address.Column}
	}
	if bare {
		name += ".git"
	}
	address.Text = name
	return address
}

// gitMakes names the directory of a new repository, and the git directory in it unless it is bare.
func gitMakes(a *Args, u *Use, dirs []Word) {
	for _, dir := range dirs {
		u.Writes = append(u.Writes, dir)
		makesDirs(u, []Word{dir})
		if !a.Has("--bare", "--mirror") {
			u.Writes = append(u.Writes, below(dir, Lit(".git")))
		}
	}
}

func judgeGitInit(a *Args, u *Use) {
	dirs := a.Values("destination")
	if len(dirs) == 0 {
		dirs = []Word{Lit(".")}
	}
	gitMakes(a, u, dirs)
}

// judgeGitLFS names the configuration with the filters of large files, and the hooks.
func judgeGitLFS(a *Args, u *Use) {
	if !a.Has("--local", "--worktree", "--file") {
		judgeGitTargets(&Args{Options: append([]GivenOption{{Name: "--global"}}, a.Options...)}, u)
	} else {
		judgeGitTargets(a, u)
	}
	if !a.Has("--skip-repo") {
		u.gitFiles = append(u.gitFiles, "hooks/pre-push", "hooks/post-checkout", "hooks/post-commit", "hooks/post-merge")
	}
}

// judgeGitApply finds the forms that only look at a patch.
func judgeGitApply(a *Args, u *Use) {
	if !a.Has("--check", "--stat", "--numstat", "--summary") || a.Has("--apply", "--index", "--cached", "--3way",
		"--reject") {
		u.Add(Writes, "changes files (with --check it does not)")
	}
}

func judgeGitFormatPatch(a *Args, u *Use) {
	judgeGitShow(a, u)
	if !a.Has("--stdout") {
		u.Add(Writes, "writes a file for each commit (with --stdout it does not)")
	}
}

// judgeGitCheckout tells branches from files: a file that is checked out loses its changes.
func judgeGitCheckout(a *Args, u *Use) {
	files := afterDashes(a.Argv)
	if a.Has("-b", "-B") {
		gitTracks(a, u, a.Operands)
	}
	if a.Has("-b", "-B", "--orphan", "--detach") {
		return
	}
	for i, w := range a.Operands {
		if i >= len(a.Operands)-files || i > 0 || namesFile(w.Text) {
			u.Add(Destroys, "discards the changes of "+spelled(w))
			return
		}
	}
}

// namesFile reports whether a word looks like the name of a file, and not like a branch, a version or a commit: main.go, src/ and . do,
// main, v1.2 and origin/release-1.x do not.
func namesFile(text string) bool {
	last := text[strings.LastIndexByte(text, '/')+1:]
	if last == "" || last[0] == '.' || strings.ContainsAny(text, "*?[") {
		return text != ""
	}
	stem, extension, ok := strings.Cut(last, ".")
	version := strings.TrimLeft(stem, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_")
	return ok && !strings.Contains(last, "..") && (version == "" || !Digits(version) || extension == "" || !isVersion(extension))
}

// isVersion reports whether the text behind the first dot of a name is the rest of a version: 2, 2.1-rc1, x.
func isVersion(text string) bool {
	return text == "x" || text[0] >= '0' && text[0] <= '9'
}

// judgeGitSwitch finds a new branch that follows one of a remote. Any name may become such a branch if only a remote has it; that
// does not count here nor for checkout, or every change of branches would be a change of the configuration. Where git may not write
// the configuration, it makes the branch, stops, and switches to it on the next run.
func judgeGitSwitch(a *Args, u *Use) {
	if a.Has("--create", "--force-create") {
		gitTracks(a, u, a.Operands)
	}
}

func judgeGitRestore(a *Args, u *Use) {
	if !a.Has("--staged") || a.Has("--worktree") {
		u.Add(Destroys, "discards changes of files")
	}
}

// judgeGitRemove tells files from the index, which alone is changed with --cached, and nothing with --dry-run.
func judgeGitRemove(a *Args, u *Use) {
	if a.Has("--cached", "--dry-run") {
		return
	}
	u.Writes = append(u.Writes, a.Values("removed")...)
	u.Add(Destroys, "deletes files of the work tree")
}

func judgeGitClean(a *Args, u *Use) {
	if a.Has("--dry-run") && !a.Has("--interactive") {
		return
	}
	u.Effects = append(u.Effects, Writes)
	u.Add(Destroys, "deletes files that git does not track (with -n it only shows them)")
}

func judgeGitReplace(a *Args, u *Use) {
	if len(a.Operands) > 0 && !a.Has("--list") {
		u.Add(Writes, "adds a replacement of an object")
	}
}
