package program

import "strings"

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
