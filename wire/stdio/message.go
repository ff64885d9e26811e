package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
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
	switch {
	case !utf8.Valid(line):
		return m, Errorf(CodeParse, "parse error: the line is not UTF-8")
	case !json.Valid(line):
		return m, Errorf(CodeParse, "parse error: the line is not JSON: %v; send one JSON object a line", syntaxError(line))
	case bytes.TrimLeft(line, " \t\r")[0] != '{':
		return m, Errorf(CodeInvalidRequest, "invalid request: a message is one JSON object, not an array or a value: send each message on a line of its own")
	}
	members, key := split(line)
	if key != "" {
		if id := members["id"]; key != "id" && id != nil && checkID(id) == nil {
			m.ID = id
		}
		return m, Errorf(CodeInvalidRequest, "invalid request: key %q comes twice in one object: send each key once", key)
	}
	return m, m.fill(members)
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

func syntaxError(line []byte) error {
	var v any
	err := json.Unmarshal(line, &v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%v at byte %d", err, syntax.Offset)
	}
	return err
}

// split returns the members of a valid JSON object. If a key comes twice in one object, at any depth, it returns
// that key: some readers take the first value and others the last.
func split(line []byte) (members map[string]json.RawMessage, duplicate string) {
	s := scanner{data: line}
	s.space()
	members = map[string]json.RawMessage{}
	s.object(func(key string, value []byte) { members[key] = value })
	return members, s.duplicate
}

// scanner walks JSON that is known to be valid.
type scanner struct {
	data      []byte
	at        int
	duplicate string
}

// object walks the object at s.at and calls member for each of its members.
func (s *scanner) object(member func(key string, value []byte)) {
	var keys keySet
	s.at++ // {
	for s.space(); s.data[s.at] != '}'; s.space() {
		if s.data[s.at] == ',' {
			s.at++
			s.space()
		}
		key := s.key()
		if !keys.add(key) && s.duplicate == "" {
			s.duplicate = key
		}
		s.space()
		s.at++ // :
		s.space()
		start := s.at
		s.value()
		if member != nil {
			member(key, s.data[start:s.at])
		}
	}
	s.at++
}

// value walks over one value.
func (s *scanner) value() {
	switch s.data[s.at] {
	case '{':
		s.object(nil)
	case '[':
		s.at++
		for s.space(); s.data[s.at] != ']'; s.space() {
			if s.data[s.at] == ',' {
				s.at++
				s.space()
			}
			s.value()
		}
		s.at++
	case '"':
		s.str()
	default:
		for s.at < len(s.data) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(s.data[s.at])) {
			s.at++
		}
	}
}

// str walks over a string and returns it as spelled, without quotes.
func (s *scanner) str() []byte {
	start := s.at + 1
	for s.at++; s.data[s.at] != '"'; s.at++ {
		if s.data[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	return s.data[start : s.at-1]
}

// key returns the key at s.at as it is meant: escapes can spell the same key in two ways.
func (s *scanner) key() string {
	start := s.at
	raw := s.str()
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var key string
	if json.Unmarshal(s.data[start:s.at], &key) != nil {
		return string(raw)
	}
	return key
}

func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// keySet holds the keys of one object: a list while they are few, a table from there on.
type keySet struct {
	few  []string
	many map[string]bool
}

const fewKeys = 16

// add adds key and reports whether it is new.
func (k *keySet) add(key string) bool {
	if k.many != nil {
		fresh := !k.many[key]
		k.many[key] = true
		return fresh
	}
	for _, other := range k.few {
		if other == key {
			return false
		}
	}
	if k.few = append(k.few, key); len(k.few) > fewKeys {
		k.many = map[string]bool{}
		for _, other := range k.few {
			k.many[other] = true
		}
	}
	return true
}
