package shell

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/tools/gitindex"
	"toolhost/tools/neutral"
)

// histories are the secrets that repositories hold as objects, by git directory. The zero value knows none.
type histories struct {
	mu    sync.Mutex
	known map[string]*history
}

// history is what one repository holds in one state of it.
type history struct {
	state   []unix.Stat_t       // of the files that change when objects become reachable
	tips    []string            // what was looked through
	objects map[string][]string // names of objects of secrets, by their paths in the work tree
}

// Bounds of a look through a repository.
const (
	historyTime   = 5 * time.Second
	historyBlobs  = 500      // objects that are looked into
	historyOutput = 64 << 20 // bytes of names
)

// printing are the commands of git that print contents of objects. Those that print changes are true: by default or with an option.
var printing = map[string]bool{
	"show": true, "diff": true, "log": true, "whatchanged": true, "stash": true, "diff-tree": true, "diff-index": true, "diff-files": true, "format-patch": true,
	"reflog": true, "range-diff": false, "cat-file": false, "unpack-file": false, "grep": false, "blame": false, "annotate": false, "archive": false, "config": false, "fast-export": false, "rev-list": false,
}

// refineHistory adds the secrets that git would print out of its objects to the files that the command reads, and reports whether there are any.
func (c *call) refineHistory(ctx context.Context) (changed bool) {
	for i := range c.facts.Parts {
		part := &c.facts.Parts[i]
		verb, args := gitWords(part.Argv)
		if _, prints := printing[verb]; !prints {
			continue
		}
		for _, run := range c.gitRuns(verb, part.Argv) {
			dir := filepath.Clean(run.Dir)
			git, found := findGit(dir)
			top, named := c.topOf(dir, git), []string(nil)
			if run.GitDir != "" {
				git, found = filepath.Clean(run.GitDir), true
				top, named = dir, []string{"GIT_DIR=" + git, "GIT_WORK_TREE=" + dir}
			}
			if !found {
				continue
			}
			reader := gitReader{c.tool, dir, top, git, named}
			held := c.tool.histories.of(ctx, reader)
			if len(held) == 0 {
				continue
			}
			for _, name := range reader.prints(ctx, verb, args, part.Exact, held) {
				at := filepath.Join(reader.top, name)
				c.addRead(agenttool.Path{Spelling: name, Absolute: at, Resolved: at, Stored: true, By: i + 1})
				changed = true
				for j := range c.facts.Reads {
					if c.facts.Reads[j].Absolute == at {
						c.facts.Reads[j].Stored = true
					}
				}
			}
		}
	}
	return changed
}

// gitRuns returns where a command of git runs: as the facts say of readers, and of others as its words do.
func (c *call) gitRuns(verb string, argv []string) (runs []agenttool.GitRun) {
	for _, run := range c.facts.Git {
		if run.Verb == verb {
			runs = append(runs, run)
		}
	}
	if len(runs) > 0 {
		return runs
	}
	run := agenttool.GitRun{Dir: c.facts.Dir.Absolute, Verb: verb}
	in := func(dir, path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	for i, word := range argv[:slices.Index(argv, verb)] {
		value, joined := strings.CutPrefix(word, "--git-dir=")
		switch {
		case word == "-C":
			run.Dir = in(run.Dir, argv[i+1])
		case word == "--git-dir":
			run.GitDir = in(run.Dir, argv[i+1])
		case joined:
			run.GitDir = in(run.Dir, value)
		}
	}
	return []agenttool.GitRun{run}
}

// topOf is the top of the work tree of a directory.
func (c *call) topOf(dir, git string) string {
	for at := dir; at != "/"; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
	}
	return filepath.Dir(git)
}

// gitWords returns the command of git in some words, and what follows it.
func gitWords(argv []string) (verb string, args []string) {
	if len(argv) < 2 || path.Base(argv[0]) != "git" {
		return "", nil
	}
	for i := 1; i < len(argv); i++ {
		switch {
		case argv[i] == "-C" || argv[i] == "-c" || argv[i] == "--git-dir" || argv[i] == "--work-tree":
			i++
		case !strings.HasPrefix(argv[i], "-"):
			return argv[i], argv[i+1:]
		}
	}
	return "", nil
}

// of returns the secrets that a repository holds.
func (h *histories) of(ctx context.Context, r gitReader) map[string][]string {
	secrets, err := r.tool.w.Secrets()
	if err != nil {
		return nil // no file is read then
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	state := r.state()
	known := h.known[r.git]
	if known != nil && slices.Equal(known.state, state) {
		return known.objects
	}
	ctx, cancel := context.WithTimeout(ctx, historyTime)
	defer cancel()
	next := &history{state: state, objects: map[string][]string{}}
	var before []string
	if known != nil {
		before = known.tips
		for name, objects := range known.objects {
			next.objects[name] = slices.Clone(objects)
		}
	}
	next.tips, _ = r.lines(ctx, "rev-parse", "--all", "HEAD")
	query := []string{"rev-list", "--objects", "--all", "--reflog", "--ignore-missing"}
	for _, tip := range before {
		if isCommit(tip) {
			query = append(query, "^"+tip)
		}
	}
	blobs := 0
	look := func(id, name string) {
		file := filepath.Join(r.top, name)
		if !secrets.Names(file) || slices.Contains(next.objects[name], id) {
			return
		}
		if blobs++; blobs > historyBlobs || secrets.Holds(file, r.head(ctx, id)) {
			next.objects[name] = append(next.objects[name], id)
		}
	}
	err = r.each(ctx, query, func(line string) {
		if id, name, named := strings.Cut(line, " "); named && name != "" {
			look(id, name)
		}
	})
	_ = readIndexObjects(r.git, func(id, name string) { look(id, name) })
	if err != nil {
		next.tips = nil // the next look begins anew
	}
	if h.known == nil || len(h.known) > 64 {
		h.known = map[string]*history{}
	}
	h.known[r.git] = next
	return next.objects
}

// readIndexObjects calls see for each file in the index of a git directory, without the names of its objects, which it takes from git.
func readIndexObjects(git string, see func(id, name string)) error {
	if !readIndex(git, func(e gitindex.Entry) bool { see(":0:"+string(e.Path), string(e.Path)); return true }) {
		return errStopped
	}
	return nil
}

// gitReader runs git for its own questions, with nothing of the repository's configuration that runs a program, and no network.
type gitReader struct {
	tool          *tool
	dir, top, git string
	named         []string // the variables that name the repository; none: git searches for it from dir upward
}

// state are the files that change when other objects become reachable.
func (r gitReader) state() (state []unix.Stat_t) {
	common, _ := shared(r.git)
	for _, name := range []string{"HEAD", "index", "packed-refs", "logs/HEAD", "FETCH_HEAD", "refs/heads", "refs/tags", "refs/remotes", "refs/stash", "logs/refs/stash"} {
		var st unix.Stat_t
		if unix.Stat(filepath.Join(r.git, name), &st) != nil {
			_ = unix.Stat(filepath.Join(common, name), &st)
		}
		state = append(state, unix.Stat_t{Ino: st.Ino, Size: st.Size, Mtim: st.Mtim})
	}
	return state
}

func (r gitReader) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.tool.system("git"), append([]string{"--no-pager", "--no-replace-objects"}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = slices.Concat(neutral.Environ(neutral.Fixed()), neutral.Closed(), []string{"PATH=" + defaultPath, "HOME=/nonexistent", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0"}, r.named)
	return cmd
}

// each calls see for each line that git prints.
func (r gitReader) each(ctx context.Context, args []string, see func(line string)) error {
	if r.tool.system("git") == "" {
		return exec.ErrNotFound
	}
	cmd := r.command(ctx, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(io.LimitReader(out, historyOutput))
	lines.Buffer(nil, 64<<10)
	for lines.Scan() {
		see(lines.Text())
	}
	_, _ = io.Copy(io.Discard, out)
	return cmd.Wait()
}

func (r gitReader) lines(ctx context.Context, args ...string) (all []string, err error) {
	err = r.each(ctx, args, func(line string) { all = append(all, line) })
	return all, err
}

// head is the beginning of an object.
func (r gitReader) head(ctx context.Context, id string) []byte {
	cmd := r.command(ctx, "cat-file", "blob", id)
	var text bytes.Buffer
	cmd.Stdout = &text
	if cmd.Run() != nil {
		return nil
	}
	return text.Bytes()
}

// prints returns the paths of secrets that a command of git may print. exact says whether all its words are known.
func (r gitReader) prints(ctx context.Context, verb string, args []string, exact bool, held map[string][]string) (names []string) {
	if verb == "cat-file" && slices.ContainsFunc(args, func(w string) bool { return w == "-t" || w == "-s" || w == "-e" }) {
		return nil
	}
	revisions, paths := args, []string(nil)
	if i := slices.Index(args, "--"); i >= 0 {
		revisions, paths = args[:i], args[i+1:]
	}
	prefix, err := filepath.Rel(r.top, r.dir)
	if err != nil {
		prefix = "."
	}
	onlyObjects, objects := verb != "log" && verb != "grep" && verb != "archive", 0
	for _, word := range revisions {
		if at := strings.IndexByte(word, ':'); at >= 0 && (!strings.HasPrefix(word, "-") || strings.HasPrefix(word, "--blob=")) {
			objects++
			name := word[at+1:]
			if len(name) > 2 && name[1] == ':' && name[0] >= '0' && name[0] <= '3' {
				name = name[2:]
			}
			if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
				name = path.Join(prefix, name)
			}
			for secret := range held {
				if agenttool.Within(path.Clean("/"+name), "/"+secret) {
					names = append(names, secret)
				}
			}
			continue
		}
		if !strings.HasPrefix(word, "-") {
			onlyObjects = onlyObjects && verb == "cat-file" && slices.Contains([]string{"blob", "tree", "commit", "tag"}, word)
			for secret, ids := range held {
				if slices.ContainsFunc(ids, func(id string) bool { return len(word) >= 4 && strings.HasPrefix(id, word) }) {
					names = append(names, secret)
				}
			}
			if _, err := os.Lstat(filepath.Join(r.dir, word)); err == nil {
				paths = append(paths, word)
			}
		}
	}
	if exact && (objects > 0 && onlyObjects || verb == "cat-file" && !slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "--batch") }) || verb == "config") {
		return names
	}
	if patches, known := printing[verb]; known && patches && exact && !showsPatch(verb, revisions) || verb == "rev-list" || verb == "grep" && exact && !searchesObjects(revisions, paths) {
		return names
	}
	if slices.Contains(revisions, "--full-diff") { // the paths choose commits, and all of these is printed
		paths = nil
	}
	chosen := selected(held, paths, prefix)
	if patches := printing[verb]; patches && exact && len(chosen) > 0 {
		if changed, ok := r.changed(ctx, verb, slices.DeleteFunc(slices.Clone(revisions), func(word string) bool { return slices.Contains(paths, word) }), paths, chosen); ok {
			chosen = changed
		}
	}
	return append(names, chosen...)
}

// patchOptions are options that have a command print changes.
var patchOptions = []string{
	"--patch", "--patch-with-stat", "--patch-with-raw", "--binary", "--unified", "--function-context", "--word-diff", "--word-diff-regex", "--color-words", "--remerge-diff",
	"--diff-merges",
}

// showsPatch reports whether a command that can print changes does.
func showsPatch(verb string, args []string) bool {
	shows := slices.Contains([]string{"show", "diff", "format-patch"}, verb)
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case slices.Contains([]string{"-p", "-u", "--cc", "-c", "-W", "--full-diff"}, arg), strings.HasPrefix(arg, "-U"), strings.HasPrefix(arg, "-L"),
			len(name) > len("--") && slices.ContainsFunc(patchOptions, func(option string) bool { return strings.HasPrefix(option, name) && name != "--color" }): // git takes the beginning of a name
			return true
		case slices.Contains([]string{"-s", "--no-patch", "--name-only", "--name-status", "--numstat", "--shortstat", "--summary", "--raw", "--quiet", "--check"}, arg),
			strings.HasPrefix(arg, "--stat") || strings.HasPrefix(arg, "--dirstat"):
			shows = false
		}
	}
	return shows
}

// searchesObjects reports whether git grep searches more than the work tree.
func searchesObjects(words, paths []string) bool {
	plain := 0
	for _, word := range words {
		if word == "--cached" {
			return true
		}
		if !strings.HasPrefix(word, "-") && !slices.Contains(paths, word) {
			plain++
		}
	}
	return plain > 1 // the pattern, and a revision; with -e it is one more, and the paths are looked at in vain
}

// changed returns those of some paths that the command prints changes of: git says which it would name. ok is false if that is not known. git is asked
// about objects alone, and never about files: filters and submodules of the repository would run programs, and no sandbox holds these questions.
func (r gitReader) changed(ctx context.Context, verb string, args, paths, chosen []string) (names []string, ok bool) {
	if !slices.Contains([]string{"show", "log", "diff", "whatchanged"}, verb) {
		return nil, false
	}
	// A rename would be named by its new path alone, and a configuration can have paths relative to a directory.
	query := []string{verb, "--name-only", "-z", "--no-renames", "--no-relative"}
	if verb != "diff" {
		query = append(query, "--format=")
	}
	var revisions []string
	cached := false
	for _, arg := range args {
		switch {
		case !strings.HasPrefix(arg, "-"):
			revisions = append(revisions, arg)
			query = append(query, arg)
		case verb == "diff" && slices.Contains([]string{"--cached", "--staged"}, arg):
			cached = true
		case verb != "diff" && slices.Contains([]string{"--all", "-n", "--max-count", "--first-parent", "--reverse", "--no-merges", "--merges"}, arg),
			verb != "diff" && regexp.MustCompile(`^(-\d+|-n\d+|--(max-count|skip|since|until|after|before|author|grep|branches|tags|remotes)(=.*)?)$`).MatchString(arg):
			query = append(query, arg)
		case slices.Contains([]string{"-p", "-u", "--patch", "--oneline", "--stat", "-w", "-b", "--no-color", "--color", "-W"}, arg),
			regexp.MustCompile(`^(-U\d+|--unified=\d+|--stat=.*|--color=.*|--pretty(=.*)?|--format=.*|--word-diff(=.*)?|--abbrev-commit|--no-ext-diff|--no-textconv|--minimal|--histogram|--patience)$`).MatchString(arg):
		default:
			return nil, false
		}
	}
	var lines []string
	between := len(revisions) > 1 || len(revisions) == 1 && strings.Contains(revisions[0], "..")
	if verb == "diff" && !between && !cached { // of files: those that differ from the index, and what of that differs from a revision
		differ, known := r.differing(chosen)
		if !known {
			return nil, false
		}
		lines = differ
	}
	if verb != "diff" || between || cached || len(revisions) > 0 {
		if verb == "diff" && !between {
			query = append(query, "--cached")
		}
		ctx, cancel := context.WithTimeout(ctx, historyTime)
		defer cancel()
		query = append(append(query, "--"), paths...) // what a commit changes elsewhere says nothing of how many are shown
		said, err := r.command(ctx, query...).Output()
		if err != nil || len(said) > historyOutput {
			return nil, false
		}
		for name := range strings.SplitSeq(string(said), "\x00") {
			lines = append(lines, strings.TrimLeft(name, "\n"))
		}
	}
	for _, name := range chosen {
		if slices.Contains(lines, name) {
			names = append(names, name)
		}
	}
	return names, true
}

// maxCompared is the size of the largest file that is compared with the index.
const maxCompared = 4 << 20

// differing returns those of some paths whose files do not hold what the index says, or are missing. known is false if the index cannot be read.
func (r gitReader) differing(chosen []string) (names []string, known bool) {
	known = readIndex(r.git, func(e gitindex.Entry) bool {
		name := string(e.Path)
		if slices.Contains(chosen, name) && !holdsObject(filepath.Join(r.top, name), e.Object) {
			names = append(names, name)
		}
		return true
	})
	return names, known
}

// holdsObject reports whether a regular file has the content of an object.
func holdsObject(file string, object []byte) bool {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	f := os.NewFile(uintptr(fd), file)
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCompared {
		return false
	}
	hash := sha1.New()
	fmt.Fprintf(hash, "blob %d\x00", info.Size())
	n, err := io.Copy(hash, io.LimitReader(f, info.Size()))
	return err == nil && n == info.Size() && bytes.Equal(hash.Sum(nil), object)
}

// selected returns the paths that pathspecs select, in order. prefix is the directory that they are relative to.
func selected(held map[string][]string, specs []string, prefix string) (names []string) {
	for name := range held {
		included, excludes := false, 0
		out := false
		for _, text := range specs {
			s := pathspecOf(text, prefix)
			if s.exclude {
				excludes++
				out = out || s.known && s.matches(name)
			} else {
				included = included || !s.known || s.matches(name)
			}
		}
		if !out && (included || excludes == len(specs)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// pathspec is one of git's, see gitglossary(7).
type pathspec struct {
	pattern                    string
	exclude, glob, literal, ic bool
	known                      bool // it is understood
}

func pathspecOf(text, prefix string) pathspec {
	s, top := pathspec{known: true}, false
	if strings.HasPrefix(text, ":(") {
		words, rest, closed := strings.Cut(text[2:], ")")
		s.known, text = closed, rest
		for word := range strings.SplitSeq(words, ",") {
			switch word {
			case "exclude":
				s.exclude = true
			case "top":
				top = true
			case "glob":
				s.glob = true
			case "literal":
				s.literal = true
			case "icase":
				s.ic = true
			case "":
			default:
				s.known = false
			}
		}
	} else if strings.HasPrefix(text, ":") {
		text = text[1:]
		for text != "" && strings.ContainsRune("!^/", rune(text[0])) {
			s.exclude, top = s.exclude || text[0] != '/', top || text[0] == '/'
			text = text[1:]
		}
		text = strings.TrimPrefix(text, ":")
	}
	if !top {
		text = path.Join(prefix, text)
	}
	s.pattern = strings.TrimSuffix(path.Clean(text), "/")
	return s
}

// matches reports whether the pathspec matches a path, or spells a directory above it without wildcards.
func (s pathspec) matches(name string) bool {
	pattern := s.pattern
	if s.ic {
		pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	}
	if pattern == "." || name == pattern || strings.HasPrefix(name, pattern+"/") {
		return true
	}
	if s.literal || !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case s.glob && strings.HasPrefix(pattern[i:], "**/"):
			b.WriteString("(.*/)?")
			i += 2
		case strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(".*")
			i++
		case pattern[i] == '*' && s.glob:
			b.WriteString("[^/]*")
		case pattern[i] == '*':
			b.WriteString(".*")
		case pattern[i] == '?':
			b.WriteString(".")
		case pattern[i] == '[' && strings.IndexByte(pattern[i:], ']') > 1:
			end := i + strings.IndexByte(pattern[i:], ']')
			b.WriteString("[" + strings.Replace(strings.ReplaceAll(pattern[i+1:end], `\`, `\\`), "!", "^", 1) + "]")
			i = end
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	expression, err := regexp.Compile("^" + b.String() + "$")
	return err != nil && !s.exclude || err == nil && expression.MatchString(name)
}
