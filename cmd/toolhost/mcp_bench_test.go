package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const mcpInitialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`

func mcpCall(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"path":"empty"}}}`, id)
}

// BenchmarkStartMCP measures from the start of the process to the reply to tools/list, beside a process that does nothing.
func BenchmarkStartMCP(b *testing.B) {
	if _, err := built(); err != nil {
		b.Fatal(err)
	}
	dir, state := b.TempDir(), b.TempDir()
	var samples, floor []time.Duration
	for b.Loop() {
		start := time.Now()
		if err := exec.Command("true").Run(); err != nil {
			b.Fatal(err)
		}
		floor = append(floor, time.Since(start))
		start = time.Now()
		c := startChild(b, dir, state)
		c.round(b, mcpInitialize)
		list := c.round(b, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		samples = append(samples, time.Since(start))
		b.ReportMetric(float64(len(list)), "bytes-listed")
		b.StopTimer()
		c.end(b)
		b.StartTimer()
	}
	report(b, samples)
	b.ReportMetric(float64(floor[len(floor)/2].Nanoseconds())/1000, "true-µs")
}

// BenchmarkMCP measures one tools/call over the pipe, in turns with the SDK alone and a tool that does nothing, and the native
// family on the stream whose MCP session idles.
func BenchmarkMCP(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600); err != nil {
		b.Fatal(err)
	}
	ours, plain, alone := startChild(b, dir, b.TempDir()), startChild(b, dir, b.TempDir()), startNoop(b)
	for _, c := range []*child{ours, alone} {
		c.round(b, mcpInitialize)
	}
	var mcp, sdk, beside, native []time.Duration
	timed := func(c *child, line string, to *[]time.Duration) {
		start := time.Now()
		c.round(b, line)
		*to = append(*to, time.Since(start))
	}
	n := 1
	for b.Loop() {
		n++
		timed(ours, mcpCall(n), &mcp)
		timed(alone, mcpCall(n), &sdk)
		timed(ours, invocation(n, "read", `{"path":"empty"}`), &beside)
		timed(plain, invocation(n, "read", `{"path":"empty"}`), &native)
	}
	for name, samples := range map[string][]time.Duration{"mcp": mcp, "sdk": sdk, "native-beside": beside, "native-alone": native} {
		b.ReportMetric(median(samples), name+"-µs")
	}
	b.ReportMetric(median(mcp)/median(sdk), "×sdk")
	b.StopTimer()
	for _, c := range []*child{ours, plain, alone} {
		c.end(b)
	}
}

func startNoop(b *testing.B) *child {
	path := filepath.Join(b.TempDir(), "noop")
	build := exec.Command("go", "build", "-o", path, "../../testdata/mcp/noop")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(path)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return &child{cmd, in, bufio.NewReaderSize(out, 1<<20)}
}

// median returns that of the samples in µs.
func median(samples []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	return float64(sorted[len(sorted)/2].Nanoseconds()) / 1000
}
