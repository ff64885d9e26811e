// Soak has two hosts answer mixed calls for an hour and prints what they hold: go run ./testdata/faults/soak [-for 1h] [-every 1m] [-only http].
//
// One host is spoken to over its stdin: native calls (reads, writes, edits, searches, commands, jobs with input, prompts that are answered, calls
// that are canceled) and MCP calls on the same stream. The other is spoken to over HTTP: MCP, and RAP with callbacks. Each line says, of
// both: calls so far, resident and anonymous memory, descriptors, threads, processes below the host, directories and files of its state, and
// the size of its log. Go tells the number of goroutines to no other process: one that waits for ever shows as memory or as a descriptor.
//
// At the end the middle of the first third is compared with that of the last. Memory of a host that grew by more than a quarter and 8 MB,
// or any count that grew by more than a quarter and 8, is a failure, and so is a call that failed but was not to.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

func main() {
	lasts := flag.Duration("for", time.Hour, "how long")
	every := flag.Duration("every", time.Minute, "how often what the hosts hold is printed")
	pause := flag.Duration("pause", 100*time.Millisecond, "after each call of a client")
	only := flag.String("only", "", "the host that runs alone: lines or http")
	program := flag.String("toolhost", "", "program; the default is built from this module")
	flag.Parse()
	dir, err := os.MkdirTemp("", "soak-")
	check(err)
	wrong := run(dir, *program, *only, *lasts, *every, *pause)
	check(os.RemoveAll(dir))
	if wrong {
		os.Exit(1)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(dir, program, only string, lasts, every, pause time.Duration) (wrong bool) {
	if program == "" {
		program = filepath.Join(dir, "toolhost")
		build := exec.Command("go", "build", "-o", program, "./cmd/toolhost")
		build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
		check(build.Run())
	}
	count := &tally{calls: map[string]int{}, failed: map[string]int{}}
	var hosts []*host
	var all []func(n int)
	if only != "http" {
		lines, err := startLines(filepath.Join(dir, "lines"), program, count)
		check(err)
		hosts, all = append(hosts, &lines.host), append(all, lines.clients()...)
	}
	if only != "lines" {
		web, err := startWeb(filepath.Join(dir, "web"), program, count)
		check(err)
		defer web.close()
		hosts, all = append(hosts, &web.host), append(all, web.clients()...)
	}
	over := make(chan struct{})
	var clients sync.WaitGroup
	for _, client := range all {
		clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				case <-time.After(pause):
					client(n)
				}
			}
		})
	}
	fmt.Printf("%-6s %-6s %8s %8s %8s %8s %8s %8s %8s %8s\n", "after", "host", "calls", "MB", "anon MB", "files", "threads", "below", "state", "log MB")
	begun := time.Now()
	for time.Since(begun) < lasts {
		time.Sleep(every)
		for _, h := range hosts {
			now := h.holds()
			h.held = append(h.held, now)
			fmt.Printf("%-6s %-6s %8d %s\n", time.Since(begun).Round(time.Second), h.name, count.of(h.name), now)
		}
	}
	close(over)
	clients.Wait()
	for _, h := range hosts {
		for _, what := range h.grown() {
			wrong = true
			fmt.Printf("  WRONG: %s: %s\n", h.name, what)
		}
		if err := h.end(); err != nil {
			wrong = true
			fmt.Printf("  WRONG: %s: it ended with %v\n", h.name, err)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(count.calls)) {
		fmt.Printf("%8d  %s\n", count.calls[kind], kind)
	}
	for _, why := range slices.Sorted(maps.Keys(count.failed)) {
		wrong = true
		fmt.Printf("  WRONG: %d × %s\n", count.failed[why], why)
	}
	return wrong
}

// tally counts calls by kind, each "HOST kind", and those that failed by why.
type tally struct {
	mu            sync.Mutex
	calls, failed map[string]int
}

// add counts a call. It failed if why says so.
func (t *tally) add(host, kind, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls[host+" "+kind]++
	if why != "" {
		t.failed[host+" "+kind+": "+why[:min(len(why), 300)]]++
	}
}

// of is the number of calls of a host.
func (t *tally) of(host string) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for kind, calls := range t.calls {
		if len(kind) > len(host) && kind[:len(host)+1] == host+" " {
			n += calls
		}
	}
	return n
}
