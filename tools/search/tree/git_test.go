package tree

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolhost/tools/search/ignore"
)

// What is listed is what git lists.
func TestAgainstGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed:", err)
	}
	count := 40
	if testing.Short() {
		count = 8
	}
	r := rand.New(rand.NewPCG(8, 15))
	for i := range count {
		home, dir := plant(t, nil), plant(t, nil)
		git(t, home, dir, "init", "-q")
		grow(t, r, home, dir)
		root := filepath.Join(dir, pick(r, "", "", "a", "b/a"))
		write(t, root, "", true)
		if root != dir && gitCommand(home, dir, "check-ignore", "-q", root).Run() == nil {
			continue // git lists nothing below it; who searches it wants to see it
		}
		tree := openBelow(t, root, root, Options{Hidden: true, Git: ignore.Environment{Home: home, ConfigHome: filepath.Join(home, ".config")}})
		got := paths(refreshed(t, tree))
		tree.Close()
		want := strings.Split(strings.TrimSuffix(git(t, home, root, "ls-files", "-co", "--exclude-standard", "-z"), "\x00"), "\x00")
		want = slices.DeleteFunc(want, func(s string) bool { return s == "" })
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("tree %d, from %s: got\n%q\nwant\n%q", i, root, got, want)
		}
	}
}

// grow fills dir with files and rules.
func grow(t *testing.T, r *rand.Rand, home, dir string) {
	t.Helper()
	folders := []string{"", "a", "b", "a/b", "b/a", "b/a/b", "build", "a/build", ".h"}
	for _, folder := range folders {
		for range r.IntN(4) {
			write(t, filepath.Join(dir, folder, pick(r, "a.c", "b.o", "x", ".y", "b.c", "a-", "a.c~")), "", false)
		}
		if r.IntN(3) == 0 {
			write(t, filepath.Join(dir, folder, ".gitignore"), patterns(r), false)
		}
	}
	write(t, filepath.Join(dir, ".git/info/exclude"), patterns(r), false)
	if r.IntN(2) == 0 {
		write(t, filepath.Join(home, ".config/git/ignore"), patterns(r), false)
	}
}

func patterns(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		fmt.Fprintln(&b, pick(r, "*.o", "build/", "/a", "!a", "!*.c", "b/*.c", "**/x", "a/**", "[a-b].c", ".y", "/b/a/", "*~", "# no", "x"))
	}
	return b.String()
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// gitCommand is git in dir with the configuration in home and nothing else.
func gitCommand(home, dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM=1"}
	return cmd
}

func git(t *testing.T, home, dir string, args ...string) string {
	t.Helper()
	out, err := gitCommand(home, dir, args...).Output()
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}
