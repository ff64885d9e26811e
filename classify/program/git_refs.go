package program

import "strings"

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
