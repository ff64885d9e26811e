package classify

import (
	"testing"

	"toolhost/agenttool"
)

var destructive = []string{
	"rm -rf x", "rm x", "rmdir x", "shred f", "truncate -s 0 f", "dd if=a of=b", "mkfs.ext4 /dev/sda1", "mkfs /dev/sda1",
	"git push --force", "git push -f origin main", "git push origin +main", "git push --force-with-lease",
	"git push origin :old", "git push --delete origin x", "git -C sub push -f",
	"git reset --hard", "git reset --hard HEAD~1", "git clean -fd", "git clean -f", "git checkout -- .", "git checkout .",
	"git branch -D x", "git stash drop", "git stash clear", "find . -delete", "find . -name x -exec rm {} +",
	`r\m x`, "'r'm x", "/bin/rm x", "{rm,x}", `$'\x72m' x`, "unlink f",
}

// around are the places from which a command is found.
var around = []struct{ name, before, after string }{
	{"bare", "", ""},
	{"sudo", "sudo ", ""}, {"sudo with a user", "sudo -u root ", ""}, {"doas", "doas ", ""},
	{"env", "env A=1 ", ""}, {"env -i", "env -i ", ""}, {"timeout", "timeout -s KILL 5 ", ""}, {"nice", "nice -n 5 ", ""},
	{"nohup", "nohup ", " &"}, {"stdbuf", "stdbuf -oL ", ""}, {"time", "time ", ""}, {"program time", "/usr/bin/time -v ", ""},
	{"command", "command ", ""}, {"setsid", "setsid ", ""}, {"ionice", "ionice -c3 ", ""}, {"flock", "flock /tmp/l ", ""},
	{"watch", "watch -n1 ", ""}, {"strace", "strace -f ", ""}, {"exec", "exec ", ""}, {"wrapped twice", "sudo env A=1 nice ", ""},
	{"xargs", "ls | xargs ", ""}, {"xargs with options", "ls | xargs -0 -n1 ", ""},
	{"assignment", "A=1 ", ""}, {"after and", "ls && ", ""}, {"after or", "ls || ", ""}, {"after a newline", "ls\n", ""},
	{"in a pipe", "ls | ", ""}, {"in the background", "", " &"}, {"negated", "! ", ""}, {"redirected", "", " > /dev/null 2>&1"},
	{"substitution", "echo $(", ")"}, {"quoted substitution", `echo "a $(`, `)"`}, {"process substitution", "cat <(", ")"},
	{"assigned", "x=$(", ")"}, {"subshell", "(", ")"}, {"group", "{ ", "; }"}, {"for", "for i in 1 2; do ", "; done"},
	{"while", "while true; do ", "; done"}, {"condition", "if ", "; then ls; fi"}, {"else", "if ls; then ls; else ", "; fi"},
	{"case", "case x in a) ", ";; esac"}, {"function", "f() { ", "; }; f"}, {"function that nobody calls", "f() { ", "; }"},
	{"here-document", "bash <<EOF\n", "\nEOF"}, {"quoted here-document", "sh <<'EOF'\nls\n", "\nEOF"},
	{"here-document of a wrapped shell", "sudo bash -s <<EOF\n", "\nEOF"},
	{"in a here-document that expands", "cat <<EOF\n$(", ")\nEOF"},
	{"piped here-document", "cat <<'EOF' | bash\n", "\nEOF"},
	{"coprocess", "coproc ", ""}, {"after what is not understood", "eval \"$x\"; ", ""},
	{"before what cannot be parsed", "", "\nif then )"}, {"before a NUL", "", "\n\x00"}, {"before no text", "", "\n\xff"},
	{"after a comment that seems to go on", "echo # \\\n", ""},
}

func TestDestructiveIsFoundEverywhere(t *testing.T) {
	for _, place := range around {
		for _, command := range destructive {
			text := place.before + command + place.after
			if got := Command(text, testContext); got.Destructive != agenttool.Yes || got.ReadOnly == agenttool.Yes {
				t.Errorf("%s: %q: destructive %v, read_only %v", place.name, text, got.Destructive, got.ReadOnly)
			}
		}
	}
}

func TestDestructiveInText(t *testing.T) {
	for _, text := range []string{
		`bash -c 'rm -rf x'`, `sh -c "ls; git reset --hard"`, `sudo sh -c 'find . -delete'`, `eval 'rm x'`, `eval rm x`,
		`ssh host 'rm -rf x'`, `su -c 'rm x'`, `bash -lc "cd x && rm y"`, `env bash -c 'rm x'`, `xargs sh -c 'rm $0'`,
		`find . -exec sh -c 'rm "$1"' _ {} \;`, `trap 'rm x' EXIT`, `echo 'rm -rf x' | sh`, `printf 'rm x\n' | bash`,
		"echo \"$\\\n(rm x)\"", "r\\\nm x", `bash <<< 'rm x'`, `bash -c "bash -c 'rm x'"`, `echo x > /dev/sda`, `script -c 'rm x'`,
	} {
		if got := Command(text, testContext).Destructive; got != agenttool.Yes {
			t.Errorf("%q: destructive %v", text, got)
		}
	}
}

func TestNotDestructive(t *testing.T) {
	tests := []struct {
		name, text string
		want       agenttool.Fact
	}{
		{"text", "echo 'rm -rf x'", agenttool.No},
		{"an operand", "echo rm -rf x", agenttool.No},
		{"a here-document for no shell", "echo <<'EOF'\nrm -rf / $(touch x)\nEOF", agenttool.No},
		{"looked up", "command -v rm", agenttool.No},
		{"a comment", "echo # rm x", agenttool.No},
		{"append", "echo x >> f", agenttool.No},
		{"redirect, which may empty a file", "echo x > f", agenttool.Unknown},
		{"a program that nobody knows", "frobnicate", agenttool.Unknown},
		{"empty", "", agenttool.No},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Command(tt.text, testContext); got.Destructive != tt.want {
				t.Errorf("%q: destructive %v, want %v: %v", tt.text, got.Destructive, tt.want, got.Reasons)
			}
		})
	}
}

// TestDestructiveWhereTablesDiffered finds what runs by a name, an option or a subcommand of which only one of two tables knew: the one by
// which a use is understood, or the one by which commands are gathered where that fails.
func TestDestructiveWhereTablesDiffered(t *testing.T) {
	for _, text := range []string{
		`bundle exec rm x`, `composer exec rm x`, `conda run rm x`, `pdm run rm x`, `hatch run rm x`, `asdf exec rm x`, `guix shell -- rm x`,
		`corepack rm x`, `yarnpkg exec rm x`,
		`python3.12 -c "import shutil; shutil.rmtree('x')"`, `luajit -e "os.remove('x')"`, `tsx -e "fs.rmSync('x')"`,
		`gdb --eval-command='python import os; os.unlink("x")' -batch`,
		`tcsh -c 'rm x'; if then )`, `echo 'rm x' | toybox sh`, `lldb -- rm x`, `kak -e '!rm x'`,
		"cat <<X | bash\nman -P 'rm x' ls\nX", "sort --compress-program='rm x' f; if then )", "rsync -e 'rm x' a host:b; if then )",
		`make CC='rm -rf x'`, `RUSTC_WRAPPER='rm -rf x' cargo build`, `CLEAN_CMD='rm -rf x' make clean`, `env SHELL_RUNNER='rm x' make`,
		`rclone delete x`, `doctl droplet delete x`, `valkey-cli del x`, `docker kill x`, `kubectl --frob x replace -f y`,
		"zstd --rm x; if then )", "curl -X DELETE http://h/x\nif then )", "apt-get purge x\nif then )", "go clean\nif then )",
		"journalctl --vacuum-size=1M\nif then )", "git switch --discard-changes x\nif then )", "git worktree add -B a b\nif then )",
		"split --filter='rm x' f\nif then )", "tar --to-command='rm x' -xf a.tar\nif then )",
	} {
		if got := Command(text, testContext).Destructive; got != agenttool.Yes {
			t.Errorf("%q: destructive %v", text, got)
		}
	}
}

// TestDestructiveInLanguages finds what destroys in texts that other programs than shells take, and in what is only put
// together when it runs.
func TestDestructiveInLanguages(t *testing.T) {
	for _, text := range []string{
		`env -S'rm -rf x'`,
		`env -Srm x`,
		`env -iS 'rm x'`,
		`env --split-string='rm -rf x'`,
		`alias x='rm -rf y'`,
		`git -c alias.x='!rm -rf y' x`,
		`git -c alias.x='push --force' x`,
		`git config alias.x '!rm -rf y'`,
		`git rebase -x 'rm -rf x' main`,
		`git bisect run rm -rf x`,
		`git submodule foreach 'git clean -fd'`,
		`sed '1e rm -rf x' f`,
		`ls | sed 's/.*/rm &/e'`,
		`ls | sed 's/^/rm /' | sh`,
		`ls | awk '{print "rm " $0}' | sh`,
		`awk 'BEGIN{system("rm x")}'`,
		`printf 'rm -rf x' | tee a | sh`,
		`echo 'rm -rf x' | cat | tee | bash`,
		`echo 'rm -rf x' | sudo bash`,
		`bash -c "$(echo rm -rf x)"`,
		`bash <(echo rm -rf x)`,
		`eval "$(echo 'rm -rf x')"`,
		`source <(printf 'rm -rf x')`,
		`$(echo rm -rf x)`,
		`x='rm -rf y'; eval "$x"`,
		`x='rm -rf y'; bash -c "$x"`,
		`export CMD='rm -rf y'; sh -c "$CMD"`,
		`f() { "$@"; }; f rm -rf x`,
		`run() { local t=$1; shift; timeout "$t" "$@"; }; run 5 rm -rf x`,
		`vim -c '!rm -rf x'`,
		`vim +'!rm -rf x'`,
		`python3 -c "import shutil; shutil.rmtree('x')"`,
		`python3 -c "import os; os.system('rm -rf x')"`,
		`python3 -c "import subprocess; subprocess.run(['rm','-rf','x'])"`,
		"python3 - <<'X'\nimport os\nos.remove('x')\nX",
		`sudo python3 -c "import os; os.remove('x')"`,
		`perl -e 'unlink "x"'`,
		`perl -e 'system("rm x")'`,
		"perl -e '`rm x`'",
		`node -e "require('fs').rmSync('x')"`,
		`node -e "require('child_process').execSync('rm -rf x')"`,
		`ruby -e "FileUtils.rm_rf 'x'"`,
		`ruby -e 'system "rm -rf x"'`,
		`php -r 'unlink("x");'`,
		`kill -9 -1`,
		`chmod -R 000 /`,
		`chown -R me ~`,
		`redis-cli FLUSHALL`,
		`echo flushall | redis-cli`,
		`psql -c 'drop table x'`,
		"psql <<'X'\nDELETE FROM users;\nX",
		`echo 'truncate table x' | mysql`,
		`mysql -e 'DROP DATABASE x'`,
		`sqlite3 a.db 'delete from x'`,
		`mongosh --eval 'db.dropDatabase()'`,
		`tmux send-keys 'rm -rf x' Enter`,
		`echo 'rm -rf x' | at now`,
		`ssh host 'sudo rm -rf /x'`,
		`docker exec web sh -c 'rm -rf /x'`,
	} {
		if got := Command(text, testContext); got.Destructive != agenttool.Yes || got.ReadOnly == agenttool.Yes {
			t.Errorf("%q: destructive %v, read_only %v", text, got.Destructive, got.ReadOnly)
		}
	}
}

func TestNotCalledDestructive(t *testing.T) {
	tests := []struct {
		name, text string
		want       agenttool.Fact
	}{
		{"a function that prints", `log() { echo "$@"; }; log rm x`, agenttool.No},
		{"a script", `python3 -c "print('hello')"`, agenttool.Unknown},
		{"a script that prints", `python3 -c "print('rm x')"`, agenttool.Unknown},
		{"a query", `psql -c 'select dropped from x'`, agenttool.Unknown},
		{"a word of a query", `mysql -e "select 1 from a where b = 'drop'"`, agenttool.Unknown},
		{"a pattern of sed", `sed -i 's/the rm x/y/' f`, agenttool.Unknown},
		{"a setting of git", `git -c user.name=x status`, agenttool.No},
		{"an alias", `alias ll='ls -l'`, agenttool.Unknown},
		{"rights of a directory", "chmod -R u+x scripts", agenttool.No},
		{"a signal", "kill 123", agenttool.Unknown},
		{"signals", "pkill node", agenttool.Unknown},
		{"a question about signals", "kill -l", agenttool.No},
		{"a stash", "git stash", agenttool.No},
		{"a table", "crontab -", agenttool.Unknown},
		{"a reference", "git update-ref refs/heads/x HEAD~5", agenttool.Unknown},
		{"a patch", "git apply x", agenttool.Unknown},
		{"a patch taken back", "git apply -R x", agenttool.Unknown},
		{"a part of a tree", "git sparse-checkout set x", agenttool.Unknown},
		{"a search", "git bisect reset", agenttool.No},
		{"references of a remote", "git fetch --prune", agenttool.No},
		{"a setting", "git config --unset x.y", agenttool.No},
		{"settings", "git config --remove-section x", agenttool.No},
		{"a container", "docker stop x", agenttool.Unknown},
		{"a service", "systemctl mask x", agenttool.Unknown},
		{"rules", "iptables -F", agenttool.Unknown},
		{"a package", "npm unpublish x", agenttool.Unknown},
		{"all files elsewhere", "rclone sync a b", agenttool.Unknown},
		{"a directory", "mkdir x", agenttool.No},
		{"a stash with all files", "git stash -u", agenttool.No},
		{"an editor", "vim -c ':q'", agenttool.Unknown},
		{"a format of branches", "make && git branch --format='%(refname)'", agenttool.Unknown},
		{"tags that follow", "git push --follow-tags", agenttool.No},
		{"a file that stays", "git rm --cached f", agenttool.No},
		{"a version", "git checkout v1.2", agenttool.No},
		{"a branch with a dot", "git checkout origin/release-1.x", agenttool.No},
		{"what would be cleaned", "git clean -nfd", agenttool.No},
		{"a substitution that is printed", `echo "$(echo rm x)"`, agenttool.No},
		{"a variable", `x='rm y'; echo "$x"`, agenttool.No},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Command(tt.text, testContext); got.Destructive != tt.want {
				t.Errorf("%q: destructive %v, want %v: %v", tt.text, got.Destructive, tt.want, got.Reasons)
			}
		})
	}
}
