package neutral

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// git runs git in a directory, as somebody without configuration.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/no-such-name-of-toolhost", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_ALLOW_PROTOCOL=file"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// The submodules are those that git lists, whatever the form of the index.
func TestGitlinks(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is not installed")
	}
	for _, form := range []struct {
		name, format string
		hash         int
		then         [][]string
	}{
		{"version 2", "sha1", 20, nil},
		{"version 3", "sha1", 20, [][]string{{"add", "-N", "later"}}},
		{"version 4", "sha1", 20, [][]string{{"update-index", "--index-version", "4"}}},
		{"sha256", "sha256", 32, nil},
		{"sha256, version 4", "sha256", 32, [][]string{{"update-index", "--index-version", "4"}}},
		{"split", "sha1", 20, [][]string{{"update-index", "--split-index"}, {"add", "later"}}},
		{"with untracked cache", "sha1", 20, [][]string{{"update-index", "--force-untracked-cache"}, {"status"}}},
	} {
		t.Run(form.name, func(t *testing.T) {
			dir := t.TempDir()
			git(t, dir, "init", "-q", "--object-format="+form.format)
			id := strings.Repeat("1", 2*form.hash)
			for i := range 40 {
				name := fmt.Sprintf("d%d/%s", i, strings.Repeat("x", i*7%90))
				if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name, "f"), []byte("f"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "later"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "add", "d1", "d2", "d3", "d4", "d12", "d22", "d30", "d39")
			want := []string{"a", "d3/sub", "long/" + strings.Repeat("y", 300), "z z"}
			for _, name := range want {
				git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+id+","+name)
			}
			for _, args := range form.then {
				git(t, dir, args...)
			}
			got, err := gitlinks(filepath.Join(dir, ".git"), form.hash)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
			if _, err := gitlinks(filepath.Join(dir, ".git"), 52-form.hash); err == nil {
				t.Error("an index with other names of commits is taken for understood")
			}
		})
	}
	if got, err := gitlinks(t.TempDir(), 20); got != nil || err != nil {
		t.Errorf("without an index: %q, %v", got, err)
	}
	bad := t.TempDir()
	if err := os.WriteFile(filepath.Join(bad, "index"), []byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x09"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := gitlinks(bad, 20); err == nil {
		t.Error("an index that is cut off is taken for understood")
	}
}
