package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/check"
	"toolhost/cmd/toolhost/internal/confine"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/permissions"
	"toolhost/permissions/protect"
	"toolhost/sandbox"
)

// TestOneMap: in random trees, judge, wall and watch say the same of every name, and all know what git itself obeys there. A tree has
// repositories in repositories, bare ones, linked work trees and submodules, with configuration, links and a home that point into it. git says
// which files it reads and which hooks it would run; the test decides nothing about that.
//
//	TOOLHOST_TREES=100000 go test -run TestOneMap -timeout 0 ./cmd/toolhost
func TestOneMap(t *testing.T) {
	needs(t, "git")
	base := deciderDir(t)
	w := &treeWorld{base: base, home: filepath.Join(base, "HOME"), ws: filepath.Join(base, "HOME", "src", "ws")}
	t.Setenv("HOME", w.home)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, dir := range []string{"XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"} {
		path := filepath.Join(base, dir)
		must(t, os.Mkdir(path, 0o700))
		t.Setenv(dir, path)
	}
	t.Setenv("XDG_CONFIG_HOME", "")
	trees, _ := strconv.Atoi(os.Getenv("TOOLHOST_TREES"))
	limit := time.Hour * 24
	if trees == 0 {
		trees, limit = count(200, 1000), time.Duration(count(5, 30))*time.Second
	}
	first, _ := strconv.ParseUint(os.Getenv("TOOLHOST_FIRST_TREE"), 10, 64)
	begun, done := time.Now(), 0
	for ; done < trees && time.Since(begun) < limit && !t.Failed(); done++ {
		w.seed = first + uint64(done)
		w.tree(t)
		if t.Failed() {
			t.Logf("the tree:\n%s", w.listing())
		}
		if n := done + 1; n%1000 == 0 {
			t.Logf("%d trees, %d names that git obeys, %d decisions, %v", n, w.obeyed, w.decisions, time.Since(begun).Round(time.Second))
		}
	}
	t.Logf("%d trees, %d names that git or the home obeys, %d decisions, %d of them unasked", done, w.obeyed, w.decisions, w.unasked)
	if !t.Failed() && (w.obeyed < done || w.unasked < done) {
		t.Errorf("%d names and %d unasked decisions in %d trees show little", w.obeyed, w.unasked, done)
	}
}

// treeWorld makes trees one after the other.
type treeWorld struct {
	base, home, ws string
	seed           uint64
	rand           *rand.Rand
	tops           []string // where git is run
	plain          []string // files that nothing points to, as far as the world knows

	obeyed, decisions, unasked int
}

// in writes a file of the tree, with the directories above it.
func (w *treeWorld) in(path, text string) {
	if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return // a file or a dangling link is in the way
	}
	_ = os.WriteFile(path, []byte(text), 0o755)
}

func (w *treeWorld) chance(percent int) bool { return w.rand.IntN(100) < percent }

func (w *treeWorld) word() string { return "n" + strconv.Itoa(w.rand.IntN(1000)) }

// gitDir makes a git directory with a configuration.
func (w *treeWorld) gitDir(dir, config string) {
	w.in(dir+"/HEAD", "ref: refs/heads/main\n")
	w.in(dir+"/config", "[core]\n\trepositoryformatversion = 0\n"+config)
	_ = os.MkdirAll(dir+"/objects", 0o755)
	_ = os.MkdirAll(dir+"/refs/heads", 0o755)
	_ = os.MkdirAll(dir+"/hooks", 0o755)
}

// repository makes one of some kind at a top below the workspace, with pointers.
func (w *treeWorld) repository(top string) {
	kind := w.rand.IntN(6)
	if top == w.ws {
		kind = 3 + kind%2 // what lies beside the workspace points into it only if it is its own repository
	}
	switch kind {
	case 0: // bare
		w.gitDir(top, "\tbare = true\n"+w.pointers(top, top))
		w.tops = append(w.tops, top)
	case 1: // a submodule of another
		super := top + "-super"
		w.gitDir(super+"/.git", w.pointers(super, super+"/.git"))
		w.gitDir(super+"/.git/modules/m", "\tworktree = ../../../m\n"+w.pointers(super+"/m", super+"/.git/modules/m"))
		w.in(super+"/m/.git", "gitdir: ../.git/modules/m\n")
		w.tops = append(w.tops, super, super+"/m")
	case 2: // with a linked work tree
		w.gitDir(top+"/.git", w.pointers(top, top+"/.git"))
		tree := top + "-tree"
		w.in(tree+"/.git", "gitdir: "+top+"/.git/worktrees/t\n")
		w.in(top+"/.git/worktrees/t/HEAD", "ref: refs/heads/t\n")
		w.in(top+"/.git/worktrees/t/commondir", "../..\n")
		w.in(top+"/.git/worktrees/t/gitdir", tree+"/.git\n")
		w.tops = append(w.tops, top, tree)
	case 3: // its git directory is elsewhere
		w.gitDir(top+"-git", "\tbare = false\n"+w.pointers(top, top+"-git"))
		w.in(top+"/.git", "gitdir: "+top+"-git\n")
		w.tops = append(w.tops, top)
	default:
		w.gitDir(top+"/.git", w.pointers(top, top+"/.git"))
		w.tops = append(w.tops, top)
	}
}

// place is a file or directory that something is to point to, in its spelling relative to a directory and in full: there, missing, behind a link.
func (w *treeWorld) place(at string) string {
	dir := pickFrom(w.rand, []string{at, at + "/" + w.word(), w.ws, w.ws + "/" + w.word(), w.ws + "/" + w.word() + "/" + w.word()})
	return dir + "/" + w.word()
}

// spell is a path as configuration may spell it, relative to a directory, to the home, or in full.
func (w *treeWorld) spell(path, relativeTo string) string {
	switch w.rand.IntN(4) {
	case 0:
		return path
	case 1:
		return "~" + strings.TrimPrefix(path, w.home)
	}
	rel, _ := filepath.Rel(relativeTo, path)
	return rel
}

// fill makes a place a file, leaves it missing, or makes it a link to another place.
func (w *treeWorld) fill(path, text string) {
	switch w.rand.IntN(5) {
	case 0:
	case 1:
		target := w.place(w.ws)
		if w.chance(60) {
			w.in(target, text)
		}
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		if w.chance(50) {
			target, _ = filepath.Rel(filepath.Dir(path), target)
		}
		_ = os.Symlink(target, path)
	default:
		w.in(path, text)
	}
}

// pointers are the lines of a configuration, of a repository or of the home, that name places; the places are made.
func (w *treeWorld) pointers(top, git string) (config string) {
	for range w.rand.IntN(4) {
		path := w.place(top)
		switch w.rand.IntN(9) {
		case 0: // a directory of hooks
			config += "[core]\n\thooksPath = " + w.spell(path, top) + "\n"
			switch {
			case w.chance(50):
				w.in(path+"/pre-commit", "#!/bin/sh\n")
			case w.chance(30):
				_ = os.MkdirAll(filepath.Dir(path), 0o755)
				shared := w.place(w.ws)
				w.in(shared+"/pre-commit", "#!/bin/sh\n")
				_ = os.Symlink(shared, path)
			}
		case 1:
			config += "[include]\n\tpath = " + w.spell(path, git) + "\n"
			inner := w.place(top)
			w.fill(path, "[include]\n\tpath = "+w.spell(inner, filepath.Dir(path))+"\n")
			w.fill(inner, "[user]\n\tname = x\n")
		case 2:
			config += "[includeIf \"gitdir:/\"]\n\tpath = " + w.spell(path, git) + "\n"
			w.fill(path, "[user]\n\tname = y\n")
		case 3:
			config += "[core]\n\tattributesFile = " + w.spell(path, top) + "\n"
			w.fill(path, "# none\n")
		case 4:
			config += "[core]\n\tfsmonitor = " + w.program(path, top) + "\n"
			w.fill(path, "#!/bin/sh\nexit 1\n")
		case 5:
			config += "[filter \"f\"]\n\tclean = sh " + w.program(path, top) + " %f\n"
			w.fill(path, "cat\n")
		case 6, 7: // a link among the hooks
			_ = os.MkdirAll(git+"/hooks", 0o755)
			target := path
			if w.chance(50) {
				target, _ = filepath.Rel(git+"/hooks", path)
			}
			_ = os.Symlink(target, git+"/hooks/"+pickFrom(w.rand, []string{"pre-commit", "post-commit", "post-checkout"}))
			w.fill(path, "#!/bin/sh\n")
		case 8: // a linked directory of hooks
			_ = os.MkdirAll(git, 0o755)
			_ = os.RemoveAll(git + "/hooks")
			_ = os.Symlink(path, git+"/hooks")
			w.in(path+"/post-merge", "#!/bin/sh\n")
		}
	}
	return config
}

// program is a path as a command of the configuration spells it: those have no ~ of git's.
func (w *treeWorld) program(path, top string) string {
	if w.chance(50) {
		return path
	}
	rel, _ := filepath.Rel(top, path)
	return "./" + rel
}

func pickFrom[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// build makes a tree.
func (w *treeWorld) build(t testing.TB) {
	w.rand = rand.New(rand.NewPCG(w.seed, 32))
	must(t, os.RemoveAll(w.home))
	must(t, os.MkdirAll(w.ws, 0o755))
	w.tops, w.plain = nil, nil
	for range 4 {
		path := w.ws + "/plain-" + w.word() + pickFrom(w.rand, []string{"", "/" + w.word()}) + "/" + w.word() + ".txt"
		w.in(path, "plain\n")
		w.plain = append(w.plain, path)
	}
	if w.chance(60) {
		w.repository(w.ws)
	}
	for range 1 + w.rand.IntN(3) {
		w.repository(w.ws + "/" + pickFrom(w.rand, []string{"", "vendor/", "a/b/c/"}) + "r" + w.word())
	}
	if len(w.tops) > 0 && w.chance(40) {
		w.repository(pickFrom(w.rand, w.tops) + "/nested-" + w.word())
	}
	w.in(w.home+"/.gitconfig", "[user]\n\tname = t\n"+w.pointers(w.ws, w.home))
	if w.chance(40) {
		path := w.place(w.ws)
		w.fill(path, "# start\n")
		_ = os.Symlink(path, w.home+"/"+pickFrom(w.rand, []string{".bashrc", ".profile", ".zshenv"}))
	}
}

// startUp are the files of the home that shells run.
var startUp = []string{".bashrc", ".profile", ".zshenv"}

// git runs git where a tree has one, and returns what it prints; "" where it refuses the configuration.
func (w *treeWorld) git(dir string, args ...string) string {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	out, _ := cmd.Output()
	return string(out)
}

// real is a path as the kernel finds it, there or not: "" if it goes in circles.
func real(path string) string {
	for range 40 {
		at, rest := path, ""
		for {
			if place, err := filepath.EvalSymlinks(at); err == nil {
				return filepath.Join(place, rest)
			}
			if target, err := os.Readlink(at); err == nil {
				if dir, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil && !filepath.IsAbs(target) {
					target = filepath.Join(dir, target)
				}
				path = filepath.Join(target, rest)
				break
			}
			rest = filepath.Join(filepath.Base(at), rest)
			if at = filepath.Dir(at); at == "/" {
				return path
			}
		}
	}
	return ""
}

// obeys are the places in the workspace that git, run in each repository, reads as configuration or would run, and those that the shells of the
// home run. What git says is all that counts.
func (w *treeWorld) obeys() (paths []string) {
	add := func(path string) {
		if place := real(path); place != w.ws && agenttool.Within(w.ws, place) && !slices.Contains(paths, place) {
			paths = append(paths, place)
		}
	}
	for _, top := range w.tops {
		cells := strings.Split(w.git(top, "config", "--show-origin", "-z", "--list"), "\x00")
		for i := 0; i+1 < len(cells); i += 2 {
			origin := strings.TrimPrefix(cells[i], "file:")
			if !filepath.IsAbs(origin) {
				origin = filepath.Join(top, origin)
			}
			add(origin)
			key, value, _ := strings.Cut(cells[i+1], "\n")
			from := func(dir string) string { // as git expands a path
				if rest, ok := strings.CutPrefix(value, "~/"); ok {
					return filepath.Join(w.home, rest)
				}
				if filepath.IsAbs(value) {
					return value
				}
				return dir + "/" + value
			}
			switch {
			case strings.HasPrefix(key, "include.") || strings.HasPrefix(key, "includeif."):
				add(from(filepath.Dir(origin)))
			case key == "core.attributesfile":
				if file := strings.TrimSuffix(w.git(top, "config", "--path", "--get", "core.attributesfile"), "\n"); filepath.IsAbs(file) {
					add(file)
				}
			case key == "core.fsmonitor" && strings.Contains(value, "/"), key == "filter.f.clean":
				program := strings.TrimSuffix(strings.TrimPrefix(value, "sh "), " %f")
				if isDirectory(program) || isDirectory(top+"/"+program) {
					continue // it cannot be run
				}
				if filepath.IsAbs(program) {
					add(program)
				} else if !strings.Contains(w.git(top, "rev-parse", "--is-bare-repository"), "true") {
					add(top + "/" + program)
				}
			}
		}
		hooks := strings.TrimSuffix(w.git(top, "rev-parse", "--git-path", "hooks"), "\n")
		if hooks == "" {
			continue // git refuses what is there
		}
		if !filepath.IsAbs(hooks) {
			hooks = filepath.Join(top, hooks)
		}
		for _, name := range []string{"pre-commit", "post-commit", "post-checkout", "post-merge"} {
			add(hooks + "/" + name)
		}
	}
	for _, name := range startUp {
		if target, err := os.Readlink(filepath.Join(w.home, name)); err == nil {
			add(target)
		}
	}
	return paths
}

// modes are those in which calls on files of the workspace run unasked.
var unaskedModes = []policy.Flags{{Mode: "sandboxed"}, {Mode: "accept_edits"}, {Mode: "default", Allow: []string{"Write(**)"}}, {Mode: "sandboxed", Allow: []string{"Write(**)", "Shell"}}}

// tree makes one tree and asks about its names.
func (w *treeWorld) tree(t *testing.T) {
	w.build(t)
	obeyed := w.obeys()
	w.obeyed += len(obeyed)
	flags := pickFrom(w.rand, unaskedModes)
	checker, err := session.NewChecker(session.Options{Workspace: w.ws, Policy: flags, Log: func(string) {}}, sandbox.Full)
	must(t, err)
	defer checker.Close()
	names := confine.Names(agenttool.Scope{Dir: w.ws, Roots: []string{w.ws}, Home: w.home}, nil, nil)
	defer names.Close()
	m, err := names.Map(t.Context())
	must(t, err)
	if len(m.Partial) > 0 && len(m.Unknown()) > 0 {
		t.Errorf("tree %d: the map is not complete: %v", w.seed, m.Partial)
	}
	before, err := protect.Take(m)
	must(t, err)
	for _, path := range obeyed {
		rule, held := m.Judge(path)
		if !held {
			t.Errorf("tree %d: git obeys %s, and the wall does not hold it", w.seed, path)
		}
		for _, writer := range w.writers(path) {
			if d := w.decide(t, checker, writer); d.Behavior == agenttool.Allow {
				t.Errorf("tree %d, %v: git obeys %s, which %v writes unasked (%s, %s)", w.seed, flags, path, writer, d.Reason.Detail, rule)
			}
		}
		w.parents(t, checker, m, path)
	}
	others := slices.Clone(w.plain)
	for range 4 {
		others = append(others, w.place(w.ws))
	}
	for _, path := range others { // of these the world knows nothing: all say the same
		_, held := m.Judge(path)
		_, named := protect.Asks(path, w.ws)
		d := w.decide(t, checker, call{"write", fields{"path": path, "content": "x"}})
		if plainDir(path) || real(path) != path {
			continue
		}
		if unasked := d.Behavior == agenttool.Allow; unasked == (held || named) {
			t.Errorf("tree %d, %v: %s: the wall holds it: %v, its name asks: %v, unasked: %v (%s)", w.seed, flags, path, held, named, unasked, d.Reason.Detail)
		}
	}
	w.watched(t, before, obeyed)
}

// listing is what a tree has, but for what all repositories do.
func (w *treeWorld) listing() string {
	var b strings.Builder
	_ = filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "HEAD" {
			return nil
		}
		target, _ := os.Readlink(path)
		text, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s → %q %q\n", strings.TrimPrefix(path, w.base), target, text)
		return nil
	})
	return b.String()
}

// call is a call that writes.
type call struct {
	tool  string
	input fields
}

// writers are some of the calls by which a path is written.
func (w *treeWorld) writers(path string) []call {
	rel, _ := filepath.Rel(w.ws, path)
	commands := []string{"cat e >> P", "echo x > P", "cp e P", "tee P < e", "tee -a P < e", "mv e P", "ln -sf e P", "ln -f e P", "touch P", "install e P", "mv e D", "cp e/N D"}
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		commands = append(commands, "sed -i 1d P", "sed -i.bak s/x/y/ P", "chmod +x P", "mv P P2", "sort -o P P")
	}
	in := strings.NewReplacer("P", rel, "D", filepath.Dir(rel), "N", filepath.Base(rel))
	line := pickFrom(w.rand, commands)
	if strings.HasSuffix(line, " D") && !plainDir(filepath.Dir(path)) {
		line = "cp e P"
	}
	if line == "mv e D" {
		line = "mv e/N D"
	}
	return []call{
		{"write", fields{"path": rel, "content": "x"}},
		{"edit", fields{"path": rel, "edits": []fields{{"old": "x", "new": "y"}}}},
		{"shell", fields{"command": in.Replace(line)}},
	}
}

// parents asks about the directories above a name that git obeys: to move one of them, and to put something else in its place.
func (w *treeWorld) parents(t *testing.T, checker *session.Checker, m *protect.Map, path string) {
	for dir := filepath.Dir(path); dir != w.ws; dir = filepath.Dir(dir) {
		rel, _ := filepath.Rel(w.ws, dir)
		there := plainDir(dir)
		_, held := m.Judge(dir)
		if _, pinned := m.Pinned(dir); !held && !pinned && !m.Reaches(dir) {
			t.Errorf("tree %d: git obeys %s, and the wall lets %s be moved", w.seed, path, dir)
		}
		lines := []string{"mv plain.d " + rel, "ln -sfn plain.d " + rel}
		if there {
			lines = []string{"mv " + rel + " elsewhere", "mv -T plain.d " + rel}
		}
		line := pickFrom(w.rand, lines)
		if d := w.decide(t, checker, call{"shell", fields{"command": line}}); d.Behavior == agenttool.Allow {
			t.Errorf("tree %d: git obeys %s, and %s runs unasked (%s)", w.seed, path, line, d.Reason.Detail)
		}
	}
}

func (w *treeWorld) decide(t *testing.T, checker *session.Checker, c call) agenttool.Decision {
	t.Helper()
	input, err := json.Marshal(c.input)
	must(t, err)
	r, err := check.Call(checker, c.tool, input)
	if err != nil { // it ends before a decision
		return agenttool.Decision{Behavior: agenttool.Deny, Reason: &agenttool.DecisionReason{Detail: err.Error()}}
	}
	w.decisions++
	if r.Behavior == agenttool.Allow {
		w.unasked++
	}
	return r.Decision
}

// watched changes what git obeys, as somebody outside does, and checks that the watch sees each change.
func (w *treeWorld) watched(t *testing.T, before *protect.Snap, obeyed []string) {
	var changed []string
	for _, path := range obeyed {
		was, _ := os.ReadFile(path)
		if os.MkdirAll(filepath.Dir(path), 0o755) == nil && os.WriteFile(path, append(bytes.Clone(was), "# changed\n"...), 0o755) == nil {
			changed = append(changed, path)
		}
	}
	changes, err := before.Changes()
	must(t, err)
	for _, path := range changed {
		seen := func(c protect.Change) bool { return agenttool.Within(c.Path, path) || agenttool.Within(path, c.Path) }
		if !slices.ContainsFunc(changes, seen) {
			t.Errorf("tree %d: git obeys %s, and the watch does not see its change", w.seed, path)
		}
	}
}

func plainDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// BenchmarkOneMap is what a decision about a write costs without the map of protected names and with it, which is warm, in a small and a large tree.
func BenchmarkOneMap(b *testing.B) {
	for _, files := range []int{200, 20_000} {
		ws := b.TempDir()
		w := &treeWorld{}
		w.gitDir(ws+"/.git", "[core]\n\thooksPath = .githooks\n[include]\n\tpath = ../team.cfg\n")
		for i := range files {
			w.in(fmt.Sprintf("%s/src/d%d/f%d.go", ws, i/50, i), "")
		}
		names := confine.Names(agenttool.Scope{Dir: ws, Roots: []string{ws}}, nil, nil)
		defer names.Close()
		facts := agenttool.Facts{
			Writes:   []agenttool.Path{{Spelling: "src/x.go", Absolute: ws + "/src/x.go", Resolved: ws + "/src/x.go", Root: ws}},
			Verdicts: agenttool.Verdicts{ReadOnly: agenttool.No, PathsComplete: agenttool.Yes, OpenWorld: agenttool.No, Destructive: agenttool.No},
		}
		request := permissions.Request{Tool: "write", Facts: &facts}
		for name, p := range map[string]permissions.Policy{
			"without": {Mode: permissions.AcceptEdits, Workspace: ws},
			"with":    {Mode: permissions.AcceptEdits, Workspace: ws, Names: confine.Named(names)},
		} {
			b.Run(fmt.Sprintf("%d files/%s", files, name), func(b *testing.B) {
				for b.Loop() {
					if d := p.Decide(request); d.Behavior != agenttool.Allow {
						b.Fatal(d.Reason.Detail)
					}
				}
			})
		}
	}
}
