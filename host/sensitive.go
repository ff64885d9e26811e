package host

import (
	"encoding/json"
	"strings"

	"toolhost/persist/redact"
)

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
