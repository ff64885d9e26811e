package ignore

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	trees = flag.Int("trees", 60, "how many random trees are compared with git")
	seed  = flag.Uint64("seed", 1, "where the random trees begin")
)

// Random trees with hostile ignore files and configurations list what git lists.
func TestAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	for i := range *trees {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			g := generator{rand.New(rand.NewPCG(*seed, uint64(i)))}
			h := house{dir: t.TempDir(), git: git}
			h.plant(t, g.house())
			want := h.gitFiles(t, filepath.Join(h.dir, "top"), "")
			slices.Sort(want)
			got := h.files("", nil)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got and not wanted %q\nwanted and not got %q\n%s", less(got, want), less(want, got), h.rules(t))
			}
		})
	}
}

// house is a directory that holds a user's "home", their configuration "xdg", and a repository "top".
type house struct{ dir, git string }

func (h house) plant(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(h.dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (h house) env() Environment {
	return Environment{Home: filepath.Join(h.dir, "home"), ConfigHome: filepath.Join(h.dir, "xdg")}
}

// gitFiles returns what git lists below dir, each with prefix before it, and in the repositories within.
func (h house) gitFiles(t *testing.T, dir, prefix string) (files []string) {
	t.Helper()
	cmd := exec.Command(h.git, "ls-files", "-co", "--exclude-standard", "-z")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "HOME=" + h.env().Home,
		"XDG_CONFIG_HOME=" + h.env().ConfigHome}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files in %s: %v\n%s", dir, err, failure(err))
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		switch {
		case strings.HasSuffix(name, "/"):
			files = append(files, h.gitFiles(t, filepath.Join(dir, name), prefix+name)...)
		case name != "":
			files = append(files, prefix+name)
		}
	}
	return files
}

// files returns what is left of the files below the directory at, given the rules above it.
func (h house) files(at string, rules *Rules) (files []string) {
	dir := filepath.Join(h.dir, "top", at)
	entries, _ := os.ReadDir(dir)
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		rules = rules.Enter(at, ReadRepository(reader(dir), h.env()))
	}
	if text := reader(dir).Own(".gitignore"); text != nil {
		rules = rules.AddGit(at, text)
	}
	for _, e := range entries {
		switch {
		case e.Name() == ".git" || rules.Ignores(at, e.Name(), e.IsDir()):
		case e.IsDir():
			files = append(files, h.files(at+e.Name()+"/", rules)...)
		default:
			files = append(files, at+e.Name())
		}
	}
	return files
}

// reader reads files seen from dir, but not the machine's configuration.
func reader(dir string) Reader {
	return anyFile(func(path string) []byte {
		if path == "/etc/gitconfig" {
			return nil
		}
		if !filepath.IsAbs(path) {
			path = dir + "/" + path
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		return b
	})
}

// anyFile is a Reader that reads whatever is asked for.
type anyFile func(path string) []byte

func (f anyFile) User(path string) []byte { return f(path) }
func (f anyFile) Own(path string) []byte  { return f(path) }
func (f anyFile) Admit(string) bool       { return true }

// rules returns the texts of all files that may hold rules.
func (h house) rules(t *testing.T) string {
	var out strings.Builder
	err := filepath.WalkDir(h.dir, func(path string, e os.DirEntry, err error) error {
		if b, _ := os.ReadFile(path); len(b) > 1 && len(b) < 1<<10 {
			fmt.Fprintf(&out, "%s:\n%q\n", strings.TrimPrefix(path, h.dir), strings.Split(string(b), "\n"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func less(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// failure returns what a program wrote to its standard error.
func failure(err error) []byte {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.Stderr
	}
	return nil
}
