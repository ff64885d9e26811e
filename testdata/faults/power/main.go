// Power cuts the power of disks while toolhost works on them, and says what is left: go run ./testdata/faults/power [-cuts 200]
// [-seconds 20] [-durability none] [ext4 xfs btrfs]. It needs root, loop devices and /dev/fuse, and exits with 77 where one is missing.
//
// Toolhost works in mode sandboxed on a file system whose every block and flush is recorded: it writes, edits, runs commands that remove,
// replace and move files, stores outputs, keeps its log and its settings, takes answers that allow for ever, and trusts projects. Each cut
// takes a random moment of the recording: what was flushed before is on the disk, and of what was written since none, all or any part. The
// file system is mounted again from that, and must hold what the table in docs/audit.md promises: each file as the last reported change left
// it, or as an earlier one did; a record of every change that is there; of what a command lost each file, or its copy, which is put back;
// settings and trust as they were reported; logs of which verify says that nothing was changed.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const skipped = 77

func main() {
	cuts := flag.Int("cuts", 200, "moments for each file system")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the moments")
	program := flag.String("toolhost", "", "program; the default is built from this module")
	seconds := flag.Int("seconds", 20, "how long toolhost works on each")
	durability := flag.String("durability", "", "files.durability of the settings; none shows what is lost then")
	flag.Parse()
	kinds := flag.Args()
	if len(kinds) == 0 {
		kinds = []string{"ext4", "xfs", "btrfs"}
	}
	dir, err := os.MkdirTemp("", "power-")
	check(err)
	status := 0
	defer func() { os.Exit(status) }()
	defer os.RemoveAll(dir)
	if *program == "" {
		*program = filepath.Join(dir, "toolhost")
		build := exec.Command("go", "build", "-o", *program, "./cmd/toolhost")
		build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
		check(build.Run())
	}
	*program, err = filepath.Abs(*program)
	check(err)
	fmt.Printf("%d cuts each, seed %d\n", *cuts, *seed)
	for _, kind := range kinds {
		r := testbed{kind: kind, dir: dir, program: *program, random: rand.New(rand.NewPCG(*seed, 1))}
		if why := r.prepare(); why != nil {
			fmt.Printf("%s: skipped: %v\n", kind, why)
			if status == 0 {
				status = skipped
			}
			continue
		}
		r.worker = newWorker(*program, r.mount, r.disk.now, r.random)
		r.worker.prepare(*durability)
		r.sync() // what was made so far is no part of what is cut
		r.disk.begin()
		r.work(time.Duration(*seconds) * time.Second)
		if !r.cutAll(*cuts) {
			status = 1
		}
	}
}

// mounted is where the file system is that lies on a disk of ours; "": there is none.
var mounted string

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "power:", err)
		if mounted != "" {
			_ = run("umount", "-f", mounted) // while the disk answers: without it the kernel waits for it for ever
		}
		os.Exit(1)
	}
}

// testbed is one file system on a disk that can lose power.
type testbed struct {
	kind, dir, program string
	random             *rand.Rand
	disk               *disk
	mount              string
	worker             *worker
}

// mkfs are the commands that make a file system, without discards.
var mkfs = map[string][]string{
	"ext4":  {"mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"},
	"xfs":   {"mkfs.xfs", "-q", "-K", "-f"},
	"btrfs": {"mkfs.btrfs", "-q", "-K", "-f"},
}

// prepare makes the file system and mounts it, or says what is missing for that.
func (r *testbed) prepare() error {
	make, known := mkfs[r.kind]
	if !known {
		return fmt.Errorf("no file system of that name is known")
	}
	for _, name := range []string{make[0], "mount", "umount"} {
		if _, err := exec.LookPath(name); err != nil {
			return err
		}
	}
	at := filepath.Join(r.dir, r.kind)
	r.mount = filepath.Join(at, "mount")
	for _, dir := range []string{filepath.Join(at, "fuse"), r.mount} {
		check(os.MkdirAll(dir, 0o700))
	}
	var err error
	if r.disk, err = newDisk(filepath.Join(at, "fuse"), 512<<20); err != nil {
		return err
	}
	if err := run(append(make, r.disk.path())...); err != nil {
		r.disk.close()
		return err
	}
	if err := run("mount", "-o", "loop", "-t", r.kind, r.disk.path(), r.mount); err != nil {
		r.disk.close()
		return err
	}
	mounted = r.mount
	return nil
}

// sync waits until all of the file system is on the disk.
func (r *testbed) sync() {
	f, err := os.Open(r.mount)
	check(err)
	defer f.Close()
	check(unix.Syncfs(int(f.Fd())))
}

// work has toolhost work, and takes the file system away from it.
func (r *testbed) work(long time.Duration) {
	r.worker.run(long)
	r.unmount(r.mount)
	mounted = ""
	r.disk.close()
}

// unmount waits until nothing uses the file system: processes that were ended have not gone at once.
func (r *testbed) unmount(at string) {
	for limit := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		err := unix.Unmount(at, 0)
		if err != unix.EBUSY || time.Now().After(limit) {
			check(err)
			return
		}
	}
}

// cutAll cuts at random moments and reports whether all held.
func (r *testbed) cutAll(cuts int) bool {
	var sum findings
	mount := filepath.Join(r.dir, r.kind, "mount")
	for n := range cuts {
		image := filepath.Join(r.dir, fmt.Sprint(r.kind, n)) // each its own: a loop device lives on for a moment, and keeps what it read
		moment := r.random.IntN(len(r.disk.events) + 1)
		lost, err := r.disk.cut(moment, image, r.random)
		check(err)
		options := "loop"
		if r.kind == "xfs" {
			options = "loop,nouuid"
		}
		if err := run("mount", "-o", options, "-t", r.kind, image, mount); err != nil {
			sum.add("moment %d: it cannot be mounted: %v", moment, err)
			continue
		}
		sum.lost += lost
		r.worker.examine(moment, mount, &sum)
		r.unmount(mount)
		check(os.Remove(image))
	}
	fmt.Printf("%s: %d calls, %d blocks and flushes; %d cuts lost %d blocks\n", r.kind, len(r.worker.changes), len(r.disk.events), cuts, sum.lost)
	if r.worker.stalled > 0 {
		fmt.Printf("  %d sessions ended before the disk had answered, and said so\n", r.worker.stalled)
	}
	fmt.Printf("  reported changes of files: %d there, %d older and whole, %d damaged\n", sum.there, sum.older, sum.damaged)
	fmt.Printf("  changes on the disk: %d in the log, %d not in it\n", sum.logged, sum.unlogged)
	fmt.Printf("  settings, with answers that allow for ever: %v\n", sum.rules)
	fmt.Printf("  trust: %v\n", sum.trust)
	fmt.Printf("  files lost by commands, in %d of %d trees: %d not lost on the disk, %d put back, %d gone\n", r.worker.used, trees, sum.unlost, sum.back, sum.gone)
	fmt.Printf("  reported outputs: %d there, %d not written yet\n", sum.outputs.there, sum.outputs.older)
	fmt.Printf("  verify: %d logs ok, %d incomplete, %d called changed\n", sum.ok, sum.incomplete, sum.changed)
	for _, f := range sum.wrong[:min(len(sum.wrong), 20)] {
		fmt.Println("  WRONG:", f)
	}
	return len(sum.wrong) == 0
}

// findings are what the cuts showed.
type findings struct {
	lost, there, older, damaged int
	logged, unlogged            int
	rules, trust, outputs       states
	unlost, back, gone          int // trees
	ok, incomplete, changed     int
	wrong                       []string
}

// states count what a file had of what was reported.
type states struct{ there, older, damaged int }

func (s states) String() string {
	return fmt.Sprintf("%d as reported, %d older, %d damaged", s.there, s.older, s.damaged)
}

func (f *findings) add(format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

func run(argv ...string) error {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %v: %s", strings.Join(argv, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
