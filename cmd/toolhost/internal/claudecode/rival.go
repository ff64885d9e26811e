package claudecode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/caller"
	"toolhost/permissions/protect"
	"toolhost/sandbox/enter"
	"toolhost/tools/job"
	"toolhost/tools/job/proc"
)

// A rival is a running command of the project that may exchange a directory or the file on a way while Claude Code opens it. A path is judged
// by its name, and Claude Code opens it by its name: a command in a sandbox could make it open a file that the sandbox hides from the command.
//
// Rivals are all commands in sandboxes of toolhost that may change a directory of the way. They are known by their system call filters, which no
// process takes off, and by the helper that is their ancestor; what they may change is known by their mounts. Where commands have
// no mounts of their own (levels landlock+notify and landlock), or none that can be read, those count whose toolhost was started for a
// workspace that has a directory of the way.
//
// Commands that no sandbox holds could do themselves what they could have Claude Code do. They count as far as they can be told
// from the user's own programs: they run in the project, and are marked as commands of an agent, or were started by Claude Code, and not as a
// server that it talks to.
type rivalry struct {
	way      way
	searched bool // Claude Code opens what is below the file of the way, too
	project  string

	processes map[int]proc.Process
	helpers   map[int]bool // processes that toolhost starts commands with, or that give themselves the name
	ours      protect.Mounts
	self      os.FileInfo  // the program of toolhost
	above     map[int]bool // this process, and those that it descends from
	client    int          // the process of Claude Code
	marked    map[int]bool
}

const (
	rivalPatience = time.Second           // commands that end so soon cost no prompt
	rivalPause    = 50 * time.Millisecond // between two looks
)

// awaitRivals returns the rivals on a way with their command lines, for a message; "" if there are none. It waits a second for them to end.
// Processes outside of sandboxes count if two looks find them: Claude Code runs short programs all the time.
func awaitRivals(w way, searched bool, project string) (string, error) {
	var before []proc.Process
	begin := time.Now()
	for looks := 1; ; looks++ {
		found, outside, err := rivals(w, searched, project)
		stayed := slices.DeleteFunc(slices.Clone(outside), func(p proc.Process) bool { return !slices.ContainsFunc(before, p.Same) })
		all := append(found, stayed...)
		switch {
		case err != nil || len(found)+len(outside) == 0:
			return "", err
		case looks > 1 && time.Since(begin) > rivalPatience: // on a busy machine one look may take longer
			return named(all), nil
		}
		before = outside
		time.Sleep(rivalPause)
	}
}

// named are the numbers and command lines of processes, as people know them.
func named(all []proc.Process) string {
	var names []string
	for _, p := range all[:min(len(all), maxRivals)] {
		names = append(names, fmt.Sprintf("%d (%s)", p.PID, proc.CommandLine(p.PID)))
	}
	return strings.Join(names, ", ")
}

// maxRivals is how many are named.
const maxRivals = 3

// rivals returns those that run now: found in sandboxes, and outside of any.
func rivals(w way, searched bool, project string) (found, outside []proc.Process, err error) {
	r := rivalry{
		way: w, searched: searched, project: project,
		processes: map[int]proc.Process{}, helpers: map[int]bool{}, above: map[int]bool{}, marked: map[int]bool{},
	}
	var readable bool
	if r.ours, readable = protect.MountsOf(os.Getpid()); !readable {
		return nil, nil, fmt.Errorf("whether a command can change %s is not known: /proc cannot be read", w.File.Path)
	}
	if r.self, err = os.Stat("/proc/self/exe"); err != nil {
		return nil, nil, err
	}
	for p := range proc.All() {
		r.processes[p.PID] = p
		words := commandWords(p.PID)
		r.helpers[p.PID] = len(words) == 1 && (words[0] == enter.HolderName || words[0] == enter.HelperName)
	}
	r.look()
	for _, p := range r.processes {
		if p.Dead || r.above[p.PID] || leaving(p.PID) {
			continue
		}
		if helper := r.helperAbove(p); helper.PID != 0 {
			filtered, err := caller.Filtered(p.PID)
			if (filtered || err != nil) && r.mayExchange(p, helper) { // one that has ended may have left others, which the next look finds
				found = append(found, p)
			}
		} else if r.belongs(p) {
			outside = append(outside, p)
		}
	}
	return found, outside, nil
}

// leaving reports whether a process is ending and can change no file any more, since none of its threads has mounts.
func leaving(pid int) bool {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !slices.ContainsFunc(threads, func(thread os.DirEntry) bool {
		_, err := os.Readlink(filepath.Join(dir, thread.Name(), "ns/mnt"))
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// look finds the client, and the processes that are marked as commands of an agent.
func (r *rivalry) look() {
	for pid := os.Getpid(); pid > 0 && !r.above[pid]; pid = r.processes[pid].Parent {
		r.above[pid] = true
	}
	r.client = os.Getppid()
	for words := commandWords(r.client); len(words) > 1 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c"); words = commandWords(r.client) {
		r.client = r.processes[r.client].Parent // a shell that runs the hook
	}
	const ofClient = "CLAUDECODE"
	foreign := func(value string) bool { // Claude Code may run in a command of an agent itself
		return value != os.Getenv(job.MarkName) && value != os.Getenv(ofClient)
	}
	for _, p := range proc.Marked(foreign, job.MarkName, ofClient) {
		r.marked[p.PID] = true
	}
}

// belongs reports whether a process outside of sandboxes is a command of the project. A shell that waits for toolhost is none.
func (r *rivalry) belongs(p proc.Process) bool {
	if !r.marked[p.PID] && !r.startedByClient(p) || !r.runsInProject(p) || r.isToolhost(p.PID) {
		return false
	}
	for _, child := range r.processes {
		if child.Parent == p.PID && r.isToolhost(child.PID) {
			return false
		}
	}
	return true
}

// helperAbove is the helper of toolhost in whose sandbox a process runs, the outermost.
func (r *rivalry) helperAbove(p proc.Process) (helper proc.Process) {
	seen := map[int]bool{}
	for above := r.processes[p.Parent]; above.PID != 0 && !seen[above.PID]; above = r.processes[above.Parent] {
		seen[above.PID] = true
		if r.helpers[above.PID] {
			helper = above
		}
	}
	return helper
}

// mayExchange reports whether a command in a sandbox may change a directory of the way.
func (r *rivalry) mayExchange(p, helper proc.Process) bool {
	mounts, readable := protect.MountsOf(p.PID)
	roots := []string{"/"}
	if !readable || mounts.Same(r.ours) {
		roots = rootsOf(helper.Parent)
	}
	changes := func(dir string, below bool) bool {
		return (!readable || mounts.Changes(r.ours, dir, below)) && slices.ContainsFunc(roots, func(root string) bool {
			return agenttool.Within(root, dir) || below && agenttool.Within(dir, root)
		})
	}
	return r.searched && changes(r.way.File.Path, true) || slices.ContainsFunc(r.way.Dirs, func(dir place) bool {
		return unix.Access(dir.Path, unix.W_OK) == nil && mayWrite(p.PID, dir.Path) && changes(dir.Path, false)
	})
}

// mayWrite reports whether the user of a process may write a directory: commands of other users of the machine, of which nothing else is to be seen, mostly
// may not.
func mayWrite(pid int, dir string) bool {
	var process, stat unix.Stat_t
	if unix.Stat(fmt.Sprintf("/proc/%d", pid), &process) != nil || unix.Stat(dir, &stat) != nil {
		return true
	}
	const groupsAndOthers = 0o022 // also what an access list may give
	return process.Uid == 0 || int(process.Uid) == os.Geteuid() || process.Uid == stat.Uid || stat.Mode&groupsAndOthers != 0
}

// rootsOf are the directories that a toolhost was started for; / if they are not known.
func rootsOf(pid int) []string {
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	words := commandWords(pid)
	if err != nil || len(words) == 0 {
		return []string{"/"}
	}
	roots := []string{dir}
	for i, word := range words {
		for _, flag := range []string{"--workspace", "--add-dir"} {
			value, given := strings.CutPrefix(word, flag+"=")
			if word == flag && i+1 < len(words) {
				value, given = words[i+1], true
			}
			if !filepath.IsAbs(value) {
				value = filepath.Join(dir, value)
			}
			if real, err := filepath.EvalSymlinks(value); given && err == nil {
				roots = append(roots, real)
			}
		}
	}
	return roots
}

// runsInProject reports whether a process of this user has its working directory in the project, or hides it.
func (r *rivalry) runsInProject(p proc.Process) bool {
	var stat unix.Stat_t
	if unix.Stat(fmt.Sprintf("/proc/%d", p.PID), &stat) != nil || int(stat.Uid) != os.Geteuid() {
		return false
	}
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.PID))
	return errors.Is(err, fs.ErrPermission) || err == nil && agenttool.Within(r.project, dir)
}

// startedByClient reports whether a process descends from Claude Code, other than by a server: what has pipes or sockets for its input and
// its output that lead to the client.
func (r *rivalry) startedByClient(p proc.Process) bool {
	seen := map[int]bool{}
	for ; p.PID != 0 && !seen[p.PID]; p = r.processes[p.Parent] {
		if p.PID == r.client {
			return true
		}
		seen[p.PID] = true
		if r.serves(p.PID) {
			return false
		}
	}
	return false
}

func (r *rivalry) serves(pid int) bool {
	in, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", pid))
	out, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/1", pid))
	its, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", r.client))
	talks := func(file string) bool { return strings.HasPrefix(file, "pipe:") || strings.HasPrefix(file, "socket:") }
	return talks(in) && talks(out) && in != its
}

// isToolhost reports whether a process runs this program.
func (r *rivalry) isToolhost(pid int) bool {
	info, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && os.SameFile(info, r.self)
}

// commandWords are the arguments of a process, its name first.
func commandWords(pid int) []string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}
