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
			if got := Command(text, testContext).Facts; got.Destructive != agenttool.Yes || got.ReadOnly == agenttool.Yes {
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
		if got := Command(text, testContext).Facts.Destructive; got != agenttool.Yes {
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
			if got := Command(tt.text, testContext).Facts; got.Destructive != tt.want {
				t.Errorf("%q: destructive %v, want %v: %v", tt.text, got.Destructive, tt.want, got.Reasons)
			}
		})
	}
}
