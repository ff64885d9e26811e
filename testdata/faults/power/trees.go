package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"toolhost/testdata/support/wiretest"
	"toolhost/tools/keep"
)

// trees are how many directories there are for commands to change.
const trees = 300

// tree is a directory that was on the disk before the recording began, and the command that changes it.
type tree struct {
	dir   string            // below the workspace
	files map[string]string // contents by names in it; of l the target of a link
	call  string            // the invocation that changes it; "" before
	began int               // the moment
}

// growTrees makes the trees. A third of them is in a repository, where git has their contents.
func (w *worker) growTrees() {
	ws := filepath.Join(w.root, "ws")
	for n := range trees {
		t := &tree{dir: fmt.Sprintf("t%d", n), files: map[string]string{"l": "a"}}
		if n%3 == 0 {
			t.dir = "repo/" + t.dir
		}
		check(os.MkdirAll(filepath.Join(ws, t.dir, "c/d"), 0o700))
		for _, name := range []string{"a", "b", "c/1", "c/d/2"} {
			t.files[name] = fmt.Sprintf("%s of %s\n%s", name, t.dir, strings.Repeat(fmt.Sprint(n, " "), w.random.IntN(2000)))
			check(os.WriteFile(filepath.Join(ws, t.dir, name), []byte(t.files[name]), 0o600))
		}
		check(os.Symlink("a", filepath.Join(ws, t.dir, "l")))
		w.trees = append(w.trees, t)
	}
	git := func(args ...string) {
		cmd := w.command(w.root, args...)
		cmd.Path, cmd.Args = "/usr/bin/git", append([]string{"git", "-C", filepath.Join(ws, "repo"), "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)
		check(cmd.Run())
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "one")
}

// losing are commands that lose files of the tree TREE, most of which are synced by another program than ours.
var losing = []string{
	"rm -rf TREE",
	"rm -rf TREE; sync PARENT",
	"rm TREE/a TREE/c/d/2; sync TREE TREE/c/d",
	"sync TREE; rm TREE/a; sync TREE; rm TREE/b; sync TREE",
	"echo new > TREE/a; sync TREE/a",
	"mv TREE/b TREE/e; rm TREE/e; sync TREE",
	"cp TREE/b TREE/n; sync TREE/n; mv TREE/n TREE/a; sync TREE",
	"cp TREE/b TREE/a; ln -sfn b TREE/l",
	"printf overwritten | dd of=TREE/a conv=notrunc status=none; sync TREE/a",
	"truncate -s 3 TREE/b; sync TREE/b",
	"sed -i s/of/OF/ TREE/a TREE/c/1; sync TREE",
	"mv TREE TREE.moved; rm -r TREE.moved/c; sync TREE.moved",
	"mv TREE/a TREE/b; sync TREE; rm -rf TREE/c; sync TREE",
}

// lose has the next tree changed. Another program syncs a file of its own afterwards.
func (w *worker) lose(host *wiretest.Process) {
	if w.used == len(w.trees) {
		return
	}
	t := w.trees[w.used]
	w.used++
	t.began = w.now()
	command := strings.NewReplacer("TREE", t.dir, "PARENT", filepath.Join(".", filepath.Dir(t.dir))).Replace(losing[w.random.IntN(len(losing))])
	m, err := host.Send("agenttool/invoke", map[string]any{"id": "lose-" + t.dir, "tool": "shell", "input": map[string]any{"command": command}}).Message(patience)
	check(err)
	_, id, found := strings.Cut(string(m.Line), `"invocation_id":"`)
	if !found || !strings.Contains(string(m.Line), `"status":"succeeded"`) {
		check(fmt.Errorf("%s: %.1000s", command, m.Line))
	}
	t.call, _, _ = strings.Cut(id, `"`)
	if w.random.IntN(3) == 0 {
		check(syncOther(w.root))
	}
}

// syncOther writes and syncs a file, as any program of the machine may at any time.
func syncOther(root string) error {
	f, err := os.Create(filepath.Join(root, "other"))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString("other"); err != nil {
		return err
	}
	return f.Sync()
}

// missing are the files of a tree that are not as they were.
func (t *tree) missing(ws string) (names []string) {
	for name, content := range t.files {
		path := filepath.Join(ws, t.dir, name)
		if name == "l" {
			if to, err := os.Readlink(path); err != nil || to != content {
				names = append(names, name)
			}
			continue
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != content {
			names = append(names, name)
		}
	}
	return names
}

// examineTrees looks at what commands lost: what is not there any more has to come back.
func (w *worker) examineTrees(moment int, root string, sum *findings) {
	ws, store := filepath.Join(root, "ws"), &keep.Store{Dir: filepath.Join(root, "state/toolhost/copies")}
	for _, t := range w.trees[:w.used] {
		if t.began > moment {
			return
		}
		lost := t.missing(ws)
		if len(lost) == 0 {
			sum.unlost++
			continue
		}
		report, err := store.PutBack(context.Background(), t.call)
		if still := t.missing(ws); len(still) > 0 {
			sum.gone++
			sum.add("moment %d: %s of %s was lost by %s, and %s is not back: %v %+v", moment, lost, t.dir, t.call, still, err, report.Problems)
			continue
		}
		sum.back++
	}
}
