package host

import (
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
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

// redactResult takes secrets out of the result itself, if the settings say that the model reads none. A result that cannot be searched
// is withheld.
func redactResult(e *ending) {
	r := e.c.host.o.Store.Redactor()
	if !r.Results() {
		return
	}
	text, found, err := r.Record(encode(e.result))
	if err == nil && len(found.Kinds) == 0 {
		return
	}
	var clean agenttool.Result
	state := "redacted"
	if err == nil {
		err = json.Unmarshal(text, &clean)
	}
	if err != nil {
		state, clean = "withheld", withheld(e)
	}
	clean.RedactionState = state
	e.result, e.kept.RedactionState, e.kept.PreviewSizeBytes = clean, state, contentSize(clean.Content)
	if e.kept.Strategy == agenttool.Inline {
		e.kept.Strategy, e.kept.Reason = agenttool.Redact, "redaction.strategy in the settings"
	}
	e.rec.emit(agenttool.EventResultRedacted, "phase", agenttool.PhasePersistResult, "redaction_state", state, "secrets", len(found.Kinds),
		"kinds", slices.Compact(slices.Sorted(slices.Values(found.Kinds))))
}

// withheld is the result without everything that may have secrets.
func withheld(e *ending) agenttool.Result {
	const text = "the result could not be searched for secrets, and is withheld: see redaction.strategy in the settings"
	r := e.result
	if r.Error != nil {
		r.Error = agenttool.Failure(r.Error.Class, r.Error.Code, text)
	} else {
		r.Status, r.IsError = agenttool.ResultRedactedStatus, true
		r.Error = agenttool.Failure(agenttool.ResultRedacted, "result_withheld", text).At(e.rec.reached())
	}
	r.Content, r.StructuredContent, r.UIFacingSummary, r.Mutations, r.Extra = []agenttool.Content{agenttool.Text("[" + text + "]")}, nil, "", nil, nil
	return r
}
