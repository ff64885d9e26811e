package program

import "strings"

// gitStateSpecs describes git status.
func gitStateSpecs() []*Spec {
	return []*Spec{{
		Names: "status", Options: `-v,--verbose -s,--short --no-short -b,--branch --no-branch --show-stash
			--no-show-stash --ahead-behind --no-ahead-behind --porcelain?:text --long -z,--null
			-u,--untracked-files?:text --ignored?:text --ignore-submodules?:text --column?:text --no-column --no-renames
			--renames -M,--find-renames?:text`,
		Operands: "text*", Effects: "reads_tree", Abbreviates: true, Harmless: true, Judge: gitLooks,
	}}
}

// gitRemoteSpecs describes what talks with other repositories.
func gitRemoteSpecs() []*Spec {
	return []*Spec{
		{Names: "ls-remote", Options: `-q,--quiet --upload-pack,--exec:run!runs_code -t,--tags -h,--heads,--branches
			--refs --get-url --sort:text --exit-code --symref -o,--server-option:text`, Operands: "remote? text*",
			Effects: "reaches", Abbreviates: true, Judge: judgeGitRemotes},
		{Names: "remote", Options: "-v,--verbose", Operands: "sub?", Sub: []*Spec{
			{Names: "get-url", Options: "--push --all", Operands: "text", Abbreviates: true},
			{Names: "show", Options: "-n", Operands: "text*", Judge: judgeGitRemoteShow},
			{Names: "add", Options: `-t,--track:text -m,--master:text -f,--fetch!reaches --tags --no-tags --mirror?:text`,
				Operands: "text text", Effects: "writes git_config adds", Locks: "config.lock"},
			{Names: "rename set-branches set-url", Options: `--progress --no-progress -d,--delete --add --push`,
				Operands: "text*", Effects: "writes git_config adds", Locks: "config.lock"},
			{Names: "set-head", Options: "-a,--auto!reaches -d,--delete", Operands: "text*", Effects: "writes adds"},
			{Names: "remove rm", Operands: "text", Effects: "writes git_config destroys", Locks: "config.lock"},
			{Names: "prune", Options: "-n,--dry-run", Operands: "remote*", Effects: "writes reaches destroys", Judge: judgeGitRemotePrune},
			{Names: "update", Options: "-p,--prune", Operands: "text*", Effects: "writes reaches adds"},
		}},
		{Names: "fetch", Options: gitFetchOptions, Operands: "remote? text*", Effects: "writes reaches adds",
			Abbreviates: true, Judge: judgeGitRemotes, Locks: "refs"},
		{Names: "pull", Options: gitFetchOptions + gitMergeOptions + "-r,--rebase?:text --no-rebase",
			Operands: "remote? text*", Effects: "writes reaches runs_hooks adds", Abbreviates: true, Judge: judgeGitRemotes,
			Locks: "index.lock refs"},
		{Names: "push", Options: `-v,--verbose -q,--quiet --repo:remote --all,--branches --mirror!destroys
			-d,--delete!destroys --tags -n,--dry-run --porcelain -f,--force!destroys --force-with-lease?:text!destroys
			--no-force-with-lease --force-if-includes --recurse-submodules:text --thin --no-thin
			--receive-pack:run!runs_code --exec:run!runs_code -u,--set-upstream!git_upstream --progress --no-progress
			--prune!destroys --no-verify --verify --follow-tags --no-follow-tags --signed?:text --no-signed --atomic
			--no-atomic -o,--push-option:text -4,--ipv4 -6,--ipv6`, Operands: "remote? refspec*",
			Effects: "writes reaches runs_hooks adds", Abbreviates: true, Loses: true, Judge: judgeGitPush, Locks: "refs"},
		{Names: "clone", Options: `-v,--verbose -q,--quiet --progress --no-progress --reject-shallow -n,--no-checkout
			--bare --mirror -l,--local --no-local --no-hardlinks -s,--shared --recurse-submodules?:text
			--recursive?:text -j,--jobs:text --template:read!runs_code --reference:read --reference-if-able:read
			--dissociate -o,--origin:text -b,--branch:text -u,--upload-pack:run!runs_code --depth:text
			--shallow-since:text --shallow-exclude:text --single-branch --no-single-branch --no-tags --tags
			--shallow-submodules --separate-git-dir:write -c,--config:gitconfig --server-option:text -4,--ipv4 -6,--ipv6
			--filter:text --also-filter-submodules --remote-submodules --sparse --bundle-uri:host`,
			Operands: "remote destination?",
			Effects:  "writes reaches adds", Abbreviates: true, Judge: judgeGitClone},
		{Names: "send-email request-pull", Effects: "reaches writes", Operands: "text*"},
	}
}

const gitFetchOptions = `-v,--verbose -q,--quiet --all --no-all -a,--append --atomic --upload-pack:run!runs_code
	-f,--force -m,--multiple -t,--tags --no-tags -j,--jobs:text --prefetch -p,--prune --no-prune -P,--prune-tags
	--recurse-submodules?:text --no-recurse-submodules --dry-run --write-fetch-head --no-write-fetch-head -k,--keep
	-u,--update-head-ok --progress --no-progress --depth:text --shallow-since:text --shallow-exclude:text --deepen:text
	--unshallow --refetch --update-shallow --refmap:text -o,--server-option:text -4,--ipv4 -6,--ipv6
	--negotiation-tip:text --negotiate-only --filter:text --auto-maintenance --no-auto-maintenance --auto-gc
	--no-auto-gc --show-forced-updates --no-show-forced-updates --write-commit-graph --stdin --set-upstream!git_upstream `

const gitMergeOptions = `--stat --no-stat -n --log?:text --no-log --squash --no-squash --commit --no-commit --edit
	--no-edit --ff --no-ff --ff-only --verify --no-verify --verify-signatures --autostash --no-autostash
	-s,--strategy:text -X,--strategy-option:text -S,--gpg-sign?:text --no-gpg-sign --allow-unrelated-histories
	--signoff?:text --no-signoff --cleanup:text `

// judgeGitRemotes names the host, if the operand is one: NAME is a remote, anything with a colon is an address, and with a slash a path.
func judgeGitRemotes(a *Args, u *Use) {
	remotes := a.Values("remote")
	switch verb := a.Argv[0].Text; {
	case a.oneOf("--all", "--multiple", "--recurse-submodules"):
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

// judgeGitRemotePrune names the remotes that are asked which branches they still have.
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
		to = []Word{gitHumanish(from[0], a.oneOf("--bare", "--mirror"))}
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
		if !a.oneOf("--bare", "--mirror") {
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

// gitWriteSpecs describes what changes the repository or the working tree.
func gitWriteSpecs() []*Spec {
	return []*Spec{
		{Names: "init", Options: `-q,--quiet --bare --template:read!runs_code --separate-git-dir:write --shared?:text
			-b,--initial-branch:text --object-format:text`, Operands: "destination?", Effects: "writes adds", Abbreviates: true,
			Judge: judgeGitInit},
		{Names: "add stage", Options: `-n,--dry-run -v,--verbose -i,--interactive!interactive -p,--patch!interactive
			-e,--edit!interactive -f,--force -u,--update --renormalize -N,--intent-to-add -A,--all --no-all
			--ignore-removal --no-ignore-removal --refresh --ignore-errors --ignore-missing --sparse --chmod:text
			--pathspec-from-file:read --pathspec-file-nul`, Operands: "text*", Effects: "writes adds", Abbreviates: true,
			Locks: "index.lock"},
		{Names: "mv", Options: "-v,--verbose -n,--dry-run -f,--force!destroys -k --sparse", Operands: "write*",
			Effects: "writes reads_elsewhere adds", Locks: "index.lock"},
		{Names: "commit", Options: `-q,--quiet -v,--verbose -F,--file:read --author:text --date:text -m,--message:text
			-c,--reedit-message:text!interactive -C,--reuse-message:text --fixup:text --squash:text --reset-author
			--trailer:text -s,--signoff --no-signoff -t,--template:read -e,--edit --no-edit --cleanup:text --status
			--no-status -S,--gpg-sign?:text --no-gpg-sign -a,--all -i,--include --interactive!interactive
			-p,--patch!interactive -o,--only -n,--no-verify --verify --dry-run --short --branch --porcelain --long
			-z,--null --amend --no-post-rewrite -u,--untracked-files?:text --pathspec-from-file:read --pathspec-file-nul
			--allow-empty --allow-empty-message`, Operands: "text*", Effects: "writes runs_hooks adds",
			Abbreviates: true, Locks: "index.lock"},
		{Names: "merge", Options: gitMergeOptions + `-q,--quiet -v,--verbose -m:text -F,--file:read --into-name:text
			--abort --quit --continue --rerere-autoupdate --overwrite-ignore --progress --no-progress`, Operands: "text*",
			Effects: "writes runs_hooks adds", Abbreviates: true, Locks: "index.lock"},
		{Names: "rebase", Options: `--onto:text --keep-base --no-keep-base --apply -m,--merge -q,--quiet -v,--verbose
			-n,--no-stat --stat --signoff --continue --skip --abort --quit --edit-todo!interactive --show-current-patch
			-i,--interactive!interactive -x,--exec:run!runs_code -r,--rebase-merges?:text --fork-point --no-fork-point
			-s,--strategy:text -X,--strategy-option:text --root --autosquash --no-autosquash --autostash --no-autostash
			--update-refs --no-update-refs -f,--force-rebase --no-ff --no-verify --committer-date-is-author-date
			--ignore-date --empty:text --keep-empty --no-keep-empty -S,--gpg-sign?:text`, Operands: "text*",
			Effects: "writes runs_hooks adds", Abbreviates: true, Locks: "index.lock"},
		{Names: "cherry-pick revert", Options: `--quit --continue --abort --skip --cleanup:text -n,--no-commit -e,--edit
			--no-edit -s,--signoff -m,--mainline:text --rerere-autoupdate --strategy:text -X,--strategy-option:text
			-S,--gpg-sign?:text -x --ff --allow-empty --allow-empty-message --keep-redundant-commits`,
			Operands: "text*", Effects: "writes runs_hooks adds", Abbreviates: true, Locks: "index.lock"},
		{Names: "am", Options: "-3,--3way -k -q,--quiet -s,--signoff --continue --skip --abort --quit",
			Operands: "read*",
			Effects:  "writes runs_hooks adds", Locks: "index.lock"},
		{Names: "apply", Options: `--check --stat --numstat --summary --index --cached -3,--3way -R,--reverse -p:text
			-C:text --apply -v,--verbose -q,--quiet --recount --directory:text --exclude:text --include:text
			--whitespace:text --ignore-whitespace --ignore-space-change --unidiff-zero --reject --allow-empty
			--unsafe-paths`, Operands: "read*", Abbreviates: true, Judge: judgeGitApply},
		{Names: "format-patch", Options: gitFormatPatchOptions, Operands: "rev*", Effects: "reads_tree",
			Judge: judgeGitFormatPatch},
		{Names: `update-index read-tree write-tree commit-tree mktree mktag unpack-objects index-pack
			pack-objects pack-refs rerere commit-graph multi-pack-index fast-import
			fsmonitor--daemon update-server-info`, Operands: "text*", Effects: "writes"},
		{Names: "sparse-checkout", Sub: []*Spec{
			{Names: "list"},
			{Names: "init set add reapply disable check-rules", Operands: "text*", Effects: "writes git_config",
				Options: `--cone --no-cone --sparse-index --no-sparse-index --stdin --skip-checks --end-of-options -z
					--rules-file:read`, Judge: inGit("config.worktree", "info/sparse-checkout")},
		}},
		{Names: "maintenance", Sub: []*Spec{
			{Names: "start stop register unregister", Options: "--config-file:write --scheduler:text -f,--force",
				Effects: "writes git_config git_global"},
			{Names: "run is-needed", Options: "--auto --detach --no-detach --schedule?:text --quiet --task:text",
				Effects: "writes"},
		}},
		{Names: "lfs", Sub: []*Spec{{Names: "install uninstall", Effects: "writes", Judge: judgeGitLFS,
			Options: "--local --worktree --system --file:write -f,--force --manual -s,--skip-smudge --skip-repo"}}},
		{Names: "credential mergetool difftool gui citool gitk instaweb daemon", Operands: "text*",
			Effects: "writes runs_code interactive"},
	}
}

// judgeGitLFS names the configuration with the filters of large files, and the hooks.
func judgeGitLFS(a *Args, u *Use) {
	if !a.oneOf("--local", "--worktree", "--file") {
		judgeGitTargets(&Args{Options: append([]GivenOption{{Name: "--global"}}, a.Options...)}, u)
	} else {
		judgeGitTargets(a, u)
	}
	if !a.Has("--skip-repo") {
		u.gitFiles = append(u.gitFiles, "hooks/pre-push", "hooks/post-checkout", "hooks/post-commit", "hooks/post-merge")
	}
}

const gitFormatPatchOptions = `-num -n,--numbered -N,--no-numbered -s,--signoff --stdout --cover-letter
	--no-cover-letter --numbered-files --suffix:text --start-number:text -v,--reroll-count:text
	--filename-max-length:text --rfc --cover-from-description:text --subject-prefix:text -o,--output-directory:write
	-k,--keep-subject --no-binary --zero-commit --ignore-if-in-upstream -p,--no-stat --add-header:text --to:text
	--cc:text --from?:text --in-reply-to:text --attach?:text --inline?:text --thread?:text --no-thread --signature:text
	--no-signature --signature-file:read --base:text -q,--quiet --progress --root --stat?:text --no-renames --full-index
	--output:write!writes`

// judgeGitApply finds the forms that only look at a patch.
func judgeGitApply(a *Args, u *Use) {
	if !a.oneOf("--check", "--stat", "--numstat", "--summary") || a.oneOf("--apply", "--index", "--cached", "--3way",
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

// gitUndoSpecs describes what may throw work away.
func gitUndoSpecs() []*Spec {
	checkout := `-q,--quiet --progress --no-progress -b:text -B:text!destroys -l --guess --no-guess -d,--detach
		-t,--track?:text!git_upstream --no-track -f,--force!destroys --orphan:text -2,--ours!destroys -3,--theirs!destroys -m,--merge
		--conflict:text -p,--patch!interactive,destroys --overwrite-ignore --no-overwrite-ignore
		--ignore-other-worktrees --recurse-submodules --overlay --no-overlay!destroys --pathspec-from-file:read!destroys
		--pathspec-file-nul --ignore-skip-worktree-bits`
	return []*Spec{
		{Names: "checkout", Options: checkout, Operands: "text*", Effects: "writes runs_hooks adds", Abbreviates: true,
			Loses: true, Judge: judgeGitCheckout, Locks: "index.lock"},
		{Names: "switch", Options: `-c,--create:text -C,--force-create:text!destroys --guess --no-guess
			--discard-changes!destroys -q,--quiet --progress --no-progress --recurse-submodules -t,--track?:text!git_upstream
			--no-track -m,--merge --conflict:text -d,--detach -f,--force!destroys --orphan:text --overwrite-ignore
			--ignore-other-worktrees`,
			Operands: "text*", Effects: "writes runs_hooks adds", Abbreviates: true, Judge: judgeGitSwitch, Locks: "index.lock"},
		{Names: "restore", Options: `-s,--source:text -S,--staged -W,--worktree --ignore-unmerged --overlay --no-overlay
			-q,--quiet --progress --no-progress --recurse-submodules -m,--merge --conflict:text -2,--ours -3,--theirs
			-p,--patch!interactive --ignore-skip-worktree-bits --pathspec-from-file:read --pathspec-file-nul`,
			Operands: "text*", Effects: "writes adds", Abbreviates: true, Loses: true, Judge: judgeGitRestore, Locks: "index.lock"},
		{Names: "reset", Options: `-q,--quiet --no-quiet --refresh --no-refresh --mixed --soft --hard!destroys
			--merge!destroys --keep!destroys --recurse-submodules?:text -p,--patch!interactive -N,--intent-to-add
			--pathspec-from-file:read --pathspec-file-nul`, Operands: "text*", Effects: "writes adds", Abbreviates: true,
			Locks: "index.lock"},
		{Names: "clean", Options: `-q,--quiet -n,--dry-run -f,--force -i,--interactive!interactive -d -e,--exclude:text
			-x -X`,
			Operands: "text*", Abbreviates: true, Loses: true, Judge: judgeGitClean},
		{Names: "rm", Options: `-n,--dry-run -q,--quiet --cached -f,--force -r --ignore-unmatch --sparse
			--pathspec-from-file:read --pathspec-file-nul`, Operands: "removed*", Effects: "writes reads_elsewhere adds",
			Abbreviates: true, Loses: true, Judge: judgeGitRemove, Locks: "index.lock"},
		{Names: "gc", Options: `-q,--quiet --auto --detach --no-detach --no-prune --prune?:text!destroys --aggressive -f,--force --keep-largest-pack
			--cruft --no-cruft --max-cruft-size:text`, // git does the same by itself after a commit or a fetch, and keeps objects for two weeks
			Effects: "writes runs_hooks adds", Abbreviates: true, Locks: "gc.pid"},
		{Names: "prune repack prune-packed filter-branch filter-repo", Operands: "text*",
			Effects: "writes destroys runs_code", Locks: "gc.pid"},
		{Names: "replace", Options: `-l,--list --format:text -d,--delete!writes,destroys -e,--edit!writes,interactive
			-f,--force!writes,destroys -g,--graft!writes`,
			Operands: "text*", Abbreviates: true, Judge: judgeGitReplace},
	}
}

// judgeGitCheckout tells branches from files: a file that is checked out loses its changes.
func judgeGitCheckout(a *Args, u *Use) {
	files := afterDashes(a.Argv)
	if a.oneOf("-b", "-B") {
		gitTracks(a, u, a.Operands)
	}
	if a.oneOf("-b", "-B", "--orphan", "--detach") {
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
	return ok && !strings.Contains(last, "..") && (version == "" || !digits(version) || extension == "" || !isVersion(extension))
}

// isVersion reports whether the text behind the first dot of a name is the rest of a version: 2, 2.1-rc1, x.
func isVersion(text string) bool {
	return text == "x" || text[0] >= '0' && text[0] <= '9'
}

// judgeGitSwitch finds a new branch that follows one of a remote. Any name may become such a branch if only a remote has it; that
// does not count here nor for checkout, or every change of branches would be a change of the configuration. Where git may not write
// the configuration, it makes the branch, stops, and switches to it on the next run.
func judgeGitSwitch(a *Args, u *Use) {
	if a.oneOf("--create", "--force-create") {
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
	if a.oneOf("--cached", "--dry-run") {
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
