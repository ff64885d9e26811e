package classify

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolhost/classify/program"
)

// TestTruthUnderStrace runs the rows of truth.tsv that can run anywhere, each in a repository of its own under strace, and compares what
// the system calls show with the row: what was made, changed and removed with writes, read_only and destructive; what was opened with
// reads; connections with open_world; lock files with locks.
func TestTruthUnderStrace(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	scratch := t.TempDir()
	template := filepath.Join(scratch, "template")
	bashIn(t, "/", truthRepository, "D="+template)
	ran := 0
	for n, row := range truthRows(t) {
		if row[len(row)-1] != "run" {
			continue
		}
		ran++
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			r := traceTruth(t, filepath.Join(scratch, strconv.Itoa(n)), unescapeRow.Replace(row[0]))
			r.compare(t, truthFacts(row))
		})
	}
	if ran < 80 {
		t.Errorf("%d rows run, want 80", ran)
	}
}

// truthRepository makes the repository that the commands find, in $D.
const truthRepository = `set -e
mkdir -p "$D"/w "$D"/home "$D"/tmp; cd "$D"/w; export HOME="$D"/home GIT_CONFIG_NOSYSTEM=1
printf '[user]\n name = a\n email = a@example.com\n[init]\n defaultBranch = main\n[advice]\n detachedHead = false\n' > "$HOME"/.gitconfig
mkdir src d sub build empty
for n in 1 2 3 4 5 6; do echo "a $n" >> a.txt; echo "b $n" >> b.txt; done
echo only f > f; echo f > list.txt; echo log > log.txt; echo '{"name":"x"}' > data.json; echo '1,2' > c.csv; printf 'run\n' > run.sh
echo 'package main // TODO' > src/main.go; echo x > sub/x.txt; printf 'test:\n\t@echo made > made.txt\n' > Makefile
git init -q; git add .; git commit -qm one; git tag v1.2
git branch merged; git checkout -qb feature; echo feature > feature.txt; git add .; git commit -qm two; git checkout -q main
echo three >> b.txt; git commit -qam three
echo tmp > x.tmp; echo y > build/x; ln -s nowhere link0; tar cf old.tar src
`

// truthBefore is what some commands need before they run.
var truthBefore = map[string]string{
	"git add a.txt":              "echo dirty >> a.txt",
	"git commit -qm x":           "echo dirty >> a.txt; git add a.txt",
	"git checkout -- a.txt":      "echo dirty >> a.txt",
	"git checkout a.txt":         "echo dirty >> a.txt",
	"git restore a.txt":          "echo dirty >> a.txt",
	"git reset --hard":           "echo dirty >> a.txt",
	"git stash":                  "echo dirty >> a.txt",
	"git stash drop":             "echo dirty >> a.txt; git stash -q",
	"git reset HEAD a.txt":       "echo dirty >> a.txt; git add a.txt",
	"git restore --staged a.txt": "echo dirty >> a.txt; git add a.txt",
	"git rebase main":            "git checkout -q feature",
	"ln -sf a.txt link":          "ln -s b.txt link",
	"cp -n a.txt b.txt":          "rm b.txt",
	"dd if=a.txt of=f":           "echo longer than before > f",
}

// bashIn runs a script with nothing of the person's environment.
func bashIn(t *testing.T, dir, script string, env ...string) {
	t.Helper()
	cmd := exec.Command("bash", "--norc", "--noprofile", "-c", script)
	cmd.Dir, cmd.Env = dir, append(env, "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

// truthRun is what one command did, by its system calls. Paths are relative to the directory in which it ran, if they are below it.
type truthRun struct {
	dir      string
	calls    string
	named    map[string]bool // in any call
	opened   map[string]bool // regular files that were opened to be read
	changed  map[string]bool // made, changed or removed, for a moment too
	connects bool
	before   map[string]string // the contents of files outside .git
	after    map[string]string
	known    func(content string) bool // git has it
}

// traceTruth runs a command in a copy of the template beside it.
func traceTruth(t *testing.T, home, command string) *truthRun {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "HOME=" + home + "/home", "TMPDIR=" + home + "/tmp", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_EDITOR=true", "GIT_PAGER=cat"}
	bashIn(t, "/", "cp -a "+filepath.Join(filepath.Dir(home), "template")+" "+home)
	r := &truthRun{dir: home + "/w", named: map[string]bool{}, opened: map[string]bool{}, changed: map[string]bool{}}
	if before := truthBefore[command]; before != "" {
		bashIn(t, r.dir, before, env...)
	}
	r.before = r.contents(t)
	log := filepath.Join(home, "calls")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "strace", "-ff", "-qq", "-y", "-s", "4096", "-e", "trace=%file,ftruncate,fchmod,connect", "-o", log,
		"bash", "--norc", "--noprofile", "-c", command)
	cmd.Dir, cmd.Env = r.dir, env
	out, err := cmd.CombinedOutput()
	logs, _ := filepath.Glob(log + ".*") // one of each process, so that no call stands in two lines
	for _, name := range logs {
		calls, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r.calls += string(calls)
	}
	if ctx.Err() != nil || r.calls == "" {
		t.Fatalf("strace: %v: %s", err, out)
	}
	r.after = r.contents(t)
	r.known = func(content string) bool {
		cmd := exec.Command("bash", "-c", `git cat-file -e "$(git hash-object --stdin)"`)
		cmd.Dir, cmd.Env, cmd.Stdin = r.dir, env, strings.NewReader(content)
		return cmd.Run() == nil
	}
	r.read()
	return r
}

// contents returns what is in the files of the directory.
func (r *truthRun) contents(t *testing.T) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(r.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case e.IsDir():
			all[r.relative(path)+"/"] = ""
		case e.Type().IsRegular():
			b, err := os.ReadFile(path)
			all[r.relative(path)] = string(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (r *truthRun) relative(path string) string {
	if rest, ok := strings.CutPrefix(filepath.Clean(path), r.dir+"/"); ok {
		return rest
	}
	return filepath.Clean(path)
}

var (
	straceCall   = regexp.MustCompile(`^(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?`)
	straceString = regexp.MustCompile(`(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"`)
	straceOfFD   = regexp.MustCompile(`^\d+<([^>]*)>`)
)

// changing are the system calls that make, change or remove what they name.
var changing = program.WordSet(`unlink unlinkat rename renameat renameat2 mkdir mkdirat rmdir link linkat symlink symlinkat truncate chmod fchmodat
	fchmodat2 mknod mknodat utimensat creat ftruncate fchmod`)

// read takes the calls apart.
func (r *truthRun) read() {
	for line := range strings.Lines(r.calls) {
		m := straceCall.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		call, args, failed := m[1], m[2], strings.HasPrefix(m[3], "-")
		if call == "connect" {
			r.connects = r.connects || strings.Contains(args, "AF_INET")
			continue
		}
		paths := r.pathsOf(args)
		for _, path := range paths {
			r.named[path] = true
		}
		switch {
		case failed:
		case changing[call]:
			if call == "symlink" || call == "symlinkat" {
				paths = paths[1:]
			}
			r.change(paths...)
		case call == "openat" || call == "open":
			r.open(r.relative(m[4]), args)
		}
	}
}

func (r *truthRun) pathsOf(args string) []string {
	var paths []string
	for _, m := range straceString.FindAllStringSubmatch(args, -1) {
		path := m[2]
		switch {
		case strings.HasPrefix(path, "/"):
		case m[1] != "":
			path = m[1] + "/" + path
		default:
			path = r.dir + "/" + path
		}
		paths = append(paths, r.relative(path))
	}
	if m := straceOfFD.FindStringSubmatch(args); m != nil && len(paths) == 0 {
		paths = append(paths, r.relative(m[1]))
	}
	return paths
}

func (r *truthRun) open(path, flags string) {
	r.named[path] = true
	switch {
	case strings.Contains(flags, "O_WRONLY"), strings.Contains(flags, "O_RDWR"):
		r.change(path)
	case !strings.Contains(flags, "O_DIRECTORY") && !strings.HasPrefix(path, "/"):
		r.opened[path] = true
	}
}

func (r *truthRun) change(paths ...string) {
	for _, path := range paths {
		if !strings.HasPrefix(path, "/dev/") {
			r.changed[path] = true
		}
	}
}

// lasting returns what of the changes can be seen afterwards: what was there, or is.
func (r *truthRun) lasting() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.changed)), func(path string) bool {
		_, was := r.before[path]
		_, err := os.Lstat(filepath.Join(r.dir, path))
		return !was && (filepath.IsAbs(path) || err != nil) && r.before[path+"/"] == "" && !slices.Contains(slices.Collect(maps.Keys(r.before)), path+"/")
	})
}

// lost returns the files whose contents are gone: no file has them, nor begins with them. What git has counts where git says so.
func (r *truthRun) lost(known func(content string) bool) []string {
	var lost []string
	for path, content := range r.before {
		kept := false
		if after, ok := r.after[path]; ok && strings.HasPrefix(after, content) {
			continue
		}
		for _, after := range r.after {
			kept = kept || after == content && !strings.HasSuffix(path, "/")
		}
		if !kept && (strings.HasSuffix(path, "/") || !known(content)) {
			lost = append(lost, path)
		}
	}
	slices.Sort(lost)
	return lost
}

// truthFacts returns a row by the names of its columns.
func truthFacts(row []string) map[string]string {
	facts := map[string]string{}
	for i, name := range truthColumns {
		facts[name] = row[i]
	}
	return facts
}

// cells returns the paths of a cell.
func cells(cell string) []string {
	if cell == "-" {
		return nil
	}
	return strings.Fields(cell)
}

// covers reports whether a path is one of some, below one, or on the way to one.
func covers(list []string, path string) bool {
	return slices.ContainsFunc(list, func(each string) bool {
		each = strings.TrimSuffix(strings.TrimPrefix(each, "./"), "/")
		return each == "." && !strings.HasPrefix(path, "/") || path == each || strings.HasPrefix(path, each+"/") || strings.HasPrefix(each, path+"/")
	})
}

// compare holds a run against its row.
func (r *truthRun) compare(t *testing.T, row map[string]string) {
	reads, writes, lasting := cells(row["reads"]), cells(row["writes"]), r.lasting()
	index := r.changed[".git/index.lock"]
	switch {
	case row["read_only"] == "yes" && row["concurrency_safe"] == "no": // which refreshes the index
		delete(r.changed, ".git/index.lock")
		delete(r.changed, ".git/index")
		index = false
		fallthrough
	case row["read_only"] == "yes":
		if len(r.changed) > 0 {
			t.Errorf("read_only, but it changed %q", slices.Sorted(maps.Keys(r.changed)))
		}
	case row["read_only"] == "no" && len(r.changed) == 0:
		t.Errorf("not read_only, but it changed nothing")
	}
	if row["paths_complete"] == "yes" && row["read_only"] != "yes" {
		for _, path := range lasting {
			if !covers(writes, path) {
				t.Errorf("it changed %s, which is not among writes %q", path, writes)
			}
		}
	}
	for _, path := range writes {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(r.changed)), func(c string) bool { return covers([]string{path}, c) }) {
			t.Errorf("writes has %s, which it did not change: %q", path, lasting)
		}
	}
	for path := range r.opened {
		if row["paths_complete"] == "yes" && !covers(slices.Concat(reads, writes, []string{".git"}), path) {
			t.Errorf("it read %s, which is not among reads %q", path, reads)
		}
	}
	for _, path := range reads {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(r.named)), func(n string) bool { return covers([]string{path}, n) }) && path != "." {
			t.Errorf("reads has %s, which it did not name", path)
		}
	}
	r.compareEffects(t, row, index)
}

func (r *truthRun) compareEffects(t *testing.T, row map[string]string, index bool) {
	if want := row["open_world"] == "yes"; row["open_world"] != "?" && want != r.connects {
		t.Errorf("open_world is %s, and it connected: %v", row["open_world"], r.connects)
	}
	refs := strings.HasPrefix(row["command"], "git branch") || strings.HasPrefix(row["command"], "git stash") // which are not among the files
	byGit := func(content string) bool { return strings.HasPrefix(row["command"], "git ") && r.known(content) }
	nobody := func(string) bool { return false }
	switch {
	case row["destructive"] == "no" && len(r.lost(byGit)) > 0:
		t.Errorf("not destructive, but it lost %q", r.lost(byGit))
	case row["destructive"] == "yes" && len(r.lost(nobody)) == 0 && !refs:
		t.Errorf("destructive, but it lost nothing")
	}
	for _, lock := range []string{".git/index.lock", ".git/config.lock"} {
		seen := r.changed[lock] && (lock != ".git/index.lock" || index)
		if want := slices.Contains(cells(row["locks"]), lock); want != seen {
			t.Errorf("locks is %s, and %s was made: %v", row["locks"], lock, seen)
		}
	}
	if row["observes_host"] == "yes" && !slices.ContainsFunc(slices.Collect(maps.Keys(r.named)), func(path string) bool {
		return strings.HasPrefix(path, "/proc/") && !strings.HasPrefix(path, "/proc/self")
	}) {
		t.Errorf("observes_host, but it looked at nothing in /proc")
	}
}
