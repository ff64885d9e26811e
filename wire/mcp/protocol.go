package mcp

import (
	"bytes"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool/json"
)

// The methods that the stream itself knows.
const (
	methodInitialize = "initialize"
	methodCall       = "tools/call"
	methodDiscover   = "server/discover"
	methodListen     = "subscriptions/listen"
	methodProgress   = "notifications/progress"
	methodCancelled  = "notifications/cancelled"
	notifications    = "notifications/"
)

// firstStateless is the first revision whose servers ask by a result, not by a request of their own.
const firstStateless = "2026-07-28"

// isModern reports whether a revision of the protocol has requests without sessions.
func isModern(revision string) bool { return revision >= firstStateless }

// metaProtocolVersion is the key in _meta of stateless requests: its value is their revision, firstStateless or later.
const (
	metaProtocolVersion = sdk.MetaKeyProtocolVersion
)

// protocolVersion returns the revision that a request names in its _meta, and whether it names one. One that is no text
// counts as the empty one. Keys are matched exactly, as the SDK does.
func protocolVersion(params json.RawMessage) (version string, given bool) {
	if !mayHold(params, "protocolVersion") {
		return "", false
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(params, &object) != nil {
		return "", false
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(object["_meta"], &meta) != nil {
		return "", false
	}
	raw, given := meta[metaProtocolVersion]
	if json.Unmarshal(raw, &version) != nil {
		version = ""
	}
	return version, given
}

// mayHold reports whether JSON can have text, which is of ASCII letters, in a string: escapes can spell letters too.
func mayHold(data []byte, text string) bool {
	return bytes.Contains(data, []byte(text)) || bytes.Contains(data, []byte(`\u00`))
}

// codeBusy is the error of a request that can be sent again when others have ended.
const codeBusy = -32000

func errorf(code int64, format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
