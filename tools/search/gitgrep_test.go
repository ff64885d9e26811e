package search

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var repositories = flag.String("repositories", "", "a directory whose subdirectories TestAgreesWithGitGrep makes repositories of and searches; \"\": two of Go's own packages")

// TestAgreesWithGitGrep makes real source trees repositories, with rules for names that are in them, files that are added
// although a rule ignores them, and repositories within. Then grep finds each word in the files in which
// "git ls-files | xargs grep" finds it. testdata/repositories.sh is the long form.
func TestAgreesWithGitGrep(t *testing.T) {
	for _, program := range []string{"git", "grep", "xargs"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	var trees []string
	if *repositories != "" {
		entries, err := os.ReadDir(*repositories)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			trees = append(trees, filepath.Join(*repositories, e.Name()))
		}
	} else {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Skip("go does not say where it is: ", err)
		}
		root := strings.TrimSpace(string(out))
		trees = []string{filepath.Join(root, "src/go"), filepath.Join(root, "src/encoding")}
	}
	for i, from := range trees {
		t.Run(filepath.Base(from), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "r")
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Skip(err)
			}
			r := gitRepository{t, rand.New(rand.NewPCG(20, uint64(i))), dir}
			r.grow()
			tracked := r.tracked(dir, "")
			tr, err := open(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			words := r.words(tracked)
			differing := 0
			for round, word := range words {
				got, want := tr.filesWith(t, word), r.grep(tracked, word)
				if !slices.Equal(got, want) {
					t.Errorf("%q: grep alone finds it in %.300q, git ls-files | xargs grep alone in %.300q", word, without(got, want), without(want, got))
					if differing++; differing == 3 {
						return
					}
				}
				if round == len(words)/2 { // the host that searched before sees what git tracks now
					r.force()
					tracked = r.tracked(dir, "")
				}
			}
			t.Logf("%s: %d files tracked, %d of them although a rule names them, %d ignored, %d repositories within, %d rules; %d words found alike",
				filepath.Base(from), len(tracked), r.count("ls-files", "-ci", "--exclude-standard"), r.count("ls-files", "-oi", "--exclude-standard"),
				len(r.within()), r.rules(), len(words))
		})
	}
}

// gitRepository is a source tree that becomes a repository.
type gitRepository struct {
	t *testing.T
	*rand.Rand
	dir string
}

func (r gitRepository) git(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "advice.addEmbeddedRepo=false", "-c", "core.safecrlf=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", "GIT_CONFIG_NOSYSTEM=1"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %q in %s: %v\n%s", args, dir, err, stderr.String())
	}
	return string(out)
}

// list returns the names that git lists, each ended by a NUL.
func (r gitRepository) list(dir string, args ...string) []string {
	names := strings.Split(r.git(dir, append(args, "-z")...), "\x00")
	return names[:len(names)-1]
}

func (r gitRepository) count(args ...string) int { return len(r.list(r.dir, args...)) }

// grow makes the tree a repository.
func (r gitRepository) grow() {
	var dirs, names []string
	err := filepath.WalkDir(r.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && path != r.dir {
			dirs = append(dirs, path)
		} else if err == nil && e.Type().IsRegular() {
			names = append(names, path)
		}
		return err
	})
	if err != nil || len(names) == 0 {
		r.t.Fatal(len(names), err)
	}
	some := func(of []string) string { return of[r.IntN(len(of))] }
	for range min(2, len(dirs)) { // repositories within
		if dir := some(dirs); r.anything(dir) && !r.holdsRepository(dir) {
			r.rule(dir, "*"+filepath.Ext(some(names)))
			r.git(dir, "init", "-q")
			r.git(dir, "add", ".")
			r.git(dir, "commit", "-q", "--allow-empty", "-m", "1")
		}
	}
	for range 6 {
		at, name := r.dir, filepath.Base(some(names))
		if len(dirs) > 0 && r.IntN(2) == 0 {
			at = some(dirs)
		}
		switch r.IntN(6) {
		case 0:
			r.rule(at, name)
		case 1:
			r.rule(at, "*"+filepath.Ext(name)+"\n!"+name)
		case 2:
			if at != r.dir {
				r.rule(at, "/*\n!.gitignore\n!"+name)
			}
		case 3:
			r.rule(at, "**/"+name[:1]+"*")
		default:
			if len(dirs) > 0 {
				r.rule(r.dir, strings.TrimPrefix(some(dirs), r.dir)+"/")
			}
		}
	}
	r.git(r.dir, "init", "-q")
	r.git(r.dir, "add", ".")
	r.force()
}

// rule adds a rule in dir, unless it would ignore everything.
func (r gitRepository) rule(dir, rule string) {
	if rule == "*" || strings.HasPrefix(rule, "*\n") {
		return
	}
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(f, "\n%s\n", rule)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// anything reports whether dir holds a file.
func (r gitRepository) anything(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Type().IsRegular() })
}

// holdsRepository reports whether a repository is in dir or around it below the tree.
func (r gitRepository) holdsRepository(dir string) bool {
	return slices.ContainsFunc(r.within(), func(other string) bool {
		return strings.HasPrefix(other+"/", dir+"/") || strings.HasPrefix(dir+"/", other+"/")
	})
}

// within returns the repositories below the top.
func (r gitRepository) within() (dirs []string) {
	err := filepath.WalkDir(r.dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.Name() == ".git" && filepath.Dir(path) != r.dir {
			dirs = append(dirs, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return dirs
}

func (r gitRepository) rules() (n int) {
	for _, name := range r.list(r.dir, "ls-files", "-co") {
		if filepath.Base(name) == ".gitignore" {
			text, _ := os.ReadFile(filepath.Join(r.dir, name))
			n += len(strings.Fields(string(text)))
		}
	}
	return n
}

// force adds some files that a rule ignores, and ceases to track some of those.
func (r gitRepository) force() {
	var add, drop []string
	for _, name := range r.list(r.dir, "ls-files", "-oi", "--exclude-standard") {
		if r.IntN(4) == 0 && !strings.HasSuffix(name, "/") {
			add = append(add, name)
		}
	}
	for _, name := range r.list(r.dir, "ls-files", "-ci", "--exclude-standard") {
		if r.IntN(4) == 0 {
			drop = append(drop, name)
		}
	}
	for part := range slices.Chunk(add, 500) {
		r.git(r.dir, append([]string{"add", "-f", "--"}, part...)...)
	}
	for part := range slices.Chunk(drop, 500) {
		r.git(r.dir, append([]string{"rm", "-q", "-f", "--cached", "--"}, part...)...)
	}
}

// tracked returns the text files that git tracks below dir, also in its submodules, each with prefix before it.
func (r gitRepository) tracked(dir, prefix string) (files []string) {
	for _, entry := range r.list(dir, "ls-files", "--stage") {
		head, name, _ := strings.Cut(entry, "\t")
		path := filepath.Join(dir, name)
		switch {
		case strings.HasPrefix(head, "160000 "):
			files = append(files, r.tracked(path, prefix+name+"/")...)
		case strings.HasPrefix(head, "100"):
			if text, err := os.ReadFile(path); err == nil && bytes.IndexByte(text, 0) < 0 {
				files = append(files, prefix+name)
			}
		}
	}
	return files
}

// words returns words of some of the files.
func (r gitRepository) words(files []string) (words []string) {
	word := regexp.MustCompile(`[A-Za-z_]{3,20}`)
	for len(words) < 12 {
		text, err := os.ReadFile(filepath.Join(r.dir, files[r.IntN(len(files))]))
		if err != nil {
			r.t.Fatal(err)
		}
		if found := word.FindAllString(string(text[:min(len(text), 1<<16)]), -1); found != nil {
			words = append(words, found[r.IntN(len(found))])
		} else {
			words = append(words, "the")
		}
	}
	return words
}

// grep returns the files in which grep finds a word.
func (r gitRepository) grep(files []string, word string) []string {
	cmd := exec.Command("xargs", "-0", "grep", "-alZF", "-e", word, "--", "/dev/null")
	cmd.Dir = r.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.Stdin = strings.NewReader(strings.Join(files, "\x00"))
	out, _ := cmd.Output() // xargs fails if one grep finds nothing
	found := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.Sort(found)
	return slices.DeleteFunc(found, func(s string) bool { return s == "" })
}

// filesWith returns the text files in which grep finds a word.
func (tr tree) filesWith(t *testing.T, word string) (found []string) {
	input := map[string]any{"pattern": word, "output_mode": filesMode, "hidden": true, "limit": 10000}
	for next := new(int); next != nil; {
		input["offset"] = *next
		_, page := tr.grep(t, input)
		for _, name := range page.Files {
			if text, err := os.ReadFile(filepath.Join(tr.dir, name)); err != nil || bytes.IndexByte(text, 0) < 0 {
				found = append(found, name)
			}
		}
		next = page.NextOffset
	}
	return found
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
