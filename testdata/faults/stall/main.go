// Command stall stops, hangs and kills what a host waits for, and measures how late its answers are: the process that holds the sandbox, the one
// that starts a command, the reader of stderr, a callback, the file system of the state and of the workspace, a file that never says anything.
// Each is done behind every door: native lines, MCP over lines, MCP over HTTP. Then the input ends, or the server gets SIGTERM.
//
//	go run ./testdata/faults/stall               output of one run: testdata/faults/stall.txt
//
// It builds toolhost from the directory in which it runs, or takes the program of -program. A frozen file system takes no writes; one of FUSE
// (fuse.go) answers nothing at all. Both need root, and go on when this program ends, however it does. Rows in which the kernel holds the host run
// beside each other, at the end.
//
// It exits with 1 when a call answers later than its deadline and two seconds (-slack adds to that on a busy machine), a read does not go on, the
// output is not closed within ten seconds after the end, or the process does not end then where the kernel holds nothing.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// deadline is that of every call.
const deadline = 3 * time.Second

var dumps string

func main() {
	program := flag.String("program", "", "the toolhost to try; empty: one that is built here")
	slack := flag.Duration("slack", 0, "how much later than allowed an answer may be")
	only := flag.String("only", "", "the rows to run: those whose name has this text")
	onlyDoor := flag.String("door", "", "the only door")
	flag.StringVar(&dumps, "dumps", "", "a directory for what a host says of its goroutines that is too late, and for its stderr")
	memory := flag.String("memory", "", "serve this directory instead, by FUSE")
	flag.Parse()
	if *memory != "" {
		check(serveMemory(*memory))
		return
	}
	dir, err := os.MkdirTemp("", "stall-")
	check(err)
	if *program == "" {
		*program = filepath.Join(dir, "toolhost")
		if out, err := exec.Command("go", "build", "-o", *program, "./cmd/toolhost").CombinedOutput(); err != nil {
			check(fmt.Errorf("build: %v\n%s", err, out))
		}
	}
	bad := 0
	fmt.Printf("%-34s %-6s %9s %9s %9s %9s  %s\n", "what stalls", "door", "latest", "reads", "output", "exit", "statuses")
	var beside sync.WaitGroup
	var lines sync.Mutex
	for _, r := range rows {
		for _, door := range []string{"native", "mcp", "http"} {
			if !strings.Contains(r.name, *only) || r.door != "" && r.door != door || *onlyDoor != "" && *onlyDoor != door {
				continue
			}
			try := func() {
				line, late := r.run(filepath.Join(dir, strings.ReplaceAll(r.name, " ", "-")+"-"+door), *program, door, *slack)
				lines.Lock()
				defer lines.Unlock()
				fmt.Println(line)
				if late {
					bad++
				}
			}
			if r.held { // it waits, most of the time
				beside.Go(try)
			} else {
				try()
			}
		}
	}
	beside.Wait()
	_ = os.RemoveAll(dir)
	if bad > 0 {
		fmt.Println(bad, "rows are too late")
		os.Exit(1)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "stall:", err)
		os.Exit(2)
	}
}

// row is one thing that stalls.
type row struct {
	name   string
	door   string                 // the only one; "": all
	frozen string                 // the directory that is a file system of its own: state or ws
	unread bool                   // stderr is a pipe that is full and that nobody reads
	stall  func(h *host) func()   // begins, and returns what ends it
	calls  []call                 // made while it lasts
	after  func(h *host) []string // statuses of more than calls
	held   bool                   // the kernel may hold the process until the end of the stall

	served     string // the directory that a FUSE server serves: state, ws or ws/far
	unreadable bool   // the workspace cannot be read, either
	passes     bool   // it goes on before the end, and calls succeed then
	early      bool   // it stalls before the host starts: it then answers a call, or ends and says why
	behind     bool   // some of the calls wait for others that have a minute
}

type call struct{ tool, input string }

func shell(line string) call {
	return call{"shell", fmt.Sprintf(`{"command":%q,"timeout_ms":%d}`, line, deadline.Milliseconds())}
}

var read = call{"read", `{"path":"f"}`}

var commands = []call{shell("echo ran"), shell("echo x > made; cat made"), {"write", `{"path":"w","content":"x"}`}, {"grep", `{"pattern":"content"}`}}

var rows = []row{
	{name: "nothing", calls: commands},
	{name: "holder stopped", stall: signal("toolhost-holder", syscall.SIGSTOP), calls: commands},
	{name: "holder stopped again and again", stall: stopping("toolhost-holder"), calls: commands},
	{name: "holder killed", stall: signal("toolhost-holder", syscall.SIGKILL), calls: commands},
	{name: "helpers stopped", stall: signal("toolhost-sandbox", syscall.SIGSTOP), calls: commands},
	{name: "helpers stopped again and again", stall: stopping("toolhost-sandbox"), calls: commands},
	{name: "helpers killed", stall: signal("toolhost-sandbox", syscall.SIGKILL), calls: commands},
	{name: "reaper stopped", stall: signal("toolhost-session", syscall.SIGSTOP), calls: commands},
	{name: "stderr full and unread", unread: true, calls: commands, after: refusedCallbacks},
	{name: "callback refuses", door: "http", calls: commands, after: deadCallbacks},
	{name: "callback silent", door: "http", calls: commands, after: silentCallbacks},
	{name: "FIFO that nobody writes", stall: fifo, calls: append([]call{shell("cat fifo"), {"read", `{"path":"fifo"}`}, {"write", `{"path":"fifo","content":"x"}`}}, commands[3])},
	{name: "state frozen", frozen: "state", stall: freeze("state"), calls: commands, held: true, behind: true},
	{name: "workspace frozen", frozen: "ws", stall: freeze("ws"), calls: commands, held: true, behind: true},
	{name: "FUSE directory silent", served: "ws/far", stall: silence, calls: append([]call{shell("cat far/file"), {"read", `{"path":"far/file"}`}, {"write", `{"path":"far/x","content":"x"}`}}, commands...), held: true, behind: true},
	{name: "state frozen, then not", frozen: "state", stall: freeze("state"), calls: commands, door: "native", passes: true},
	{name: "workspace frozen, then not", frozen: "ws", stall: freeze("ws"), calls: commands, door: "native", passes: true},
	{name: "FUSE state silent, then not", served: "state", stall: silence, calls: commands, door: "native", passes: true},
	{name: "FUSE workspace silent, then not", served: "ws", stall: silence, calls: commands, door: "native", passes: true, unreadable: true},
	{name: "FUSE settings silent at the start", served: "config", stall: silence, early: true, held: true, door: "native"},
	{name: "FUSE state silent at the start", served: "state", stall: silence, early: true, held: true, door: "native"},
	{name: "FUSE workspace silent at the start", served: "ws", stall: silence, early: true, held: true, door: "native"},
	{name: "FUSE state silent", served: "state", stall: silence, calls: commands, held: true, behind: true},
	{name: "FUSE workspace silent", served: "ws", stall: silence, calls: commands, held: true, unreadable: true, behind: true},
}

// run tries one row, and returns the line about it.
func (r row) run(dir, program, door string, slack time.Duration) (line string, late bool) {
	h, err := start(dir, program, door, r)
	if err != nil {
		return fmt.Sprintf("%-34s %-6s not tried: %v", r.name, door, err), false
	}
	defer h.clean()
	if r.early {
		status, took := h.invoke(read)
		exit := within(h.exited, time.Now())
		h.release()
		late = took > startLimit+slack
		for h.cmd.ProcessState == nil && within(h.exited, time.Now()) >= never {
			_ = h.cmd.Process.Kill()
		}
		said := strings.Join(strings.Split(strings.TrimSpace(h.stderr.String()), "\n"), "; ")
		if status != "succeeded" && said == "" {
			status, late = status+", and nothing is said LATE", true
		}
		return fmt.Sprintf("%-34s %-6s %9s %9s %9s %9s  %s: %s", r.name, door, round(took), "", "", roundEnd(exit), status, said), late
	}
	h.invoke(shell("echo warm")) // the sandbox is made
	h.invoke(call{"shell", `{"command":"sleep 77400","run_in_background":true}`})
	release := func() {}
	if r.stall != nil {
		release = r.stall(h)
	}
	var latest, reads time.Duration
	var statuses []string
	var all sync.WaitGroup
	var mu sync.Mutex
	limits := map[string]time.Duration{} // by tool
	for _, c := range append(r.calls, read) {
		limits[c.tool] = deadline + 2*time.Second + slack
		if door == "native" || !r.held {
			continue
		}
		limits[c.tool] += fileTime - deadline // calls over MCP have no deadline: docs/wire.md
		if c.tool == "shell" {
			limits[c.tool] += startTime - fileTime
		}
		if r.behind {
			limits[c.tool] += fileTime + 2*time.Second
		}
	}
	note := func(c call, status string, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		latest = max(latest, took)
		text := fmt.Sprintf("%s %s", c.tool, status)
		if took > time.Second {
			text += " " + round(took)
		}
		if took > limits[c.tool] {
			text, late = text+" LATE", true
		}
		statuses = append(statuses, text)
	}
	looks := func(times int) {
		for range times {
			status, took := h.invoke(read)
			reads = max(reads, took)
			if r.unreadable {
				note(read, status, took)
			} else if status != "succeeded" || took > deadline+slack {
				note(read, status+" LATE", took)
				late = true
			}
		}
	}
	if r.unreadable {
		all.Go(func() { looks(1) })
	} else {
		looks(1)
	}
	for _, c := range r.calls {
		all.Go(func() {
			late := time.AfterFunc(limits[c.tool], h.dump)
			defer late.Stop()
			status, took := h.invoke(c)
			note(c, status, took)
		})
	}
	all.Wait()
	if !r.unreadable {
		looks(3) // also beside calls that the kernel holds
	}
	if r.after != nil {
		statuses = append(statuses, r.after(h)...)
	}
	if r.passes {
		release()
		time.Sleep(time.Second) // what was kept meanwhile is written
		for _, c := range commands {
			status, took := h.invoke(c)
			if status != "succeeded" {
				late = true
			}
			note(c, "afterwards "+status, took)
		}
	}
	begun := time.Now()
	h.end()
	output := within(h.closed, begun)
	exit := within(h.exited, begun)
	if output > 10*time.Second+slack || exit > 10*time.Second+slack && !r.held {
		h.dump()
		late = true
	}
	if !r.passes {
		release()
	}
	if r.held && exit >= never && within(h.exited, time.Now()) >= never {
		statuses, late = append(statuses, "LATE: it does not end when the file system goes on"), true
	}
	mark := ""
	if late {
		mark = "LATE"
	}
	slices.Sort(statuses)
	return fmt.Sprintf("%-34s %-6s %9s %9s %9s %9s  %s %s", r.name, door, round(latest), round(reads), roundEnd(output), roundEnd(exit), strings.Join(statuses, ", "), mark), late
}

// How long a command may take to begin, and a file tool, that were called without a deadline.
const (
	startTime = 10 * time.Second
	fileTime  = time.Minute

	startLimit = 33 * time.Second // of a host that waits for a file system
)

// never is how long an end is waited for, and lost how long an answer.
const (
	never = 14 * time.Second
	lost  = 150 * time.Second
)

func within(done <-chan struct{}, begun time.Time) time.Duration {
	select {
	case <-done:
		return time.Since(begun)
	case <-time.After(never - time.Since(begun)):
		return never
	}
}

func round(d time.Duration) string { return d.Round(10 * time.Millisecond).String() }

func roundEnd(d time.Duration) string {
	if d >= never {
		return "never"
	}
	return round(d)
}

// host is a toolhost that is tried.
type host struct {
	dir, door   string
	cmd         *exec.Cmd
	in          io.WriteCloser
	url, token  string
	closed      chan struct{} // the output is
	exited      chan struct{}
	mu          sync.Mutex
	next        int
	waits       map[string]chan map[string]any
	unmounts    []func()
	memory      *server
	release     func()
	stderr      bytes.Buffer // of a host that starts while something stalls
	stderrHeld  *os.File
	stderrOther *os.File
}

// dump has the host say where its goroutines are, which ends it.
func (h *host) dump() {
	if dumps != "" {
		_ = h.cmd.Process.Signal(syscall.SIGQUIT)
		time.Sleep(time.Second)
	}
}

func (h *host) path(name string) string { return filepath.Join(h.dir, name) }

func start(dir, program, door string, r row) (*host, error) {
	h := &host{dir: dir, door: door, closed: make(chan struct{}), exited: make(chan struct{}), waits: map[string]chan map[string]any{}}
	for _, name := range []string{"ws", "state", "home", "run", "config"} {
		check(os.MkdirAll(h.path(name), 0o700))
	}
	if r.frozen != "" {
		at := h.path(r.frozen)
		image := h.path("image")
		out, err := exec.Command("sh", "-c", `truncate -s 64M "$0" && mkfs.ext4 -q "$0" && mount -o loop,noatime "$0" "$1"`, image, at).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("no file system to freeze: %s", out)
		}
		h.unmounts = append(h.unmounts, func() {
			_ = exec.Command("umount", "--lazy", at).Run()
		})
	}
	if r.served != "" {
		at := h.path(r.served)
		check(os.MkdirAll(at, 0o700))
		var err error
		if h.memory, err = mountMemory(at); err != nil {
			return nil, err
		}
		h.unmounts = append(h.unmounts, func() {
			_ = h.memory.in.Close()
			_ = syscall.Unmount(at, syscall.MNT_DETACH)
		})
		check(os.WriteFile(filepath.Join(at, "file"), []byte("content\n"), 0o600))
	}
	check(os.WriteFile(h.path("ws/f"), []byte("content\n"), 0o600))
	args := []string{"serve", "--workspace", h.path("ws"), "--allow", "Shell", "--allow", "Write(**)"}
	if door == "http" {
		args = append(args, "--http", "127.0.0.1:0")
	}
	h.cmd = exec.Command(program, args...)
	h.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.path("home"), "XDG_STATE_HOME=" + h.path("state"), "XDG_CONFIG_HOME=" + h.path("config"), "XDG_RUNTIME_DIR=" + h.path("run")}
	if r.unread {
		var err error
		h.stderrHeld, h.stderrOther, err = os.Pipe()
		check(err)
		raw, _ := h.stderrOther.SyscallConn()
		check(raw.Control(func(fd uintptr) {
			for _, n := range []int{4096, 1} {
				for {
					if _, err := syscall.Write(int(fd), make([]byte, n)); err != nil {
						break
					}
				}
			}
		}))
		h.cmd.Stderr = h.stderrOther
	}
	if dumps != "" && h.cmd.Stderr == nil && !r.early {
		file, err := os.Create(filepath.Join(dumps, filepath.Base(dir)))
		check(err)
		defer file.Close()
		h.cmd.Stderr = file
	}
	if r.early {
		h.cmd.Stderr = &h.stderr
		h.release = r.stall(h)
	}
	h.in, _ = h.cmd.StdinPipe()
	out, _ := h.cmd.StdoutPipe()
	check(h.cmd.Start())
	if h.stderrOther != nil {
		_ = h.stderrOther.Close()
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	if door == "http" && lines.Scan() {
		var at struct{ URL, Token string }
		check(json.Unmarshal(lines.Bytes(), &at))
		h.url, h.token = at.URL, at.Token
	}
	go func() {
		for lines.Scan() {
			var m map[string]any
			if json.Unmarshal(lines.Bytes(), &m) == nil {
				h.answer(fmt.Sprint(m["id"]), m)
			}
		}
		close(h.closed)
		_ = h.cmd.Wait()
		close(h.exited)
	}()
	return h, nil
}

func (h *host) answer(id string, m map[string]any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if waits := h.waits[id]; waits != nil {
		waits <- m
		delete(h.waits, id)
	}
}

// modern makes an MCP request one that needs no handshake.
const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"stall","version":"1"}}`

// invoke makes a call and waits for its answer.
func (h *host) invoke(c call) (status string, took time.Duration) {
	h.mu.Lock()
	h.next++
	id := strconv.Itoa(h.next)
	waits := make(chan map[string]any, 1)
	h.waits[id] = waits
	h.mu.Unlock()
	begun := time.Now()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, id, c.tool, c.input, modern)
	switch h.door {
	case "native":
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"agenttool/invoke","params":{"id":"c%s","tool":%q,"input":%s,"timeout_ms":%d}}`, id, id, c.tool, c.input, deadline.Milliseconds())
		fallthrough
	case "mcp":
		_, _ = io.WriteString(h.in, body+"\n")
	case "http":
		go func() {
			h.answer(id, h.post("/mcp", body, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", c.tool))
		}()
	}
	select {
	case m := <-waits:
		return statusOf(m), time.Since(begun)
	case <-h.closed:
		return "the output is closed", time.Since(begun)
	case <-time.After(lost):
		return "no answer", lost
	}
}

// post makes a request and returns the JSON object of the answer, also out of a stream.
func (h *host) post(path, body string, headers ...string) map[string]any {
	r, err := http.NewRequest("POST", h.url+path, strings.NewReader(body))
	check(err)
	r.Header.Set("Authorization", "Bearer "+h.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return map[string]any{"failed": err.Error()}
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	m := map[string]any{"status": res.StatusCode, "text": string(text)}
	for line := range bytes.Lines(text) {
		_ = json.Unmarshal(bytes.TrimPrefix(line, []byte("data: ")), &m)
	}
	return m
}

func statusOf(m map[string]any) string {
	result, _ := m["result"].(map[string]any)
	if inv, ok := result["invocation"].(map[string]any); ok {
		return fmt.Sprint(inv["status"])
	}
	switch {
	case result == nil:
		return fmt.Sprint("refused ", m)
	case result["isError"] == true:
		text, _ := json.Marshal(result["content"])
		return "failed " + string(text[:min(len(text), 90)])
	}
	return "succeeded"
}

// end ends the input, or the server.
func (h *host) end() {
	if h.door == "http" {
		_ = h.cmd.Process.Signal(syscall.SIGTERM)
		return
	}
	_ = h.in.Close()
}

func (h *host) clean() {
	_ = h.cmd.Process.Kill()
	for _, do := range h.unmounts {
		do()
	}
	within(h.exited, time.Now())
	if h.stderrHeld != nil {
		_ = h.stderrHeld.Close()
	}
	_ = os.RemoveAll(h.dir)
}

// processes are those below the host of a name.
func (h *host) processes(name string) (pids []int) {
	parents := map[int]int{}
	names := map[int]string{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		stat, _ := os.ReadFile(dir + "/stat")
		line, _ := os.ReadFile(dir + "/cmdline")
		if at := bytes.LastIndexByte(stat, ')'); at > 0 {
			if fields := strings.Fields(string(stat[at+1:])); len(fields) > 1 {
				parents[pid], _ = strconv.Atoi(fields[1])
				first, _, _ := strings.Cut(string(line), "\x00")
				names[pid] = first
			}
		}
	}
	for pid, called := range names {
		if called != name {
			continue
		}
		for up := pid; up > 1; up = parents[up] {
			if up == h.cmd.Process.Pid {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// signal sends a signal to the processes of a name, once.
func signal(name string, sig syscall.Signal) func(h *host) func() {
	return func(h *host) func() {
		pids := h.processes(name)
		if len(pids) == 0 {
			fmt.Println("there is no", name)
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, sig)
		}
		return func() {}
	}
}

// stopping stops the processes of a name again and again, for ten seconds: also those that come meanwhile.
func stopping(name string) func(h *host) func() {
	return func(h *host) func() {
		pids, over := h.processes(name), make(chan struct{})
		go func() {
			for limit := time.Now().Add(10 * time.Second); time.Now().Before(limit); time.Sleep(time.Millisecond) {
				for _, pid := range pids {
					_ = syscall.Kill(pid, syscall.SIGSTOP)
				}
			}
			close(over)
		}()
		return func() { <-over }
	}
}

// freeze freezes the file system of a directory, until what ends it or the end of this program.
func freeze(name string) func(h *host) func() {
	return func(h *host) func() {
		cmd := exec.Command("sh", "-c", `fsfreeze --freeze "$0"; echo; read line; fsfreeze --unfreeze "$0"`, h.path(name))
		in, err := cmd.StdinPipe()
		check(err)
		out, err := cmd.StdoutPipe()
		check(err)
		cmd.Stderr = os.Stderr
		check(cmd.Start())
		bufio.NewScanner(out).Scan()
		return func() {
			_ = in.Close()
			_ = cmd.Wait()
		}
	}
}

// silence has the FUSE server answer nothing any more.
func silence(h *host) func() {
	h.memory.say("stop")
	return func() { h.memory.say("go") }
}

func fifo(h *host) func() {
	check(syscall.Mkfifo(h.path("ws/fifo"), 0o600))
	return func() {}
}

// rap sends a call whose result goes to a callback, and returns the status.
func (h *host) rap(n int, group, callback string) int {
	m := h.post("/invoke", fmt.Sprintf(`{"group_id":%q,"id":"r%d","operation":"read","arguments":{"path":"f"},"callback_url":%q}`, group, n, callback))
	status, _ := m["status"].(int)
	return status
}

// refusedCallbacks has the host write 600 lines to stderr.
func refusedCallbacks(h *host) []string {
	if h.door != "http" {
		return nil
	}
	begun := time.Now()
	for n := range 600 {
		h.rap(n, "g", "http://192.0.2.1/")
	}
	return []string{"600 lines in " + round(time.Since(begun))}
}

// silentCallbacks fills a group with calls whose callback takes connections and says nothing, and calls once more with one that answers.
func silentCallbacks(h *host) []string {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	h.unmounts = append(h.unmounts, func() { _ = silent.Close() })
	go func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, conn) }() // it stays open
		}
	}()
	return h.callbacks("silent", silent.Addr().String())
}

// deadCallbacks fills a group with calls whose callback refuses connections, and calls once more with one that answers.
func deadCallbacks(h *host) []string {
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	_ = dead.Close()
	return h.callbacks("dead", dead.Addr().String())
}

func (h *host) callbacks(kind, address string) []string {
	statuses := map[int]int{}
	for n := range 300 {
		statuses[h.rap(n, "g", "http://"+address+"/")]++
	}
	got := make(chan string, 1)
	live, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	defer live.Close()
	go func() {
		_ = http.Serve(live, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			got <- string(text)
		}))
	}()
	time.Sleep(time.Second) // calls a second are bounded
	begun := time.Now()
	status := h.rap(1000, "g", "http://"+live.Addr().String()+"/")
	select {
	case text := <-got:
		if !strings.Contains(text, "content") {
			return []string{"the live callback got " + text}
		}
		return []string{fmt.Sprintf("300 with a %s callback: %v; then one was answered in %s", kind, statuses, round(time.Since(begun)))}
	case <-time.After(lost):
		return []string{fmt.Sprintf("LATE: the live callback got nothing, %d", status)}
	}
}
