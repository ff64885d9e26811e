package files

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitIn runs git without the user's configuration.
func gitIn(t testing.TB, dir, input string, args ...string) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command(git, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "XDG_CONFIG_HOME=" + dir + "/none"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// randomAttributes is a file of attributes whose lines often match.
func randomAttributes(random *rand.Rand) string {
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	var b strings.Builder
	for range random.IntN(7) {
		pattern := pick("*", "*.txt", "*.bat", "a.txt", "/a.txt", "d/a.txt", "d/*", "**/a.txt", "d/**", "e/", "!*.txt", "a?txt", "[ab].txt", `\a.txt`, "#x", "A.TXT",
			`"a b.txt"`, `"d/\141.txt"`, `"\"q"`, "[attr]m", "[attr]binary", "[attr]n", "[attr]", "  *.bat", "f", "d/e/**/x", `"#x"`, "*.txt.", "\ufefff")
		b.WriteString(pattern)
		for range random.IntN(4) {
			b.WriteString(pick(" ", "\t", "  "))
			b.WriteString(pick("text", "-text", "!text", "text=auto", "text=input", "text=x", "eol=crlf", "eol=lf", "eol", "-eol", "crlf", "-crlf", "crlf=input", "binary",
				"-binary", "m", "!m", "n", "-m", "m=1", "diff", "-eol=crlf", "--text", "te~xt"))
		}
		b.WriteString(pick("\n", "\r\n", " \n"))
	}
	return b.String()
}

// The attributes of random files in random repositories are those that git finds.
func TestAttributesAgreeWithGit(t *testing.T) {
	repositories := 300
	if testing.Short() {
		repositories = 60
	}
	names := []string{"text", "eol", "crlf", "binary", "m", "n", "diff"}
	files := []string{"a.txt", "b.txt", "A.TXT", "run.bat", "a b.txt", "#x", `"q`, "f", "d/a.txt", "d/b.bat", "d/e/a.txt", "d/e/x", "d/e/f/x", "e/a.txt", "e/e"}
	random := rand.New(rand.NewPCG(30, 2))
	values := map[string]string{attributeSet: "set", attributeUnset: "unset", attributeUnspecified: "unspecified", "": "unspecified"}
	said := 0
	for range repositories {
		top := t.TempDir()
		gitIn(t, top, "", "init", "-q")
		for _, name := range []string{".git/info/attributes", ".gitattributes", "d/.gitattributes", "d/e/.gitattributes"} {
			if random.IntN(3) == 0 {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(top, name), []byte(randomAttributes(random)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		answer := strings.Split(gitIn(t, top, strings.Join(files, "\x00"), append([]string{"check-attr", "-z", "--stdin"}, names...)...), "\x00")
		for i := 0; i+2 < len(answer); i += 3 {
			file, name, want := answer[i], answer[i+1], answer[i+2]
			a := attributesOf(filepath.Join(top, file), func(path string) []byte { text, _ := os.ReadFile(path); return text })
			got := a.values[name]
			if plain, ok := values[got]; ok {
				got = plain
			}
			if got != want {
				files := gitIn(t, top, "", "-c", "core.quotePath=false", "grep", "--no-index", "--no-exclude-standard", "-n", "", "--", ".")
				info, _ := os.ReadFile(filepath.Join(top, ".git/info/attributes"))
				t.Fatalf("%s of %s is %q, git says %q\n%s\ninfo/attributes:\n%s", name, file, got, want, files, info)
			}
			if want != "unspecified" {
				said++
			}
		}
	}
	if said < repositories {
		t.Errorf("only %d attributes were found: the test would prove little", said)
	}
}

// Git checks files out with the line ends that the attributes say here.
func TestLineEndsAgreeWithGit(t *testing.T) {
	top := t.TempDir()
	gitIn(t, top, "", "init", "-q")
	var rules strings.Builder
	var files []string
	for _, text := range []string{"", "text", "-text", "text=auto", "text=input", "binary", "crlf", "-crlf", "crlf=input"} {
		for _, eol := range []string{"", "eol=crlf", "eol=lf", "eol=x"} {
			file := fmt.Sprintf("f%d", len(files))
			files = append(files, file)
			fmt.Fprintf(&rules, "%s %s %s\n", file, text, eol)
			if err := os.WriteFile(filepath.Join(top, file), []byte("a\nb\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(top, ".gitattributes"), []byte(rules.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	gitIn(t, top, "", "add", "-A")
	for _, file := range files {
		os.Remove(filepath.Join(top, file))
	}
	gitIn(t, top, "", "checkout", "-q", "--", ".")
	for i, file := range files {
		text, err := os.ReadFile(filepath.Join(top, file))
		end := lineEndAttribute(filepath.Join(top, file), func(path string) []byte { text, _ := os.ReadFile(path); return text })
		if err != nil || (end == "crlf") != (string(text) == "a\r\nb\r\n") {
			t.Errorf("%s: %q, git writes %q, %v", strings.Split(rules.String(), "\n")[i], end, text, err)
		}
	}
}

// A work tree of git, and a submodule, have their attributes where git has them; a file in no repository has none.
func TestAttributesOfWorkTrees(t *testing.T) {
	top := t.TempDir()
	main := filepath.Join(top, "main")
	os.Mkdir(main, 0o777)
	gitIn(t, main, "", "init", "-q")
	gitIn(t, main, "", "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "x")
	gitIn(t, main, "", "worktree", "add", "-q", "../tree")
	if err := os.MkdirAll(filepath.Join(main, ".git/info"), 0o777); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(main, ".git/info/attributes"), []byte("*.bat eol=crlf\n"), 0o666)
	os.WriteFile(filepath.Join(top, ".gitattributes"), []byte("* eol=crlf\n"), 0o666)
	read := func(path string) []byte { text, _ := os.ReadFile(path); return text }
	for name, want := range map[string]string{"main/a.bat": "crlf", "tree/new/a.bat": "crlf", "tree/a.txt": "", "outside.bat": ""} {
		if got := lineEndAttribute(filepath.Join(top, name), read); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
