package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// mixedClient is a client that speaks both families on one stream, and counts what comes back.
type mixedClient struct {
	t      *testing.T
	random *rand.Rand
	in     *bufio.Writer
	sent   map[string][]sentRequest // by id, as spelled: the same id may be in use in both families
	free   map[string]bool          // requests that were canceled: they may stay without an answer
	next   int

	mu       sync.Mutex
	answered map[string][]string // the families that answered an id
}

// sentRequest is a request that was sent.
type sentRequest struct{ family, method string }

// TestFamiliesShareAStream: thousands of messages of both families, and of both eras of MCP, in random order and with
// cancellations. Each request is answered once, by its own family.
func TestFamiliesShareAStream(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "small"), []byte("a needle\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(toolhostProgram(t), "serve", "--workspace", dir)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c := &mixedClient{t: t, random: rand.New(rand.NewPCG(seed, 0)), in: bufio.NewWriter(in), sent: map[string][]sentRequest{}, free: map[string]bool{}, answered: map[string][]string{}}
	read := make(chan error, 1)
	go func() { read <- c.read(out) }()

	c.write(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"mixed","version":"1"}}}`)
	c.sent[`"init"`] = []sentRequest{{"mcp", "initialize"}}
	c.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	messages := count(5_000, 10_000)
	if underRace { // each of them is as good at meeting others
		messages = 3_000
	}
	for c.next < messages {
		c.one()
	}
	_ = c.in.Flush()
	_ = in.Close()
	if err := <-read; err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("toolhost ended with %v", err)
	}
	c.check()
}

func (c *mixedClient) write(line string) {
	if _, err := c.in.WriteString(line + "\n"); err != nil {
		c.t.Fatal(err)
	}
	if c.random.IntN(4) == 0 {
		_ = c.in.Flush()
	}
}

// one sends one message.
func (c *mixedClient) one() {
	c.next++
	n := c.next
	if c.random.IntN(3) == 0 {
		n = c.next - c.random.IntN(2) // the id before, in use by the other family perhaps
	}
	id := fmt.Sprint(n)
	if n%5 == 0 {
		id = fmt.Sprintf(`"%d"`, n)
	}
	if c.random.IntN(8) == 0 {
		c.cancel()
		return
	}
	if c.random.IntN(2) == 0 {
		c.native(id)
	} else {
		c.mcp(id)
	}
}

func (c *mixedClient) native(id string) {
	var method, params string
	switch c.random.IntN(4) {
	case 0:
		method, params = "agenttool/status", "{}"
	case 1:
		method, params = "agenttool/nothing", "{}"
	case 2:
		method, params = "agenttool/invoke", fmt.Sprintf(`{"id":"call-%d","tool":"nothing"}`, c.next)
	default:
		method, params = "agenttool/invoke", fmt.Sprintf(`{"id":"call-%d","tool":"read","input":{"path":"small"}}`, c.next)
	}
	c.request("native", id, method, params)
}

// modern is the _meta of a request of 2026-07-28.
const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"mixed","version":"1"}}`

func (c *mixedClient) mcp(id string) {
	var method, params string
	switch c.random.IntN(7) {
	case 0:
		method, params = "ping", "{}"
	case 1:
		method, params = "nothing/at_all", "{}"
	case 2:
		method, params = "server/discover", "{"+modern+"}"
	case 3:
		method, params = "tools/list", "{}"
	case 4:
		method, params = "tools/call", `{"name":"nothing"}`
	case 5:
		method, params = "tools/call", `{"name":"grep","arguments":{"pattern":"needle"},`+modern+`}`
	default:
		method, params = "tools/call", `{"name":"read","arguments":{"path":"small"}}`
	}
	c.request("mcp", id, method, params)
}

// request sends a request, unless its family uses the id already.
func (c *mixedClient) request(family, id, method, params string) {
	for _, w := range c.sent[id] {
		if w.family == family {
			return
		}
	}
	c.sent[id] = append(c.sent[id], sentRequest{family, method})
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
}

// cancel cancels one of the last requests, whether it still runs or not.
func (c *mixedClient) cancel() {
	n := max(1, c.next-1-c.random.IntN(20))
	id := fmt.Sprint(n)
	if n%5 == 0 {
		id = fmt.Sprintf(`"%d"`, n)
	}
	if c.random.IntN(2) == 0 {
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"agenttool/cancel","params":{"id":"call-%d"}}`, n))
		return
	}
	c.free[id] = true
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"a whim"}}`, id))
}

func (c *mixedClient) read(out io.Reader) error {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result map[string]any  `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.Result == nil && m.Error == nil {
			return fmt.Errorf("no response: %s: %v", lines.Bytes(), err)
		}
		family := "mcp"
		_, isInvocation := m.Result["invocation"]
		_, isStatus := m.Result["pending_decisions"]
		if isInvocation || isStatus || m.Error != nil && strings.Contains(m.Error.Message, "native methods") {
			family = "native"
		}
		c.mu.Lock()
		c.answered[string(m.ID)] = append(c.answered[string(m.ID)], family)
		c.mu.Unlock()
	}
	return lines.Err()
}

func (c *mixedClient) check() {
	requests := 0
	for id, sent := range c.sent {
		for _, w := range sent {
			requests++
			n := 0
			for _, family := range c.answered[id] {
				if family == w.family {
					n++
				}
			}
			if n == 1 || n == 0 && w.family == "mcp" && c.free[id] {
				continue
			}
			c.t.Errorf("%s %s with id %s was answered %d times by its family; answers: %v", w.family, w.method, id, n, c.answered[id])
		}
		if len(c.answered[id]) > len(sent) {
			c.t.Errorf("id %s: %d requests, %d answers", id, len(sent), len(c.answered[id]))
		}
	}
	for id := range c.answered {
		if c.sent[id] == nil {
			c.t.Errorf("an answer to %s, which was never sent: %v", id, c.answered[id])
		}
	}
	if requests < c.next/2 {
		c.t.Errorf("only %d requests were sent: the test would prove nothing", requests)
	}
}

// TestPipedCalls: calls that were sent before the input ended are served, whichever family they are of.
func TestPipedCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "small"), []byte("a needle\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const calls = 20
	lines := []string{`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"pipe","version":"1"}}}`}
	for i := range calls {
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"path":"small"}}}`, i),
			fmt.Sprintf(`{"jsonrpc":"2.0","id":"m%d","method":"tools/call","params":{"name":"read","arguments":{"path":"small"},%s}}`, i, modern))
	}
	program := toolhostProgram(t)
	for range 5 {
		cmd := exec.Command(program, "serve", "--workspace", dir)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
		cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Join(lines, "\n")), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(out), `"content":[{"type":"text","text":"     1\ta needle"}]`); n != 2*calls || strings.Contains(string(out), "shutting down") {
			t.Errorf("%d of %d calls were served:\n%.2000s", n, 2*calls, out)
		}
	}
}

// TestBatchesOfMCP: revision 2025-03-26 has batches, and is agreed to. Each request of a batch is answered with its id, also beside messages that
// are refused, and native requests may stand in it.
func TestBatchesOfMCP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "small"), []byte("a needle\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServing(t, dir, t.TempDir(), nil, "--sandbox", "none")
	s.send(`{"jsonrpc":"2.0","id":"hi","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	s.send(`[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":1,"method":"tools/list"},` +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Read","arguments":{"file_path":"small"}}},5,` +
		`{"jsonrpc":"2.0","id":3,"method":"nothing/at_all"},{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"a":1,"a":2}},` +
		`{"jsonrpc":"2.0","id":5,"method":"agenttool/invoke","params":{"id":"n","tool":"read","input":{"path":"small"}}}]`)
	want := map[string]string{"hi": `"protocolVersion":"2025-03-26"`, "1": `"tools":[`, "2": "a needle", "<nil>": "-32600", "3": "-32601", "4": "-32600", "5": "a needle"}
	for len(want) > 0 && s.out.Scan() {
		var m struct{ ID any }
		if err := json.Unmarshal(s.out.Bytes(), &m); err != nil {
			t.Fatalf("%s: %v", s.out.Bytes(), err)
		}
		id := fmt.Sprint(m.ID)
		if holds, asked := want[id]; !asked || !strings.Contains(s.out.Text(), holds) {
			t.Errorf("the answer to %s is %.300s, want %q", id, s.out.Bytes(), holds)
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("without an answer: %v", want)
	}
}
