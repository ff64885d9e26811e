package mcp

import (
	"maps"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/host"
)

// mapping has the native ids of a call. Its refs point into the records of the call.
//
// Agent Tool v0.2.0, "External mappings" (AT-340).
type mapping struct {
	mappedSession
	Method            string          `json:"method"`
	ToolName          string          `json:"tool_name"`
	RequestID         json.RawMessage `json:"jsonrpc_request_id,omitempty"` // a string or a number, as it came
	StructuredContent string          `json:"structuredContent"`
	IsError           string          `json:"isError"`
	Meta              sdk.Meta        `json:"_meta,omitempty"`
}

// mappedSession is the part of a mapping that the calls of a session share.
type mappedSession struct {
	Source          string `json:"source"`
	ServerID        string `json:"server_id"`
	SessionID       string `json:"mcp_session_id,omitempty"` // empty: the transport has none
	ProtocolVersion string `json:"mcp_protocol_version,omitempty"`
}

// maxMeta bounds the metadata of a mapping, in bytes. Longer metadata is left out.
const maxMeta = 2 << 10

// metaElsewhere are the members of _meta that other fields of the record have, or that describe the client and not the call.
var metaElsewhere = append([]string{sdk.MetaKeyProtocolVersion, sdk.MetaKeyClientInfo, sdk.MetaKeyClientCapabilities}, traceKeys...)

// nativeIDs returns the mapping of a request, nil if it cannot be encoded or is too long.
func nativeIDs(req *sdk.CallToolRequest) []byte {
	m := mapping{
		mappedSession: mappedSession{Source: "mcp", ServerID: "toolhost", ProtocolVersion: clean(req.ProtocolVersion(), maxName)}, Method: methodCall,
		ToolName: clean(req.Params.Name, maxName), RequestID: requestID(req),
		StructuredContent: "result#/structured_content", IsError: "result#/is_error", Meta: maps.Clone(req.Params.Meta),
	}
	if req.Session != nil {
		m.SessionID = clean(req.Session.ID(), maxRef)
	}
	for _, key := range metaElsewhere {
		delete(m.Meta, key)
	}
	if b, err := agenttool.Encode(m.Meta); err != nil || len(b) > maxMeta {
		m.Meta = nil
	}
	b, err := agenttool.Encode(m)
	if err != nil || len(b) > host.MaxMapping {
		return nil
	}
	return b
}

// headerRequestID carries the JSON-RPC id of a request to its handler, which the SDK does not tell it. It is never on the wire: the one
// of a client is replaced.
const headerRequestID = "Toolhost-Jsonrpc-Request-Id"

// withID returns the value that the SDK hands to the handler of a request beside its parameters.
func withID(id json.RawMessage) *sdk.RequestExtra {
	return &sdk.RequestExtra{Header: http.Header{headerRequestID: {string(id)}}}
}

// requestID is the JSON-RPC id of a request, as it was spelled; nil: it is not known.
func requestID(req *sdk.CallToolRequest) json.RawMessage {
	if req.Extra == nil {
		return nil
	}
	spelled := req.Extra.Header.Get(headerRequestID)
	var text string
	if json.Unmarshal([]byte(spelled), &text) == nil {
		spelled = string(agenttool.AppendString(nil, clean(text, maxRef)))
	}
	if !json.Valid([]byte(spelled)) || len(spelled) > 8*maxRef {
		return nil
	}
	return json.RawMessage(spelled)
}
