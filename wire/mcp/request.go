package mcp

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
)

// Bounds of a client's metadata, in bytes of each value.
const (
	maxName  = 128
	maxRef   = 256
	maxTrace = 8 << 10
)

// actor names the client for the record.
func actor(i *sdk.Implementation) string {
	if i == nil || i.Name == "" {
		return ""
	}
	name := clean(i.Name, maxName)
	if i.Version != "" {
		name += "/" + clean(i.Version, maxName)
	}
	return name
}

// clean returns a text of the client as one line, with at most n bytes of it.
func clean(s string, n int) string {
	if len(s) <= n {
		return visible.Text(s)
	}
	return visible.Text(cut.Head(s, n)) + cut.Mark
}

// callIDKeys are the observed keys of a call's id in _meta (MCP-23).
var callIDKeys = []string{
	"callId",               // Codex
	"claudecode/toolUseId", // Claude Code
}

// refKeys are the keys of clients' threads in _meta, or in an object there (MCP-23).
var refKeys = []string{"threadId", "sessionId", "turnId", "thread_id", "session_id", "turn_id"}

// turnKeys are objects in _meta that hold some of refKeys.
var turnKeys = []string{"x-codex-turn-metadata", "turnMetadata"}

// traceKeys are the members of _meta that the specification reserves for distributed tracing (MCP-20).
var traceKeys = []string{"traceparent", "tracestate", "baggage"}

func callID(meta sdk.Meta) string {
	for _, key := range callIDKeys {
		if id, ok := meta[key].(string); ok && id != "" {
			return clean(id, maxRef)
		}
	}
	return ""
}

func refs(meta sdk.Meta) []string {
	found := refsIn(meta)
	for _, key := range turnKeys {
		if turn, ok := meta[key].(map[string]any); ok {
			found = append(found, refsIn(turn)...)
		}
	}
	return found
}

func refsIn(m map[string]any) []string {
	var found []string
	for _, key := range refKeys {
		if id, ok := m[key].(string); ok && id != "" {
			found = append(found, key+":"+clean(id, maxRef))
		}
	}
	return found
}

// trace returns where the call belongs in a distributed trace, nil if the client does not say or says too much.
func trace(meta sdk.Meta) []byte {
	found := map[string]string{}
	for _, key := range traceKeys {
		if text, ok := meta[key].(string); ok && text != "" && len(text) <= maxTrace {
			found[key] = text
		}
	}
	if len(found) == 0 {
		return nil
	}
	b, err := agenttool.Encode(found)
	if err != nil {
		return nil
	}
	return b
}
