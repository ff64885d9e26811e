package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolhost/tools/keep"
)

// markName is a variable of the host's environment by which its processes are found, where they keep it.
const markName = "KILL_MARK"

// scene is a home and a workspace of their own, and a host's work in them.
type scene struct {
	setup
	dir, home, workspace string
	mark                 string // the seconds that its processes sleep, which no others do
	random               *rand.Rand
	logs                 map[string]bool // of hosts that were killed, with -logs
}

// newScene makes a scene. Its hook leaves a grandchild in a session of its own.
func newScene(dir string, number int, with setup) (*scene, error) {
	s := &scene{setup: with, dir: dir, home: filepath.Join(dir, "home"), workspace: filepath.Join(dir, "workspace"),
		mark: fmt.Sprintf("7%05d.%d", os.Getpid(), number), random: rand.New(rand.NewPCG(uint64(number), 16)), logs: map[string]bool{}}
	if with.workspaces != "" {
		s.workspace = filepath.Join(with.workspaces, filepath.Base(filepath.Dir(dir))+"-"+strconv.Itoa(number))
	}
	for _, made := range []string{s.workspace, filepath.Join(s.home, "config", "toolhost"), filepath.Join(s.home, "run")} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return nil, err
		}
	}
	leaves := fmt.Sprintf(`(setsid sleep %[1]s </dev/null >/dev/null 2>&1 &); (sleep %[1]s </dev/null >/dev/null 2>&1 &)`, s.mark)
	settings := fmt.Sprintf(`{"hooks": {"pre_tool_use": [{"matcher": {"tool": "Write"}, "command": ["/bin/sh", "-c", %q]}]}}`, leaves)
	for i := range trees {
		if err := os.MkdirAll(filepath.Join(s.workspace, treeName(i), "d"), 0o700); err != nil {
			return nil, err
		}
		for _, name := range treeFiles {
			if err := os.WriteFile(filepath.Join(s.workspace, treeName(i), name), []byte(treeName(i)+name), 0o600); err != nil {
				return nil, err
			}
		}
	}
	for i := range 4 {
		text := strings.Repeat("a line of text\n", 20_000) + "the end\n"
		if err := os.WriteFile(filepath.Join(s.workspace, fmt.Sprint("f", i)), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return s, os.WriteFile(filepath.Join(s.home, "config", "toolhost", "settings.json"), []byte(settings), 0o600)
}

const trees = 40

func treeName(n int) string { return fmt.Sprint("tree", n) }

var treeFiles = []string{"a", "b", "d/c"}

// losing are commands that lose files of a tree.
var losing = []string{"rm -rf TREE", "echo new > TREE/a; rm TREE/b", "mv TREE/a TREE/b", "mv TREE TREE.moved; rm -r TREE.moved/d", "sed -i s/t/T/ TREE/a TREE/b"}

// putBack undoes all that commands have changed, the last first, and counts the files that are not back.
func (s *scene) putBack(totals map[string]int) {
	store := &keep.Store{Dir: filepath.Join(s.home, "state/toolhost/copies")}
	for _, call := range slices.Backward(store.Calls()) {
		report, err := store.PutBack(context.Background(), call.ID)
		totals["calls that were undone"]++
		for _, problem := range report.Problems {
			totals["lost: "+varying.ReplaceAllString(strings.ReplaceAll(problem, s.workspace, ""), "*")]++
		}
		if err != nil {
			totals["lost: "+varying.ReplaceAllString(strings.ReplaceAll(err.Error(), s.home, ""), "*")]++
		}
		_ = os.RemoveAll(filepath.Join(store.Dir, report.As))
	}
	for n := range trees {
		for _, name := range treeFiles {
			if content, err := os.ReadFile(filepath.Join(s.workspace, treeName(n), name)); err != nil || string(content) != treeName(n)+name {
				totals["lost: tree*/"+name]++
			}
		}
	}
}

// work sends mixed calls until the host is gone.
func (s *scene) work(h host) {
	for n := 0; n < 2000; n++ {
		name := fmt.Sprint("f", s.random.IntN(4))
		switch s.random.IntN(12) {
		case 0:
			h.call("shell", map[string]any{"command": fmt.Sprintf("setsid sleep %s & (setsid nohup sleep %[1]s >/dev/null 2>&1 &); sleep %[1]s", s.mark), "run_in_background": true})
		case 1:
			h.call("shell", map[string]any{"command": "echo done > j; cat f0 | wc"})
		case 2:
			command := strings.ReplaceAll(losing[s.random.IntN(len(losing))], "TREE", treeName(s.random.IntN(trees)))
			h.call("shell", map[string]any{"command": command + "; seq 1 9000"})
		case 3:
			h.call("grep", map[string]any{"pattern": "line"})
		case 4, 5, 6:
			h.call("write", map[string]any{"path": fmt.Sprint("f", 4+n), "content": strings.Repeat("some more text\n", 40_000)})
		default:
			h.call("edit", map[string]any{"path": name, "edits": []any{map[string]any{"old_string": "the end", "new_string": "more\nthe end"}}})
		}
		select {
		case <-h.Ended():
			return
		case <-time.After(time.Duration(s.random.IntN(20)) * time.Millisecond):
		}
	}
}

var (
	made    = regexp.MustCompile(`^(f\d+|j|tree\d+(\.moved)?)$`)
	varying = regexp.MustCompile(`[0-9A-Z]{16,}|[0-9a-f]{8,}|[0-9]+`)
)

// inWorkspace adds up the files in the workspace that no call made, by kind.
func (s *scene) inWorkspace(totals map[string]int) {
	entries, _ := os.ReadDir(s.workspace)
	for _, e := range entries {
		if !made.MatchString(e.Name()) {
			totals["workspace: "+varying.ReplaceAllString(e.Name(), "*")]++
		}
	}
}

// unfinished are names in the state directory and beside it that belong to work in progress only.
var unfinished = regexp.MustCompile(`(^|/)(probe-|\.[^/]*\.(new|tmp)$|scratch/[^/]*$|[^/]*\.tmp$|[^/]*\.sock$)`)

// inState adds up what work in progress left in the home, by kind.
func (s *scene) inState(totals map[string]int) {
	_ = filepath.WalkDir(s.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		rel, _ := filepath.Rel(s.home, path)
		if !unfinished.MatchString(rel) && e.Type()&fs.ModeSocket == 0 {
			return nil
		}
		totals["state: "+varying.ReplaceAllString(rel, "*")]++
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// processes returns the live processes of the scene, each with its command.
func (s *scene) processes() map[string]string {
	found := map[string]string{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		command, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || len(command) == 0 { // a zombie has none
			continue
		}
		if bytes.Contains(command, []byte(s.mark)) || bytes.Contains(command, []byte(s.dir)) || bytes.Contains(environ, []byte(s.dir+"/")) ||
			bytes.Contains(environ, []byte(markName+"="+s.mark)) {
			found[filepath.Base(dir)] = strings.TrimSpace(string(bytes.ReplaceAll(command, []byte{0}, []byte(" "))))
		}
	}
	return found
}

// groups counts the control groups that hosts made within or beside that of this process, where they can.
func groups() (n int) {
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		_, own, _ := strings.Cut(line, ":")
		controller, own, _ := strings.Cut(strings.TrimSpace(own), ":")
		for _, in := range []string{filepath.Join("/sys/fs/cgroup", controller, own), filepath.Join("/sys/fs/cgroup", filepath.Dir(own))} {
			left, _ := filepath.Glob(filepath.Join(in, "toolhost-*"))
			n += len(left)
		}
	}
	return n
}

// settle waits until no process of the scene lives, for at most limit, and adds up those that do.
func (s *scene) settle(what string, limit time.Duration, totals map[string]int) {
	end := time.Now().Add(limit)
	left := s.processes()
	for len(left) > 0 && time.Now().Before(end) {
		time.Sleep(20 * time.Millisecond)
		left = s.processes()
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	if n := bytes.Count(mounts, []byte(s.dir+"/")); n > 0 {
		totals[what+": mounts"] += n
	}
	for _, command := range left {
		totals[what+": "+varying.ReplaceAllString(strings.ReplaceAll(command, s.dir, ""), "*")]++
	}
}
