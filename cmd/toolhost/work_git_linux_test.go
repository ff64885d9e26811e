package main

const person = "-- .gitconfig --\n[user]\n\tname = A Person\n\temail = person@example.com\n[init]\n\tdefaultBranch = main\n"

// gitWork is what git does to a repository without changing what git or others obey.
func gitWork() []work {
	const start = `git init -q . && echo one > f && git add f && git commit -qm one`
	return []work{
		{name: "git, in an empty home", needs: "git", alone: true, users: true, steps: []step{
			{in: `git init -q -b main . && echo one > f && git add f &&
				git -c user.name=p -c user.email=p@example.com commit -qm one && git log --format=%s`, want: "^one$"},
			{in: `git status --short --branch`, want: "^## main$"},
			{in: `echo two >> f; git diff`, want: `^\+two$`},
		}},
		{name: "git in one command", needs: "git", home: person, users: true, steps: []step{
			{in: start + ` && git checkout -qb side && echo two > g && git add g && git commit -qm two &&
				git checkout -q main &&
				git merge -q --no-ff -m merged side && git tag v1 && git gc -q && git fsck && git log --format=%s`,
				want: "^merged\n(.*\n)*two$"},
		}},
		{name: "git stash", needs: "git", home: person, alone: true, users: true, steps: []step{
			{in: start}, {in: `echo two >> f; git stash`, want: "Saved working directory"},
			{in: `cat f; git stash list`, want: `^one\nstash@\{0\}`},
			{in: `git stash pop && cat f`, want: "^one\ntwo$"},
		}},
		{name: "git branches", needs: "git", home: person, alone: true, steps: []step{
			{in: start}, {in: `git branch side`}, {in: `git checkout -q side`},
			{in: `echo two > g; git add -A; git commit -qm two; git switch -q main; ls`, want: "^f$"},
			{in: `git switch -qc other && echo x >> f && git commit -qam other && git rebase -q side &&
				git log --format=%s`, want: "^other\ntwo\none$"},
			{in: `git checkout -q main && git merge -q --ff-only other && git branch -d side && git branch -D other &&
				git branch`, want: `^\* main$`},
			{in: `git tag v1 && git tag -a v2 -m two && git tag`, want: "^v1\nv2$"},
			{in: `git reset -q --hard HEAD~1 && git clean -fdx && git reflog | head -1`, want: "reset: moving"},
			{in: `git cherry-pick v2 && git revert --no-edit HEAD && git show --stat`, want: "Revert"},
			{in: `git format-patch -1 -o out && git reset -q --hard HEAD~1 &&
				git am out/*.patch`, want: "Applying: Revert"},
			{in: `git bisect start HEAD v1~1 >/dev/null 2>&1; git bisect reset; git notes add -m note; git log -1`,
				want: "note"},
		}},
		{name: "git gc and repack", needs: "git", home: person, alone: true, steps: []step{
			{in: start}, {in: `git gc -q --prune=now && git repack -adq && git pack-refs --all && git fsck &&
				git count-objects -v`, want: "in-pack: 3"},
			{in: `git worktree prune && git maintenance run --task=gc &&
				git status --short; echo still $?`, want: "^still 0$"},
		}},
		{name: "git clone out of and into the workspace", needs: "git", home: person, alone: true, users: true, steps: []step{
			{in: `git init -q from && cd from && echo one > f && git add f && git commit -qm one`},
			{in: `git clone -q from to && cat to/f`, want: "^one$"},
			{in: `git clone -q "file://$PWD/from" far && cat far/f`, want: "^one$"},
			{in: `git clone -q --bare from bare.git && git clone -q --depth 1 "file://$PWD/bare.git" /tmp/clone &&
				cat /tmp/clone/f`, want: "^one$"},
			{in: `cd to && git fetch -q && git pull -q && git log --format=%s origin/main`, want: "^one$"},
			{in: `cd to && echo two >> f && git commit -qam two && git push -q ../bare.git main &&
				git -C ../bare.git log --format=%s`, want: "^two$"},
			{in: `cd /tmp && git init -q own && cd own && git config user.name me && git remote add x /nowhere &&
				git config -l --local`, want: "^user.name=me$"},
		}},
		{name: "git worktrees", needs: "git", home: person, alone: true, users: true, steps: []step{
			{in: start + ` && git branch side`},
			{in: `git worktree add trees/side side && cat trees/side/f`, want: "^one$"},
			{in: `cd trees/side && echo two >> f && git commit -qam two && git status -sb &&
				git log --format=%s`, want: "^two$"},
			{in: `git worktree list && git merge -q side && tail -n1 f`, want: "^two$"},
		}},
		{name: "git worktree move", needs: "git", home: person, steps: []step{
			{in: start + ` &&
				git worktree add -q -b side wt`}, {in: `git worktree move wt moved`, writes: "wt moved", finding: "a pinned directory is not renamed even when that was approved"},
			{in: `cd moved && git status -sb && git worktree list`, want: "moved"},
		}},
		{name: "git worktree remove", needs: "git", home: person, steps: []step{
			{in: start + ` && git worktree add -q -b side wt`}, {in: `git worktree remove wt`, writes: "wt"},
			{in: `git worktree list | wc -l; ls -d wt || git branch -d side`, want: `^1\nDeleted branch side`},
			{in: `git worktree add -q wt2 && rm -rf wt2 && git worktree prune &&
				git worktree list | wc -l`, want: "^1$"},
		}},
		{name: "a repository is moved and removed", needs: "git", home: person, steps: []step{
			{in: `git init -q a &&
				git -C a commit -q --allow-empty -m one`}, {in: `mv a b`, writes: "a b"}, {in: `git -C b log --format=%s`,
				want: "^one$"},
			{in: `cp -a b c && rm -rf c &&
				ls`, want: "^b$"}, {in: `rm -rf b`, writes: "b"}, {in: `ls -A | wc -l`, want: "^0$"},
			{in: `git init -q . &&
				git commit -q --allow-empty -m one`}, {in: `rm -rf .git`, writes: ".git"}, {in: `ls -A | wc -l`,
				want: "^0$"},
		}},
		{name: "git configuration of the person", needs: "git", home: person, steps: []step{
			{in: start},
			{in: `git config --global user.name other`, fails: true, want: "(?i)read-only file system|not permitted"},
			{in: `git config --global user.name`, want: "A Person"},
		}},
		{name: "git hooks run, and cannot be written", needs: "git", home: person, steps: []step{
			{in: `git init -q . && printf '#!/bin/sh\necho hooked >&2\n' > .git/hooks/pre-commit &&
				chmod +x .git/hooks/pre-commit`},
			{in: `echo one > f; git add f; git commit -qm one`, want: "hooked"},
			{in: `f=$(printf %s .git/hooks/pre-commit); echo "echo more" >> "$f"`, fails: true, want: `kept the command from writing .*\.git/hooks/pre-commit`},
		}},
	}
}

// approvedWork changes what git obeys: the person is shown which files that are, and has them written by saying yes.
func approvedWork() []work {
	const start = `git init -q . && echo one > f && git add f && git commit -qm one`
	const remote = `git clone -q --bare . remote.git`
	const config = ".git/config"
	return []work{
		{name: "git remote add", needs: "git", home: person, steps: []step{
			{in: start}, {in: `git remote add origin ./remote.git`, writes: config},
			{in: `git remote -v`, want: `^origin\s+./remote.git`},
			{in: `git remote set-url origin ./other.git`, writes: config},
			{in: `git remote rename origin up`, writes: config}, {in: `git remote remove up`, writes: config},
			{in: `git config -l --local; echo remotes $(git remote)`, want: "^remotes$"},
		}},
		{name: "git checkout --track", needs: "git", home: person, steps: []step{
			{in: start + ` && git branch side &&
				` + remote + ` && git branch -D side && git remote add origin ./remote.git && git fetch -q`},
			{in: `git checkout -q --track origin/side`, writes: config}, {in: `git config branch.side.remote`,
				want: "^origin$"},
		}},
		{name: "git checkout of a branch that only the remote has", needs: "git", home: person, steps: []step{
			{in: start + ` && git branch side &&
				` + remote + ` && git branch -D side && git remote add origin ./remote.git && git fetch -q`},
			{in: `git checkout -q side`, writes: config, finding: "the facts do not name the configuration that a new branch is entered in"}, {in: `git config branch.side.remote`, want: "^origin$"},
		}},
		{name: "git switch to a branch that only the remote has", needs: "git", home: person, steps: []step{
			{in: start + ` && git branch side &&
				` + remote + ` && git branch -D side && git remote add origin ./remote.git && git fetch -q`},
			{in: `git switch -q side`, writes: config, finding: "the facts do not name the configuration that a new branch is entered in"}, {in: `git config branch.side.remote`, want: "^origin$"},
		}},
		{name: "git push -u", needs: "git", home: person, steps: []step{
			{in: start + ` && ` + remote + ` && git remote add origin ./remote.git`},
			{in: `git push -q -u origin main`, writes: config}, {in: `git config branch.main.remote`, want: "^origin$"},
		}},
		{name: "git branch -m", needs: "git", home: person, steps: []step{
			{in: start}, {in: `git branch -m trunk`, writes: config}, {in: `git branch`, want: `^\* trunk$`},
			{in: `git branch side && git branch -M side other && git branch -c other third &&
				git branch`, writes: config, want: "third"},
		}},
		{name: "git branch -u", needs: "git", home: person, steps: []step{
			{in: start + ` && ` + remote + ` && git remote add origin ./remote.git && git fetch -q`},
			{in: `git branch -u origin/main`, writes: config}, {in: `git status -sb`, want: `main...origin/main`},
			{in: `git branch --unset-upstream`, writes: config},
			{in: `git branch --track more origin/main`, writes: config},
			{in: `git branch -d more`, writes: config},
			{in: `git branch --edit-description`, writes: config, fails: true},
		}},
		{name: "git branch -d of a branch that has an upstream", needs: "git", home: person, steps: []step{
			{in: start + ` &&
				` + remote + ` && git remote add origin ./remote.git && git fetch -q && git branch --track more origin/main`},
			{in: `git branch -d more`, writes: config}, {in: `git config --get-regexp branch.more; echo none left`,
				want: "^none left$"},
		}},
		{name: "git submodule", needs: "git", home: person, steps: []step{
			{in: start + ` && git clone -q . lib && echo /lib > .git/info/exclude`},
			{in: `git -c protocol.file.allow=always submodule add ./lib sub 2>&1`, writes: ".git/config .gitmodules .git/modules"},
			{in: `git commit -qm sub && cat sub/f && git submodule status`, want: "^one$"},
			{in: `cd sub && echo two >> f && git commit -qam two && git status -sb`, want: "## "},
			{in: `git submodule foreach git status -s`, want: "Entering 'sub'"},
			{in: `git submodule sync`, writes: ".git/config .git/modules"},
			{in: `git submodule deinit -f sub`, writes: config},
			{in: `git -c protocol.file.allow=always submodule update --init`, writes: ".git/config .git/modules"},
		}},
		{name: "git clone --recurse-submodules", needs: "git", home: person, steps: []step{
			{in: start + ` && git clone -q . lib`},
			{in: `git init -q outer && cd outer && git -c protocol.file.allow=always submodule add ../lib sub &&
				git commit -qm sub`},
			{in: `git -c protocol.file.allow=always clone -q --recurse-submodules outer whole &&
				cat whole/sub/f`, want: "^one$"},
		}},
		{name: "git config", needs: "git", home: person, steps: []step{
			{in: start}, {in: `git config user.name x`, writes: config}, {in: `git config user.name`, want: "^x$"},
			{in: `git config --unset user.name`, writes: config}, {in: `git config --local core.autocrlf false`, writes: config},
			{in: `git config set user.email x@example.com || git config user.email x@example.com`, writes: config},
			{in: `git sparse-checkout set --cone d`, writes: ".git/config .git/info/sparse-checkout"},
		}},
		{name: "git config in a directory below", needs: "git", home: person, steps: []step{
			{in: start + ` && mkdir -p a/b`}, {in: `cd a/b && git config user.name x`},
			{in: `git -C a config user.email x@example.com`},
		}},
		{name: "git config in a worktree", needs: "git", home: person, steps: []step{
			{in: start + ` && git worktree add -q wt`},
			{in: `cd wt && git remote add origin ../remote.git`},
			{in: `git config extensions.worktreeConfig true`, writes: config},
			{in: `cd wt && git config --worktree user.name w`},
			{in: `cd wt && git config user.name`, want: "^w$"},
		}},
		{name: "git's configuration is told by its own name", needs: "git", home: person, steps: []step{
			{in: start + ` && git worktree add -q wt && mkdir a`},
			{in: `cd a &&
				git config user.name x`, writes: config},
			{in: `cd wt && git config user.name x`, writes: config},
			{in: `git config extensions.worktreeConfig true && cd wt &&
				git config --worktree user.name w`, writes: ".git/worktrees/wt/config.worktree"},
		}},
		{name: "git init in a directory below", needs: "git", home: person, steps: []step{
			{in: start}, {in: `git init -q below`, writes: "below/.git"}, {in: `cd below && git remote add origin ../x`, writes: "below/.git/config"},
			{in: `mkdir other && cd other && git init -q && git remote add origin ../x &&
				git remote`, want: "^origin$"},
			{in: `git init -q`, writes: ".git"}, {in: `git init -q --bare bare.git && git -C bare.git config core.bare`, want: "^true$"},
		}},
		{name: "git clone into the workspace", needs: "git", home: person, steps: []step{
			{in: `git init -q from && git -C from commit -q --allow-empty -m one`},
			{in: `git clone -q from to`, writes: "to/.git"}, {in: `git clone -q from`, fails: true, want: "already exists"},
			{in: `git clone -q "file://$PWD/from" far`, writes: "far/.git"},
			{in: `cd to && git remote get-url origin`, want: "from$"},
		}},
		{name: "git lfs and hooks are installed by the person's word", needs: "git", home: person, steps: []step{
			{in: start}, {in: `git config core.hooksPath hooks`, writes: config},
			{in: `echo '#!/bin/sh' > .git/hooks/pre-push`, writes: ".git/hooks/pre-push"},
		}},
	}
}
