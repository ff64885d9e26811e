package classify_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// buildRepositories makes the two roots in the working directory, each with a home, a repository and /tmp that belong
// to the unprivileged user.
func (p *kernelPlan) buildRepositories() error {
	for root, more := range map[string]string{kernelUsual: "", kernelHostile: hostileRepository} {
		if err := p.buildRoot(root); err != nil {
			return fmt.Errorf("build a root: %w", err)
		}
		cmd := exec.Command("bash", "--noprofile", "--norc", "-euc", usualRepository+more)
		cmd.Dir = root + kernelDir
		home := filepath.Join(p.Stage, root, kernelHome)
		cmd.Env = []string{"PATH=" + p.path(), "HOME=" + home, "LC_ALL=C", "GOROOT=" + p.Goroot,
			"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z"}
		if p.Root {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: kernelUser, Gid: kernelUser}}
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build the %s repository: %w: %s", root, err, out)
		}
	}
	return nil
}

func (p *kernelPlan) buildRoot(root string) error {
	err := os.MkdirAll(root+kernelDir, 0o755)
	for _, d := range []string{"/tmp", "/var/tmp", "/proc", "/dev", "/run", "/mnt"} {
		err = errors.Join(err, os.MkdirAll(root+d, 0o755))
	}
	for _, place := range p.system() {
		info, statErr := os.Lstat(place)
		switch {
		case statErr != nil:
		case info.IsDir():
			err = errors.Join(err, os.MkdirAll(root+place, 0o755))
		default:
			target, readErr := os.Readlink(place)
			err = errors.Join(err, readErr, os.Symlink(target, root+place))
		}
	}
	for _, d := range []string{"/tmp", "/var/tmp"} {
		err = errors.Join(err, os.Chmod(root+d, 0o777|os.ModeSticky))
	}
	if p.Root {
		err = errors.Join(err, os.Chown(root+kernelHome, kernelUser, kernelUser),
			os.Chown(root+kernelDir, kernelUser, kernelUser))
	}
	return err
}

// usualRepository has something to read under the names that the corpora use.
const usualRepository = `
cat >~/.gitconfig <<'END'
[user]
	name = Dev
	email = dev@example.com
[init]
	defaultBranch = main
[diff]
	autoRefreshIndex = false
END
mkdir -p ~/.config/go/telemetry ~/.ssh ~/bin
echo 'off 2026-01-01' >~/.config/go/telemetry/mode
echo key >~/.ssh/id_rsa

git init -q
mkdir -p bin sub/empty internal/deep src cmd/tool vendor/x docs test node_modules/left
printf 'module example.com/work\n\ngo 1.21\n' >go.mod
echo 'example.com/x v1.0.0 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' >go.sum
{
	printf 'package main\n\nimport "fmt"\n\n// start\nfunc main() {\n'
	printf '\tfmt.Println("hello, secret") // TODO: more\n}\n// end\n'
	for i in {1..20}; do printf 'var v%d = %d\n' $i $i; done
} >main.go
printf 'package main\n\nfunc foo(x int) int { return x }\n' >old.go
printf 'package main\n\nfunc foo(x int) int { return x + 1 }\n' >new.go
printf 'package deep\n\nfunc Deep() {}\n' >internal/deep/deep.go
cp internal/deep/deep.go vendor/x/x.go
printf 'package main\n\nimport "testing"\n\nfunc TestFoo(t *testing.T) {}\n' >main_test.go
printf '%s\n' '{"name": "work", "version": "1.0.0", "scripts": {"test": "touch ran"}}' >package.json
printf '%s\n' '{"name": "left", "version": "1.0.0"}' >node_modules/left/package.json
printf 'all: x\n\ttouch made\nx:\n\techo x >x\n' >Makefile
printf '# Work\n\nSome *text* to read.\n' >README.md
cp README.md docs/index.md
for n in a b; do printf '%s 1 x:y\n' p q r $n >$n; sort $n >$n.sorted; done
cp a.sorted sorted.txt
printf 'start\nfoo write abc 3 > 2\nbar\nend\n' >f
for n in file.txt input.txt x.txt a.txt b.txt c y; do cp f $n; done
printf '%s\n' ann bob cid dan >names.txt
for i in {1..400}; do echo "$i line $((i * 7 % 13)) of the log: ERROR or not"; done | tee server.log app.log >big.txt
printf '%s\n' a f go.mod >files.txt
cp files.txt list
printf '{"a": 1, "b": [1, 2, {"c": "d"}], "name": "x", "items": [{"id": 1}]}\n' >data.json
for n in a.json f.json x.json config.json; do cp data.json $n; done
printf 'id,name\n1,ann\n2,bob\n' | tee data.csv a.csv >f.csv
printf 'a: 1\nb:\n  - c\n' | tee data.yaml config.yml a.yaml >x.yaml
printf '#!/bin/bash\necho $(touch scripted)\n' | tee script.sh x.sh x run.sh >sub/x.sh
chmod +x *.sh x sub/x.sh
cp x ~/bin/ls
for n in a f x; do gzip -kc f >$n.gz; done
gzip -c app.log >app.log.gz
for z in bzip2:bz2 xz:xz zstd:zst; do
	if type ${z%:*} >/dev/null 2>&1; then for n in a f app.log; do ${z%:*} -c <f >$n.${z#*:}; done; fi
done
for n in a x archive backup dist; do tar -cf $n.tar a b f; tar -czf $n.tar.gz a b f; done
cp a.tar.gz a.tgz
if type zip >/dev/null 2>&1; then for n in a x archive; do zip -q $n.zip a b f; done; fi
if type cpio >/dev/null 2>&1; then printf '%s\n' a b | cpio -o --quiet >a.cpio; fi
cp /bin/true a.out
cp /bin/true bin/tool
if [ -x "$GOROOT/bin/gofmt" ]; then cp "$GOROOT/bin/gofmt" bin/tool; fi
cp "$(ldd /bin/true | sed -n 's/.* => \([^ ]*libc[^ ]*\) .*/\1/p')" lib.so
head -c 4096 bin/tool >main.bin
cp main.bin a.bin
printf 'node_modules\n*.bin\n' >.gitignore
printf 'A=1\n' >.env
ln -s main.go link

git add -A && git commit -qm 'first' && git tag v1 && git tag -am annotated v1.0.0
printf 'more\n' >>f && git commit -qam 'second: foo('
git switch -qc feature && printf 'package main // feature\n' >feature.go && git add feature.go && git commit -qm feature
git switch -q main && printf 'var foo = 1\n' >>main.go && git commit -qam 'third (#3)'
git merge -q --no-edit feature
printf 'stashed\n' >>f && git stash -q
git branch other && git remote add origin https://example.invalid/work.git
git update-ref refs/remotes/origin/main HEAD~1
printf 'staged\n' >>b && git add b
printf 'changed\n' >>README.md
touch -d 2026-01-01 main.go # the index is out of date, but nothing has changed
printf 'one\ntwo\nthree four five\n' >notes.txt
sha256sum a b f | tee SUMS SHA256SUMS checksums.txt >sums.txt
md5sum a b f >MD5SUMS
`

// hostileRepository is what a foreign repository can do to who reads it: names that are options, settings that run
// programs, programs that are named like others, a bare repository inside.
const hostileRepository = `
run='touch ran; false'
for n in --output=ran -o -i --in-place -delete -exec --help -w --compress-program=sh -e '-e w ran' --ext-diff \
	'; touch ran' '$(touch ran)' '|touch ran' $'a\ntouch ran' '>ran' "'" '"' ' ' '*' '[a' '{x,y}' '~' '#' '=ls' \
	'a[$(touch ran)]' --checkpoint-action=exec=ran --pre=sh '@x' '-T' '--files0-from=-' '-f' '--' '-' '-R' '-o ran' \
	--output=ran.go -w.go -i.txt --output=ran.txt; do
	printf '%s\n' "$run" >"$n"
done
for n in ls git cat grep head sort bash sh less pager jq go node rg test true; do
	[ -d $n ] || { printf '#!/bin/bash\ntouch ran\n' >$n; chmod +x $n; }
done
printf '%s\n' --pre=./x >.ripgreprc
printf '* diff=x filter=x merge=x\n' >.gitattributes
printf '[core]\n\tfsmonitor = touch ran\n\tpager = touch ran\n[diff "x"]\n\ttextconv = touch ran\n' >.gitconfig
mkdir -p .vscode .config/git evil/objects evil/refs
cp .gitconfig .config/git/config
printf 'ref: refs/heads/main\n' >evil/HEAD
cat .gitconfig - >evil/config <<<$'[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..'
printf 'eval "%s"\n' "$run" |
	tee .bashrc .profile .envrc .lessfilter .inputrc .screenrc .gdbinit .exrc .vimrc >.bash_profile
printf 'fname\tx\n0 string x x\n' >magic
printf 'def x: input;\n' >.jq
printf 'script-shell=./x\nprefix=./sub\ncache=./sub\n' >.npmrc
printf 'module example.com/work\n\ngo 1.21\n\ntoolchain go1.99.0\n' >go.mod
printf 'go 1.21\n\ntoolchain go1.99.0\n\nuse ./sub\n' >go.work
printf 'GOFLAGS=-toolexec=./x\n' >go.env
printf 'import os\nopen("ran", "w")\n' | tee sitecustomize.py os.py json.py usercustomize.py >re.py
printf 'all: $(shell touch ran)\n' >GNUmakefile
printf '0 1 * * 2 \\$(touch ran)' >>list
`
