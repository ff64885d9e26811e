package shell

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/sandbox"
	"toolhost/tools/gitindex"
	"toolhost/tools/neutral"
	"toolhost/tools/workspace"
)

// histories are the secrets that repositories hold as objects, by git directory. The zero value knows none.
type histories struct {
	mu    sync.Mutex
	known map[string]*history
}

// history is what one repository holds, as far as its commits have been looked through. Each commit is looked at once.
type history struct {
	state   []unix.Stat_t       // of the files that change when objects become reachable, when the commits were listed
	tips    map[string]bool     // the objects at references of which all commits have been listed
	pending []string            // commits that are not looked through yet, new ones first
	objects map[string][]string // names of objects of secrets, by their paths in the work tree; it is never changed, but replaced
	blobs   int                 // that were looked into
	glanced bool                // a look of [glanceTime] was made since the state was this
	problem string              // why the last look could not go on
}

// held are the secrets that a repository is known to hold.
type held struct {
	objects map[string][]string // names of objects, by paths in the work tree
	unknown string              // why there may be more; "" if there are none
}

// none reports whether the repository holds no secret.
func (h held) none() bool { return len(h.objects) == 0 && h.unknown == "" }

// ids returns the names of all objects.
func (h held) ids() (ids []string) {
	for _, of := range h.objects {
		ids = append(ids, of...)
	}
	return ids
}

// Bounds of a look through a repository. What one look does not reach, the next one does.
const (
	historyTime   = 5 * time.Second       // of a look for a reader of the history, which may wait for it
	glanceTime    = 40 * time.Millisecond // of one before a command starts
	historyBlobs  = 5000                  // objects that are looked into; more are secrets by their paths
	historyChunk  = 400                   // commits
	historyOutput = 256 << 20             // bytes of names
)

// printing are the commands of git that print contents of objects. Those that print changes are true: by default or with an option.
var printing = map[string]bool{
	"show": true, "diff": true, "log": true, "reflog": true, "whatchanged": true, "stash": true, "diff-tree": true, "diff-index": true, "diff-files": true, "format-patch": true,
	"range-diff": false, "cat-file": false, "grep": false, "blame": false, "annotate": false, "archive": false, "config": false, "fast-export": false, "rev-list": false,
	"difftool": true, "unpack-file": false, "upload-archive": false, "checkout-index": false, "fast-import": false, "mktree": false, "update-index": false,
}

// takesContents reports whether a command of git can print contents of objects, or give them other names, or put them elsewhere.
func takesContents(verb string) bool {
	_, prints := printing[verb]
	return prints || slices.Contains(placing, verb)
}

// placing are the commands of git that put files of objects in a directory: it may lie where no file is a secret.
var placing = []string{"clone", "worktree", "checkout", "switch", "restore", "reset", "read-tree", "checkout-index"}

// refineHistory adds the secrets that git would print out of its objects to the files that the command reads, and reports whether there are any.
// Where git is judged when it starts, that is left to the judge for a command that may change the repository before.
func (c *call) refineHistory(ctx context.Context) (changed bool) {
	later := c.facts.ReadOnly != agenttool.Yes && len(c.facts.Parts) > 1 && c.judgesStarts()
	for i := range c.facts.Parts {
		part := &c.facts.Parts[i]
		verb, args := gitWords(part.Argv)
		if !takesContents(verb) {
			continue
		}
		for _, run := range c.gitRuns(verb, part.Argv) {
			dir := filepath.Clean(run.Dir)
			git, found := findGit(dir)
			top := topOf(dir, git)
			if run.GitDir != "" {
				git, found = filepath.Clean(run.GitDir), true
				top = dir
			}
			if !found {
				continue
			}
			reader := gitReader{tool: c.tool, dir: dir, top: top, git: git}
			held := c.tool.histories.of(ctx, reader, historyTime)
			if held.none() {
				continue
			}
			p := reader.prints(ctx, gitCommand{verb: verb, args: args, exact: part.Exact}, held)
			if p.unknown != "" && (held.unknown != "" || !c.judgesStarts()) {
				c.facts.Unwalked = p.unknown
			}
			if later {
				continue
			}
			for _, name := range p.names {
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
	run := startOf(sandbox.GitStart{Argv: argv, Dir: c.facts.Dir.Absolute}, nil)
	at := agenttool.GitRun{Dir: run.dir, Verb: verb}
	if run.gitDir != "" {
		at.GitDir = absolute(run.dir, run.gitDir)
	}
	return []agenttool.GitRun{at}
}

// topOf is the top of the work tree of a directory.
func topOf(dir, git string) string {
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

// of returns the secrets that a repository holds, after a look of limited time if there is anything new.
func (h *histories) of(ctx context.Context, r gitReader, patience time.Duration) held {
	secrets, err := r.tool.w.Secrets()
	if err != nil {
		return held{unknown: "it is not known which files are secrets"} // and no file is read
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.known[r.git]
	if known == nil {
		known = &history{tips: map[string]bool{}}
		if h.known == nil || len(h.known) > 64 {
			h.known = map[string]*history{}
		}
		h.known[r.git] = known
	}
	state := r.state()
	current := known.state != nil && slices.Equal(known.state, state)
	if current && len(known.pending) == 0 || patience == glanceTime && current && known.glanced {
		return known.held(r)
	}
	known.glanced = true
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err = known.look(ctx, r, secrets, state, current); err != nil {
		known.problem = err.Error()
		if ctx.Err() != nil {
			known.problem = "it is long"
		}
	}
	return known.held(r)
}

// any reports whether a repository is known to hold a secret, or may.
func (h *histories) any() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, known := range h.known {
		if len(known.objects) > 0 || len(known.pending) > 0 || known.state == nil {
			return true
		}
	}
	return false
}

func (h *history) held(r gitReader) held {
	switch {
	case h.state == nil:
		return held{h.objects, "the history of " + r.git + " is not looked through: " + h.problem}
	case len(h.pending) > 0:
		return held{h.objects, fmt.Sprintf("the history of %s is not looked through yet, %s to go: %s", r.git, count.Grouped(len(h.pending), "commit", "commits"), h.problem)}
	}
	return held{objects: h.objects}
}

// look lists the commits that are new, and looks through those that nobody has looked through, until all are done or ctx is over.
func (h *history) look(ctx context.Context, r gitReader, secrets workspace.Secrets, state []unix.Stat_t, listed bool) error {
	next := map[string][]string{}
	for name, objects := range h.objects {
		next[name] = slices.Clip(objects)
	}
	defer func() { h.objects = next }()
	named := map[string][]string{} // the paths of objects that may be secrets
	note := func(id, name string) {
		if id != "" && secrets.Names(r.file(name)) && !slices.Contains(next[name], id) && !slices.Contains(named[id], name) {
			named[id] = append(named[id], name)
		}
	}
	settle := func() error {
		defer clear(named)
		return r.contents(ctx, slices.Collect(maps.Keys(named)), func(id string, text []byte) {
			h.blobs++
			for _, name := range named[id] {
				if h.blobs > historyBlobs || secrets.Holds(r.file(name), text) {
					next[name] = append(next[name], id)
				}
			}
		})
	}
	if !listed {
		h.state = nil
		if err := h.list(ctx, r, note); err != nil {
			return err
		}
		if err := readIndexObjects(r.git, note); err != nil {
			return err
		}
		if err := settle(); err != nil {
			return err
		}
		h.state = state
	}
	for len(h.pending) > 0 {
		chunk := h.pending[:min(historyChunk, len(h.pending))]
		if err := r.changes(ctx, []string{"diff-tree", "--stdin", "-r", "-c", "--root", "--no-commit-id"}, chunk, func(c change) { note(c.id, c.name) }); err != nil {
			return err
		}
		if err := settle(); err != nil {
			return err
		}
		h.pending = h.pending[len(chunk):]
	}
	return nil
}

// list puts the commits that are reachable, and have not been listed, before those that are to be looked through.
func (h *history) list(ctx context.Context, r gitReader, note func(id, name string)) error {
	query, tips := []string(nil), []string(nil)
	add := func(id string) {
		if isCommit(id) && !h.tips[id] {
			query, tips = append(query, id), append(tips, id)
		}
	}
	var trees []string
	err := r.each(ctx, nil, []string{"for-each-ref", "--format=%(objectname) %(objecttype) %(*objecttype)"}, func(line string) {
		id, kind, _ := strings.Cut(line, " ")
		if add(id); strings.Contains(kind, "tree") {
			trees = append(trees, id)
		}
	})
	if err != nil {
		return err
	}
	for _, name := range []string{"HEAD", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"} {
		for line := range strings.Lines(pointedText(filepath.Join(r.git, name))) {
			id, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			add(id)
		}
	}
	for id := range h.tips {
		query = append(query, "^"+id)
	}
	for _, tree := range trees {
		if err := r.each(ctx, nil, []string{"ls-tree", "-r", "-z", tree}, func(line string) {
			for entry := range strings.SplitSeq(line, "\x00") {
				if words, name, found := strings.Cut(entry, "\t"); found {
					note(words[strings.LastIndexByte(words, ' ')+1:], name)
				}
			}
		}); err != nil {
			return err
		}
	}
	var commits []string
	if err := r.each(ctx, query, []string{"rev-list", "--all", "--reflog", "--ignore-missing", "--stdin"}, func(line string) {
		if isCommit(line) {
			commits = append(commits, line)
		}
	}); err != nil {
		return err
	}
	h.pending = append(commits, h.pending...)
	for _, tip := range tips {
		h.tips[tip] = true
	}
	return nil
}

// readIndexObjects calls see for each file in the index of a git directory.
func readIndexObjects(git string, see func(id, name string)) error {
	if !readIndex(git, func(e gitindex.Entry) bool { see(hex.EncodeToString(e.Object), string(e.Path)); return true }) {
		return errors.New("its index cannot be read")
	}
	return nil
}

// gitReader runs git for its own questions, with nothing of the repository's configuration that runs a program, and no network.
type gitReader struct {
	tool *tool
	dir  string // where git runs
	top  string // of the work tree; "" for none
	git  string
	env  []string // further variables
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
	cmd.Env = slices.Concat(neutral.Environ(neutral.Fixed()), neutral.Closed(), []string{"PATH=" + defaultPath, "HOME=/nonexistent", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_DIR=" + r.git}, r.env)
	if r.top != "" {
		cmd.Env = append(cmd.Env, "GIT_WORK_TREE="+r.top)
	}
	return cmd
}

// file is the path by which a secret in the work tree is known. A repository in the session's /tmp is taken as if it were in the workspace.
func (r gitReader) file(name string) string {
	top := r.top
	if s := r.tool.o.Sandbox; s != nil && (top == "" || inScratch(s, top)) {
		top = r.tool.w.Roots()[0]
	}
	return filepath.Join(top, name)
}

func inScratch(s *sandbox.Session, path string) bool {
	return slices.ContainsFunc([]string{s.Scratch(), s.VarScratch()}, func(dir string) bool { return dir != "" && agenttool.Within(dir, path) })
}

// each calls see for each line that git prints, when it reads the lines of input.
func (r gitReader) each(ctx context.Context, input, args []string, see func(line string)) error {
	return r.read(ctx, input, args, func(out io.Reader) error {
		lines := bufio.NewScanner(io.LimitReader(out, historyOutput))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			see(lines.Text())
		}
		return lines.Err()
	})
}

// read has git read the lines of input, and do read what it prints.
func (r gitReader) read(ctx context.Context, input, args []string, read func(io.Reader) error) error {
	if r.tool.system("git") == "" {
		return exec.ErrNotFound
	}
	cmd := r.command(ctx, args...)
	if len(input) > 0 {
		cmd.Stdin = strings.NewReader(strings.Join(input, "\n") + "\n")
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = read(out)
	_, _ = io.Copy(io.Discard, out)
	if ended := cmd.Wait(); ended != nil {
		err = fmt.Errorf("git %s: %w", args[0], ended)
	}
	return err
}

// change is an entry of a change that git names.
type change struct {
	name    string
	id, old string // of the objects, "" where there is none, or where it is a file of the work tree
}

// changes calls see for each entry that a command of git names in its raw format.
func (r gitReader) changes(ctx context.Context, args, input []string, see func(change)) error {
	const none = "0000000000000000000000000000000000000000000000000000000000000000"
	args = slices.Insert(slices.Clone(args), 1, "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules")
	return r.read(ctx, input, args, func(out io.Reader) error {
		in := bufio.NewReader(io.LimitReader(out, historyOutput))
		for {
			words, err := in.ReadString(0)
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			words = strings.TrimRight(words[strings.LastIndexByte(words, '\n')+1:], "\x00")
			fields := strings.Fields(strings.TrimLeft(words, ":"))
			olds := len(words) - len(strings.TrimLeft(words, ":"))
			if olds == 0 || len(fields) != 2*olds+3 {
				continue // the name of a commit
			}
			name, err := in.ReadString(0)
			if err != nil {
				return err
			}
			c := change{name: strings.TrimRight(name, "\x00"), id: fields[2*olds+1]}
			if strings.HasPrefix(none, c.id) {
				c.id = ""
			}
			for _, old := range fields[olds+1 : 2*olds+1] {
				if c.old = old; !strings.HasPrefix(none, old) {
					see(c)
				}
			}
			if c.old = ""; c.id != "" {
				see(c)
			}
		}
	})
}

// contents calls see with the beginning of each of some objects.
func (r gitReader) contents(ctx context.Context, objects []string, see func(id string, text []byte)) error {
	if len(objects) == 0 {
		return nil
	}
	const most = 64 << 10
	return r.read(ctx, objects, []string{"cat-file", "--batch"}, func(out io.Reader) error {
		in := bufio.NewReader(out)
		for range len(objects) {
			header, err := in.ReadString('\n')
			if err != nil {
				return err
			}
			words := strings.Fields(header)
			if len(words) != 3 {
				see(words[0], nil) // it is missing, and nobody prints it
				continue
			}
			size, err := strconv.ParseInt(words[2], 10, 64)
			if err != nil {
				return err
			}
			text, err := io.ReadAll(io.LimitReader(in, min(size, most)))
			if err == nil {
				_, err = io.CopyN(io.Discard, in, size-int64(len(text))+1)
			}
			if err != nil {
				return err
			}
			if words[1] == "blob" {
				see(words[0], text)
			}
		}
		return nil
	})
}

// blobs returns the names of the blobs that words stand for.
func (r gitReader) blobs(ctx context.Context, words []string) (ids []string, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	err = r.each(ctx, words, []string{"cat-file", "--batch-check=%(objectname) %(objecttype)"}, func(line string) {
		if id, kind, _ := strings.Cut(line, " "); kind == "blob" {
			ids = append(ids, id)
		}
	})
	return ids, err
}

// gitCommand is one start of git.
type gitCommand struct {
	verb   string
	args   []string
	exact  bool // all its words are known
	other  bool // its variables have git show more, or look at another index, than the questions to it do
	merges bool // its configuration may have it show more of merges
}

// printed are the secrets among the objects of a repository that a command of git prints.
type printed struct {
	names   []string // their paths
	unknown string   // why there may be more; "" if there are none
}

// prints returns what a command of git prints of the secrets of a repository.
func (r gitReader) prints(ctx context.Context, c gitCommand, held held) (p printed) {
	verb, args := c.verb, c.args
	has := func(options ...string) bool {
		return slices.ContainsFunc(args, func(w string) bool { return slices.Contains(options, w) })
	}
	switch verb {
	case "cat-file":
		if has("-t", "-s", "-e") {
			return p
		}
	case "checkout-index":
		if c.exact && !slices.ContainsFunc(args, func(w string) bool { return w == "--temp" || strings.HasPrefix(w, "--prefix") }) {
			return p
		}
	case "update-index":
		if c.exact && !slices.ContainsFunc(args, func(w string) bool {
			return strings.HasPrefix(w, "--cacheinfo") || strings.HasPrefix(w, "--index-info")
		}) {
			return p
		}
	}
	if _, prints := printing[verb]; !prints {
		return p
	}
	revisions, paths := args, []string(nil)
	if i := slices.Index(args, "--"); i >= 0 {
		revisions, paths = args[:i], args[i+1:]
	}
	prefix := r.prefix()
	onlyObjects, objects := verb != "log" && verb != "grep" && verb != "archive", 0
	var words []string // that may stand for blobs
	for _, word := range revisions {
		if at := strings.IndexByte(word, ':'); at >= 0 && (!strings.HasPrefix(word, "-") || strings.HasPrefix(word, "--blob=")) {
			objects++
			words = append(words, strings.TrimPrefix(word, "--blob="))
			name := word[at+1:]
			if len(name) > 2 && name[1] == ':' && name[0] >= '0' && name[0] <= '3' {
				name = name[2:]
			}
			if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
				name = path.Join(prefix, name)
			}
			for secret := range held.objects {
				if agenttool.Within(path.Clean("/"+name), "/"+secret) {
					p.names = append(p.names, secret)
				}
			}
			continue
		}
		if !strings.HasPrefix(word, "-") {
			words = append(words, word)
			onlyObjects = onlyObjects && verb == "cat-file" && slices.Contains([]string{"blob", "tree", "commit", "tag"}, word)
			if _, err := os.Lstat(filepath.Join(r.dir, word)); err == nil {
				paths = append(paths, word)
			}
		}
	}
	ids, err := r.blobs(ctx, slices.DeleteFunc(words, func(word string) bool { return word == "" || strings.ContainsAny(word, "\r\n") }))
	if err != nil {
		p.unknown = "git cannot be asked what its words mean"
	}
	p.names = append(p.names, held.pathsOf(ids)...)
	if len(ids) > 0 && held.unknown != "" {
		p.unknown = held.unknown
	}
	if c.exact && (objects > 0 && onlyObjects || verb == "cat-file" && !slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "--batch") }) || verb == "config") {
		return p
	}
	if patches, known := printing[verb]; known && patches && c.exact && verb != "difftool" && !showsPatch(verb, revisions) || verb == "rev-list" || verb == "grep" && c.exact && !searchesObjects(revisions, paths) {
		return p
	}
	if slices.Contains(revisions, "--full-diff") { // the paths choose commits, and all of these is printed
		paths = nil
	}
	chosen := selected(held.objects, paths, prefix)
	if patches := printing[verb]; patches && c.exact && !c.other && (len(chosen) > 0 || held.unknown != "") {
		revisions = slices.DeleteFunc(slices.Clone(revisions), func(word string) bool { return slices.Contains(paths, word) })
		if changed, ok := r.changed(ctx, c, revisions, paths, held); ok {
			p.names = append(p.names, changed...)
			return p
		}
	}
	if held.unknown != "" {
		p.unknown = held.unknown
	}
	p.names = append(p.names, chosen...)
	return p
}

// prefix is the directory where git runs, relative to the top of the work tree.
func (r gitReader) prefix() string {
	prefix, err := filepath.Rel(r.top, r.dir)
	if err != nil || r.top == "" {
		return "."
	}
	return prefix
}

// pathsOf returns the paths of secrets among objects.
func (h held) pathsOf(ids []string) (names []string) {
	for name, of := range h.objects {
		if slices.ContainsFunc(of, func(id string) bool { return slices.Contains(ids, id) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
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

// changed returns the paths of the secrets that a command prints changes of: git says which entries it would show. ok is false if that is not
// known. git is asked about objects alone, and never about files: filters and submodules of the repository would run programs, and no sandbox holds
// these questions.
func (r gitReader) changed(ctx context.Context, c gitCommand, args, paths []string, held held) (names []string, ok bool) {
	if !slices.Contains([]string{"show", "log", "diff", "whatchanged"}, c.verb) {
		return nil, false
	}
	query := []string{c.verb, "--no-relative"}
	if c.verb != "diff" {
		query = append(query, "--format=")
		if c.merges {
			query = append(query, "-m")
		}
	}
	var revisions []string
	cached := false
	for _, arg := range args {
		switch {
		case !strings.HasPrefix(arg, "-"):
			revisions = append(revisions, arg)
			query = append(query, arg)
		case c.verb == "diff" && slices.Contains([]string{"--cached", "--staged"}, arg):
			cached = true
		case c.verb != "diff" && slices.Contains([]string{"--all", "-n", "--max-count", "--first-parent", "--reverse", "--no-merges", "--merges"}, arg),
			c.verb != "diff" && regexp.MustCompile(`^(-\d+|-n\d+|--(max-count|skip|since|until|after|before|author|grep|branches|tags|remotes)(=.*)?)$`).MatchString(arg):
			query = append(query, arg)
		case slices.Contains([]string{"-p", "-u", "--patch", "--oneline", "--stat", "-w", "-b", "--no-color", "--color", "-W"}, arg),
			regexp.MustCompile(`^(-U\d+|--unified=\d+|--stat=.*|--color=.*|--pretty(=.*)?|--format=.*|--word-diff(=.*)?|--abbrev-commit|--no-ext-diff|--no-textconv|--minimal|--histogram|--patience)$`).MatchString(arg):
		default:
			return nil, false
		}
	}
	between := len(revisions) > 1 || len(revisions) == 1 && strings.Contains(revisions[0], "..")
	if c.verb == "diff" && !between && !cached { // of files: those that differ from the index, and what of that differs from a revision
		if names, ok = r.differing(selected(held.objects, paths, r.prefix())); !ok {
			return nil, false
		}
		if len(revisions) == 0 {
			return names, held.unknown == ""
		}
	}
	if c.verb == "diff" && !between {
		query = append(query, "--cached")
	}
	secrets, err := r.tool.w.Secrets()
	if err != nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, historyTime)
	defer cancel()
	known := map[string]bool{}
	for _, id := range held.ids() {
		known[id] = true
	}
	unseen := map[string][]string{}                                                   // the paths of objects that no look has found yet
	err = r.changes(ctx, append(append(query, "--"), paths...), nil, func(e change) { // what a commit changes elsewhere says nothing of how many are shown
		for _, id := range []string{e.id, e.old} {
			switch {
			case id == "":
			case known[id]:
				names = append(names, e.name)
			case held.unknown != "" && secrets.Names(r.file(e.name)):
				unseen[id] = append(unseen[id], e.name)
			}
		}
	})
	if err == nil {
		err = r.contents(ctx, slices.Collect(maps.Keys(unseen)), func(id string, text []byte) {
			for _, name := range unseen[id] {
				if secrets.Holds(r.file(name), text) {
					names = append(names, name)
				}
			}
		})
	}
	slices.Sort(names)
	return slices.Compact(names), err == nil
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
