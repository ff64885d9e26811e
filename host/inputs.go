package host

import (
	"bytes"
	"encoding/json"
	"slices"

	"toolhost/agenttool"
)

// The four inputs of an invocation (AT-084 … AT-087): what the model sent, byte for byte; that input normalised, as
// others may see it; what rules and prompts judged; what ran. One that equals the one before it is a reference to it.
const (
	refModel      = "#/model_input"
	refObservable = "#/observable_input"
	refPermission = "#/permission_input"
)

// maxInlineInput is the size in bytes above which an input is stored once and referred to.
const maxInlineInput = 4096

// observe writes the bound input down as the observable one and returns the record of how it differs from what the
// model sent (AT-115), or from what it was before a person changed it.
func (c *call) observe() agenttool.InputMutation {
	input := encode(c.bound.Input())
	m := agenttool.InputMutation{
		SchemaVersion: agenttool.SchemaVersion, InvocationID: c.inv.InvocationID, SourceType: "runtime", SourceRef: "bind",
		FromInputRef: refModel, ToInputRef: refObservable, Reason: "normalised: defaults filled, paths made absolute",
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen != nil {
		m.SourceType, m.SourceRef, m.Reason = "permission_prompt", c.inv.ApprovalRequestRef, "changed by the person who was asked"
		m.FromInputRef, m.ToInputRef = refPermission, "#/call_input"
		m.ChangedFields = changedFields(c.seen, input)
		c.inv.CallInput, c.inv.CallInputRef = input, ""
	} else {
		m.ChangedFields = changedFields(c.req.Input, input)
		c.seen, c.inv.ObservableInput = input, input
		c.inv.PermissionInputRef, c.inv.CallInputRef = refObservable, refPermission
	}
	c.storeInputs()
	now := c.host.o.Now()
	m.MutationID, m.CreatedAt = agenttool.MutationID(c.host.o.IDs.New("mut_", now)), agenttool.Timestamp(now)
	return m
}

// changedFields names the top-level members that differ between two objects, in order.
func changedFields(from, to []byte) []string {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(from, &a) != nil || json.Unmarshal(to, &b) != nil {
		return nil
	}
	var names []string
	for name, value := range b {
		if !bytes.Equal(a[name], value) {
			names = append(names, name)
		}
	}
	for name := range a {
		if _, still := b[name]; !still {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// shownInput is the bound input as events carry it: itself, or the reference to it where it is large.
func (c *call) shownInput() json.RawMessage {
	input := encode(c.bound.Input())
	if len(input) <= maxInlineInput {
		return input
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return object("ref", max(c.inv.CallInputRef, c.inv.ObservableInputRef))
}

// storeInputs moves inputs that are too large for a record into payloads. What cannot be stored stays where it is.
func (c *call) storeInputs() {
	c.inv.ModelInput, c.inv.ModelInputRef = c.storeInput("model_input", c.inv.ModelInput, c.inv.ModelInputRef)
	c.inv.ObservableInput, c.inv.ObservableInputRef = c.storeInput("observable_input", c.inv.ObservableInput, c.inv.ObservableInputRef)
	c.inv.CallInput, c.inv.CallInputRef = c.storeInput("call_input", c.inv.CallInput, c.inv.CallInputRef)
}

func (c *call) storeInput(name string, input []byte, ref string) ([]byte, string) {
	if len(input) <= maxInlineInput {
		return input, ref
	}
	stored, err := c.store(name, "application/json", input)
	if err != nil {
		return input, ref
	}
	return nil, stored.URI
}

// store keeps data as a payload of the call.
func (c *call) store(name, mediaType string, data []byte) (agenttool.Ref, error) {
	return c.host.o.Store.Keep(c.inv.InvocationID, name, mediaType, data)
}
