// The driver is a started host with nothing but the search engine in it: what searches in it cost is what they cost in
// toolhost, less its records and permissions. Requests come in on stdin, a JSON line each. What a search finds goes to
// stdout, as ripgrep writes it. File descriptor 3 gets a JSON line when the driver is ready, and one for each request.
//
//	driver [-index auto|off|strict|watched] DIRECTORY 3>answers
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
	"toolhost/tools/search/engine"
	"toolhost/tools/search/ignore"
	"toolhost/tools/workspace"
)

// request is what is to be done.
type request struct {
	Do         string `json:"do"` // grep, list; settle waits until everything is indexed
	Pattern    string `json:"pattern,omitempty"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Limit      int    `json:"limit,omitempty"`  // matching lines; 0: all
	Suffix     string `json:"suffix,omitempty"` // of the names that are listed
}

// answer says what a request cost.
type answer struct {
	Bytes int64  `json:"bytes"` // that were written to stdout
	WallN int64  `json:"wall_ns"`
	CPUN  int64  `json:"cpu_ns"` // of the whole process
	Error string `json:"error,omitempty"`
}

func main() {
	index := flag.String("index", "auto", "auto, off, strict or watched")
	flag.Parse()
	if err := run(*index, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

func run(index, dir string) error {
	h, err := newHost(index, dir)
	if err != nil {
		return err
	}
	defer h.engine.Close()
	answers := json.NewEncoder(os.NewFile(3, "answers"))
	if err := answers.Encode(answer{}); err != nil {
		return err
	}
	requests := json.NewDecoder(os.Stdin)
	for requests.More() {
		var r request
		if err := requests.Decode(&r); err != nil {
			return err
		}
		if err := answers.Encode(h.timed(r)); err != nil {
			return err
		}
	}
	return nil
}

// host is an engine and the directory that is searched.
type host struct {
	engine *engine.Engine
	ws     *workspace.Workspace
	dir    agenttool.Path
	out    *bufio.Writer
	sent   counting
}

// counting is stdout, and the number of bytes that went there.
type counting int64

// Write implements io.Writer.
func (c *counting) Write(p []byte) (int, error) {
	n, err := os.Stdout.Write(p)
	*c += counting(n)
	return n, err
}

func newHost(index, dir string) (*host, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	h := &host{dir: agenttool.Path{Spelling: dir, Absolute: dir}}
	if h.ws, err = workspace.Open([]string{dir}); err != nil {
		return nil, err
	}
	if err := h.ws.Locate(&h.dir); err != nil {
		return nil, err
	}
	secrets, err := protect.Scan(context.Background(), protect.Options{Roots: []string{h.dir.Resolved}, Home: home, ReadDeny: protect.DefaultReadDeny()})
	if err != nil {
		return nil, err
	}
	h.ws.Guard(func() (*protect.Map, error) { return secrets, nil })
	mode, ok := map[string]engine.Mode{"auto": engine.Auto, "off": engine.Off, "strict": engine.Strict, "watched": engine.Watched}[index]
	if !ok {
		return nil, fmt.Errorf("no index %q: it is auto, off, strict or watched", index)
	}
	h.engine = engine.New(engine.Options{
		Index: mode,
		Git:   ignore.Environment{Home: home, ConfigHome: os.Getenv("XDG_CONFIG_HOME")},
	})
	h.out = bufio.NewWriterSize(&h.sent, 64<<10)
	return h, nil
}

// timed does a request and says what it cost.
func (h *host) timed(r request) answer {
	written, cpu, begin := h.sent, cpuTime(), time.Now()
	err := h.do(context.Background(), r)
	if flushed := h.out.Flush(); err == nil {
		err = flushed
	}
	a := answer{WallN: time.Since(begin).Nanoseconds(), CPUN: cpuTime() - cpu, Bytes: int64(h.sent - written)}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// cpuTime returns the processor time of this process, in nanoseconds.
func cpuTime() int64 {
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return use.Utime.Nano() + use.Stime.Nano()
}
