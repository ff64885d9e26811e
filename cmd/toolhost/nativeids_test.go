package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolhost/testdata/support/conform"
)

// TestNativeIDsAreKept: the log has the native ids of each call, from whichever protocol they are: those that the client of a native call names,
// those of an MCP request, and those of a command.
func TestNativeIDsAreKept(t *testing.T) {
	conform.Held(t, "AT-406")
	t.Parallel()
	s := startServing(t, t.TempDir(), t.TempDir(), nil, "--sandbox", "none")
	named := []string{
		`{"source":"function_calling","tool_call_id":"call_7","function_name":"shell","strict":true}`,
		`{"source":"openapi","operation_id":"runTests","method":"post","path":"/runs","server_url":"https://ci.example"}`,
		`{"source":"browser","browser_session_id":"b1","page_id":"p2","action_id":"a3"}`,
		`{"source":"a2a","agent_card_url":"https://peer.example/card","task_id":"t1","context_id":"x1","message_id":"m1"}`,
	}
	for i, mapping := range named {
		s.send(strings.Replace(invocation(i+1, "shell", `{"command":"true"}`), `"tool"`, `"mapping":`+mapping+`,"tool"`, 1))
		if _, ok := s.next(); !ok {
			t.Fatal("the output ended")
		}
	}
	s.send(`{"jsonrpc":"2.0","id":"m-9","method":"tools/call","params":{"name":"bash","arguments":{"command":"exit 3"},"_meta":{"callId":"toolu_1",` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if _, ok := s.next(); !ok {
		t.Fatal("the output ended")
	}
	calls := readLogAccount(t, s.log()).calls
	for i, mapping := range named {
		if kept := calls[fmt.Sprintf("c%d", i+1)].Invocation.ExternalMappings; len(kept) != 1 || string(kept[0]) != mapping {
			t.Errorf("call %d: %s", i+1, kept)
		}
	}
	c := calls["toolu_1"]
	var request struct {
		Tool    string `json:"tool_name"`
		ID      string `json:"jsonrpc_request_id"`
		Version string `json:"mcp_protocol_version"`
	}
	if m := c.Invocation.ExternalMappings; len(m) != 1 || json.Unmarshal(m[0], &request) != nil || request.ID != "m-9" || request.Tool != "bash" || request.Version != "2026-07-28" {
		t.Errorf("request %s", m)
	}
	var command struct {
		Source string
		Exit   *int `json:"exit_code"`
	}
	if m := c.Result.ExternalMappings; len(m) != 1 || json.Unmarshal(m[0], &command) != nil || command.Source != "cli" || command.Exit == nil || *command.Exit != 3 {
		t.Errorf("command %s", m)
	}
	if c.Invocation.NativeCallID != "toolu_1" || c.Invocation.InvocationID == "" {
		t.Errorf("ids %q, %q", c.Invocation.NativeCallID, c.Invocation.InvocationID)
	}
}
