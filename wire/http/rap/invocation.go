package rap

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"toolhost/agenttool/json"
)

// How long the fields of an invocation may be, in bytes.
const (
	maxID        = 512
	maxURL       = 4096
	maxAncestors = 64
)

// key identifies a call: a digest of its group and its id, which come from outside and may be any text.
type key [sha256.Size]byte

func keyOf(group, id string) key {
	return sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s", len(group), group, id))
}

// address is the target of a call's messages, with the ids that they carry.
type address struct {
	Group    string  // group_id
	ID       string  // of the call
	CallID   *string // echoed; nil: it came without one
	Callback string  // the URL: a secret
}

func (a address) key() key { return keyOf(a.Group, a.ID) }

// invocation is one POST to /invoke (RAP-08).
type invocation struct {
	address
	Operation string
	Arguments json.RawMessage // an object
	Ancestors []string        // thread_ancestors, from the root on
	User      string          // user_id
}

// decode reads an invocation. An error says why no callback is possible: the body is no object, or it has no valid
// address. The caller sends a fault by callback, as the result of the call (RAP-10).
func decode(body []byte) (in invocation, fault, err error) {
	members, err := object(body)
	if err != nil {
		return invocation{}, nil, err
	}
	if in.address, err = addressOf(members); err != nil {
		return invocation{}, nil, err
	}
	return in, in.fill(members), nil
}

// fill reads the operation, the user, the thread ancestors and the arguments.
func (in *invocation) fill(members map[string]json.RawMessage) (err error) {
	if in.Operation, err = text(members, "operation", maxID); err != nil {
		return err
	}
	if in.User, err = optional(members, "user_id"); err != nil {
		return err
	}
	if raw := members["thread_ancestors"]; len(raw) > 0 {
		if json.Unmarshal(raw, &in.Ancestors) != nil || len(in.Ancestors) > maxAncestors || tooLong(in.Ancestors) {
			return fmt.Errorf("thread_ancestors must be at most %d strings of at most %d bytes, or null", maxAncestors, maxID)
		}
	}
	raw := members["arguments"]
	if len(raw) == 0 || raw[0] != '{' {
		return errors.New("arguments must be an object; send {} for a tool without parameters")
	}
	if twice := json.Repeated(raw); twice != nil {
		return fmt.Errorf("arguments have a member twice, %.100q: send each once", twice.Name())
	}
	in.Arguments = raw
	return nil
}

// missing names the members that an invocation cannot do without and does not have, all at once, if whom to answer is among them.
func missing(members map[string]json.RawMessage) error {
	var lost []string
	for _, name := range []string{"group_id", "id", "callback_url", "operation", "arguments"} {
		if members[name] == nil {
			lost = append(lost, name)
		}
	}
	if len(lost) == 0 || lost[0] == "operation" || lost[0] == "arguments" { // the callback reports that
		return nil
	}
	return fmt.Errorf("missing: %s; send {group_id, id, operation, arguments, callback_url}", strings.Join(lost, ", "))
}

func addressOf(members map[string]json.RawMessage) (a address, err error) {
	if err := missing(members); err != nil {
		return a, err
	}
	if a.Group, err = text(members, "group_id", maxID); err != nil {
		return a, err
	}
	if a.ID, err = text(members, "id", maxID); err != nil {
		return a, err
	}
	if a.Callback, err = text(members, "callback_url", maxURL); err != nil {
		return a, err
	}
	if u, err := url.Parse(a.Callback); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return a, errors.New("callback_url must be an absolute http or https URL")
	}
	if raw := members["call_id"]; len(raw) > 0 && string(raw) != "null" {
		id, err := optional(members, "call_id")
		if err != nil {
			return a, err
		}
		a.CallID = &id
	}
	return a, nil
}

// text is a member that must be there: a string that is not empty.
func text(members map[string]json.RawMessage, name string, most int) (string, error) {
	var s string
	raw := members[name]
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil || s == "" || len(s) > most {
		return "", fmt.Errorf("%s must be a string of 1 to %d bytes", name, most)
	}
	return s, nil
}

// optional is a member that may be missing or null.
func optional(members map[string]json.RawMessage, name string) (string, error) {
	var s *string
	raw := members[name]
	if len(raw) == 0 {
		return "", nil
	}
	if json.Unmarshal(raw, &s) != nil || s != nil && len(*s) > maxID {
		return "", fmt.Errorf("%s must be a string of at most %d bytes, or null", name, maxID)
	}
	if s == nil {
		return "", nil
	}
	return *s, nil
}

func tooLong(list []string) bool {
	for _, s := range list {
		if len(s) > maxID {
			return true
		}
	}
	return false
}

// object returns the members of a body. A member that comes twice is an error.
func object(body []byte) (map[string]json.RawMessage, error) {
	members, err := json.Members(body)
	var twice *json.RepeatedError
	switch {
	case err == nil:
		return members, nil
	case errors.Is(err, json.ErrUTF8):
		return nil, errors.New("the body is not UTF-8")
	case errors.Is(err, json.ErrNoObject):
		return nil, errors.New("the body is not a JSON object: send one")
	case errors.As(err, &twice):
		if len(twice.Path) > 1 { // within a member, whose reader reports it
			return members, nil
		}
		return nil, fmt.Errorf("the body has a member twice, %.100q: send each once", twice.Name())
	}
	return nil, errors.New("the body is not JSON: send one JSON object")
}
