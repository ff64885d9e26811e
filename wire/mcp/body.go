package mcp

import (
	"bytes"
	"cmp"
	"errors"
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

	batch []json.RawMessage // the ids of the requests of a batch, which has no id and no method of its own; nil: it is none
}

// lastBatched is the last revision that has batches.
const lastBatched = "2025-03-26"

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
	if !utf8.Valid(body) || !json.Valid(body) {
		return e, errorf(jsonrpc.CodeParseError, "parse error: the body is not JSON in UTF-8")
	}
	if body[0] == '[' {
		return openBatch(body, cmp.Or(r.Header.Get(headerVersion), lastBatched), check)
	}
	return openMessage(body, check)
}

// openBatch reads the messages of a batch, which a revision may not have. Its error stands for all of them: none is served then.
func openBatch(body []byte, revision string, check func([]byte) error) (e envelope, err error) {
	var messages []json.RawMessage
	if json.Unmarshal(body, &messages) != nil || len(messages) == 0 {
		return e, errorf(jsonrpc.CodeInvalidRequest, "invalid request: a batch is an array of messages, of one at least")
	}
	e.batch = []json.RawMessage{}
	for _, message := range messages {
		var members map[string]json.RawMessage
		_ = json.Unmarshal(message, &members) // openMessage says that it is no object
		if id := members["id"]; id != nil && members["method"] != nil {
			e.batch = append(e.batch, id)
		}
		one, bad := openMessage(message, check)
		if bad == nil && one.method == methodInitialize {
			bad = errorf(jsonrpc.CodeInvalidRequest, "invalid request: initialize is sent by itself, never in a batch")
		}
		err = cmp.Or(err, bad)
	}
	if revision > lastBatched {
		err = errorf(jsonrpc.CodeInvalidRequest, "invalid request: revision %s has no batches: send each message by itself", quoted(revision))
	}
	return e, err
}

// openMessage reads one message and checks it.
func openMessage(body []byte, check func([]byte) error) (e envelope, err error) {
	var members map[string]json.RawMessage
	switch {
	case json.Unmarshal(body, &members) != nil || members == nil:
		return e, errorf(jsonrpc.CodeInvalidRequest, "invalid request: a message is one JSON object")
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

// batchAnswer answers each request of a batch that the SDK refuses as a whole, which it does in words alone. It is for the ids of a batch.
type batchAnswer struct {
	http.ResponseWriter
	ids     []json.RawMessage
	refused bool
}

// Unwrap is for [http.ResponseController].
func (a *batchAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (a *batchAnswer) WriteHeader(status int) {
	if a.refused = status >= http.StatusBadRequest; a.refused {
		a.Header().Set("Content-Type", "application/json")
		a.Header().Del("Content-Length")
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter]. The SDK writes a refusal at once.
func (a *batchAnswer) Write(p []byte) (int, error) {
	if a.refused {
		why := errorf(jsonrpc.CodeInvalidRequest, "invalid request: no message of the batch was served: %s", cut.Short(string(bytes.TrimSpace(p)), maxErrorText))
		if _, err := a.ResponseWriter.Write(refuseBatch(a.ids, why)); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	return a.ResponseWriter.Write(p)
}

// refuseBatch is the answer to each request of a batch that is not served. A batch without requests gets one answer, without an id.
func refuseBatch(ids []json.RawMessage, why *jsonrpc.Error) []byte {
	if len(ids) == 0 {
		return encodeError(nil, why)
	}
	list := []byte{'['}
	for i, id := range ids {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, encodeError(id, why)...)
	}
	return append(list, ']')
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

// refuseBody answers a request whose body is not for the SDK. The id is nil where it could not be read; a batch has those of its requests.
func refuseBody(w http.ResponseWriter, e envelope, err error) {
	var refused *jsonrpc.Error
	switch tooLarge := (*http.MaxBytesError)(nil); {
	case errors.As(err, &refused):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		response := encodeError(e.id, refused)
		if len(e.batch) > 0 {
			response = refuseBatch(e.batch, refused)
		}
		_, _ = w.Write(response) // an error: the client has gone
	case errors.As(err, &tooLarge):
		http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
	default:
		http.Error(w, "the request could not be read", http.StatusBadRequest)
	}
}
