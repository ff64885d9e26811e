package program

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestGitReads(t *testing.T) {
	runDevCases(t, []devCase{
		{"git --version", "ro"},
		{"git -C /elsewhere status", "ro reads_tree"}, // what stands there is not for the words to tell
		{"git --git-dir=x.git log", "ro reads_tree"},
		{"git", "ro"},
		{"git --no-pager log -5 --oneline", "ro reads_tree"},
		{"git log -p -3 -- main.go", "ro reads_tree"},
		{"git log -S foo --stat", "ro reads_tree"},
		{"git log --since=2.weeks --author me --format=%h␣%s", "ro reads_tree"},
		{"git log --all --graph --decorate --oneline", "ro reads_tree"},
		{"git show --stat HEAD", "ro reads_tree"},
		{"git show HEAD:main.go", "ro reads_tree"},
		{"git diff --cached", "ro not_concurrent reads_tree"},
		{"git diff -w main...HEAD --name-only", "ro not_concurrent reads_tree"},
		{"git diff -wU3 HEAD", "ro not_concurrent reads_tree"},
		{"git status --short --branch", "ro reads_tree"},
		{"git status -sb", "ro reads_tree"},
		{"git status --porc", "ro reads_tree"},
		{"git blame -L 10,20 main.go", "ro"},
		{"git grep -n foo -- *.go", "ro reads_tree"},
		{"git ls-files -o --exclude-standard", "ro"},
		{"git ls-tree -r HEAD --name-only", "ro"},
		{"git rev-parse --abbrev-ref HEAD", "ro"},
		{"git rev-parse $ANY", "ro"},
		{"git merge-base --is-ancestor a b", "ro"},
		{"git describe --tags --always", "ro"},
		{"git describe --dirty", "ro not_concurrent"},
		{"git cat-file -p HEAD", "ro reads_tree"},
		{"git rev-list --count HEAD", "ro"},
		{"git shortlog -sn HEAD", "ro"},
		{"git for-each-ref --sort=-committerdate refs/heads", "ro"},
		{"git branch", "ro"},
		{"git branch -vv", "ro"},
		{"git branch --list X", "ro"},
		{"git branch -a X", "ro"},
		{"git branch --merged main", "ro"},
		{"git branch --show-current", "ro"},
		{"git tag", "ro"},
		{"git tag -n X", "ro"},
		{"git tag -l v1.*", "ro"},
		{"git tag --contains HEAD", "ro"},
		{"git remote", "ro"},
		{"git remote -v", "ro"},
		{"git remote get-url origin", "ro"},
		{"git remote show", "ro"},
		{"git remote show origin", "ro reaches"},
		{"git ls-remote origin", "ro reaches"},
		{"git config --list --local", "ro"},
		{"git config --get user.name", "ro"},
		{"git config user.name", "ro"},
		{"git config get user.name", "ro"},
		{"git reflog", "ro"},
		{"git reflog show -5 main", "ro"},
		{"git stash list", "ro"},
		{"git stash show -p stash@{0}", "ro reads_tree"},
		{"git worktree list --porcelain", "ro"},
		{"git submodule status --recursive", "ro"},
		{"git submodule", "ro"},
		{"git notes list", "ro"},
		{"git symbolic-ref --short HEAD", "ro"},
		{"git bisect log", "ro"},
		{"git archive HEAD", "ro reads_tree"},
		{"git format-patch --stdout -1", "ro reads_tree"},
		{"git clean -nd", "ro"},
		{"git apply --check x.patch", "ro"},
		{"git -c color.ui=always -c core.quotePath=false diff", "ro not_concurrent reads_tree"},
		{"git -c core.fsmonitor=false status", "ro reads_tree"},
		{"git -C . status", "ro reads_tree"},
		{"git fsck --no-progress", "ro"},
		{"git bundle verify x", "ro"},
	})
}

func TestGitDoesMore(t *testing.T) {
	runDevCases(t, []devCase{
		{"git branch NAME", "writes"},
		{"git branch -v NAME", "writes"},
		{"git branch --sort=refname NAME", "writes"},
		{"git branch $X", "? writes"},
		{"git branch -D NAME", "git_upstream reads_elsewhere destroys"},
		{"git branch --delet NAME", "git_upstream reads_elsewhere writes"},
		{"git tag --sort=refname v9", "writes"},
		{"git tag -d v1", "writes destroys"},
		{"git tag -v v1", "runs_code"},
		{"git config foo.bar baz", "git_config reads_elsewhere writes"},
		{"git config -e", "git_config reads_elsewhere writes interactive"},
		{"git config --unset a.b", "git_config reads_elsewhere writes"},
		{"git config --glob core.pager x", "git_global writes"},
		{"git config set a.b c", "git_config reads_elsewhere writes"},
		{"git gc", "writes runs_hooks"},
		{"git gc -q --auto", "writes runs_hooks"},
		{"git gc --unheard-of", "? writes runs_hooks"},
		{"git remote add o url", "git_config reads_elsewhere writes"},
		{"git stash", "writes"},
		{"git stash -u", "writes"},
		{"git stash drop", "writes destroys"},
		{"git stash show -p --output=f", "writes reads_tree"},
		{"git log --output=f", "writes reads_tree"},
		{"git diff HEAD~1 --output f", "writes not_concurrent reads_tree"},
		{"git diff --ext-diff", "runs_code not_concurrent reads_tree"},
		{"git diff --submodule=diff", "? not_concurrent reads_tree"},
		{"git log -p --textconv", "runs_code reads_tree"},
		{"git log --format=%G?", "runs_code reads_tree"},
		{"git log -iS --output=f", "? reads_tree"},
		{"git log --show-signature", "runs_code reads_tree"},
		{"git log --diff-merges=remerge", "? reads_tree"},
		{"git log $X", "? reads_tree"},
		{"git diff *", "? not_concurrent reads_tree"},
		{"git grep --open-files foo", "runs_code reads_tree"},
		{"git grep -Oless foo", "runs_code reads_tree"},
		{"git -p log", "runs_code reads_tree"},
		{"git -C $X status", "? reads_tree runs_code"},
		{"git --work-tree=x log", "? reads_tree"},
		{"git -c core.pager=./x log", "runs_code reads_tree"},
		{"git -c core.fsmonitor=./x status", "runs_code reads_tree"},
		{"git -c alias.x=!id x", "? runs_code"},
		{"git -c format.pretty=%G? log", "runs_code reads_tree"},
		{"git --exec-path=./bin foo", "? runs_code"},
		{"git ls-remote --upload-pack=./x .", "reaches runs_code"},
		{"git ls-remote --exec=./x .", "reaches runs_code"},
		{"git ls-remote ext::./x", "reaches runs_code"},
		{"git archive --output=o.tar HEAD", "writes reads_tree"},
		{"git archive --form=x HEAD", "runs_code reads_tree"},
		{"git foo", "?"},
		{"git $X", "?"},
	})
}

func TestGitDestroys(t *testing.T) {
	runDevCases(t, []devCase{
		{"git push origin main", "reaches runs_hooks writes"},
		{"git push --force", "destroys reaches runs_hooks writes"},
		{"git push --forc", "? reaches runs_hooks writes"},
		{"git push --force-with-lease", "destroys reaches runs_hooks writes"},
		{"git push origin +main", "destroys reaches runs_hooks writes"},
		{"git push origin :main", "destroys reaches runs_hooks writes"},
		{"git push --delete origin main", "destroys reaches runs_hooks writes"},
		{"git push --mirror", "destroys reaches runs_hooks writes"},
		{"git push -fu origin main", "destroys git_upstream reaches reads_elsewhere runs_hooks writes"},
		{"git reset --hard", "writes destroys"},
		{"git reset --har HEAD~1", "writes destroys"},
		{"git reset HEAD f", "writes"},
		{"git clean -fdx", "writes destroys"},
		{"git clean -xnfi", "writes destroys interactive"},
		{"git checkout main", "runs_hooks writes"},
		{"git checkout -- f", "destroys runs_hooks writes"},
		{"git checkout .", "destroys runs_hooks writes"},
		{"git restore f", "writes destroys"},
		{"git restore --staged f", "writes"},
		{"git switch -f main", "destroys runs_hooks writes"},
		{"git update-ref -d refs/heads/x", "writes destroys"},
		{"git reflog expire --expire=now --all", "? writes destroys"},
		{"git gc --prune=now", "destroys runs_hooks writes"},
		{"git -c gc.pruneExpire=now gc", "destroys runs_code runs_hooks writes"},
		{"git prune", "writes destroys runs_code"},
		{"git rm f", "destroys reads_elsewhere writes"},
		{"git fetch", "writes reaches"},
		{"git clone https://h/x", "writes reaches"},
		{"git commit -m rm␣-rf", "runs_hooks writes"},
		{"git submodule foreach git␣clean␣-f", "runs_code"},
		{"git submodule foreach git clean -f", "runs_code writes destroys"},
		{"git format-patch -1", "writes reads_tree"},
		{"git symbolic-ref HEAD refs/heads/x", "writes"},
		{"git bisect run git clean -f", "writes runs_code destroys"},
		{"git verify-commit HEAD", "runs_code"},
	})
}

// scratch is a repository for commands that are called read-only to run in.
type scratch struct {
	t   *testing.T
	dir string
	env []string
}

func newScratch(t *testing.T) *scratch {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	s := &scratch{t: t, dir: t.TempDir()}
	s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "TERM=dumb",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	for _, file := range []string{"f", "g", "sub/h.go"} {
		name := filepath.Join(s.dir, file)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("one\ntwo\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"init -q", "add f sub", "commit -qm first", "tag v1", "branch other", "stash push -uq"} {
		s.git(strings.Fields(line)...)
	}
	s.git("config", "diff.autoRefreshIndex", "false")
	return s
}

func (s *scratch) git(args ...string) {
	if out, err := s.command("git", args...).CombinedOutput(); err != nil {
		s.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func (s *scratch) command(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, s.env, time.Second
	return cmd
}

// print is the digest of all names, modes and contents below the directory.
func (s *scratch) print() string {
	sum := sha256.New()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path, info.Mode(), info.Size())
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum.Write(content)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(sum.Sum(nil))
}

// unchanged runs a command that is called read-only and fails the test if it changes anything.
func (s *scratch) unchanged(argv ...string) {
	s.t.Helper()
	before := s.print()
	out, _ := s.command(argv[0], argv[1:]...).CombinedOutput() // many are wrong on purpose
	if s.print() != before {
		s.t.Errorf("%q is called read-only and changes something: %s", argv, out)
		*s = *newScratch(s.t)
	}
}

func staticWords(argv []string) []Word {
	words := make([]Word, len(argv))
	for i, text := range argv {
		words[i] = Lit(text)
	}
	return words
}

// TestGitTakesValuesAsDescribed runs every option with a trap: a word that writes a file if git takes it for an
// option where the table takes it for a value or an operand.
func TestGitTakesValuesAsDescribed(t *testing.T) {
	s := newScratch(t)
	const trap = "--output=trapped"
	ran := 0
	try := func(base []string, more ...string) {
		argv := slices.Concat([]string{"git"}, base, more)
		if devReadOnly(devUse(staticWords(argv), 0)) {
			s.unchanged(argv...)
			ran++
		}
	}
	for _, command := range []string{"log", "diff", "rev-list", "shortlog", "blame", "describe", "grep", "cat-file",
		"for-each-ref", "ls-files", "cherry", "status", "branch", "tag", "config", "format-patch", "archive"} {
		for name, option := range Lookup("git").table().sub[command].table().options {
			base := []string{command, name}
			if option.kind != "" && !option.optional {
				try(base, trap)
			} else {
				try(base, "--", trap)
			}
			if len(name) == 2 {
				try([]string{command, "-w" + name[1:]}, trap)
				try([]string{command, "-i" + name[1:]}, trap)
			}
		}
	}
	if ran < 500 {
		t.Errorf("only %d command lines were run", ran)
	}
}

// FuzzGitLines puts options together at random; what is called read-only is run and must change nothing.
func FuzzGitLines(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		s := newScratch(t)
		random := rand.New(rand.NewPCG(seed, 2))
		for range 20 { // few enough that one input takes less than the 10 s after which the fuzzer gives up
			argv := randomGitLine(random)
			use := devUse(staticWords(argv), 0)
			if devReadOnly(use) && !slices.Contains(use.Effects, Reaches) && argv[1] != "help" {
				s.unchanged(argv...)
			}
		}
	})
}

// randomGitLine returns a command line of words that git knows and words that are traps.
func randomGitLine(random *rand.Rand) []string {
	var names []string
	spec := Lookup("git")
	argv := []string{"git"}
	for range 2 {
		if len(spec.Sub) == 0 || len(argv) > 1 && random.IntN(4) == 0 {
			break
		}
		spec = spec.Sub[random.IntN(len(spec.Sub))]
		names = strings.Fields(spec.Names)
		argv = append(argv, names[random.IntN(len(names))])
	}
	words := []string{"HEAD", "f", "--", "newname", "x=y", "--output=trapped", "list", "other", "-o", "trapped"}
	for token := range strings.FieldsSeq(spec.Options) {
		spellings, _, _ := strings.Cut(strings.TrimLeft(token, "?"), ":")
		spellings, _, _ = strings.Cut(spellings, "!")
		words = append(words, strings.Split(strings.TrimSuffix(spellings, "?"), ",")...)
	}
	for range 1 + random.IntN(4) {
		argv = append(argv, words[random.IntN(len(words))])
	}
	return argv
}
