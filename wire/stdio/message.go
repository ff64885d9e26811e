package stdio

import (
	"errors"
	"fmt"

	"toolhost/agenttool/json"
)

// Message is one JSON-RPC 2.0 message as it came. Empty members were absent.
type Message struct {
	ID     json.RawMessage // a string or an integer, as spelled; nil for a notification
	Method string          // empty for a response
	Params json.RawMessage // an object or an array
	Raw    []byte          // the whole line, without its end
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// The codes of JSON-RPC 2.0, and one of ours.
const (
	CodeParse          = -32700 // not JSON, or not UTF-8
	CodeInvalidRequest = -32600 // JSON, but no message that can be served
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeBusy           = -32000 // too many results were not read yet
)

// Errorf returns an Error with a formatted message.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Decode reads one line. Keys are matched exactly. On an error the message holds the id if that much could be read.
func Decode(line []byte) (Message, *Error) {
	m := Message{Raw: line}
	members, err := json.Members(line)
	var twice *json.RepeatedError
	switch {
	case err == nil:
		return m, m.fill(members)
	case errors.Is(err, json.ErrUTF8):
		return m, Errorf(CodeParse, "parse error: the line is not UTF-8")
	case errors.Is(err, json.ErrNoObject):
		return m, Errorf(CodeInvalidRequest, "invalid request: a message is one JSON object, and a batch is an array of such objects")
	case errors.As(err, &twice):
		if id := members["id"]; twice.Name() != "id" && id != nil && checkID(id) == nil {
			m.ID = id
		}
		return m, Errorf(CodeInvalidRequest, "invalid request: key %q comes twice in one object: send each key once", twice.Name())
	}
	return m, Errorf(CodeParse, "parse error: the line is not JSON: %v; send one JSON object a line", located(err))
}

func (m *Message) fill(members map[string]json.RawMessage) *Error {
	if id, given := members["id"]; given {
		if err := checkID(id); err != nil {
			return err
		}
		m.ID = id
	}
	var version string
	if json.Unmarshal(members["jsonrpc"], &version) != nil || version != "2.0" {
		return Errorf(CodeInvalidRequest, `invalid request: "jsonrpc" must be "2.0"`)
	}
	method, isRequest := members["method"]
	if !isRequest {
		if members["result"] == nil && members["error"] == nil {
			return Errorf(CodeInvalidRequest, `invalid request: "method" is missing: name the method to call`)
		}
		return nil
	}
	if json.Unmarshal(method, &m.Method) != nil || method[0] != '"' || m.Method == "" {
		return Errorf(CodeInvalidRequest, `invalid request: "method" must be a string`)
	}
	if params, given := members["params"]; given {
		if params[0] != '{' && params[0] != '[' {
			return Errorf(CodeInvalidParams, `invalid params: "params" must be an object`)
		}
		m.Params = params
	}
	return nil
}

// checkID refuses ids that clients may confuse in a response: null, fractions, and integers beyond 2^53.
func checkID(id json.RawMessage) *Error {
	if id[0] == '"' {
		return nil
	}
	var n json.Number
	if id[0] != '-' && (id[0] < '0' || id[0] > '9') || json.Unmarshal(id, &n) != nil {
		return Errorf(CodeInvalidRequest, `invalid request: "id" must be a string or an integer`)
	}
	if i, err := n.Int64(); err != nil || i > 1<<53 || i < -(1<<53) {
		return Errorf(CodeInvalidRequest, `invalid request: "id" must be a string or an integer within 2^53`)
	}
	return nil
}

// located adds to a syntax error where it is.
func located(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%v at byte %d", err, syntax.Offset)
	}
	return err
}
