package mcp

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
)

// Headers of the transport.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
)

// Limits of the HTTP handler.
const (
	maxBody        = 16 << 20         // bytes of one request
	maxSessions    = 256              // of clients at once
	sessionTimeout = 30 * time.Minute // without a request, after which a session is ended
)

// envelope holds the parts of a body that this package needs before the SDK reads it.
type envelope struct {
	id     json.RawMessage // nil: none, or it could not be read
	method string
	modern bool // its _meta names a revision
}

// isStateless reports whether a request is of 2026-07-28 or later. Its header says so; one that lacks the header and
// has such a body is for the same handler, which refuses it (MCP-21).
func (e envelope) isStateless(r *http.Request) bool {
	version := r.Header.Get(headerVersion)
	return isModern(version) || version == "" && r.Header.Get(headerSession) == "" && e.modern
}

// openBody reads the body of a request, restores it for the SDK, and checks it. The SDK alone would accept duplicate keys, and
// would quote the whole of a body that it cannot parse. An error that is none of JSON-RPC is one of reading.
func openBody(w http.ResponseWriter, r *http.Request, check func([]byte) error) (e envelope, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return e, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	body = bytes.TrimSpace(body)
	var members map[string]json.RawMessage
	switch {
	case !utf8.Valid(body) || !json.Valid(body):
		return e, errorf(jsonrpc.CodeParseError, "parse error: the body is not JSON in UTF-8")
	case json.Unmarshal(body, &members) != nil || members == nil:
		return e, errorf(jsonrpc.CodeInvalidRequest, "invalid request: the body must be one JSON object; arrays of messages are not served")
	case check != nil:
		if err := check(body); err != nil {
			return e, errorf(jsonrpc.CodeInvalidRequest, "%s", cut.Short(err.Error(), maxErrorText))
		}
	}
	e.id = members["id"]
	_ = json.Unmarshal(members["method"], &e.method) // the SDK says what is wrong with it
	return e, e.lookInto(members["params"])
}

// lookInto reads the parameters of a message, if it has any.
func (e *envelope) lookInto(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	var params, meta map[string]json.RawMessage
	if json.Unmarshal(raw, &params) != nil {
		return errorf(jsonrpc.CodeInvalidParams, `invalid params: "params" must be an object`)
	}
	if raw, there := params["_meta"]; there && (json.Unmarshal(raw, &meta) != nil || meta == nil) {
		return errorf(jsonrpc.CodeInvalidParams, `invalid params: "_meta" must be an object`)
	}
	_, e.modern = meta[sdk.MetaKeyProtocolVersion]
	return nil
}

// uncoded chooses the JSON-RPC code for an error that the SDK sends without a code: a message came out of order, or is malformed.
func (e envelope) uncoded(session string) int64 {
	switch {
	case session == "" && e.method == methodInitialize:
		return jsonrpc.CodeInvalidParams
	case session == "" || e.method == methodInitialize:
		return jsonrpc.CodeInvalidRequest
	}
	return jsonrpc.CodeInternalError
}

// answer writes the responses of the SDK and rewrites its errors for clients. The SDK writes each message at once.
type answer struct {
	http.ResponseWriter
	uncoded int64                // the code of errors that have none
	begun   func(session string) // gets the session of the response
}

// Unwrap is for [http.ResponseController]: the SDK flushes with it.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	if id := a.Header().Get(headerSession); id != "" {
		a.begun(id)
	}
	if _, err := a.ResponseWriter.Write(a.mend(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// mend bounds the text of an error, and gives it a code. Everything else stays as it is.
func (a *answer) mend(p []byte) []byte {
	if media := a.Header().Get("Content-Type"); media == "text/plain; charset=utf-8" {
		return []byte(cut.Short(string(p), maxErrorText))
	}
	if !bytes.Contains(p, []byte(`"error":`)) {
		return p
	}
	start := bytes.IndexByte(p, '{')
	if start < 0 {
		return p
	}
	message := bytes.TrimRight(p[start:], "\n")
	var said struct {
		ID    json.RawMessage `json:"id"`
		Error *jsonrpc.Error  `json:"error"`
	}
	if json.Unmarshal(message, &said) != nil || said.Error == nil || said.Error.Code != 0 && len(said.Error.Message) <= maxErrorText {
		return p
	}
	said.Error.Message = cut.Short(said.Error.Message, maxErrorText)
	said.Error.Code = cmp.Or(said.Error.Code, a.uncoded)
	return bytes.Join([][]byte{p[:start], encodeError(said.ID, said.Error), p[start+len(message):]}, nil)
}
