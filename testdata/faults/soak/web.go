package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"
)

// web is the host that is spoken to over HTTP.
type web struct {
	host
	count     *tally
	at        struct{ URL, MCP, RAP, Token string }
	client    http.Client
	session   string // of MCP
	callback  string
	callbacks *http.Server
	mu        sync.Mutex
	waits     map[string]chan string // for the callbacks of calls, by id
}

// startWeb starts it, and a server for its callbacks.
func startWeb(dir, program string, count *tally) (*web, error) {
	w := &web{host: host{name: "http"}, count: count, waits: map[string]chan string{}}
	if err := w.place(dir, program, "--http", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &w.at)
	}
	if err != nil {
		return nil, err
	}
	w.end = func() error {
		_ = w.cmd.Process.Signal(syscall.SIGTERM)
		return w.cmd.Wait()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w.callback, w.callbacks = "http://"+listener.Addr().String()+"/", &http.Server{Handler: http.HandlerFunc(w.called)}
	go w.callbacks.Serve(listener) // until close
	w.client.Timeout = patience
	answer, header, err := w.post(w.at.MCP, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}}`)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, answer)
	}
	w.session = header.Get("Mcp-Session-Id")
	_, _, err = w.post(w.at.MCP, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w, err
}

func (w *web) close() { _ = w.callbacks.Close() }

func (w *web) clients() []func(n int) { return []func(int){w.mcp, w.rap, w.leaves} }

// called takes a callback.
func (w *web) called(_ http.ResponseWriter, r *http.Request) {
	var m struct{ Type, ID string }
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &m) != nil || m.Type != "tool_result" {
		return
	}
	w.mu.Lock()
	waits := w.waits[m.ID]
	delete(w.waits, m.ID)
	w.mu.Unlock()
	if waits != nil {
		waits <- string(body)
	}
}

func (w *web) post(url, body string) (string, http.Header, error) {
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		return "", nil, err
	}
	r.Header = http.Header{"Authorization": {"Bearer " + w.at.Token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if w.session != "" {
		r.Header.Set("Mcp-Session-Id", w.session)
	}
	res, err := w.client.Do(r)
	if err != nil {
		return "", nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 {
		err = errors.New(res.Status)
	}
	return string(answer), res.Header, err
}

// input is the input of the nth call of a tool.
func input(tool string, n int) map[string]any {
	switch tool {
	case "shell":
		return map[string]any{"command": fmt.Sprintf("echo %d; wc -l src/f%d.txt", n, n%200)}
	case "write":
		return map[string]any{"path": fmt.Sprintf("web%d.txt", n%50), "content": fmt.Sprint("text ", n)}
	case "glob":
		return map[string]any{"pattern": fmt.Sprintf("src/f%d*", n%20)}
	}
	return map[string]any{"path": fmt.Sprintf("src/f%d.txt", n%200)}
}

var webTools = []string{"read", "glob", "shell", "read", "write"}

// mcp makes a call over MCP.
func (w *web) mcp(n int) {
	tool := webTools[n%len(webTools)]
	w.count.add(w.name, "MCP "+tool, w.rpc(n, tool))
}

// rpc makes a call over MCP and returns why it failed.
func (w *web) rpc(n int, tool string) string {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": n + 10, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": input(tool, n)}})
	check(err)
	answer, _, err := w.post(w.at.MCP, string(body))
	switch {
	case err != nil:
		return err.Error()
	case strings.Contains(answer, `"isError":true`) || !strings.Contains(answer, `"result"`):
		return answer
	}
	return ""
}

// rap makes a call over RAP and waits for its callback.
func (w *web) rap(n int) {
	tool := webTools[n%len(webTools)]
	id, called := fmt.Sprint("r", n), make(chan string, 1)
	w.mu.Lock()
	w.waits[id] = called
	w.mu.Unlock()
	body, err := json.Marshal(map[string]any{"group_id": "g", "id": id, "operation": tool, "arguments": input(tool, n), "callback_url": w.callback})
	check(err)
	why := ""
	if answer, _, err := w.post(w.at.URL+"/invoke", string(body)); err != nil {
		why = err.Error() + " " + answer
	} else {
		select {
		case result := <-called:
			if bytes.Contains([]byte(result), []byte(`"is_error":true`)) {
				why = result
			}
		case <-time.After(patience):
			why = "no callback"
		}
	}
	w.count.add(w.name, "RAP "+tool, why)
}

// leaves makes a call over MCP, and the client is gone before it ends.
func (w *web) leaves(n int) {
	client := http.Client{Timeout: time.Duration(50+n%5*20) * time.Millisecond}
	defer client.CloseIdleConnections()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"shell","arguments":{"command":"sleep 0.3"}}}`, n+1_000_000)
	r, err := http.NewRequest("POST", w.at.MCP, strings.NewReader(body))
	check(err)
	r.Header = http.Header{"Authorization": {"Bearer " + w.at.Token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {w.session}}
	if res, err := client.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	w.count.add(w.name, "client that left", "")
	time.Sleep(300 * time.Millisecond)
}
