package mcp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/host/prompt"
)

// state is the token that a client sends back with the answer to a question, so that the answer counts for that question
// of that call only (MCP-07). The client can read a state and cannot forge one.
type state struct {
	Version  int                  `json:"v"`
	Flight   string               `json:"f"`
	Digest   []byte               `json:"d"` // of the tool and its arguments
	Decision agenttool.DecisionID `json:"q"` // that asks
	Expires  int64                `json:"x"` // when the question does, in milliseconds since 1970
}

// stateVersion is that of the states that this program makes and takes.
const stateVersion = 1

// stateOf is the state for a question about a call. A question without a known expiry counts as expired.
func stateOf(f *flight, p prompt.Prompt) state {
	same := digest(f.tool, f.input)
	return state{Version: stateVersion, Flight: f.id, Digest: same[:], Decision: p.Decision.DecisionID, Expires: expiry(p).UnixMilli()}
}

// expiry is when a question expires: 1970 if that is not known.
func expiry(p prompt.Prompt) time.Time {
	at, err := time.Parse(time.RFC3339Nano, p.Decision.ExpiresAt)
	if err != nil {
		return time.Unix(0, 0)
	}
	return at
}

// signingKey signs states. It lives as long as the process: so do the calls.
type signingKey [sha256.Size]byte

func newSigningKey() (k signingKey) {
	rand.Read(k[:]) // never fails
	return k
}

// seal returns a state for a client: base64url of its JSON and the HMAC-SHA-256 of that.
func (k signingKey) seal(st state) string {
	body, _ := json.Marshal(st) // of strings and numbers
	return base64.RawURLEncoding.EncodeToString(append(body, k.sum(body)...))
}

func (k signingKey) sum(body []byte) []byte {
	h := hmac.New(sha256.New, k[:])
	h.Write(body)
	return h.Sum(nil)
}

// maxState is the length of the longest state that is looked at, in characters.
const maxState = 2048

// errState says that a state is none of ours.
var errState = errors.New("requestState is not one that this server gave, or was changed; call again without it")

// unseal returns the state that a client brings back. All that is not as it was given is errState.
func (k signingKey) unseal(sealed string) (st state, err error) {
	if len(sealed) > maxState {
		return state{}, errState
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(b) < sha256.Size {
		return state{}, errState
	}
	body, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if !hmac.Equal(sum, k.sum(body)) {
		return state{}, errState
	}
	if json.Unmarshal(body, &st) != nil || st.Version != stateVersion {
		return state{}, errState
	}
	return st, nil
}

func invalidParams(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// arguments are those of a call: an empty object where there are none.
func arguments(raw json.RawMessage) []byte {
	if len(raw) == 0 || string(raw) == "null" {
		return []byte("{}")
	}
	return raw
}
