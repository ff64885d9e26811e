package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkShellEcho measures echo hi: as a call without a sandbox and in the full one, beside bash -c and, where
// DESKTOP_COMMANDER names its index.js, beside that. All of them take turns, so that a busy machine is busy for each.
func BenchmarkShellEcho(b *testing.B) {
	dir := b.TempDir()
	ways := []*way{{name: "bash", once: func() error { return exec.Command("bash", "-c", "echo hi").Run() }}}
	for _, level := range []string{"none", "full"} {
		host := startChild(b, dir, b.TempDir(), "--sandbox", level, "--allow", "Shell")
		defer host.end(b)
		n := 0
		ways = append(ways, &way{name: level, once: func() error {
			n++
			if reply := host.round(b, invocation(n, "shell", `{"command":"echo hi"}`)); !bytes.Contains(reply, []byte(`"stdout":"hi\n"`)) {
				return fmt.Errorf("%s", reply)
			}
			return nil
		}})
	}
	if script := os.Getenv("DESKTOP_COMMANDER"); script != "" {
		ways = append(ways, desktopCommander(b, script))
	}
	for _, w := range ways { // what a first command costs is not what is measured
		if err := w.once(); err != nil {
			b.Fatalf("%s: %v", w.name, err)
		}
	}
	for b.Loop() {
		for _, w := range ways {
			start := time.Now()
			if err := w.once(); err != nil {
				b.Fatalf("%s: %v", w.name, err)
			}
			w.samples = append(w.samples, time.Since(start))
		}
	}
	budgets := map[string]time.Duration{"none": 3 * time.Millisecond, "full": 7 * time.Millisecond}
	for _, w := range ways {
		median := w.median()
		b.ReportMetric(float64(median.Microseconds())/1000, w.name+"-ms")
		if w != ways[0] {
			b.ReportMetric(float64(median)/float64(ways[0].median()), w.name+"/bash")
		}
		if budget := budgets[w.name]; budget > 0 && median > budget && os.Getenv("TOOLHOST_TIMED") != "" {
			b.Errorf("%s: the median of %d is %v, the budget is %v", w.name, len(w.samples), median, budget)
		}
	}
}

// way is one way to run a command.
type way struct {
	name    string
	once    func() error
	samples []time.Duration
}

func (w *way) median() time.Duration {
	slices.Sort(w.samples)
	return w.samples[len(w.samples)/2]
}

// desktopCommander is a command through Desktop Commander's MCP server.
func desktopCommander(b *testing.B, script string) *way {
	b.Helper()
	cmd := exec.Command("node", script, "--no-onboarding")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Skipf("DESKTOP_COMMANDER: %v", err)
	}
	b.Cleanup(func() { in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewReaderSize(out, 1<<20)
	last := 0
	request := func(method, params string) ([]byte, error) {
		last++
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", last, method, params); err != nil {
			return nil, err
		}
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return nil, err
			}
			var m struct {
				ID     int
				Result json.RawMessage
			}
			if json.Unmarshal(line, &m) == nil && m.ID == last && m.Result != nil {
				return m.Result, nil
			}
		}
	}
	if _, err := request("initialize", `{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`); err != nil {
		b.Fatal(err)
	}
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return &way{name: "desktop-commander", once: func() error {
		reply, err := request("tools/call", `{"name":"start_process","arguments":{"command":"echo hi","timeout_ms":5000}}`)
		if err == nil && !bytes.Contains(reply, []byte("hi")) {
			err = fmt.Errorf("%s", reply)
		}
		return err
	}}
}
