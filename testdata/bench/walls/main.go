// Walls measures what the walls of the sandbox cost, through toolhost serve, as an agent meets them. The programs given
// take turns, so that a busy machine slows all of them alike. Reads are also timed while a job uses up processes, memory or
// scratch; with -rounds 0 only they are. With -batches N only batches of mixed reads are timed, which run beside each other.
//
//	go run ./testdata/bench/walls [-rounds N] [-files N] [-batches N] OLD NEW
//
// With -asking N only commands that meet no wall are timed, N times each, of one program beside itself: in a session that asks a user when a
// command meets the wall, and in one that does not.
//
//	go run ./testdata/bench/walls -asking N PROGRAM
//
// With -sessions N whole sessions are timed, N of each kind and program: the start to the first reply, reads of a small file, calls of true
// with their helper and sandbox, and the processor time of all their processes.
//
//	go run ./testdata/bench/walls -sessions N OLD NEW
//
// Figures are medians in ms; a ratio is the median of the ratios of neighbouring runs, each beside the first program.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 300, "calls of true, of each program")
	files := flag.Int("files", 20000, "files that one command creates")
	batches := flag.Int("batches", 0, "batches of mixed reads, of each program")
	asks := flag.Int("asking", 0, "rounds of commands that meet no wall, of one program beside itself")
	sessions := flag.Int("sessions", 0, "whole sessions of each kind, of each program")
	flag.Parse()
	do := func() error { return run(flag.Args(), *rounds, *files, *batches) }
	if *asks > 0 && flag.NArg() == 1 {
		do = func() error { return asking(flag.Arg(0), *asks) }
	}
	if *sessions > 0 && flag.NArg() > 0 {
		do = func() error { return whole(flag.Args(), *sessions) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "walls:", err)
		os.Exit(1)
	}
}

func run(programs []string, rounds, files, batches int) error {
	if len(programs) == 0 {
		return fmt.Errorf("give the programs to compare: OLD NEW")
	}
	// Below /var/tmp, for commands see another /tmp.
	dir, err := os.MkdirTemp("/var/tmp", "toolhost-walls-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	hosts := make([]*host, len(programs))
	for i, p := range programs {
		if hosts[i], err = start(p, filepath.Join(dir, fmt.Sprint(i))); err != nil {
			return err
		}
		defer hosts[i].end()
	}
	switch {
	case batches > 0:
		return mixed(hosts, batches)
	case rounds == 0:
		return exhaust(hosts)
	}
	if err := compare("a call of true", hosts, rounds, command("/bin/true", "")); err != nil {
		return err
	}
	create := fmt.Sprintf("mkdir many && for ((i = 0; i < %d; i++)); do : > many/f$i; done", files)
	if err := compare(fmt.Sprintf("%d files created", files), hosts, max(3, rounds/60), command(create, "many")); err != nil {
		return err
	}
	return exhaust(hosts)
}

// command runs a command, and removes left, a name in the workspace, after each run.
func command(text, left string) func(*host) (float64, error) {
	return func(h *host) (float64, error) {
		d, err := h.timed("shell", map[string]any{"command": text})
		if left != "" {
			os.RemoveAll(filepath.Join(h.workspace, left))
		}
		return d, err
	}
}

// mixed compares batches of reads, searches and commands that only read, in a workspace of 400 files.
func mixed(hosts []*host, rounds int) error {
	line := []byte("a line of text, and needle every now and then\n")
	for _, h := range hosts {
		for i := range 400 {
			path := filepath.Join(h.workspace, fmt.Sprintf("d%d", i%20), fmt.Sprintf("f%d.txt", i))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, bytes.Repeat(line, 100), 0o644); err != nil {
				return err
			}
		}
	}
	return compare("64 mixed reads", hosts, rounds, func(h *host) (float64, error) { return h.batch(64) })
}

// compare runs do in each host in turn, once unmeasured.
func compare(what string, hosts []*host, rounds int, do func(*host) (float64, error)) error {
	took := make([][]float64, len(hosts))
	for round := range rounds + 1 {
		for i := range hosts {
			h := (i + round) % len(hosts) // who is first changes
			d, err := do(hosts[h])
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			if round > 0 {
				took[h] = append(took[h], d)
			}
		}
	}
	for i, h := range hosts {
		ratios := make([]float64, rounds)
		for r := range ratios {
			ratios[r] = took[i][r] / took[0][r]
		}
		fmt.Printf("%-24s %-12s median %8.2f  least %8.2f  ratio %.3f\n", what, h.name, median(took[i]), slices.Min(took[i]), median(ratios))
	}
	return nil
}

// exhaust measures reads of a small file while a job of the same session uses up what it can have, in each host in turn.
func exhaust(hosts []*host) error {
	for _, job := range []struct{ what, command string }{
		{"nothing", "sleep 10"},
		{"a fork bomb", "b() { b | b & }; b; sleep 10"},
		{"4 GB of memory", `python3 -c 'import time; b = [bytearray(b"x" * (1 << 20)) for _ in range(4096)]; time.sleep(5)'`},
		{"a full scratch", "head -c 1T /dev/zero > /tmp/full; sleep 10"},
	} {
		for _, h := range hosts {
			took, err := readBeside(h, job.command)
			if err != nil {
				return fmt.Errorf("beside %s: %w", job.what, err)
			}
			fmt.Printf("read beside %-16s %-12s median %8.2f  99 of 100 %8.2f  slowest %8.2f  (%d reads)\n",
				job.what, h.name, median(took), took[len(took)*99/100], took[len(took)-1], len(took))
		}
	}
	return nil
}

// readBeside returns how long each read took beside a job, the fastest first.
func readBeside(h *host, command string) (took []float64, err error) {
	if err := os.WriteFile(filepath.Join(h.workspace, "small"), []byte("small\n"), 0o644); err != nil {
		return nil, err
	}
	id, err := h.background(command)
	if err != nil {
		return nil, err
	}
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		d, err := h.timed("read", map[string]any{"path": "small"})
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
	slices.Sort(took)
	_, err = h.invoke("shell_kill", map[string]any{"job": id})
	return took, err
}

func median(of []float64) float64 {
	s := slices.Sorted(slices.Values(of))
	return s[len(s)/2]
}
