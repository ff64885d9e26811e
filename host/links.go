package host

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// link names what explains the result: decisions, hooks and payloads as evidence, the rules in force for it, and its span (AT-122, AT-429).
func link(e *ending) {
	inv := e.rec.view()
	refs := slices.Concat(inv.PermissionDecisionRefs, inv.HookRefs)
	for _, r := range e.result.ResourceRefs {
		if strings.HasPrefix(r.URI, payloadScheme) {
			refs = append(refs, r.ID)
		}
	}
	e.result.EvidenceRefs, e.result.PolicyRefs = refs, inv.PolicyRefs
	for _, a := range e.result.ArtifactRefs { // for clients that look at the content alone (AT-271)
		e.result.Content = append(e.result.Content, agenttool.Content{Type: "artifact_ref", URI: a.URI, Name: a.Relation, MediaType: a.MediaType})
	}
	if e.out.Mapping != nil {
		e.result.ExternalMappings = []json.RawMessage{encode(e.out.Mapping)}
	}
	e.result.TelemetryRefs = []json.RawMessage{encode(spanOf(e, inv))}
}

// payloadScheme starts the addresses of payloads of the session.
const payloadScheme = "toolhost://"

// span is the telemetry of one call (AT-346).
type span struct {
	TraceID      string `json:"trace_id"`
	SpanID       string `json:"span_id"`
	ParentSpanID string `json:"parent_span_id,omitempty"` // the client's
	ToolName     string `json:"tool_name"`
	ToolCallID   string `json:"tool_call_id"`
	RequestID    string `json:"request_id"`
	DurationMS   int64  `json:"duration_ms"`
	ResultSize   int64  `json:"result_size_bytes"`
}

// spanOf describes a call for telemetry. Its trace is the client's, or else the session.
func spanOf(e *ending, inv agenttool.Invocation) span {
	s := span{
		SpanID: hexOf(string(inv.InvocationID), 8), ToolName: e.c.req.Tool, ToolCallID: inv.NativeCallID, RequestID: e.c.req.ID,
		ResultSize: e.kept.OriginalSizeBytes,
	}
	if began, err := time.Parse(time.RFC3339Nano, inv.CreatedAt); err == nil {
		s.DurationMS = e.c.host.o.Now().Sub(began).Milliseconds()
	}
	s.TraceID, s.ParentSpanID = parentOf(e.c.req.Trace)
	if s.TraceID == "" {
		s.TraceID = hexOf(string(e.c.host.o.Session), 16)
	}
	return s
}

// parentOf returns the trace and the span in a client's traceparent, empty if it sent none of that form.
func parentOf(trace []byte) (id, parent string) {
	var client struct {
		Traceparent string `json:"traceparent"`
	}
	if len(trace) == 0 || json.Unmarshal(trace, &client) != nil {
		return "", ""
	}
	parts := strings.Split(client.Traceparent, "-")
	if len(parts) < 4 || !isHex(parts[1], 16) || !isHex(parts[2], 8) {
		return "", ""
	}
	return parts[1], parts[2]
}

func isHex(s string, size int) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == size
}

// hexOf returns size bytes of the digest of a text, in hex.
func hexOf(text string, size int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:size])
}
