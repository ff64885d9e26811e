package mcp

import (
	"context"
	"io"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestStreamServesClient lets the SDK's client speak to a stream behind the line reader, in both eras.
func TestStreamServesClient(t *testing.T) {
	for _, c := range []struct {
		version string
		asked   string // the result of a tool that asks the client in the way of the handshake
	}{
		{"2025-06-18", "accept"},
		{"2025-11-25", "accept"},
		{"2026-07-28", `unanswered: "elicitation/create" cannot be sent while serving a request on protocol version 2026-07-28: return an InputRequests map instead (multi round-trip requests, SEP-2322)`},
	} {
		t.Run(c.version, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			s := connectClient(t, ctx, c.version)
			if got := s.InitializeResult().ProtocolVersion; got != c.version {
				t.Errorf("version %s, want %s", got, c.version)
			}
			tools, err := s.ListTools(ctx, nil)
			if err != nil || len(tools.Tools) != 7 {
				t.Errorf("tools %v, %v, want 7", tools, err)
			}
			if got := s.call(ctx, "echo"); got != `{"ms":9}` {
				t.Errorf("echo returned %q", got)
			}
			if got := s.call(ctx, "ask"); got != c.asked {
				t.Errorf("ask returned %q, want %q", got, c.asked)
			}
			if got := s.call(ctx, "progress"); got != "<nil>" {
				t.Errorf("progress returned %q", got)
			}
			select {
			case <-s.heard:
			case <-ctx.Done():
				t.Error("no progress was heard")
			}
			canceled, stop := context.WithCancel(ctx)
			time.AfterFunc(10*time.Millisecond, stop)
			if _, err := s.CallTool(canceled, &sdk.CallToolParams{Name: "wait", Arguments: map[string]int{"ms": 60_000}}); err == nil {
				t.Error("a canceled call has a result")
			}
			if got := s.call(ctx, "panic"); got != `calling "tools/call": internal error: oh no; this is a bug in toolhost` {
				t.Errorf("panic returned %q", got)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			<-s.served // the canceled call would take a minute
		})
	}
}

type testClient struct {
	*sdk.ClientSession
	heard  chan bool // progress
	served chan struct{}
}

func connectClient(t *testing.T, ctx context.Context, version string) *testClient {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := &testClient{served: make(chan struct{}), heard: make(chan bool, 1)}
	go func() {
		defer close(s.served)
		serveWithStream(in, out)
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept"}, nil
		},
		ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { s.heard <- true },
	})
	session, err := client.Connect(ctx, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	s.ClientSession = session
	return s
}

// call returns the text of a tool's result, or its error.
func (s *testClient) call(ctx context.Context, tool string) string {
	result, err := s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: map[string]int{"ms": 9}})
	if err != nil {
		return err.Error()
	}
	return result.Content[0].(*sdk.TextContent).Text
}
