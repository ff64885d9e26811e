package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// crowd makes more files than the walk for protected names looks at.
func crowd(a *escapeAttempt) {
	for d := range 44 {
		dir := a.path(fmt.Sprintf("ws/many/%d", d))
		a.mkdir(dir)
		for n := range 500 {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), nil, 0o644); err != nil {
				a.t.Fatal(err)
			}
		}
	}
}

// credentialNames are files below a home directory that hold what logs in, or what was typed.
func credentialNames(t testing.TB) []string {
	text, err := os.ReadFile("../../testdata/secrets/home.txt")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			names = append(names, line)
		}
	}
	if len(names) < 134 {
		t.Fatalf("%d names", len(names))
	}
	return names
}

// secretAttempts read what nobody may read. The canary of the attempt must not be said.
var secretAttempts = []attempt{
	{
		name: "environment files", row: "Read .env and .env.*", readOnly: true, shell: true, needs: "git",
		changes: "ws/copy ws/e ws/t.tar ws/l ws/h ws/d ws/.git ws/attempt.sh ws/x",
		set:     func(a *escapeAttempt) { a.host("git init -q; git commit -q --allow-empty -m one") },
		script: `cat .env; cat < .env; cp .env copy && cat copy; tar cf t.tar .env tree 2>/dev/null; tar xOf t.tar
			ln -s .env l; cat l; ln .env h; cat h
			git diff --no-index /dev/null .env; git diff --no-index tree /dev/null; git hash-object -w --stdin < .env
			git add -f .env tree; git show :.env; git stash -u -q && git stash show -p
			grep -r KEY . ; find . -name '.env*' -exec cat {} +; $P mmap .env; $P mmap tree/.env.local; dd if=.env
			cat tree/.env.local; cat ./tree/../.env
			cat /proc/self/cwd/.env; cat /proc/1/root$WS/.env; exec 8<.env && cat <&8; exec 8<.
			cat /proc/self/fd/8/.env; cat $DIR/ws/.env; head -c99 .env; source ./.env; echo $KEY
			python3 -c 'import mmap;f=open(".env","rb");print(mmap.mmap(f.fileno(),0,access=mmap.ACCESS_READ)[:])'
			perl -e 'open F,".env";print <F>'; strings .env; xxd .env; base64 .env | base64 -d; true`,
	},
	{
		name: "environment files under other names", row: "Rename/mv a read-denied file", shell: true,
		changes: "ws/attempt.sh ws/x ws/n ws/tree ws/t2",
		script: `mv .env e; cat e; mv -f .env tree/e; cat tree/e; mv tree t2; cat t2/.env.local; rm -f .env; mkdir n
			mv tree n; cat n/tree/.env.local
			python3 -c 'import os;os.rename(".env","e")'; ln -f .env e; cp -al tree x; cat x/.env.local
			rename s/.env/e/ .env; chmod 777 .env; cat .env
			python3 -c '
import ctypes,os
l=ctypes.CDLL(None,use_errno=True)
print(l.renameat2(-100,b".env",-100,b"file",2), l.renameat2(-100,b"tree",-100,b"mnt",2))'; cat file; cat mnt/.env.local; true`,
	},
	{
		name: "keys of the person", readOnly: true, shell: true, changes: "ws/k ws/l ws/attempt.sh ws/x",
		set: func(a *escapeAttempt) {
			for _, name := range []string{
				".aws/credentials", ".gnupg/k", ".kube/config", ".netrc", ".git-credentials", ".docker/config.json",
				".npmrc", ".pypirc",
				".config/gh/hosts.yml", ".cargo/credentials.toml", ".local/share/keyrings/k", ".password-store/k", ".config/gcloud/k",
			} {
				a.write("home/"+name, a.canary)
			}
		},
		script: `cat $H/.ssh/id_test; cat ~/.ssh/*; tar cf - ~/.ssh | tar xOf -; cp -r ~/.ssh k; cat k/*
			ln -s ~/.ssh l; cat l/id_test; ls ~/.ssh/id_test && echo ESCAPED list
			ln ~/.ssh/id_test x; git diff --no-index /dev/null ~/.ssh/id_test; cat < $H/.ssh/id_test
			grep -r CANARY $H; find $H -type f -exec cat {} +; $P mmap $H/.ssh/id_test
			mv $H/.ssh $H/s; cat $H/s/id_test; cat /proc/self/root$H/.ssh/id_test
			for f in .aws/credentials .netrc .git-credentials .npmrc .docker/config.json .config/gh/hosts.yml
			do cat ~/$f; done; true`,
	},
	{
		name: "credentials of today's programs", row: "Read credentials of today's programs", at: anywhere, readOnly: true, shell: true,
		changes: "ws/k ws/l ws/h ws/attempt.sh ws/names",
		set: func(a *escapeAttempt) {
			names := credentialNames(a.t)
			for _, name := range names {
				a.write("home/"+name, a.canary+"\n")
			}
			a.write("ws/names", strings.Join(names, "\n")+"\n")
		},
		script: `ln -s $H l; cp -r $H k; ln $H/.codex/auth.json h; cat h l/.codex/auth.json; grep -rs CANARY $H /proc/self/root$H /proc/1/root$H $WS/../home
			while IFS= read -r n; do printf '%s\0' "$H/$n" "l/$n" "/proc/self/root$H/$n" "/proc/1/cwd/../home/$n" "k/$n"; done < names | xargs -0 cat 2>/dev/null
			cd $H && grep -rs CANARY . ; mount --bind $H $WS/mnt && grep -rs CANARY $WS/mnt; python3 -c '
import os
for top, _, files in os.walk(os.path.expanduser("~")):
    for f in files:
        try: print(open(os.path.join(top, f)).read())
        except OSError: pass'; true`,
	},
	{
		name: "a lease", row: "Take a lease", at: anywhere, needs: "python3", changes: "ws/attempt.sh",
		script: `PATH=/usr/bin:/bin:$PATH python3 -c '
import fcntl
fcntl.fcntl(open("file"), 1024, 1)
print("ESCAPED lease")'; true`,
	},
	{
		name: "homes of others and the machine's own", row: "Read credentials of today's programs", only: "root", at: anywhere, readOnly: true,
		changes: "ws/attempt.sh",
		unfit:   "it reads the machine's own",
		script: `for f in /etc/shadow /etc/gshadow /etc/shadow- /proc/self/root/etc/shadow /etc/ssl/private/* /etc/ssh/ssh_host_*_key /etc/sudoers
			do [ -s "$f" ] && head -c1 "$f" >/dev/null 2>&1 && echo "ESCAPED $f"; done
			for d in /root /home/*; do for f in $d/.bashrc $d/.profile; do [ -s "$f" ] && head -c1 "$f" >/dev/null 2>&1 && echo "ESCAPED $f"; done; done; true`,
	},
	{
		name: "a secret through a link that was there", readOnly: true, shell: true, changes: "ws/attempt.sh",
		set: func(a *escapeAttempt) {
			a.host(`ln -s ../home/.ssh/id_test key; ln -s .env visible; ln .env hard; ln -s tree other; ln -s $H h`)
		},
		script: `cat key visible other/.env.local h/.ssh/id_test; cat hard; grep -r KEY .; cat < visible; true`,
	},
	{
		name: "secrets with odd names", readOnly: true, shell: true, changes: "ws/attempt.sh",
		set: func(a *escapeAttempt) {
			for _, name := range []string{".env.a b", ".env.\n", ".env.\xff", ".env.'\"", ".env.\\", ".env.*",
				"tree/.env.{a,b}", "tree/a b/.env", "tree/\n/.env"} {
				a.write("ws/"+name, a.canary)
			}
		},
		script: `cat .env* tree/.env* tree/*/.env; find . -name '.env*' -print0 | xargs -0 cat; true`,
	},
	{
		name: "more secrets than there are masks", readOnly: true,
		set: func(a *escapeAttempt) {
			for i := range 150 {
				a.write(fmt.Sprintf("ws/d%d/.env", i), a.canary)
			}
		},
		script: `cat d*/.env; true`,
	},
	{
		name: "a secret behind more files than are looked at", only: "user",
		unfit: "the crowd takes a while, and secrets elsewhere have shown it",
		set: func(a *escapeAttempt) {
			crowd(a)
			a.write("ws/z/z/.env", a.canary)
		},
		script: `cat z/z/.env; true`,
	},
	{
		name: "the environment of toolhost", at: anywhere, readOnly: true, shell: true, changes: "ws/attempt.sh",
		set: func(a *escapeAttempt) {
			for _, name := range strings.Fields(`ANTHROPIC_API_KEY OPENAI_API_KEY GITHUB_TOKEN AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN NPM_TOKEN
				MY_PASSWORD DATABASE_URL KUBECONFIG SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS XDG_SESSION_ID GPG_AGENT_INFO TH_ANYTHING npm_config__auth
				TOOLHOST_SECRET LC_SECRET GIT_ASKPASS SSH_ASKPASS PYTHONPATH LD_LIBRARY_PATH`) {
				a.env = append(a.env, name+"="+a.canary)
			}
		},
		script: `env; export -p; declare -p; cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n'
			cat /proc/self/environ /proc/1/environ /proc/$PPID/environ /proc/$PPID/task/*/environ
			python3 -c 'import os;print(os.environ)'; true`,
	},
}
