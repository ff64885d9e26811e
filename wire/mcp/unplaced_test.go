package mcp

import (
	"io"
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
