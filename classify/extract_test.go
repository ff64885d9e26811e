package classify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
)

// mentionTests are command lines with what they mention, commands parted by " ;; ", ? for what is not known in a word; behind " -- "
// what they do not.
var mentionTests = []struct{ name, text, want string }{
	{"plain", "git push origin", "git push origin"},
	{"list", "ls && git push || rm x; make &", "ls ;; git push ;; rm x ;; make"},
	{"lines", "ls\n\ngit push # rm x", "ls ;; git push -- rm x"},
	{"pipeline", "ls | git push |& wc", "ls ;; git push ;; wc"},
	{"negated", "! git push", "git push"},
	{"substitution", "echo a$(git push)b \"$(git fetch)\" `git pull`", "echo a?b ? ? ;; git push ;; git fetch ;; git pull"},
	{"process substitution", "cat <(git push) > >(git fetch)", "git push ;; git fetch"},
	{"in arithmetic", "((x = $(git push)))", "git push"},
	{"in a default", "echo ${x:-$(git push)}", "git push"},
	{"in a here-document", "cat <<X\n$(git push)\nX", "git push"},
	{"not in a quoted here-document", "cat <<'X'\n$(git push)\nX", "cat -- git push"},
	{"function body", "f() { git push; }", "git push"},
	{"loops", "for i in a; do git push; done; while git fetch; do :; done; select x in a; do git pull; done", "git push ;; git fetch ;; git pull"},
	{"conditions", "if git push; then git fetch; elif git pull; then ls; else rm x; fi", "git push ;; git fetch ;; git pull ;; ls ;; rm x"},
	{"case", "case x in a) git push;; *) git fetch;; esac", "git push ;; git fetch"},
	{"groups", "(git push); { git fetch; }", "git push ;; git fetch"},
	{"condition of a test", "[[ -n $(git push) ]]", "git push"},
	{"array", "a=($(git push) b)", "git push"},
	{"coprocess", "coproc git push a=b", "git push a=b ;; coproc git push a=b"},
	{"keyword time", "time -p git push", "git push ;; time -p git push"},

	{"quoted", `'git' "pu"sh $'x' \y`, "git push x y"},
	{"by a path", "/usr/bin/rm x; ./rm y", "/usr/bin/rm x ;; ./rm y"},
	{"braces", "{rm,-rf,a{1,2}}", "rm -rf a1 a2"},
	{"continued line", "git pu\\\nsh", "git push"},
	{"variables before", "A=b C=d git push", "git push -- A=b C=d git push"},
	{"unknown word", `git push "$x" a$y`, "git push ? a?"},
	{"unknown program", `"$x"m -rf`, "?m -rf"},
	{"what may vanish", "$SUDO rm x", "? rm x ;; rm x"},
	{"pattern", "rm *.o", "rm *.o ;; rm ?.o"},
	{"pattern for a program", "/bin/r? x [a-c]d", "/bin/r? x ?d"},
	{"known variable", "c=rm; $c -rf x", "rm -rf x -- ? -rf x"},
	{"known words", `c="git push"; $c -f`, "git push -f"},
	{"known words in the middle", `c="push -f"; git $c x`, "git push -f x"},
	{"empty variable", "x=; $x rm y", "rm y"},
	{"exported variable", "export c=rm; $c x", "rm x ;; export c=rm"},
	{"variable given twice", "c=ls; c=rm; $c x", "rm x ;; ? x"},
	{"variable given later", "c=ls; while :; do $c x; c=rm; done", "ls x ;; ? x"},
	{"variable of a loop", "c=ls; for c in a; do $c x; done", "? x"},
	{"variable that is read", "c=ls; read c; $c x", "? x"},
	{"variable of an unknown name", "c=ls; declare -n d=c; d=rm; $c x", "? x"},
	{"home and directory", "$HOME/bin/x; ls $PWD", "/home/u/bin/x ;; ls /w"},
	{"directory that changed", "cd a; ls $PWD", "ls ?"},
	{"printed words", "$(echo git push) x", "git push x"},
	{"other splits", "IFS=x; v=rmxy; $v", "?"},

	{"export", "export A=b C", "export A=b C"}, {"declare", "declare -x A='b c'", "declare -x A=b c"},
	{"local", "f() { local a=$x; }", "local a=?"}, {"let", "let 'x=1'", "let x=1"}, {"readonly", "readonly A", "readonly A"},

	{"env", "env -i A=b git push", "git push -- push"}, {"env that splits", "env -S 'git push' -f", "git push"},
	{"env that splits in one word", "env -Sgit push", "git push"}, {"sudo", "sudo -u root -- git push", "git push -- push"},
	{"sudo with a shell", "sudo -s 'git push'", "git push"}, {"unknown option", "sudo --frob x git push", "git push"},
	{"timeout", "timeout -k 1 5 git push \"$b\"", "git push ? -- push ?"}, {"nice", "nice -n5 git push", "git push -- push"},
	{"nohup", "nohup git push &", "git push"}, {"setsid", "setsid -w git push", "git push"}, {"stdbuf", "stdbuf -oL git push", "git push"},
	{"command", "command -p git push", "git push"}, {"command that looks", "command -v git", "command -v git -- git"},
	{"builtin", "builtin eval 'git push'", "git push"}, {"exec", "exec -a x git push", "git push"},
	{"program time", "/usr/bin/time -v git push", "git push"}, {"flock", "flock -n f git push", "git push"},
	{"flock with text", "flock f -c 'git push'", "git push"}, {"watch", "watch -n1 git push", "git push -- push"},
	{"watch with text", "watch 'ls; git push'", "git push"}, {"strace", "strace -f -o x git push", "git push"},
	{"xargs", "xargs -n1 git push", "git push ;; git push ? -- push"}, {"xargs alone", "xargs git", "git ?"},
	{"xargs that replaces", "xargs -I{} npm run {}", "npm run ?"}, {"xargs with a wrapper", "xargs sudo", "?"},
	{"xargs with a shell", `xargs sh -c 'git push "$0"'`, "git push ?"}, {"xargs with unknown text", "xargs sh -c", "?"},
	{"find", "find . -delete -exec npm run deploy \\;", "npm run deploy"},
	{"find twice", "find . -exec git rm {} \\; -o -exec rm {} +", "git rm .? ;; rm .? -- rm {} ; -o -exec rm {} +"},
	{"find with an unknown word", "find . $x rm y", "rm y"}, {"fd", "fd . -x git push", "git push"},
	{"parallel", "parallel git push ::: a b", "git push ?"}, {"ssh", "ssh -p 22 host git push", "git push"},
	{"ssh with text", "ssh host 'cd x && git push'", "git push ;; cd x"}, {"docker", "docker exec -it c git push", "git push"},
	{"docker run", `docker run --rm -v "$PWD:/x" i git push`, "git push"}, {"docker rm", "docker rm x", "docker rm x -- rm x"},
	{"entry point of docker", "docker run --entrypoint rm i -rf x", "rm ?"}, {"proxy of ssh", "ssh -o ProxyCommand='git push' host", "git push"},
	{"kubectl", "kubectl -n x exec p -- git push", "git push"}, {"npx", "npx rimraf x", "rimraf x"}, {"npm", "npm run deploy", "npm run deploy -- deploy"},
	{"make", "make deploy", "make deploy -- deploy"}, {"uv", "uv run git push", "git push"}, {"su", "su - u -c 'git push'", "git push"},
	{"runuser", "runuser -u u -- git push", "git push"}, {"busybox", "busybox rm x", "rm x"}, {"unknown wrapper", "doppler run -- git push", "git push"},
	{"wrapped often", "sudo env A=b nice timeout 5 nohup git push", "git push -- push"}, {"wrapped rm", "env rm -rf x", "rm -rf x"},
	{"a function that runs its arguments", `f() { "$@"; }; f git push`, "git push"},
	{"such a function, defined later", `g() { f git push; }; f() { timeout 5 "$@"; }; g`, "git push"},

	{"shell", "bash -c 'git push'", "git push"}, {"shell with options", "bash -e -o pipefail -lc 'ls; git push'", "git push ;; ls"},
	{"shell in a shell", `sh -c "sh -c 'sh -c \"git push\"'"`, "git push"}, {"unknown text", `bash -c "$x"`, "?"},
	{"text unknown in part", `bash -c "ls $x"`, "ls ? ;; ?"}, {"text with arguments", `bash -c '"$@"' _ git push`, "git push"},
	{"known text", "t='git push'; sh -c \"$t\"", "git push"}, {"script", "bash deploy.sh prod", "deploy.sh prod"},
	{"eval", "eval git 'push x'", "git push x -- push x"}, {"eval of unknown text", `eval "$x"`, "?"}, {"trap", "trap 'git push' EXIT", "git push -- EXIT"},
	{"alias", "alias x='git push'", "git push"}, {"here-document for a shell", "sudo bash -s <<X\ngit push $x\nX", "git push ? ;; ?"},
	{"here-string for a shell", "sh <<< 'git push'", "git push"}, {"printed into a shell", "echo 'git push' | tee a | sh", "git push -- ?"},
	{"unknown text into a shell", "cat f | sh", "?"}, {"data into a shell", "cat f | sh -c 'wc -l'", "wc -l -- ?"},
	{"from a substitution", "sh < <(echo git push)", "git push"}, {"sourced", "source <(echo git push)", "git push"},
	{"alias of git", "git -c alias.x='!rm -rf y' x", "rm -rf y"}, {"short alias of git", "git config alias.p 'push -f'", "git push -f"},
	{"pager of git", "git -c core.pager='rm x' log", "rm x"}, {"git bisect", "git bisect run npm test", "npm test -- test"},
	{"git rebase", "git rebase -x 'git push' main", "git push"}, {"git submodule", "git submodule foreach --recursive git push", "git push"},
	{"editor in a variable", "EDITOR='rm -rf' git commit", "rm -rf"}, {"pager in a variable", "env PAGER='rm x' git log", "rm x"},
	{"sed", "sed '1e git push' f", "git push"}, {"awk", `awk 'BEGIN{system("git push")}'`, "git push"},
	{"python", `python3 -c "import os; os.system('git push')"`, "git push"}, {"words of python", `python3 -c "subprocess.run(['git', 'push'])"`, "git push"},
	{"subscript", "test -v 'a[$(rm x)]'", "rm x"}, {"subscript in a condition", "[[ -v 'a[$(rm x)]' ]]", "rm x"}, {"expanded again", "echo ${x@P}", "?"},
	{"callback", "mapfile -C 'rm x' a", "rm x"}, {"text that is no code", "git commit -m 'rm x; `rm y`'", "git commit -m rm x; `rm y` -- rm x ;; rm y"},
}

func TestMentions(t *testing.T) {
	for _, tt := range mentionTests {
		t.Run(tt.name, func(t *testing.T) {
			f := Command(tt.text, testContext)
			if f.Unmentioned {
				t.Errorf("%q: there may be more", tt.text)
			}
			wanted, unwanted, _ := strings.Cut(tt.want, " -- ")
			for want := range strings.SplitSeq(wanted, " ;; ") {
				if !slices.Contains(mentioned(f), want) {
					t.Errorf("%q: %q is not among %q", tt.text, want, mentioned(f))
				}
			}
			for want := range strings.SplitSeq(unwanted, " ;; ") {
				if want != "" && slices.Contains(mentioned(f), want) {
					t.Errorf("%q: %q is among %q", tt.text, want, mentioned(f))
				}
			}
		})
	}
}

// mentioned are the mentions as text, with ? for what is not known.
func mentioned(f agenttool.Facts) []string {
	var list []string
	for _, argv := range f.Mentions {
		list = append(list, strings.ReplaceAll(strings.Join(argv, " "), agenttool.Unread, "?"))
	}
	return list
}

func TestNothingIsMentioned(t *testing.T) {
	for _, text := range []string{"", "# rm x", "x=1", "((1))"} {
		if f := Command(text, testContext); f.Mentions == nil || len(f.Mentions) > 0 || f.Unmentioned {
			t.Errorf("%q: %q, unmentioned %v", text, mentioned(f), f.Unmentioned)
		}
	}
}

// TestMentionsOfWhatCannotBeParsed: what is split without a grammar is gathered all the same, and it is said that there may be more.
func TestMentionsOfWhatCannotBeParsed(t *testing.T) {
	filler := "echo " + strings.Repeat("x", maxText) + "\n"
	for _, tt := range []struct{ name, text, want string }{
		{"open quote", `rm -rf "unclosed`, "rm -rf unclosed"}, {"open single quote", "git push 'x", "git push x"},
		{"what stands before", "ls; git push\nif then )", "git push"}, {"behind a keyword", "if true; then git push 'x", "git push x"},
		{"behind !", "! git push 'x", "git push x"}, {"behind an assignment", "A=b C='d' git push \"x", "git push x"},
		{"behind a redirection", ">f 2>&1 git push 'x", "git push x"}, {"redirected", "git push 2> f 'x", "git push x"},
		{"in brackets", "(git push 'x", "git push x"}, {"in a substitution", "echo $(git push 'x", "git push x"},
		{"in backquotes", "echo `git push 'x", "git push x"}, {"in a group", "{ git push 'x", "git push x"}, {"piped", "ls|git push 'x", "git push x"},
		{"spelled", `'g'it \push $'x' "y`, "git push x y"}, {"unknown words", `git "$x" ${y} push $1 "z`, "git ? ? push ? z"},
		{"wrapped", "sudo git push 'x", "git push x"}, {"in a shell", `bash -c "git push x`, "git push x"}, {"unknown program", "$x rm -rf 'y", "rm -rf y"},
		{"commented out", "ls 'x # git push", "git push"}, {"continued", "git \\\n push 'x", "git push x"}, {"text for a shell", `sh -c 'git push "x'`, "git push x"},
		{"text for eval", `eval 'git push "x'`, "git push x"},
		{"long line", strings.TrimSpace(filler) + " ; git push", "git push"}, {"200 KiB", filler + filler + filler + "git push x", "git push x"},
		{"too deep", strings.Repeat("(", 400) + "git push x" + strings.Repeat(")", 400), "git push x"},
		{"NUL", "ls\x00; git push x", "git push x"}, {"NUL in a word", "r\x00m x", "r?m x"}, {"no text", "ls \xff; git push x", "git push x"},
		{"a comment that seems to go on", "# \\\ngit push x", "git push x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := Command(tt.text, testContext)
			if !f.Unmentioned {
				t.Errorf("%.80q: it is not said that there may be more", tt.text)
			}
			if list := mentioned(f); !slices.Contains(list, tt.want) {
				t.Errorf("%.80q: %q is not among %.500q", tt.text, tt.want, list)
			}
		})
	}
}

// TestManyCommandsAreAllMentioned: no number of commands that people write hides the last one.
func TestManyCommandsAreAllMentioned(t *testing.T) {
	for _, n := range []int{50, 51, 500, 5_000} {
		f := Command(strings.Repeat("echo a; ", n)+"git push", testContext)
		if f.Unmentioned || !slices.Contains(mentioned(f), "git push") {
			t.Errorf("%d commands: %d mentioned, unmentioned %v", n, len(f.Mentions), f.Unmentioned)
		}
	}
}

// TestMentionsAreBounded: what is gathered does not grow beyond measure, and then it is said that there is more.
func TestMentionsAreBounded(t *testing.T) {
	for name, text := range map[string]string{
		"one word of 8 MiB": strings.Repeat("x", 8<<20),
		"words of 8 MiB":    strings.Repeat("x ", 4<<20),
		"commands of 8 MiB": strings.Repeat("a;", 4<<20),
		"wrappers of 8 MiB": strings.Repeat("sudo ", 8<<20/5),
		"quotes of 8 MiB":   strings.Repeat(`"'`, 4<<20),
		"copied values":     "x=" + strings.Repeat("a", 4_000) + ";" + strings.Repeat("echo $x$x$x$x;", 4_000),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			f := Command(text, testContext)
			if took := time.Since(start); took > time.Minute {
				t.Errorf("%d bytes took %v", len(text), took)
			}
			mentionsAreBounded(t, f, len(text))
		})
	}
}

// mentionsAreBounded checks how many mentions a text of so many bytes makes, and how much memory they take.
func mentionsAreBounded(t *testing.T, f agenttool.Facts, bytes int) {
	t.Helper()
	longest := map[*string][]string{} // those that share an array end alike
	for _, argv := range f.Mentions {
		if last := &argv[len(argv)-1]; len(argv) > len(longest[last]) {
			longest[last] = argv
		}
	}
	size := 0
	for _, argv := range longest {
		size += 16 * len(argv)
		for _, word := range argv {
			size += len(word)
		}
	}
	if size > 16<<20 || len(f.Mentions) > 4*maxMentions {
		t.Errorf("%d bytes make %d mentions of %d bytes", bytes, len(f.Mentions), size)
	}
}

// TestWrappersKeepMentions: whatever is put before a command, it is mentioned as before.
func TestWrappersKeepMentions(t *testing.T) {
	wrap := []string{"env ", "env -i A=b ", "env -u X -- ", "sudo ", "sudo -u root ", "sudo --frob ", "doas ", "timeout 5 ", "timeout -k 1 5 ", "nice ",
		"nice -n5 ", "ionice -c 3 ", "nohup ", "setsid ", "stdbuf -oL ", "time ", "command ", "exec ", "builtin ", "xargs ", "xargs -n1 ", "strace -f ",
		"watch -x ", "flock f ", "taskset 1 ", "chroot / ", "unshare -r ", "busybox ", "docker exec c ", "find . -exec ", "A=b ", "! ", "coproc ", "f() { \"$@\"; }; f ",
		"frobnicate; ", "$x ", "sudo env nice timeout 5 "}
	compared := 0
	for _, r := range corpus(t) {
		tree := parse(r.command)
		if tree.failed || len(tree.stmts) != 1 || len(tree.stmts[0].Redirs) > 0 || tree.stmts[0].Negated || tree.stmts[0].Background {
			continue
		}
		call, ok := tree.stmts[0].Cmd.(*syntax.CallExpr)
		if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 || strings.HasPrefix(r.command, "-") || strings.Contains(call.Args[0].Lit(), "=") {
			continue
		}
		alone := Command(r.command, testContext)
		compared++
		for _, before := range wrap {
			if before == "find . -exec " && strings.ContainsAny(r.command, "{;") {
				continue // which end it
			}
			f := Command(before+r.command, testContext)
			if !f.Unmentioned && !slices.ContainsFunc(f.Mentions, func(m []string) bool { return slices.Equal(m, alone.Mentions[0]) }) {
				t.Errorf("%q mentions %q, and not %q", before+r.command, mentioned(f), mentioned(alone)[0])
			}
		}
	}
	if compared < 200 {
		t.Errorf("only %d commands compared", compared)
	}
}

// TestPartsAreMentioned: rules that forbid see no less than rules that allow.
func TestPartsAreMentioned(t *testing.T) {
	for _, r := range corpus(t) {
		checkPartsAreMentioned(t, r.command)
	}
	for _, tt := range factTests {
		checkPartsAreMentioned(t, tt.text)
	}
	for _, tt := range mentionTests {
		checkPartsAreMentioned(t, tt.text)
	}
}

func FuzzMentions(f *testing.F) {
	seed(f)
	for _, tt := range mentionTests {
		f.Add(tt.text)
	}
	f.Add("\u04ba\tA=~")
	f.Add("x A+=~/y B[1]=~/z \\C=~")
	f.Fuzz(checkPartsAreMentioned)
}

func checkPartsAreMentioned(t *testing.T, text string) {
	t.Helper()
	f := Command(text, testContext)
	if f.Unmentioned {
		return
	}
	for _, p := range f.Parts {
		if p.Exact && !slices.ContainsFunc(f.Mentions, func(m []string) bool { return mayMean(m, p.Argv) }) {
			t.Errorf("%q: the part %q is not among %q", text, p.Argv, mentioned(f))
		}
	}
}

// mayMean reports whether a mention may stand for these words. A word that is not known at all may be any number of them.
func mayMean(mention, argv []string) bool {
	if len(mention) == 0 {
		return len(argv) == 0
	}
	if mention[0] == agenttool.Unread {
		return mayMean(mention[1:], argv) || len(argv) > 0 && mayMean(mention, argv[1:])
	}
	return len(argv) > 0 && wordMayMean(mention[0], argv[0]) && mayMean(mention[1:], argv[1:])
}

func wordMayMean(word, known string) bool {
	pieces := strings.Split(word, agenttool.Unread)
	if len(pieces) == 1 {
		return word == known
	}
	rest, ok := strings.CutPrefix(known, pieces[0])
	for _, piece := range pieces[1:] {
		at := strings.Index(rest, piece)
		if at < 0 {
			return false
		}
		rest = rest[at+len(piece):]
	}
	return ok
}
