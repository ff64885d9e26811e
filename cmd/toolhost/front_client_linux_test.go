package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool/cut"
	"toolhost/testdata/support/wiretest"
)

// frontPatience is how long anything may take that a client waits for. It is generous: machines are loaded, and the race detector takes its time.
const frontPatience = slower * time.Minute

// serveProcess is a running toolhost serve, whose home is its own.
type serveProcess struct {
	t     *testing.T
	cmd   *exec.Cmd
	home  string // short: the path of a socket is
	ws    string
	in    io.WriteCloser
	out   io.Reader
	said  lockedText    // on stderr
	ended chan struct{} // closed when the process has ended; nobody else waits for it
}

// frontHome makes a home with a workspace in it, in which there are small ("a needle") and picture.png.
func frontHome(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("", "th")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	for _, dir := range []string{"ws", "run"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	keepLevel(t, filepath.Join(home, "state"))
	if err := os.WriteFile(filepath.Join(home, "ws", "small"), []byte("a needle\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// noise writes a picture into the workspace whose sides have so many points: of 160 it is 100 KB in a message, of 500 it is 1 MB.
func (d *serveProcess) noise(side int) {
	d.t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		n := random.Uint32()
		img.SetRGBA(i%side, i/side, color.RGBA{uint8(n), uint8(n >> 8), uint8(n >> 16), 255})
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, img); err != nil {
		d.t.Fatal(err)
	}
	d.put("picture.png", b.Bytes())
}

// put writes a file into the workspace.
func (d *serveProcess) put(name string, data []byte) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.ws, name), data, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// command is toolhost in that home.
func (d *serveProcess) command(args ...string) *exec.Cmd {
	cmd := exec.Command(toolhostProgram(d.t), args...)
	cmd.Dir = d.ws
	cmd.Env = append(os.Environ(), "HOME="+d.home, "XDG_STATE_HOME="+d.home+"/state", "XDG_CONFIG_HOME="+d.home+"/config", "XDG_RUNTIME_DIR="+d.home+"/run")
	return cmd
}

// openDoor starts toolhost serve with these flags in a home. It ends with the test at the latest.
func openDoor(t *testing.T, home string, flags ...string) *serveProcess {
	t.Helper()
	d := newDoor(t, home, flags...)
	d.start()
	return d
}

func newDoor(t *testing.T, home string, flags ...string) *serveProcess {
	d := &serveProcess{t: t, home: home, ws: filepath.Join(home, "ws"), ended: make(chan struct{})}
	d.cmd = d.command(append([]string{"serve", "--results", "structured,meta"}, flags...)...)
	return d
}

// start starts it.
func (d *serveProcess) start() {
	t := d.t
	t.Helper()
	d.cmd.Stderr, d.cmd.WaitDelay = &d.said, 5*time.Second
	in, err := d.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, hostOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d.in, d.out, d.cmd.Stdout = in, out, hostOut
	err = d.cmd.Start()
	hostOut.Close()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = d.cmd.Wait() // how it ended is in ProcessState
		close(d.ended)
	}()
	t.Cleanup(func() {
		_ = in.Close()
		select {
		case <-d.ended:
		case <-time.After(100 * time.Millisecond): // it serves at an address
			_ = d.cmd.Process.Signal(syscall.SIGTERM)
		}
		d.exits()
		out.Close()
		if said := d.said.String(); said != "" {
			t.Logf("stderr: %s", cut.Characters(said, 4000))
		}
	})
}

// exits waits for the end of the process and returns its exit code. One that does not end is killed.
func (d *serveProcess) exits() int {
	d.t.Helper()
	select {
	case <-d.ended:
	case <-time.After(frontPatience):
		_ = d.cmd.Process.Kill()
		<-d.ended
		d.t.Errorf("toolhost serve did not end in %v", frontPatience)
	}
	return d.cmd.ProcessState.ExitCode()
}

// endsBySignal sends SIGTERM and checks that the process ends in order, and soon.
func (d *serveProcess) endsBySignal() {
	d.t.Helper()
	begun := time.Now()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatal(err)
	}
	code := d.exits()
	within(d.t, "the end by SIGTERM", time.Since(begun), 6*time.Second, frontPatience)
	if code != exitOK {
		d.t.Errorf("SIGTERM ended it with exit code %d", code)
	}
}

// logsAre checks that all logs of the home are as they were written, and how they ended: "closed", "open".
func (d *serveProcess) logsAre(end string) {
	d.t.Helper()
	var logs []string
	for begun := time.Now(); len(logs) == 0; time.Sleep(10 * time.Millisecond) { // a call is in it when it has ended
		logs, _ = filepath.Glob(filepath.Join(d.home, "state", "toolhost", "sessions", "*", "log.jsonl"))
		if time.Since(begun) > frontPatience {
			d.t.Error("there is no log")
			return
		}
	}
	out, err := d.command(append([]string{"log", "verify"}, logs...)...).CombinedOutput()
	if err != nil || strings.Count(string(out), ": ok: ") != len(logs) || strings.Count(string(out), end) < len(logs) {
		d.t.Errorf("log verify: %v, want all %s\n%s", err, end, out)
	}
}

// resident is the memory of the process, in bytes.
func (d *serveProcess) resident() int {
	var size, pages int
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", d.cmd.Process.Pid))
	if err == nil {
		_, err = fmt.Sscan(string(text), &size, &pages)
	}
	if err != nil {
		d.t.Errorf("the memory of the host is not known: %v", err)
	}
	return pages * os.Getpagesize()
}

// naps counts the marks that were given out.
var naps atomic.Int64

// nap is a shell command that sleeps for longer than anybody waits and has a mark by which its process is found. What is left of it is killed at the end.
func nap(t *testing.T) (command, mark string) {
	mark = fmt.Sprintf("3000.%07d%05d", os.Getpid(), naps.Add(1))
	t.Cleanup(func() {
		for _, pid := range marked(mark) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return "sleep " + mark, mark
}

// begins waits until a nap has begun; wakes until nothing of it is left.
func begins(t *testing.T, mark string) {
	t.Helper()
	eventually(t, "the command runs", func() bool { return sleeping(mark) })
}

func wakes(t *testing.T, mark string) {
	t.Helper()
	eventually(t, "the command of the call is gone", func() bool { return len(marked(mark)) == 0 })
}

// spokenLine is a message as it came over the stream.
type spokenLine struct {
	wiretest.Message
	text string
}

// native reports whether a response is of the native family.
func (m spokenLine) native() bool {
	return bytes.Contains(m.Result, []byte(`"invocation":{`)) || bytes.Contains(m.Result, []byte(`"pending_decisions"`))
}

// lineClient keeps every line of a toolhost serve, and checks that each is a message.
type lineClient struct {
	*serveProcess
	*wiretest.Conn

	mu   sync.Mutex
	all  []spokenLine
	news chan struct{} // closed at the next message
}

func openLines(t *testing.T, flags ...string) *lineClient {
	t.Helper()
	return listenTo(openDoor(t, frontHome(t), flags...))
}

func listenTo(d *serveProcess) *lineClient {
	c := &lineClient{serveProcess: d, news: make(chan struct{})}
	c.Conn = wiretest.New(d.in, d.out, wiretest.Options{Heard: c.take, Malformed: malformed(d.t, "stdout")})
	d.t.Cleanup(func() {
		_ = c.CloseInput()
		<-c.Ended()
		if err := c.Err(); err != nil && !errors.Is(err, os.ErrClosed) {
			d.t.Errorf("the output: %v", err)
		}
	})
	return c
}

// take keeps a message, which must be one and nothing else.
func (c *lineClient) take(m wiretest.Message) {
	if m.Version != "2.0" || (m.Method != "") == (m.Result != nil || m.Error != nil) || m.Result != nil && m.Error != nil {
		c.t.Errorf("stdout has a line that is no request, no notification and no response: %s", cut.Characters(string(m.Line), 300))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, spokenLine{m, string(m.Line) + "\n"})
	close(c.news)
	c.news = make(chan struct{})
}

// send sends a line.
func (c *lineClient) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.Conn, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

// find returns the first message that is as wanted, which comes at the latest when patience ends.
func (c *lineClient) find(what string, ok func(spokenLine) bool) spokenLine {
	c.t.Helper()
	limit := time.After(frontPatience)
	for at := 0; ; {
		ended := c.Over()
		c.mu.Lock()
		all, news := c.all, c.news
		c.mu.Unlock()
		for ; at < len(all); at++ {
			if ok(all[at]) {
				return all[at]
			}
		}
		if ended {
			c.t.Fatalf("the output ended without %s; there was\n%s", what, c.heard())
		}
		select {
		case <-news:
		case <-c.Ended():
		case <-limit:
			c.t.Fatalf("%s did not come; there was\n%s", what, c.heard())
		}
	}
}

// heard is all that came, cut to be read.
func (c *lineClient) heard() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, m := range c.all[max(0, len(c.all)-20):] {
		b.WriteString(cut.Characters(m.text, 400) + "\n")
	}
	return b.String()
}

// count is how many of the messages that came so far are as wanted.
func (c *lineClient) count(ok func(spokenLine) bool) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.all {
		if ok(m) {
			n++
		}
	}
	return n
}

// answer waits for the response to a request of MCP, whose id is as it was spelled.
func (c *lineClient) answer(id string) spokenLine {
	c.t.Helper()
	return c.find("an answer to "+id, func(m spokenLine) bool { return m.Method == "" && string(m.ID) == id && !m.native() })
}

// nativeAnswer waits for the response to a request of the native family that worked.
func (c *lineClient) nativeAnswer(id string) spokenLine {
	c.t.Helper()
	return c.find("a native answer to "+id, func(m spokenLine) bool { return string(m.ID) == id && m.native() })
}

// greets begins a session of the old era, for a client that can be asked if so.
func (c *lineClient) greets(asked bool) {
	c.t.Helper()
	capabilities := `{}`
	if asked {
		capabilities = `{"elicitation":{}}`
	}
	c.send(`{"jsonrpc":"2.0","id":"greeting","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":%s,"clientInfo":{"name":"front","version":"1"}}}`, capabilities)
	if m := c.answer(`"greeting"`); !strings.Contains(m.text, `"protocolVersion":"2025-06-18"`) {
		c.t.Fatalf("initialize: %s", m.text)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// call sends tools/call of the old era.
func (c *lineClient) call(id int, tool, arguments string) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// toolResult is what tools/call returned.
type toolResult struct {
	IsError    bool           `json:"isError"`
	Meta       map[string]any `json:"_meta"`
	Structured map[string]any `json:"structuredContent"`
	Content    []struct{ Type, Text, Data, URI string }
}

// result is what a response holds. It must not be an error of the protocol.
func (m spokenLine) result(t *testing.T) (r toolResult) {
	t.Helper()
	if m.Error != nil {
		t.Fatalf("an error, no result: %s", cut.Characters(m.text, 600))
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// says is all text of a result.
func (r toolResult) says() string {
	var b strings.Builder
	for _, block := range r.Content {
		b.WriteString(block.Text)
	}
	return b.String()
}

// link is the address of the output that a result left out.
func (r toolResult) link(t *testing.T) string {
	t.Helper()
	for _, block := range r.Content {
		if block.Type == "resource_link" {
			return block.URI
		}
	}
	t.Fatalf("there is no resource_link: %s", cut.Characters(r.says(), 600))
	return ""
}
