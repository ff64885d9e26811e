package shell

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// newCanaries is a bench with the repositories of testdata/canaries.sh.
func newCanaries(t *testing.T) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "testdata/canaries.sh", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return newBenchIn(t, dir, Options{Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "LANG=C.UTF-8"}})
}

// ran are the canaries that ran since it was asked last.
func (b *bench) ran(t *testing.T) []string {
	t.Helper()
	name := filepath.Join(b.dir, "ran")
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	os.Remove(name)
	names := strings.Fields(string(text))
	slices.Sort(names)
	return slices.Compact(names)
}

// refined binds a command that starts in a directory, and asks the disk, as the host does.
func (b *bench) refined(t testing.TB, dir, line string) *call {
	t.Helper()
	c := b.bind(t, map[string]any{"command": line, "cwd": dir}).(*call)
	c.Refine(context.Background())
	return c
}

func (b *bench) reads(t testing.TB, dir, line string) bool {
	f := b.refined(t, dir, line).Facts()
	return f.ReadOnly == agenttool.Yes && f.OpenWorld == agenttool.No
}

// gitOperands are the operands with which subcommands do something.
var gitOperands = map[string][]string{
	"show": {"", "HEAD:a.text", "s1", "HEAD~1 -- b.cmd"}, "log": {"", "-p", "-p -m", "-p --cc v1..HEAD", "-S1 -p"}, "diff": {"", "HEAD", "v1 HEAD", "--no-index a.text f.low"},
	"blame": {"a.text", "c.flt", "HEAD -- d.proc"}, "annotate": {"c.flt"}, "grep": {"one", "one HEAD", "--no-index one"},
	"cat-file": {"-p HEAD:a.text", "-p s1"}, "diff-tree": {"-p HEAD", "-p -m HEAD~1"}, "diff-index": {"HEAD", "-p HEAD"}, "diff-files": {"", "-p"},
	"range-diff": {"v1..HEAD~1 v1..HEAD"}, "rev-list": {"HEAD"}, "shortlog": {"HEAD"}, "describe": {"", "--dirty --always", "--broken --always"},
	"cherry": {"side"}, "archive": {"HEAD", "--format=zip HEAD", "--worktree-attributes HEAD"}, "ls-tree": {"HEAD"}, "rev-parse": {"HEAD"},
	"merge-base": {"HEAD side"}, "name-rev": {"HEAD"}, "check-ignore": {"a.text"}, "check-attr": {"-a a.text c.flt"}, "check-ref-format": {"refs/x/y"},
	"check-mailmap": {"'a <a@b>'"}, "ls-files": {"", "-m", "-o", "-d", "-s --eol"}, "status": {"", "-v -v", "-s --ignored", "--porcelain=2", "sub"},
	"format-patch": {"--stdout v1", "--stdout v1..HEAD"}, "whatchanged": {"-p"}, "reflog": {"", "-p"}, "config": {"-l", "--get diff.external", "list"},
	"branch": {"", "-vv", "--contains HEAD"}, "tag": {"", "-n", "-l s*"}, "for-each-ref": {"", "refs/tags"}, "stash show": {"", "-p"}, "stash list": {"", "-p"},
	"remote get-url": {"origin"}, "notes show": {"HEAD"}, "bundle verify": {"../bundle"}, "bundle list-heads": {"../bundle"}, "apply": {"--stat patterns", "--check patterns"},
	"symbolic-ref": {"HEAD"}, "hash-object": {"a.text", "c.flt d.proc", "--path=x.flt a.text"}, "verify-pack": {"x"}, "var": {"GIT_AUTHOR_IDENT", "-l"},
	"submodule status": {"", "--recursive"}, "help": {"-a", "-g"}, "clean": {"-n", "-ndx"}, "replace": {"-l"},
}

// gitLines are command lines of every subcommand in the table, with every option of it that is alone with the operands.
func gitLines() (lines []string) {
	var add func(prefix string, spec *program.Spec)
	add = func(prefix string, spec *program.Spec) {
		for i, name := range strings.Fields(spec.Names) {
			full := strings.TrimSpace(prefix + " " + name)
			operands := gitOperands[full]
			if operands == nil {
				operands = []string{""}
			}
			for _, o := range operands {
				lines = append(lines, "git "+full+" "+o)
			}
			for _, option := range gitOptions(spec.Options) {
				if i > 0 { // names of one description differ in what they do without options
					break
				}
				lines = append(lines, "git "+full+" "+option+" "+operands[0])
			}
			for _, sub := range spec.Sub {
				add(full, sub)
			}
		}
	}
	for _, sub := range program.Lookup("git").Sub {
		add("", sub)
	}
	return lines
}

// gitOptions are the options of a table, each with a value that most take.
func gitOptions(table string) (options []string) {
	values := map[string]string{
		"read": "patterns", "gitformat": "%h", "gitmerges": "m", "gitlines": "1,1:plain.txt", "refformat": "refname", "archive": "zip", "text": "1",
	}
	for token := range strings.FieldsSeq(table) {
		token, _, _ = strings.Cut(token, "!")
		spellings, kind, valued := strings.Cut(token, ":")
		spellings, optional := strings.CutSuffix(spellings, "?")
		all := strings.Split(spellings, ",")
		name := all[len(all)-1]
		switch long := strings.HasPrefix(name, "--"); {
		case name == "-num":
			options = append(options, "-2")
		case !valued:
			options = append(options, name)
		case optional && long:
			options = append(options, name, name+"="+values[kind])
		case optional:
			options = append(options, name)
		case long:
			options = append(options, name+"="+values[kind])
		default:
			options = append(options, name+" "+values[kind])
		}
	}
	return options
}

// TestGitReadersRunNothing: no command line of git that is taken for a reader's runs a program that configuration names, wherever that
// stands, and with no sandbox. Without what keeps it from that, some of the lines run every kind of such programs.
//
// With TOOLHOST_GIT_LINES=all every line is run everywhere, which takes some minutes.
func TestGitReadersRunNothing(t *testing.T) {
	b := newCanaries(t)
	every := os.Getenv("TOOLHOST_GIT_LINES") == "all"
	const most = "clean command external fsmonitor gpg process smudge textconv textconv-low"
	count := 0
	for _, where := range []struct {
		dir   string
		every int // that many lines make one that is run
		want  string
	}{
		{"plain", 12, most + " alternates"}, {"included", 60, most}, {"worktree", 60, most}, {"plain/sub", 60, "clean fsmonitor gpg process"}, {"outer", 60, "clean fsmonitor process"},
		{"outer/sub", 60, most}, {"partial", 60, "uploadpack"}, {"personal", 60, most},
	} {
		t.Run(where.dir, func(t *testing.T) {
			if where.dir == "personal" {
				defer b.personal(t)()
			}
			dir, lines := filepath.Join(b.dir, where.dir), slices.Clone(livelyLines)
			for i, line := range gitLines() {
				if (every || i%where.every == 0) && b.reads(t, dir, line) {
					lines = append(lines, line)
				}
			}
			if ran := b.ran(t); len(ran) > 0 {
				t.Fatalf("looking at the disk runs %s", ran)
			}
			b.harmless(t, dir, lines)
			lively(t, b, dir, strings.Fields(where.want))
			count += len(lines)
		})
	}
	if t.Logf("%d command lines", count); count < 300 {
		t.Errorf("only %d command lines are taken for readers'", count)
	}
}

// personal puts the canaries into the person's configuration, until the result is called.
func (b *bench) personal(t *testing.T) func() {
	name := filepath.Join(b.dir, "home/.gitconfig")
	if err := os.Rename(filepath.Join(b.dir, "personal.config"), name); err != nil {
		t.Fatal(err)
	}
	return func() { os.Remove(name) }
}

// harmless runs lines as the tool does, many in one command, and fails for those that run a canary.
func (b *bench) harmless(t *testing.T, dir string, lines []string) {
	t.Helper()
	for batch := range slices.Chunk(lines, 50) {
		b.runLines(t, dir, strings.Join(batch, "\n"))
		if ran := b.ran(t); len(ran) > 0 {
			for _, line := range batch {
				b.runLines(t, dir, line)
				if ran := b.ran(t); len(ran) > 0 {
					t.Errorf("in %s %s runs %s", dir, line, ran)
				}
			}
		}
	}
}

func (b *bench) runLines(t *testing.T, dir, text string) result {
	t.Helper()
	c := b.refined(t, dir, text)
	if c.facts.ReadOnly != agenttool.Yes {
		t.Fatalf("%s: not read-only together: %v", text, c.facts.Reasons)
	}
	out, err := c.Run(t.Context(), &fakeReporter{})
	s, _ := out.Structured.(structuredOutput)
	if err != nil && agenttool.AsError(err, agenttool.ExecutionFailed).Class != agenttool.ExecutionFailed {
		t.Fatalf("%s: %v", text, err)
	}
	return result{Output: out, structuredOutput: s, err: err}
}

// livelyLines are lines that together run every kind of program.
var livelyLines = []string{
	"git status -s", "git diff", "git diff -- b.cmd plain.txt", "git diff v1 HEAD -- b.cmd plain.txt", "git log -p -3", "git show s1", "git blame a.text", "git blame f.low", "git diff HEAD",
	"git rev-list --alternate-refs -1 HEAD", "git archive HEAD", "git log --format=signed -1", "git submodule status", "git cat-file -p HEAD:plain.txt",
}

// lively runs these lines with the configuration as it is, and fails if a canary is asleep.
func lively(t *testing.T, b *bench, dir string, want []string) {
	t.Helper()
	cmd := exec.Command("bash", "--norc", "-c", strings.Join(livelyLines, "\n"))
	cmd.Dir = dir
	cmd.Env = append([]string{"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}, Environ([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(b.dir, "home")}, dir)...)
	out, _ := cmd.CombinedOutput() // many end with an error
	ran := b.ran(t)
	for _, name := range want {
		if !slices.Contains(ran, name) {
			t.Errorf("%s: without settings for it, %s does not run: only %s\n%.3000s", dir, name, ran, out)
		}
	}
}
