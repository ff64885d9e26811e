package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// flood is a load that a client can put on its host.
type flood struct {
	name string
	run  func(c *client)
}

// floods are what is tried, each with a host of its own; the last one after the others on one host.
var floods = []flood{
	{"10,000 small reads", func(c *client) {
		for range c.of(10_000) {
			c.call("read", map[string]any{"path": "small"})
		}
	}},
	{"large reads", func(c *client) {
		for range c.of(300) {
			c.call("read", map[string]any{"path": "large.txt", "offset": 1 + c.random.IntN(900_000)})
			c.call("read", map[string]any{"path": "picture.png"})
		}
	}},
	{"large reads by MCP", func(c *client) {
		for range c.of(300) {
			c.mcp("read", map[string]any{"path": "large.txt", "offset": 1 + c.random.IntN(900_000)})
			c.mcp("read", map[string]any{"path": "picture.png"})
		}
	}},
	{"results not read", func(c *client) {
		c.host.reads.Lock()
		for range c.of(400) {
			c.call("read", map[string]any{"path": "picture.png"})
		}
		time.Sleep(3 * time.Second)
		c.host.reads.Unlock()
	}},
	{"searches", func(c *client) {
		for i := range c.of(200) {
			c.call("grep", map[string]any{"pattern": fmt.Sprintf("word%d ", i%50), "output_mode": "content", "limit": 5000})
			c.call("grep", map[string]any{"pattern": fmt.Sprintf("(w|x)ord[%d-9]+", i%9), "ignore_case": true, "context": 3})
			c.call("glob", map[string]any{"pattern": fmt.Sprintf("**/*%d*", i)})
		}
	}},
	{"searches of large files", func(c *client) {
		for i := range c.of(60) {
			c.call("grep", map[string]any{"pattern": fmt.Sprintf("word%d\\b", i), "path": "large.txt", "output_mode": "content"})
			c.call("grep", map[string]any{"pattern": "x{5,}y", "path": "line.txt", "multiline": true})
		}
	}},
	{"output of jobs", func(c *client) {
		for i := range c.of(16) {
			c.call("shell", map[string]any{"command": fmt.Sprintf("yes 'a line of job %d, which has some characters' | head -c 60000000", i)})
		}
		for range c.of(16) {
			c.call("shell", map[string]any{"command": "head -c 20000000 /dev/urandom | base64 -w 0"})
		}
	}},
	{"long lines", func(c *client) {
		for i := range c.of(24) {
			c.call("write", map[string]any{"path": fmt.Sprintf("written%d", i), "content": strings.Repeat("some text\n", 100_000)})
			c.raw(bytes.Repeat([]byte("x"), 20<<20))
			c.raw(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"long","method":"agenttool/invoke","params":{"id":"long%d","tool":"write","input":{"path":"long%d","content":"%s"}}}`,
				i, i, strings.Repeat("y", 15<<20)))
			c.raw(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"deep","method":"agenttool/invoke","params":%s1%s}`, strings.Repeat("[", 1<<19), strings.Repeat("]", 1<<19)))
		}
	}},
	{"large batches", func(c *client) {
		for i := range c.of(100) {
			calls := make([]any, 100)
			for n := range calls {
				calls[n] = call(fmt.Sprintf("b%d.%d", i, n), "read", map[string]any{"path": "page"})
			}
			c.send("agenttool/batch", map[string]any{"id": fmt.Sprint("batch", i), "calls": calls})
		}
	}},
	{"batches of images", func(c *client) {
		for i := range c.of(40) {
			calls := make([]any, 100)
			for n := range calls {
				calls[n] = call(fmt.Sprintf("i%d.%d", i, n), "read", map[string]any{"path": "picture.png"})
			}
			c.send("agenttool/batch", map[string]any{"id": fmt.Sprint("images", i), "calls": calls})
			for n := range 100 {
				one := call(fmt.Sprintf("s%d.%d", i, n), "read", map[string]any{"path": "picture.png"})
				one["batch"] = fmt.Sprint("singly", i)
				c.send("agenttool/invoke", one)
			}
		}
	}},
	{"large edits", func(c *client) {
		for i := range c.of(24) {
			c.call("edit", map[string]any{"path": fmt.Sprintf("edited%d", i%4), "edits": []any{
				map[string]any{"old_string": "the middle", "new_string": strings.Repeat("m", 100_000) + "the middle"}}})
			c.call("edit", map[string]any{"path": fmt.Sprintf("edited%d", i%4), "edits": []any{
				map[string]any{"old_string": "line 7 ", "new_string": "line 7  ", "replace_all": true}}})
		}
	}},
}

// client puts load on a host and counts how it is answered.
type client struct {
	host    *host
	short   bool
	random  *rand.Rand
	calls   int
	pending sync.WaitGroup

	mu     sync.Mutex
	failed map[string]int // calls by why they failed
}

// of is how many calls a flood makes of n.
func (c *client) of(n int) int {
	if c.short {
		return max(n/8, 4)
	}
	return n
}

func (c *client) call(tool string, input map[string]any) {
	c.send("agenttool/invoke", call(fmt.Sprint("c", c.calls), tool, input))
}

func (c *client) mcp(tool string, input map[string]any) {
	c.send("tools/call", map[string]any{"name": tool, "arguments": input, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]string{"name": "memory", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}})
}

// send sends a request without waiting for those before it.
func (c *client) send(method string, params any) {
	c.calls++
	sent := c.host.Send(method, params)
	c.pending.Go(func() {
		m, err := sent.Message(patience)
		r := reply{m}
		for err == nil && r.busy() {
			time.Sleep(50 * time.Millisecond)
			r, err = c.host.request(method, params)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil {
			c.failed[err.Error()]++
		} else if !r.succeeded() && !strings.Contains(r.says(), "batch_full") { // what memory cannot hold is refused
			c.failed[r.says()]++
		}
	})
}

// raw writes a line that is no message.
func (c *client) raw(line []byte) {
	_, _ = c.host.Write(append(line, '\n'))
}

// run floods the host and waits until every call has its answer.
func (c *client) run(f flood) {
	f.run(c)
	c.pending.Wait()
}

// workspace makes the files that the floods use.
func workspace(dir string, short bool) error {
	files, lines := 20_000, 1_000_000
	if short {
		files, lines = 2_000, 1_000_000
	}
	text := func(n int) []byte {
		var b bytes.Buffer
		for i := range n {
			fmt.Fprintf(&b, "line %d of this text has word%d and word%d in it\n", i, i%97, i%1009)
		}
		return b.Bytes()
	}
	page := text(80)
	for i := range files {
		sub := filepath.Join(dir, "tree", fmt.Sprint(i%100), fmt.Sprint(i%10))
		if i < 1000 {
			if err := os.MkdirAll(sub, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("file%d.txt", i)), append(page, fmt.Sprint(i)...), 0o644); err != nil {
			return err
		}
	}
	named := map[string][]byte{
		"small": nil, "page": text(500), "large.txt": text(lines),
		"line.txt": bytes.Repeat([]byte("xxxx "), 8<<20), // one line of 40 MiB
	}
	var err error
	if named["picture.png"], err = picture(); err != nil {
		return err
	}
	for i := range 4 { // of 4 MB, which the memory of a small control group bounds just above
		half := text(40_000)
		named[fmt.Sprint("edited", i)] = append(append(half, "the middle\n"...), half...)
	}
	for name, content := range named {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// picture returns a PNG of 1 MB, which a host decodes before it sends it.
func picture() ([]byte, error) {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.NoCompression}
	err := encoder.Encode(&b, image.NewGray(image.Rect(0, 0, 1024, 1024)))
	return b.Bytes(), err
}
