package program

import "strings"

// gitRefSpecs describes the commands that list references or change them, depending on how they are used.
func gitRefSpecs() []*Spec {
	return []*Spec{
		{Names: "branch", Options: gitListOptions + `-v,--verbose -q,--quiet -t,--track?:text!git_upstream --no-track!writes
			-u,--set-upstream-to:text!git_upstream --unset-upstream!git_upstream -r,--remotes --abbrev?:text --no-abbrev -a,--all
			-d,--delete!git_upstream,writes -D!git_upstream,destroys -m,--move!git_upstream -M!git_upstream,destroys
			-c,--copy!git_upstream -C!git_upstream,destroys -l,--list --show-current --create-reflog!writes
			--edit-description!git_config,interactive
			-f,--force!writes,destroys --column?:text --no-column -i,--ignore-case --omit-empty --recurse-submodules`,
			Operands: "text*", Effects: "adds", Abbreviates: true, Judge: judgeGitBranch, Locks: "refs"},
		{Names: "tag", Options: gitListOptions + `-l,--list -n?:text -d,--delete!writes,destroys -v,--verify!runs_code
			-a,--annotate!writes -m,--message:text!writes -F,--file:read!writes -e,--edit!writes,interactive
			-s,--sign!writes,runs_code --no-sign --cleanup:text --trailer:text -u,--local-user:text!writes,runs_code
			-f,--force!writes,destroys --create-reflog!writes --column?:text --no-column -i,--ignore-case --omit-empty`,
			Operands: "text*", Effects: "adds", Abbreviates: true, Judge: judgeGitTag, Locks: "refs"},
		{Names: "symbolic-ref", Options: `-q,--quiet -d,--delete!writes,destroys --short --no-short --recurse
			--no-recurse -m:text!writes`,
			Operands: "text text?", Abbreviates: true, Judge: judgeGitSymbolicRef},
		{Names: "update-ref", Options: "-m:text -d!destroys --no-deref --create-reflog --stdin!destroys -z",
			Operands: "text*", Effects: "writes", Locks: "refs"},
		{Names: "notes", Options: "--ref:text", Operands: "sub?", Sub: []*Spec{
			{Names: "list show get-ref", Operands: "text*", Harmless: true},
			{Names: "add append edit copy", Options: "-f,--force!destroys --allow-empty -m:text -F:read -c:text -C:text",
				Operands: "text*", Effects: "writes adds", Locks: "refs"},
			{Names: "merge", Options: "-v -q -s:text --commit --abort", Operands: "text*", Effects: "writes"},
			{Names: "remove prune", Options: "--ignore-missing --stdin -n -v", Operands: "text*",
				Effects: "writes destroys"},
		}},
		{Names: "bisect", Sub: []*Spec{
			{Names: "log terms", Options: "--term-good --term-bad --term-old --term-new"},
			{Names: "start bad good new old skip next reset replay", Options: `--no-checkout --first-parent
				--term-new:text --term-old:text --term-good:text --term-bad:text`,
				Operands: "text*", Effects: "writes adds runs_hooks", Locks: "index.lock"},
			{Names: "run", InOrder: true, Operands: "command", Effects: "writes runs_code"},
			{Names: "visualize view", Operands: "text*", Effects: "interactive runs_code"},
		}},
		gitStashSpec(), gitWorktreeSpec(), gitSubmoduleSpec(),
	}
}

// judgeGitBranch finds the form that creates: a name, and no option that makes git list.
func judgeGitBranch(a *Args, u *Use) {
	judgeGitFormats(a, u)
	if len(a.Operands) == 0 || gitLists(a) || a.oneOf("--list", "--all", "--remotes", "--show-current", "--delete",
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
	return a.oneOf("--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
}

func judgeGitTag(a *Args, u *Use) {
	judgeGitFormats(a, u)
	if len(a.Operands) == 0 || gitLists(a) || a.oneOf("--list", "-n", "--verify", "--delete") {
		return
	}
	u.Add(Writes, "creates a tag (with --list it only shows)")
}

func judgeGitSymbolicRef(a *Args, u *Use) {
	if len(a.Operands) > 1 || len(a.Operands) == 1 && a.Operands[0].Many {
		u.Add(Writes, "changes the reference that it names first")
	}
}

func gitStashSpec() *Spec {
	push := `-p,--patch!interactive -k,--keep-index --no-keep-index -S,--staged -q,--quiet -u,--include-untracked
		--no-include-untracked -a,--all -m,--message:text --pathspec-from-file:read --pathspec-file-nul`
	return &Spec{Names: "stash", Options: push, Operands: "sub?", Effects: "adds", Judge: judgeGitStash, Locks: "index.lock", Sub: []*Spec{
		{Names: "list", Options: gitLogOptions, Operands: "rev*", Judge: judgeGitStashList},
		{Names: "show", Options: gitDiffOptions + "-s --include-untracked --no-include-untracked --only-untracked",
			Operands: "rev*", Effects: "reads_tree", Judge: judgeGitLog},
		{Names: "push save", Options: push, Operands: "text*", Effects: "writes"},
		{Names: "pop apply branch store create", Options: "--index -q,--quiet -m,--message:text", Operands: "text*",
			Effects: "writes"},
		{Names: "drop clear", Options: "-q,--quiet", Operands: "text*", Effects: "writes destroys"},
	}}
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

func gitWorktreeSpec() *Spec {
	return &Spec{Names: "worktree", Sub: []*Spec{
		{Names: "list", Options: "-v,--verbose --porcelain -z --expire:text", Abbreviates: true},
		{Names: "add", Options: `-f,--force -b:text -B:text!destroys -d,--detach --checkout --no-checkout --lock
			--reason:text -q,--quiet --track!git_upstream --no-track --guess-remote!git_upstream --no-guess-remote --orphan`,
			Operands: "write start?", Effects: "writes runs_hooks adds", Judge: judgeGitWorktree, Locks: "refs"},
		{Names: "lock unlock move repair", Options: `--reason:text -f,--force -n,--dry-run -v,--verbose
			--expire:text`,
			Operands: "write*", Effects: "writes", Judge: inGit("worktrees")},
		{Names: "prune", Options: "-n,--dry-run -v,--verbose --expire:text", Effects: "writes destroys", Judge: inGit("worktrees")},
		{Names: "remove", Options: "-f,--force", Operands: "write", Effects: "writes destroys", Abbreviates: true,
			Judge: inGit("worktrees")},
	}}
}

func judgeGitWorktree(a *Args, u *Use) {
	u.gitFiles = append(u.gitFiles, "worktrees")
	makesDirs(u, a.Values("write"))
	if a.oneOf("-b", "-B") {
		gitTracks(a, u, a.Values("start"))
	}
}

// inGit is the Judge of commands that write these files of the git directory.
func inGit(names ...string) func(*Args, *Use) {
	return func(_ *Args, u *Use) { u.gitFiles = append(u.gitFiles, names...) }
}

func gitSubmoduleSpec() *Spec {
	return &Spec{Names: "submodule", Options: "-q,--quiet --cached", Operands: "sub?", Sub: []*Spec{
		{Names: "status", Options: "--cached --recursive -q,--quiet", Operands: "text*"},
		{Names: "summary", Options: "--cached --files -n,--summary-limit:text", Operands: "text*"},
		{Names: "add update", Options: `-b:text -f,--force!destroys --name:text --reference:read --init --remote
			-N,--no-fetch --checkout --merge --rebase --depth:text -j,--jobs:text --recursive --filter:text
			--recommend-shallow --no-recommend-shallow --single-branch --no-single-branch -q,--quiet --progress`,
			Operands: "text*", Effects: "writes git_config reaches runs_code", Judge: judgeGitSubmodules},
		{Names: "init set-branch set-url sync absorbgitdirs", Options: `--recursive -d,--default -b,--branch:text
			-q,--quiet`,
			Operands: "text*", Effects: "writes git_config", Judge: judgeGitSubmodules},
		{Names: "deinit", Options: "-f,--force!destroys --all -q,--quiet", Operands: "text*",
			Effects: "writes git_config"},
		{Names: "foreach", Options: "--recursive -q,--quiet", InOrder: true, Operands: "foreach*",
			Judge: judgeGitForeach},
	}}
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
