#!/bin/sh
# canaries.sh DIR makes repositories in DIR whose configuration names a program wherever git may run one. Each, when it runs, adds its
# name to DIR/ran, and says it on stderr. HOME is DIR/home.
#
#   plain     all of it in .git/config
#   included  in files that .git/config includes, one below another, one under a condition
#   worktree  a linked work tree, with a configuration of its own
#   outer     a repository with a submodule, sub, that has it
#   personal  in the person's own configuration (DIR/home/.gitconfig is left to the caller: DIR/personal.config)
#   bare      a bare repository made of plain files, in plain/bare
#   partial   a partial clone that lacks a file
set -eu
mkdir -p "$1"
cd "$1"
base=$(pwd)
export HOME="$base/home" GIT_CONFIG_NOSYSTEM=1 LC_ALL=C GIT_ALLOW_PROTOCOL=file
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
mkdir home canaries hooks

canary() { # NAME: makes a program that tells that it ran
	case $1 in # what speaks a protocol would wait for ever
	uploadpack | ssh | gitproxy | process | credential) rest="exit 1" ;;
	*) rest=cat ;;
	esac
	printf '#!/bin/sh\necho %s >> "%s/ran"\necho CANARY %s >&2\n%s\n' "$1" "$base" "$1" "$rest" > "canaries/$1"
	chmod +x "canaries/$1"
	echo "$base/canaries/$1"
}
for hook in post-index-change pre-auto-gc post-checkout reference-transaction fsmonitor-watchman query-watchman post-rewrite; do
	canary "hook-$hook" > /dev/null
	cp "canaries/hook-$hook" "hooks/$hook"
done

keys() { # prints the configuration
	cat <<EOF
[core]
	fsmonitor = $(canary fsmonitor)
	hooksPath = $base/hooks
	pager = $(canary pager)
	editor = $(canary editor)
	sshCommand = $(canary ssh)
	gitProxy = $(canary gitproxy)
	askPass = $(canary askpass)
	alternateRefsCommand = $(canary alternates)
[sequence]
	editor = $(canary editor)
[diff]
	external = $(canary external)
	submodule = diff
[diff "text"]
	textconv = $(canary textconv)
	cachetextconv = true
[diff "cmd"]
	command = $(canary command)
[diff.low]
	textconv = $(canary textconv-low)
[filter "flt"]
	clean = $(canary clean)
	smudge = $(canary smudge)
	required = true
[filter "proc"]
	process = $(canary process)
	required
[merge "mrg"]
	driver = $(canary merge) %A %O %B
[merge]
	tool = x
[gpg]
	program = $(canary gpg)
[gpg "openpgp"]
	program = $(canary gpg)
[gpg "ssh"]
	program = $(canary gpg)
[gpg "x509"]
	program = $(canary gpg)
[log]
	showSignature = true
	diffMerges = remerge
[pretty]
	signed = %G?
[branch]
	sort = refname
[status]
	submoduleSummary = true
[submodule]
	recurse = true
[pager]
	log = $(canary pager)
	diff = $(canary pager)
	status = $(canary pager)
	branch = $(canary pager)
[credential]
	helper = !$(canary credential)
[alias]
	log = !$(canary alias)
	status = !$(canary alias)
	st = !$(canary alias)
[interactive]
	diffFilter = $(canary difffilter)
[tar "tar.x"]
	command = $(canary tarfilter)
[remote "origin"]
	url = $base/nowhere
	uploadpack = $(canary uploadpack)
	fetch = +refs/heads/*:refs/remotes/origin/*
[trailer "x"]
	command = $(canary trailer)
	ifexists = addIfDifferent
[uploadpack]
	packObjectsHook = $(canary packobjects)
[gc]
	auto = 1
[feature]
	manyFiles = true
[lfs]
	url = x
[difftool "x"]
	cmd = $(canary difftool)
EOF
}

files() { # writes files with every attribute; TEXT is in them
	for name in a.text b.cmd c.flt d.proc e.mrg f.low plain.txt; do
		printf 'one\n%s\n' "$1" > "$name"
	done
	mkdir -p sub/deep
	printf '%s\n' "$1" > sub/deep/x.text
}

history() { # fills a new repository in the current directory, without any program
	git init -q -b main .
	files 1
	git add .
	git commit -qm first
	git tag v1
	files 2
	git commit -qam second
	git branch side HEAD~1
	git checkout -q side
	printf 'one\nside\n' > e.mrg
	git commit -qam side
	git checkout -q main
	git merge -q side 2> /dev/null || { printf 'one\nboth\n' > e.mrg; git commit -qam merged; }
	{ # a commit and a tag that claim to be signed
		git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----'
	} | git hash-object -t commit -w --stdin > .git/signed
	git update-ref refs/heads/main "$(cat .git/signed)"
	printf 'object %s\ntype commit\ntag s1\ntagger a <a@b> 1577836800 +0000\n\ns\n-----BEGIN PGP SIGNATURE-----\n\niQ\n-----END PGP SIGNATURE-----\n' \
		"$(git rev-parse HEAD)" | git mktag > .git/signed
	git update-ref refs/tags/s1 "$(cat .git/signed)"
	git config --local user.name x
	git notes add -m note HEAD
	cat > .gitattributes <<'EOF'
*.text diff=text
*.cmd diff=cmd
*.flt filter=flt
*.proc filter=proc
*.mrg merge=mrg
*.low diff=low
EOF
	git add .gitattributes
	git commit -qm attributes
	echo stashed > plain.txt
	git stash -q
	git bisect start -q HEAD HEAD~1 > /dev/null 2>&1 || :
	git bisect reset -q > /dev/null 2>&1 || :
	git bundle create -q ../bundle HEAD
	files 3
	git add a.text b.cmd
	files 4
	echo pattern > patterns
	ls > untracked
	mkdir -p .git/objects/info
	echo "$base/alternate/objects" > .git/objects/info/alternates
	cp "$base"/hooks/* .git/hooks/
}

git init -q --bare alternate
mkdir plain
(cd plain && history)
keys > all.config
cat all.config >> plain/.git/config

cp -a plain included
sed -i "/^\\[core\\]/,\$d" included/.git/config
printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[include]\n\tpath = more\n' > included/.git/config
printf '[includeIf "gitdir:**"]\n\tpath = "%s/one.config"\n[includeIf "onbranch:main"]\n\tpath = "~/two.config"\n' "$base" > included/.git/more
sed '/^\[diff/,$d' all.config > one.config
sed -n '/^\[diff/,$p' all.config > home/two.config

cp -a plain main
rm -rf main/.git/objects/info/alternates
printf '[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tworktreeConfig = true\n' > main/.git/config
(cd main && git worktree add -q ../worktree -b linked 2> /dev/null)
cp all.config main/.git/worktrees/worktree/config.worktree
(cd worktree && files 5)

cp -a main inner
rm -rf inner/.git/worktrees
printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n' > inner/.git/config
git init -q -b main outer
(cd outer && git -c protocol.file.allow=always submodule --quiet add ../inner sub && git commit -qm sub && echo x > f && git add f && git commit -qm f)
cat all.config >> outer/.git/modules/sub/config
(cd outer/sub && files 6)

cp all.config personal.config
cp -a main personal
rm -rf personal/.git/worktrees
printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n' > personal/.git/config
(cd personal && files 7)

mkdir plain/bare
cp -a plain/.git/HEAD plain/.git/config plain/.git/objects plain/.git/refs plain/bare/
sed -i 's/bare = false/bare = true/' plain/bare/config

cp -a main partial
rm -rf partial/.git/worktrees
lost=$(cd partial && git rev-parse HEAD:plain.txt)
rm -f "partial/.git/objects/$(echo "$lost" | cut -c1-2)/$(echo "$lost" | cut -c3-)"
printf '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = %s\n\tpromisor = true\n\tuploadpack = %s\n' \
	"$base/main" "$base/canaries/uploadpack" > partial/.git/config
rm -f ran
