package host

import (
	"encoding/json"
	"fmt"

	"toolhost/agenttool"
)

// object composes a JSON object from names and values; raw JSON is kept byte for byte.
func object(pairs ...any) json.RawMessage {
	size := 2
	for i := 1; i < len(pairs); i += 2 {
		switch pairs[i].(type) {
		case json.RawMessage, string, agenttool.Phase:
		default:
			pairs[i] = encode(pairs[i])
		}
		size += len(pairs[i-1].(string)) + valueSize(pairs[i]) + 8
	}
	b := append(make([]byte, 0, size), '{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = agenttool.AppendString(b, pairs[i].(string))
		b = append(b, ':')
		switch v := pairs[i+1].(type) {
		case json.RawMessage:
			b = append(b, v...)
		case string:
			b = agenttool.AppendString(b, v)
		case agenttool.Phase:
			b = agenttool.AppendString(b, string(v))
		}
	}
	return append(b, '}')
}

func valueSize(v any) int {
	if raw, ok := v.(json.RawMessage); ok {
		return len(raw)
	}
	return 32
}

// encode encodes a record of ours. A failure is a bug: records hold nothing that JSON cannot.
func encode(v any) json.RawMessage {
	var b []byte
	var err error
	if m, ok := v.(json.Marshaler); ok { // directly: encoding/json would compact nested texts
		b, err = m.MarshalJSON()
	} else {
		b, err = agenttool.Encode(v)
	}
	if err != nil {
		panic(fmt.Sprintf("host: encode %T: %v (this is a bug in toolhost)", v, err))
	}
	return b
}

func withExtra(x agenttool.Extra, name string, v any) agenttool.Extra {
	if x == nil {
		x = agenttool.Extra{}
	}
	x[name] = encode(v)
	return x
}
