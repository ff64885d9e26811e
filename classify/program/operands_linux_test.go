package program_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/classify"
	"toolhost/classify/program"
)

// TestOperandsArePaths runs every row of the tables whose program is installed, with a path outside of the working directory as each of its
// operands and as the value of each option. What the program opens there stands among the facts' reads, or the facts do not let it run unasked.
//
// Only lines that would run unasked are run, and of these a twelfth. The paths are the test's own. With OPERANDS=most in its environment it runs them
// all, which takes minutes, and with OPERANDS=all it tries all spellings and places of all options besides.
func TestOperandsArePaths(t *testing.T) {
	c := newCanary(t)
	lines := map[string][]string{} // by their programs
	installed := func(name string) bool { _, err := exec.LookPath(name); return err == nil || builtins[name] }
	var missing []string
	for _, row := range program.Rows(installed) {
		if name := row.Words[0]; installed(name) {
			lines[name] = append(lines[name], c.lines(row)...)
		} else if !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	for _, line := range c.rawLines() {
		if name, _, _ := strings.Cut(line, " "); installed(name) {
			lines[name] = append(lines[name], line)
		}
	}
	t.Logf("not installed: %s", strings.Join(missing, " "))
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		all := lines[name]
		slices.Sort(all)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t, slices.Compact(all))
		})
	}
}

// check runs those of some lines that would run unasked although they name nothing outside.
func (c canary) check(t *testing.T, lines []string) {
	asking, named := 0, 0
	var runs, endless []string
	for _, line := range lines {
		switch f := classify.Command(line, classify.Context{Dir: c.work, Home: c.home}); {
		case f.ReadOnly != agenttool.Yes || f.OpenWorld != agenttool.No || f.PathsComplete != agenttool.Yes:
			asking++
		case c.covers(f.Reads):
			named++
		case f.LongRunning != agenttool.No:
			endless = append(endless, line)
		default:
			runs = append(runs, line)
		}
	}
	begun := time.Now()
	endless = endless[:min(len(endless), 4)] // each is ended by its time
	if os.Getenv("OPERANDS") == "" {
		runs, endless = sampled(runs), endless[:min(len(endless), 1)]
	}
	c.runAll(t, runs, batch)
	c.runAll(t, endless, 1)
	t.Logf("%d lines: %d ask, %d name what is outside, %d ran in %v", len(lines), asking, named, len(runs)+len(endless), time.Since(begun).Round(time.Second))
}

// sampled is a twelfth of some lines, at least one of each program.
func sampled(lines []string) (some []string) {
	for i := 0; i < len(lines); i += 12 {
		some = append(some, lines[i])
	}
	return some
}

// canary is a workspace with a directory beside it that no command may open unnamed.
type canary struct {
	work, home, outside string

	ran map[string]bool // options of programs
}

// secret is in the files outside.
const secret = "canaryContent"

func newCanary(t *testing.T) canary {
	t.Helper()
	for _, needed := range []string{"strace", "bash"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("%s is not installed", needed)
		}
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := canary{top + "/work", top + "/home", top + "/outside", map[string]bool{}}
	script := `mkdir -p work/sub home outside/sub && cd outside
		printf 'module canaryContent\n\ngo 1.24\n' > go.mod; printf '// Package canaryContent is it.\npackage canaryContent\n\n// CanaryContent is it.\nfunc CanaryContent() {}\n' > canary.go
		printf 'prefix=/canaryContent\nName: canaryContent\nDescription: canaryContent\nVersion: 1\n' > canary.pc
		printf 'canaryContent\n' > canary; printf 'canaryContent\n' > sub/canary; printf '{"Replace":{}}\n' > canary.json
		cp "$(command -v true)" object; printf '<a>canaryContent</a>\n' > canary.xml
		if command -v git > /dev/null; then git init -q -b main . && git add -A && git -c user.name=n -c user.email=e@example.com commit -qm canaryContent; fi
		cd ../work
		printf 'module work\n\ngo 1.24\n' > go.mod; printf 'package work\n\n// F is it.\nfunc F() {}\n' > f.go; printf 'a b\nc d\n' > f; printf '{"a":1}\n' > f.json; printf '<a/>\n' > f.xml
		printf 'a: 1\n' > f.yaml; printf 'echo\n' > f.sh; cp "$(command -v true)" object; tar -cf f.tar f 2> /dev/null
		if command -v git > /dev/null; then git init -q -b main . && git add -A && git -c user.name=n -c user.email=e@example.com commit -qm one; fi; true`
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env = top, c.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return c
}

func (c canary) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "LC_ALL=C.UTF-8", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_OPTIONAL_LOCKS=0",
		"GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOTELEMETRY=off", "GOCACHE=" + c.home + "/go-build"}
}

// plain are common spellings of a path outside; special are words that only some programs take for a path.
func (c canary) plain() []string {
	return []string{c.outside + "/canary", "../outside/canary", c.outside}
}

func (c canary) special() []string {
	file := c.outside + "/canary"
	return []string{
		"sub/../../outside/canary", "../outside", "../outside/...", "file://" + file, "@" + file, "key=" + file, "HEAD:" + file, "a:" + file, "a," + file,
		"1,2:" + file, file + ".pc", file + ".json", file + ".go", c.outside + "/object", file + ".xml", c.outside + "/.git", "+" + file, "^" + file,
	}
}

// few are the special ones of which an option may make something.
func (c canary) few() []string {
	file := c.outside + "/canary"
	return []string{"@" + file, "key=" + file, "file://" + file, "HEAD:" + file}
}

// samples are operands that let a program come to the point where it uses an option, by their kinds.
var samples = map[string]string{
	"read": "f", "rev": "HEAD", "package": ".", "page": "f", "topic": "ls", "object": "object", "document": "f.xml", "archive": "f.tar", "format": "f.go", "named": "object", "input": "p f",
	"pattern": "a f", "operand": "a .", "argument": ". f.yaml", "capability": "cols", "write": "/dev/stdout", "number": "1", "span": "0", "member": "", "when": "",
}

// lines are the command lines of a row: each operand and each option with what is outside, each spelling of an option, and its value in a word of its
// own and in the same one. An option that several subcommands have in common runs with the first of them.
func (c canary) lines(row program.Row) (lines []string) {
	words := strings.Join(row.Words, " ")
	var rest []string
	for _, kind := range row.Operands {
		sample, known := samples[kind]
		if !known {
			sample = "a"
		}
		rest = append(rest, sample)
	}
	tail := ""
	if len(rest) > 0 {
		tail = " " + strings.Join(rest, " ")
	}
	add := func(format string, args ...any) { lines = append(lines, words+fmt.Sprintf(format, args...)) }
	for _, value := range append(c.plain(), c.special()...) {
		add(" %s", value)
		add("%s %s", tail, value)
		for n := range rest {
			with := slices.Clone(rest)
			with[n] = value
			add(" %s", strings.Join(with, " "))
		}
	}
	values, all := c.plain()[:1], os.Getenv("OPERANDS") == "all"
	if all {
		values = append(c.plain(), c.few()...)
	}
	for _, o := range row.Options {
		key := row.Words[0] + fmt.Sprint(o)
		if c.ran[key] {
			continue
		}
		c.ran[key] = true
		for i, spelling := range o.Spellings {
			glue := ""
			if strings.HasPrefix(spelling, "--") {
				glue = "="
			}
			if all {
				add(" %s%s%s%s", spelling, glue, c.plain()[0], tail)
			}
			for j, value := range values {
				switch {
				case i > 0:
				case o.Optional:
					add(" %s%s%s%s", spelling, glue, value, tail)
				default:
					add(" %s %s%s", spelling, value, tail)
				}
				if all && i == 0 && j == 0 && !o.Optional {
					add(" %s %s", spelling, value)
				}
			}
		}
	}
	return lines
}

// rawLines are lines of programs whose words no table takes apart, with a path for each word that may have one.
func (c canary) rawLines() (lines []string) {
	for _, form := range []string{
		"find V", "find . -newer V", "find . -anewer V", "find . -cnewer V", "find . -samefile V", "find . -newermm V", "find . -newerma V", "find . -path V", "find . -name V", "find . -lname V",
		"find . -wholename V", "find . -regex V", "find . -user V", "find . -fstype V", "find . -printf V", "find -files0-from V", "find -D V .", "find . -context V",
		"jq . V", "jq --slurpfile a V . f.json", "jq --rawfile a V . f.json", "jq --argfile a V . f.json", "jq -f V f.json", "jq --from-file V f.json", "jq -L V . f.json", "jq -LV . f.json",
		"jq --arg a V . f.json", "jq --argjson a V . f.json", "jq --args . V", "jq -n 'input' V", "jq -n --indent V", "jq 'import \"V\" as a; .' f.json", "jq -n --stream V", "jq -n --seq V",
		"fd a V", "fd --search-path V a", "fd --base-directory V a", "fd -C V a", "fd --ignore-file V a", "fd -E V a", "fd --newer V a", "fdfind a V", "fdfind --changed-within V a",
		"dd if=V", "dd if=V of=/dev/null", "xxd V", "xxd -r V", "xxd -n V f", "xxd -o V f", "ar t V", "ar p V", "ip -batch V", "ip -b V", "ip link show V",
		"ps V", "ps -C V", "ps -o V", "ps --sort V", "printf V", "echo V", "expr V", "test -f V", "[ -f V ]", "test f -nt V", "go mod edit -json V", "go mod edit -print V",
		"node --check V", "node -c V", "php -l V", "java -version V", "python3 --version V", "gcc --version V", "make --version V", "cmake --version V", "dig -f V", "plutil -p V",
		"sed -n p V", "sed -n 'r V' f", "sed -f V f", "sed -n 'R V' f", "sed -n wV f", "awk 1 V", "awk -f V f", "awk '{getline x < \"V\"; print x}' f", "awk '@include \"V\"' f", "awk -v a=V 1 f",
		"awk 'BEGIN{while((getline l < \"V\")>0) print l}'", "awk 'BEGIN{ARGV[1]=\"V\";ARGC=2} 1'", "awk 1 a=V f", "gawk -i V 1 f", "gawk -l V 1 f", "gawk -e '@load \"V\"' f",
		"source V", ". V", "mapfile < V", "read x < V", "cat < V", "echo $(< V)", "exec 3< V", "while read -r x; do echo $x; done < V", "[[ -f V ]]", "type V", "command -v V", "hash -p V x", "enable -f V x",
		"history -r V", "complete -W V x", "compgen -f V", "bind -f V", "help V", "cd V && ls", "pushd V && ls", "diff f V", "cmp f V", "comm f V", "git diff --no-index f V", "git -C V log", "git --git-dir V log",
		"git --git-dir=V log", "git --work-tree=V status", "git -c core.excludesFile=V status", "git -c core.attributesFile=V diff", "git -c include.path=V status", "git -c mailmap.file=V log", "git --exec-path=V log",
		"git -c core.worktree=V status", "git -c core.hooksPath=V status", "git -c blame.ignoreRevsFile=V blame f", "git -c commit.template=V status", "git -c diff.orderFile=V diff", "git --namespace=V log",
		"git --attr-source=V check-attr -a f", "git rev-parse --resolve-git-dir V", "git rev-parse --git-path V", "git rev-parse --prefix V a", "git log -L 1,1:V", "git log -- V", "git log -O V", "git blame -S V f",
		"git blame --contents V f", "git ls-files --exclude-per-directory=V -o", "git ls-files -X V -o", "git ls-remote V", "git archive --add-file=V HEAD", "git check-ignore V", "git hash-object V", "git bundle verify V",
		"git apply --stat V", "git apply --check V", "git mailinfo V V", "git config -f V -l", "git config --file=V --get a.b", "git config --blob V -l", "git notes show V", "git var -l V", "git grep -f V", "git grep --no-index a V",
		"go list -overlay V", "go list -overlay=V ./...", "go list -modfile V", "go list -modfile=V", "go list -C V", "go -C V list", "go doc -C V", "go doc V", "go doc -src V F", "go doc -all V", "go list V", "go list -f V", "go list -m -json V",
		"go mod graph -C V", "go mod why V", "go mod verify -C V", "go version V", "go version -m V", "go tool nm V", "go tool objdump V", "go tool cover -func V", "go tool cover -func=V", "go env -C V", "gofmt V", "gofmt -d V", "gofmt -r V f.go",
		"pkg-config V", "pkg-config --variable=prefix V", "pkg-config --cflags V", "pkg-config --print-variables V", "pkg-config --exists V", "pkg-config --modversion V",
	} {
		for _, value := range append(c.plain(), c.few()...) {
			lines = append(lines, strings.ReplaceAll(form, "V", value))
		}
	}
	return lines
}

// covers reports whether reads name something outside.
func (c canary) covers(reads []agenttool.Path) bool {
	return slices.ContainsFunc(reads, func(p agenttool.Path) bool { return agenttool.Within(c.outside, filepath.Clean(p.Absolute)) })
}

// opened are files that were opened or run, as strace says it.
var opened = regexp.MustCompile(`(?m)^\d+ +(?:open|openat|openat2)\(.*= \d+<([^>]*)>$|^\d+ +execve\("([^"]*)".* = 0$`)

// builtins are the first words of lines that no program runs.
var builtins = program.WordSet("source . mapfile read echo exec while [[ type command hash enable history complete compgen bind help cd pushd printf test [")

// batch is how many lines one shell runs. Where something is opened outside, each of them is run alone.
const batch = 40

func (c canary) runAll(t *testing.T, lines []string, batch int) {
	trace := filepath.Join(t.TempDir(), "trace")
	for lines := range slices.Chunk(lines, batch) {
		if opens, ended := c.run(t, lines, trace); opens == "" && (ended || batch == 1) {
			continue
		}
		for _, line := range lines {
			if opens, _ := c.run(t, []string{line}, trace); opens != "" {
				t.Errorf("%s\n\topened %s, which the facts do not name", line, opens)
			}
		}
	}
}

// run runs lines, and returns what they opened outside; "" for nothing. ended says that they did not take too long.
func (c canary) run(t *testing.T, lines []string, trace string) (opens string, ended bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(len(lines))*time.Second/2+time.Second)
	defer cancel()
	script := &strings.Builder{}
	for _, line := range lines {
		limit := "timeout 2 "
		if first, _, _ := strings.Cut(line, " "); builtins[first] {
			limit = ""
		}
		fmt.Fprintf(script, "( %s%s\n) < /dev/null\n", limit, line)
	}
	cmd := exec.CommandContext(ctx, "strace", "-f", "-qq", "-y", "--seccomp-bpf", "-s", "300", "-e", "trace=open,openat,openat2,execve", "-o", trace,
		"bash", "--norc", "--noprofile", "-c", script.String())
	cmd.Dir, cmd.Env = c.work, c.environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out := &beginning{}
	cmd.Stdout, cmd.Stderr = out, out
	_ = cmd.Run() // a program that refuses its words has read nothing
	text, err := os.ReadFile(trace)
	if err != nil || len(text) == 0 && ctx.Err() == nil {
		t.Errorf("%s: no trace: %v: %s", lines[0], err, out)
	}
	for _, found := range opened.FindAllSubmatch(text, -1) {
		if path := string(found[1]) + string(found[2]); agenttool.Within(c.outside, path) {
			return path, ctx.Err() == nil
		}
	}
	if bytes.Contains(out.Bytes(), []byte(secret)) {
		return "a file, whose content it printed", ctx.Err() == nil
	}
	return "", ctx.Err() == nil
}

// beginning is a writer that keeps the first bytes.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	const most = 1 << 20
	b.Buffer.Write(p[:min(len(p), max(most-b.Len(), 0))])
	return len(p), nil
}
