package program

import "slices"

// gitSpecs describes git 2.39 and what later versions added to the same commands.
//
// The strict proof holds for a repository whose configuration is trusted as the session's own workspace is: almost
// every command may run what .git/config names (core.fsmonitor, filters, textconv, diff.external, gpg.program). That
// file is not part of what a clone brings, but it is of every other directory that looks like a repository. So git
// in another directory (-C, --git-dir) and with configuration from the command line is a different matter, and a
// subcommand that is not here may be an alias.
//
// Commands that read take no lock, since the environment of a command sets GIT_OPTIONAL_LOCKS=0, except those that
// rewrite the index whatever it says: git diff and git describe --dirty.
func gitSpecs() []*Spec {
	return []*Spec{{
		Names: "git",
		Options: `-v,--version -h,--help --html-path --man-path --info-path --exec-path?:execpath -C:gitdir
			--git-dir:gitdir --work-tree:gitdir -c:gitconfig -P,--no-pager -p,--paginate!runs_code --no-replace-objects
			--no-optional-locks --no-lazy-fetch --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs
			--icase-pathspecs --namespace:text --bare!runs_code --config-env:text!runs_code --super-prefix:text
			--attr-source:text`,
		Operands: "sub?",
		Sub: slices.Concat(gitHistorySpecs(), gitObjectSpecs(), gitStateSpecs(), gitConfigSpecs(), gitRefSpecs(),
			gitRemoteSpecs(), gitWriteSpecs(), gitUndoSpecs()),
		Judge: judgeGit,
	}}
}

// judgeGit judges what stands before the subcommand.
func judgeGit(a *Args, u *Use) {
	for _, dir := range a.Values["gitdir"] {
		u.Reads = append(u.Reads, dir)
		if !dir.Static || dir.Text != "." && dir.Text != ".git" {
			u.Add(RunsCode, "the configuration of another repository can run programs: "+dir.Text)
		}
	}
	for _, path := range a.Values["execpath"] {
		u.Add(RunsCode, "git looks for its programs in "+path.Text)
	}
	for _, setting := range a.Values["gitconfig"] {
		if !harmlessGitSetting(setting) {
			u.Add(RunsCode, "configuration can run programs, and this key is not known to be harmless: "+setting.Text)
		}
	}
	if a.Has("--paginate") {
		u.Add(RunsCode, "the pager is a program that configuration names")
	}
}
