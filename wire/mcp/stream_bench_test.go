package mcp

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/wire/stdio"
)

// BenchmarkStream measures a tools/call that does nothing, through a pair of pipes: with the transport of the SDK, and
// with ours behind the line reader, which also looks for the other family's messages.
func BenchmarkStream(b *testing.B) {
	for _, c := range []struct {
		name   string
		call   func(id, tool, arguments string) string
		size   int // of the arguments and the result, in bytes
		window int // requests in flight
	}{
		{"sequential", legacyCall, 2, 1},
		{"pipelined", legacyCall, 2, 32},
		{"modern", modernCall, 2, 1},
		{"64KiB", legacyCall, 64 << 10, 1},
	} {
		arguments := `{"text":"` + strings.Repeat("x", c.size) + `"}`
		b.Run(c.name+"/sdk", func(b *testing.B) {
			benchmarkCalls(b, serveWithSDK, c.window, func(id string) string { return c.call(id, "echo", arguments) })
		})
		b.Run(c.name+"/stream", func(b *testing.B) {
			benchmarkCalls(b, serveWithStream, c.window, func(id string) string { return c.call(id, "echo", arguments) })
		})
	}
}

func serveWithSDK(in io.ReadCloser, out io.WriteCloser) {
	_ = newTestServer().Run(context.Background(), &sdk.IOTransport{Reader: in, Writer: out})
}

func serveWithStream(in io.ReadCloser, out io.WriteCloser) {
	w := stdio.NewWriter(out)
	st := newStream(newTestServer(), StreamOptions{
		Write: func(m []byte, droppable bool) { w.Send(droppable, m) }, Room: w.Room, Busy: w.Busy,
	})
	_ = stdio.Serve(context.Background(), in, w, benchFamily{st})
	st.Drain(context.Background())
	_ = w.Close()
	_ = out.Close()
}

// benchFamily makes a stream a family of the line reader.
type benchFamily struct{ *Stream }

func (f benchFamily) Receive(m stdio.Message) { f.Stream.Receive(Line(m)) }

func benchmarkCalls(b *testing.B, serve func(io.ReadCloser, io.WriteCloser), window int, line func(id string) string) {
	in, toServer, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	fromServer, out, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan struct{})
	go func() { serve(in, out); close(served) }()
	answers := bufio.NewReaderSize(fromServer, 256<<10)
	exchange := func(line []byte) {
		if _, err := toServer.Write(line); err != nil {
			b.Fatal(err)
		}
	}
	await := func() {
		if answer, err := answers.ReadBytes('\n'); err != nil || !bytes.Contains(answer, []byte(`"result":`)) {
			b.Fatalf("%.200s: %v", answer, err)
		}
	}
	exchange([]byte(initializeLine + "\n" + initializedLine + "\n"))
	await()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		exchange([]byte(line(strconv.Itoa(n)) + "\n"))
		if n >= window {
			await()
		}
	}
	for range min(n, window-1) {
		await()
	}
	_ = toServer.Close()
	<-served
	_ = fromServer.Close()
}
