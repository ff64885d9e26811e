package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// firstUser is the number of the first scene's user.
const firstUser = 61_700

// scene is whom the host runs as, and what it may use.
type scene struct {
	user      int  // 0: root
	limit     int  // ulimit -u; 0: none
	processes int  // of the control group; 0: no group
	memory    int  // MiB of the control group; 0: no group
	files     int  // ulimit -n; 0: none
	addresses int  // ulimit -v, in MiB; 0: none
	own       bool // the bounds are toolhost's own, which --job-limit makes small
	groups    []string
}

// scenes are all that are tried.
func scenes(short bool) (all []*scene) {
	if short {
		return []*scene{{user: firstUser, limit: 300}, {processes: 128}, {memory: 128}}
	}
	user := firstUser
	next := func() int { user++; return user }
	for _, limit := range []int{100, 200, 300, 1000} {
		all = append(all, &scene{user: next(), limit: limit})
	}
	for _, processes := range []int{64, 128, 256, 512} {
		all = append(all, &scene{processes: processes}, &scene{user: next(), processes: processes})
	}
	all = append(all, &scene{own: true}, &scene{user: next(), own: true})
	for _, memory := range []int{64, 128, 256, 512} {
		all = append(all, &scene{memory: memory}, &scene{user: next(), memory: memory})
	}
	return all
}

func (s *scene) String() string {
	who := "root"
	if s.user != 0 {
		who = "user"
	}
	switch {
	case s.files > 0:
		return fmt.Sprintf("%s, ulimit -n %d", who, s.files)
	case s.addresses > 0:
		return fmt.Sprintf("%s, ulimit -v %d MiB", who, s.addresses)
	case s.own:
		return who + ", 200 processes, 200 MiB"
	case s.limit > 0:
		return fmt.Sprintf("%s, ulimit -u %d", who, s.limit)
	case s.processes > 0:
		return fmt.Sprintf("%s, group of %d processes", who, s.processes)
	}
	return fmt.Sprintf("%s, group of %d MiB", who, s.memory)
}

// bounded makes the scene's control groups, of the version that counts here.
func (s *scene) bounded() error {
	if s.processes > 0 {
		return s.group("pids", map[string]string{"pids.max": strconv.Itoa(s.processes)}, nil)
	}
	if s.memory > 0 {
		bytes := strconv.Itoa(s.memory << 20)
		return s.group("memory", map[string]string{"memory.max": bytes}, map[string]string{"memory.limit_in_bytes": bytes})
	}
	return nil
}

// group makes a group and sets its bounds, which versions 1 and 2 call by the same name where other is nil.
func (s *scene) group(controller string, bounds, other map[string]string) error {
	const mount = "/sys/fs/cgroup"
	parent := mount
	if _, err := os.Stat(filepath.Join(mount, controller, "cgroup.procs")); err == nil {
		if parent = filepath.Join(mount, controller); other != nil {
			bounds = other
		}
	} else if err := os.WriteFile(mount+"/cgroup.subtree_control", []byte("+"+controller), 0o600); err != nil {
		return fmt.Errorf("no control group of %s can be made here: %w", controller, err)
	}
	dir, err := os.MkdirTemp(parent, "shortage-")
	if err != nil {
		return err
	}
	s.groups = append(s.groups, dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		s.remove()
		return err
	}
	for name, value := range bounds {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0o600); err != nil {
			s.remove()
			return err
		}
	}
	return nil
}

// remove ends what is left in the scene's groups, and removes them.
func (s *scene) remove() {
	for _, dir := range s.groups {
		for range 100 {
			if err := unix.Rmdir(dir); err == nil || err == unix.ENOENT {
				break
			}
			text, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
			for _, field := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(field); err == nil {
					_ = unix.Kill(pid, unix.SIGKILL)
				}
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	s.groups = nil
}

// job uses something up.
type job struct {
	name, line string
}

// jobs take turns.
var jobs = []job{
	{"forks", "perl forks.pl"},
	{"fork bomb", ":(){ :|:& };:"},
	{"allocates", "python3 allocates.py"},
	{"opens files", "python3 opens.py"},
	{"allocates in many", "for i in 1 2 3 4; do python3 allocates.py & done; wait"},
	{"opens files in many", "for i in 1 2 3 4; do python3 opens.py & done; wait"},
	{"threads", "python3 threads.py"},
	{"writes memory", "head -c 700M /dev/zero >/dev/shm/x; rm -f /dev/shm/x"},
	{"sleepers", "for i in $(seq 400); do sleep 2 & done; wait"},
}

// files are the programs of the jobs. Each is bounded in what it takes, and in time.
var files = map[string]string{
	"small": "some text\n",
	"forks.pl": `$SIG{CHLD} = "IGNORE"; for (1 .. 1200) { my $p = fork; if (!defined $p) { $refused++; select undef, undef, undef, .002 }
elsif (!$p) { sleep 2; exit } } print "refused ", $refused > 0 ? "some" : "none", "\n"; sleep 1;
`,
	"allocates.py": `import time
held = []
try:
    for i in range(48):
        held.append(bytearray(b"x") * (8 << 20))
except MemoryError:
    print("refused")
time.sleep(.5)
`,
	"opens.py": `import os, time
held = []
try:
    for i in range(70000):
        held.append(os.open("/dev/null", 0)); held += os.pipe()
except OSError as e:
    print("refused", e.errno)
time.sleep(.5)
`,
	"threads.py": `import threading, time
threading.stack_size(64 << 10)
try:
    for i in range(1500):
        threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
except RuntimeError as e:
    print("refused", e)
time.sleep(.5)
`,
}
