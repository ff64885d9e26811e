package main

import (
	"path/filepath"
	"strings"
	"sync"
)

// nameAttempts make what other programs run or obey.
var nameAttempts = []attempt{
	{
		name: "names that are not there yet", row: "Protected path does not exist at start", at: watched, readOnly: true, shell: true,
		changes: "ws/attempt.sh ws/.config ws/.cargo", set: func(a *escapeAttempt) { a.mkdir(a.path("ws/.github")) },
		script: `for f in .envrc .mcp.json .vscode/tasks.json .claude/settings.json .claude/settings.local.json \
			.husky/pre-commit .bashrc .zshrc .profile .gitconfig .npmrc .idea/workspace.xml .cursor/mcp.json \
			.vimrc .exrc .yarnrc.yml .pre-commit-config.yaml lefthook.yml .devcontainer/devcontainer.json \
			.tmux.conf .gdbinit .ssh/authorized_keys .toolhost/settings.json .mvn/jvm.config .pypirc .pdbrc \
			.bash_profile .zshenv .config/git/config .config/fish/config.fish .cargo/config.toml tree/.envrc \
			tree/.mcp.json tree/.vscode/tasks.json
			do case $f in */*) [ -d ${f%/*} ] || mkdir -p ${f%/*};; esac; echo evil > $f; done 2>&1
			for f in .envrc .npmrc .claude .husky tree/.mcp.json; do ln -sf file $f; mv -f file $f; cp file $f
			ln -f file $f; mkdir $f; done
			python3 -c '
import os
for n in (".envrc",".mcp.json"):
    for f in (lambda: os.mknod(n), lambda: os.mkdir(n), lambda: os.symlink("file",n), lambda: os.link("file",n), \
	lambda: os.rename("file",n), lambda: os.mkfifo(n)):
        try: f()
        except OSError as e: print(e)'; true`,
	},
	{
		name: "every call that names a file, for a protected name", at: watched, readOnly: true, changes: "ws/spare",
		script: `for f in .envrc .mcp.json .bashrc; do $P names $f spare; done`,
	},
	{
		name: "a socket of a protected name", at: watched, changes: "ws/spare",
		script: `$P bind .envrc; $P bind tree/.mcp.json; true`,
	},
	{
		name: "names composed by renaming", at: watched,
		changes: "ws/c ws/m ws/w ws/k ws/l",
		script: `mkdir c; echo evil > c/config.toml; mv c .cargo; mkdir -p m/git; echo evil > m/git/config
			mv m .config; mkdir w; echo evil > w/settings.json; mv w .claude
			mkdir k; echo evil > k/pre-commit; mv k .husky; mkdir -p l/bin; echo evil > l/bin/ls; mv l .local; true`,
		harm: func(a *escapeAttempt, _ string) string {
			for _, name := range strings.Fields(`ws/.cargo/config.toml ws/.config/git/config
				ws/.claude/settings.json ws/.husky/pre-commit ws/.local/bin/ls`) {
				if a.read(name) != "" {
					return name + " is there"
				}
			}
			return ""
		},
	},
	{
		name: "names in a directory that is new", at: watched, changes: "ws/deep ws/w",
		script: `mkdir -p deep/a; echo evil > deep/a/.envrc; mkdir deep/.vscode; echo evil > deep/.vscode/tasks.json
			mkdir w; echo evil > w/settings.json; mv w deep/.claude; true`,
		harm: func(a *escapeAttempt, said string) string {
			for _, name := range strings.Fields("deep/a/.envrc deep/.vscode deep/.claude") {
				if exists(a, "ws/"+name) && !strings.Contains(said, name) {
					return name + " is there, and nobody says so"
				}
			}
			return ""
		},
	},
	{
		name: "a name that changes after it was judged", at: watched, changes: "ws/.envrc.quarantined* ws/aenvrc",
		script: `$P swap-name aenvrc .envrc $((2 * ROUNDS)); true`,
		harm: func(a *escapeAttempt, said string) string {
			if a.read("ws/.envrc") != "" {
				return ".envrc is there"
			}
			return ""
		},
	},
	{
		name: "files that are there", at: watched, readOnly: true, shell: true, changes: "ws/attempt.sh ws/x ws/y ws/h",
		set: func(a *escapeAttempt) {
			for _, name := range strings.Fields(`.envrc .vscode/tasks.json .claude/settings.json .mcp.json
				.husky/pre-commit .husky/_/husky.sh tree/.envrc tree/sub/.vscode/settings.json .npmrc .idea/x`) {
				a.write("ws/"+name, "pristine\n")
			}
		},
		script: `for f in .envrc .vscode/tasks.json .claude/settings.json .mcp.json .husky/pre-commit \
			.husky/_/husky.sh tree/.envrc tree/sub/.vscode/settings.json .npmrc .idea/x
			do echo evil > $f; echo evil >> $f; done
			for f in .envrc .vscode/tasks.json .husky/_/husky.sh tree/sub/.vscode/settings.json
			do sed -i s/pristine/evil/ $f; chmod +x $f; rm -f $f; mv $f x; cp file $f; mv file $f; truncate -s0 $f
			touch -d 1999-01-01 $f; done 2>/dev/null
			mv .vscode x; rm -rf .vscode .husky .claude; mv tree x; mv tree/sub x; mkdir -p .vscode/new
			ln -s .husky h; echo evil > h/pre-commit; cd .husky; echo evil > pre-commit; echo evil > ../.envrc
			exec 8<.; echo evil > /proc/self/fd/8/pre-commit; setfattr -n user.x -v 1 pre-commit
			$P attributes pre-commit; true`,
	},
}

// repository is what repositoryAttempts start from: a repository with a worktree, a submodule and a nested one. Git makes it once for each
// account; attempts have copies.
func repository(a *escapeAttempt) {
	made, _ := madeRepositories.LoadOrStore([2]string{a.base, a.who.name}, sync.OnceValue(a.makeRepository))
	a.host("cp -a " + made.(func() string)() + "/. $DIR")
	a.write("ws/wt/.git", "gitdir: "+a.ws+"/.git/worktrees/wt\n")
	a.write("ws/.git/worktrees/wt/gitdir", a.ws+"/wt/.git\n")
}

// madeRepositories are those that attempts copy, by their place and account.
var madeRepositories sync.Map

// makeRepository makes one, in a directory ws beside other things of it, and returns where.
func (a *escapeAttempt) makeRepository() string {
	b := *a
	b.dir = filepath.Join(a.base, "repository-"+a.who.name)
	b.ws = b.path("ws")
	b.mkdir(b.ws)
	b.host(`git init -q; git commit -q --allow-empty -m one; mkdir -p vendor; git init -q vendor/sub
			git worktree add -q wt -b wt
		mkdir -p .git/modules/lib/hooks lib; cp .git/HEAD .git/config .git/modules/lib/
			mkdir -p .git/modules/lib/objects .git/modules/lib/refs; echo "gitdir: ../.git/modules/lib" > lib/.git
		rm -f .git/hooks/*.sample; echo '#!/bin/sh' > .git/hooks/post-merge; mkdir .githooks
			echo '#!/bin/sh' > .githooks/pre-push
		mkdir -p $DIR/evil/hooks; cp -r .git/HEAD .git/config .git/objects .git/refs $DIR/evil/`)
	return b.dir
}

// repositoryAttempts make version control run something.
var repositoryAttempts = []attempt{
	{
		name: "a lock renamed over the configuration", row: "Create .git/config.lock", at: watched, readOnly: true,
		shell: true, needs: "git", set: repository,
		changes: "ws/attempt.sh ws/.git/config.lock ws/.git/c ws/c",
		script: `git config core.pager evil; git config --unset core.bare
			printf '[core]\n\tfsmonitor = evil\n' > .git/config.lock; mv .git/config.lock .git/config
			mv -f .git/config.lock .git/config
			cp .git/config c; echo evil >> c; mv c .git/config; cp -f c .git/config; ln -f c .git/config
			rm -f .git/config; ln -sf c .git/config; echo evil >> .git/config; cat c > .git/config
			python3 -c 'import os;os.replace(".git/config.lock",".git/config")'
			python3 -c 'import os;os.rename("c",".git/config")'; echo evil > .git/config.worktree
			git config --worktree x.y z; true`,
	},
	{
		name: "hooks", at: watched, readOnly: true, shell: true, needs: "git", set: repository,
		changes: "ws/attempt.sh ws/x ws/h ws/k ws/.git/x ws/.git/y",
		script: `echo evil > .git/hooks/pre-commit; install -m755 file .git/hooks/post-checkout
			echo evil >> .git/hooks/post-merge; chmod +x .git/hooks/post-merge; rm .git/hooks/post-merge
			mv .git/hooks .git/x; rm -rf .git/hooks; mkdir .git/hooks; ln -s .git/hooks h; echo evil > h/pre-push
			cd .git/hooks; echo evil > pre-rebase; cd $WS; (cd .git; echo evil > hooks/commit-msg)
			mkdir k; echo evil > k/pre-commit; mv -T k .git/hooks; mv .git .g; rm -rf .git/config
			mkdir -p .git/hooks/d; ln -sfn $WS/k .git/hooks; echo evil > wt/../.git/hooks/update
			echo $DIR/evil > .git/commondir; true`,
	},
	{
		name: "hooks of submodules and worktrees", row: "Submodule hooks", at: watched, readOnly: true, needs: "git",
		set: repository, changes: "ws/k",
		script: `echo evil > .git/modules/lib/hooks/post-checkout; echo evil >> .git/modules/lib/config
			mkdir -p .git/worktrees/wt/hooks; echo evil > .git/worktrees/wt/hooks/post-checkout
			echo evil > .git/worktrees/wt/config.worktree
			echo $DIR/evil > .git/worktrees/wt/commondir; mv .git/modules .git/m; mv .git/modules/lib .git/l
			mv .git/worktrees .git/w; rm -rf .git/modules/lib/hooks .git/modules/lib/config; mkdir k; echo evil > k/x
			mv -T k .git/modules/lib/hooks; true`,
	},
	{
		name: "pointers of worktrees and submodules", row: "Replace .git file", at: watched, readOnly: true,
		needs: "git", set: repository, changes: "ws/p",
		script: `echo "gitdir: $DIR/evil" > wt/.git; echo "gitdir: $DIR/evil" > lib/.git; rm -f wt/.git; mv wt/.git x
			echo "gitdir: $DIR/evil" > p; mv p wt/.git; mv wt w2; mv lib l2; ln -sf $DIR/evil wt/.git; cp p lib/.git
			mkdir -p wt/.git lib/.git; true`,
	},
	{
		name: "hooks of a nested repository", row: "Nested repo created or existing", at: watched, readOnly: true,
		shell: true, needs: "git", set: repository, changes: "ws/attempt.sh",
		script: `echo evil > vendor/sub/.git/hooks/post-checkout; echo evil >> vendor/sub/.git/config
			git -C vendor/sub config core.pager evil; mv vendor v; mv vendor/sub vendor/s
			rm -rf vendor/sub/.git/hooks vendor/sub/.git/config; mv vendor/sub/.git vendor/sub/g; true`,
	},
	{
		name: "a repository that is made inside", at: watched, needs: "git", changes: "ws/new ws/n ws/z ws/n2",
		script: `git init -q new; echo evil > new/.git/hooks/post-checkout; mkdir -p z/hooks
			echo evil > z/hooks/pre-commit; mkdir n; mv z n/.git; mkdir n2; echo "gitdir: ../z" > n2/.git; true`,
		harm: func(a *escapeAttempt, said string) string {
			for _, name := range strings.Fields("new/.git/hooks/post-checkout n/.git/hooks/pre-commit") {
				repo := name[:strings.Index(name, "/.git")]
				if a.read("ws/"+name) != "" && !strings.Contains(said, "ws/"+repo) {
					return name + " is there, and nobody says so"
				}
			}
			return ""
		},
	},
	{
		name: "hooks of a repository behind more files than are looked at", needs: "git", only: "user",
		unfit: "the crowd takes a while, and hooks elsewhere have shown it",
		set: func(a *escapeAttempt) {
			crowd(a)
			a.host("mkdir -p z/z; git init -q z/z")
		},
		script: `echo evil > z/z/.git/hooks/post-checkout; echo evil >> z/z/.git/config; true`,
	},
	{
		name: "hooks where core.hooksPath says", row: "core.hooksPath already points", at: watched, readOnly: true,
		shell: true, needs: "git", changes: "ws/attempt.sh ws/k",
		set: func(a *escapeAttempt) {
			repository(a)
			a.host("git config core.hooksPath .githooks; mkdir -p vendor/sub/hooks2")
			a.host("git -C vendor/sub config core.hooksPath hooks2; git config --global core.hooksPath ~/hooks; mkdir -p ~/hooks")
		},
		script: `echo evil > .githooks/pre-commit; echo evil >> .githooks/pre-push; mv .githooks g; rm -rf .githooks
			ln -s file .githooks/post-commit; mkdir k; mv -T k .githooks; echo evil > vendor/sub/hooks2/pre-commit
			echo evil > $H/hooks/pre-commit; true`,
	},
	{
		name: "configuration that another file includes", at: watched, needs: "git", changes: "ws/x",
		set: func(a *escapeAttempt) {
			repository(a)
			a.write("ws/conf/git.inc", "[core]\n\tpager = cat\n")
			a.host("git config include.path ../conf/git.inc; git config core.attributesFile attrs")
			a.host("git config core.fsmonitor ./tree/fs.sh; echo '#!/bin/sh' > tree/fs.sh")
		},
		script: `printf '[core]\n\tfsmonitor = evil\n' > conf/git.inc; mv conf x; rm -rf conf; true`,
	},
}
