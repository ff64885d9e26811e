package host

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/adapt"
	"toolhost/agenttool/json"
	"toolhost/host/hook"
	"toolhost/persist/redact"
)

// The four inputs of an invocation (AT-084 … AT-087): the model's input, byte for byte; that input normalised, for
// other readers; the input that rules and prompts judged; the input that ran. One that equals the one before is a reference to it.
const (
	refModel      = "#/model_input"
	refObservable = "#/observable_input"
	refPermission = "#/permission_input"
)

// maxInlineInput is the size in bytes above which an input is stored once and referred to.
const maxInlineInput = 4096

// adapted is the model's input as the tool's schema has it.
type adapted struct {
	input   []byte // the model's input if nothing was rewritten
	changes []adapt.Change
	err     error // it cannot be adapted
}

// adapt reads the input of a request as its tool takes it: what models write by habit of another harness is rewritten once, for all doors,
// before anything looks at it.
func (r *registry) adapt(q Request) (read adapted) {
	if e := r.names[q.Tool]; e != nil {
		read.input, read.changes, read.err = e.adapter().Input(q.Input)
		return read
	}
	return adapted{input: q.Input}
}

// adaptation completes the record of what was rewritten in the model's input.
func adaptation(changes []adapt.Change, m agenttool.InputMutation) agenttool.InputMutation {
	m.SourceType, m.SourceRef, m.FromInputRef, m.ToInputRef = "adapter", "toolhost.adapter", refModel, refObservable
	var reasons []string
	for _, c := range changes {
		m.ChangedFields = append(m.ChangedFields, c.Fields...)
		reasons = append(reasons, c.Reason)
	}
	slices.Sort(m.ChangedFields)
	m.ChangedFields = slices.Compact(m.ChangedFields)
	m.Reason = strings.Join(slices.Compact(reasons), "; ")
	return m
}

// observe records the bound input and returns its difference from the one before: from the model's input as it was adapted (AT-115), or,
// if a hook or a user changed it, from the recorded one. by is the hook; its zero value says that there was none.
func (r *record) observe(read, input []byte, by hook.Message) agenttool.InputMutation {
	m := agenttool.InputMutation{SchemaVersion: agenttool.SchemaVersion, InvocationID: r.id}
	r.mu.Lock()
	defer r.mu.Unlock()
	inv := &r.inv
	switch {
	case by.Ref != "":
		m.SourceType, m.SourceRef, m.Reason = "hook", string(by.Ref), "changed by the hook "+by.Name
		m.FromInputRef, m.ToInputRef, m.ChangedFields = refObservable, refPermission, changedFields(r.input, input)
		name := "permission_input"
		if inv.PermissionInputRef != refObservable { // a hook changed it before
			m.FromInputRef, name = refPermission, "permission_input_2"
		}
		r.input = input
		inv.PermissionInput, inv.PermissionInputRef = r.storeInput(name, input, "")
		inv.CallInputRef = cmp.Or(inv.PermissionInputRef, refPermission)
	case r.input != nil: // rules judge the edited input again, and it runs
		m.SourceType, m.SourceRef, m.Reason = "permission_prompt", inv.ApprovalRequestRef, "changed by the person who was asked"
		m.FromInputRef, m.ToInputRef, m.ChangedFields = refObservable, refPermission, changedFields(r.input, input)
		if inv.PermissionInputRef != refObservable { // a hook or a person changed it before
			m.FromInputRef = refPermission
		}
		r.edits++
		r.input = input
		inv.PermissionInput, inv.PermissionInputRef = r.storeInput(fmt.Sprintf("edited_input_%d", r.edits), input, "")
		inv.CallInput, inv.CallInputRef = nil, cmp.Or(inv.PermissionInputRef, refPermission)
	default:
		m.SourceType, m.SourceRef, m.Reason = "runtime", "bind", "normalised: defaults filled, paths made absolute"
		m.FromInputRef, m.ToInputRef, m.ChangedFields = refModel, refObservable, changedFields(read, input)
		r.input, inv.ObservableInput = input, input
		inv.PermissionInputRef, inv.CallInputRef = refObservable, refPermission
		r.storeInputs()
	}
	now := r.journal.now()
	m.MutationID, m.CreatedAt = agenttool.MutationID(r.journal.ids.New("mut_", now)), agenttool.Timestamp(now)
	if m.SourceType != "runtime" {
		inv.Mutations = append(inv.Mutations, m)
		r.changes = append(r.changes, m.Reason+": "+strings.Join(m.ChangedFields, ", "))
	}
	return m
}

// changed says, a line each, who changed the model's input and where, for the model.
func (r *record) changed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
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

// shown is the bound input as events carry it: itself, or the reference to it where it is large.
func (r *record) shown(input []byte) json.RawMessage {
	if len(input) <= maxInlineInput {
		return input
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return object("ref", max(r.inv.CallInputRef, r.inv.ObservableInputRef))
}

// storeLarge is storeInputs for callers that do not hold mu.
func (r *record) storeLarge() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.storeInputs()
}

// storeInputs moves inputs that are too large for a record into payloads. An input that cannot be stored stays in the record. The
// caller holds mu.
func (r *record) storeInputs() {
	inv := &r.inv
	r.sealInput()
	inv.ModelInput, inv.ModelInputRef = r.storeInput("model_input", inv.ModelInput, inv.ModelInputRef)
	inv.ObservableInput, inv.ObservableInputRef = r.storeInput("observable_input", inv.ObservableInput, inv.ObservableInputRef)
	inv.CallInput, inv.CallInputRef = r.storeInput("call_input", inv.CallInput, inv.CallInputRef)
}

// sealInput keeps the model's input byte for byte in a payload if the log's copy lacks secrets. The caller holds mu.
func (r *record) sealInput() {
	inv := &r.inv
	if r.searched || len(inv.ModelInput) == 0 {
		return
	}
	r.searched = true
	_, found, err := r.journal.store.Redactor().Record(inv.ModelInput)
	if err == nil && len(found.Kinds) == 0 {
		return
	}
	if ref, err := r.store("model_input_sealed", "application/json", inv.ModelInput); err == nil {
		inv.Extra = withExtra(inv.Extra, "model_input_sealed_ref", ref.URI)
	}
}

func (r *record) storeInput(name string, input []byte, ref string) ([]byte, string) {
	if len(input) <= maxInlineInput {
		return input, ref
	}
	stored, err := r.store(name, "application/json", input)
	if err != nil {
		return input, ref
	}
	return nil, stored.URI
}

// store keeps data as a payload of the call.
func (r *record) store(name, mediaType string, data []byte) (agenttool.Ref, error) {
	return r.journal.store.Keep(r.id, name, mediaType, data)
}

// learnSensitive has the log keep no value of the fields that a tool declares as sensitive (AT-005, AT-394). A name with dots
// leads through objects; all strings below it count.
func learnSensitive(r *redact.Redactor, tool *entry, input []byte) {
	if tool == nil || tool.Declaration.InputContract == nil {
		return
	}
	for _, name := range tool.Declaration.InputContract.SensitiveFields {
		value := json.RawMessage(input)
		for part := range strings.SplitSeq(name, ".") {
			var members map[string]json.RawMessage
			if json.Unmarshal(value, &members) != nil {
				value = nil
				break
			}
			value = members[part]
		}
		var v any
		if json.Unmarshal(value, &v) == nil {
			learnStrings(r, v)
		}
	}
}

func learnStrings(r *redact.Redactor, v any) {
	switch v := v.(type) {
	case string:
		r.Add("field", v)
	case []any:
		for _, e := range v {
			learnStrings(r, e)
		}
	case map[string]any:
		for _, e := range v {
			learnStrings(r, e)
		}
	}
}
