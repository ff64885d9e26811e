package mcp

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
)

// TestUnplaced: a client whose server has no workspace is told why at each call, in both eras.
func TestUnplaced(t *testing.T) {
	for _, revision := range revisions {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Unplaced{Version: "1", Tools: []agenttool.Description{(&fake{name: "read"}).Describe()}, Reason: "name a workspace"}.Serve(t.Context(), in, out)
		}()
		c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			t.Fatal(err)
		}
		list, err := c.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 1 {
			t.Errorf("%s: %+v, %v", revision, list, err)
		}
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "read"})
		if err != nil || !res.IsError || texts(res)[0] != "name a workspace" {
			t.Errorf("%s: %+v, %v", revision, res, err)
		}
		_ = c.Close()
		_ = toServer.Close()
		<-ended
	}
}

// TestUnplacedAnswersAll: what a client asked before its input ended is answered, and what is no message gets an error.
func TestUnplacedAnswersAll(t *testing.T) {
	const calls = 200
	var in, out bytes.Buffer
	in.WriteString(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n")
	in.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n{\n")
	for i := range calls {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{}}}`+"\n", i)
	}
	Unplaced{Version: "1", Tools: []agenttool.Description{(&fake{name: "read"}).Describe()}, Reason: "name a workspace"}.Serve(t.Context(), io.NopCloser(&in), keeping{&out})
	if n := strings.Count(out.String(), `"text":"name a workspace"`); n != calls {
		t.Errorf("%d of %d calls were answered", n, calls)
	}
	if n := strings.Count(out.String(), `"code":-32700`); n != 1 {
		t.Errorf("a line that is no message: %d answers", n)
	}
}

type keeping struct{ io.Writer }

func (keeping) Close() error { return nil }
