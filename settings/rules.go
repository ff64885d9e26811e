package settings

import (
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"toolhost/agenttool"
)

// behaviors are the lists of rules, in order of precedence.
var behaviors = []agenttool.Behavior{agenttool.Deny, agenttool.Ask, agenttool.Allow}

// permissions reads the lists of rules.
func (d *decoder) permissions(v hujson.Value, path string) {
	fields := make([]field, len(behaviors))
	for i, b := range behaviors {
		fields[i] = field{string(b), func(v hujson.Value, path string) {
			d.list(v, path, func(v hujson.Value, path string) { d.rule(v, path, b) })
		}}
	}
	slices.Reverse(fields) // messages name allow first
	d.object(v, path, fields)
}

// ruleEntry is a rule with its examples and notes.
type ruleEntry struct {
	text        Value[string]
	match, miss []example
	note, added Value[string]
}

// example is an input that a rule must match, or must not.
type example struct {
	at   hujson.Value
	text string
}

// rule reads one rule: its text, or an object that holds it.
func (d *decoder) rule(v hujson.Value, path string, b agenttool.Behavior) {
	var e ruleEntry
	before := len(d.problems)
	if v.Value.Kind() != '{' && v.Value.Kind() != '"' {
		d.mismatch(v, path, "a rule such as \"Shell(go test *)\", or an object with one")
		return
	}
	if readText := d.matching(&e.text, anything, "a rule"); v.Value.Kind() == '"' {
		readText(v, path)
	} else {
		d.object(v, path, []field{
			{"rule", readText},
			{"match", d.examples(&e.match)},
			{"not_match", d.examples(&e.miss)},
			{"note", d.anyText(&e.note)},
			{"added", d.matching(&e.added, stamps, "a time like 2026-11-22T10:00:00Z")},
		})
	}
	if len(d.problems) > before {
		return
	}
	if !e.text.Set {
		d.wrong(v, "%s needs a rule, such as {\"rule\": \"Shell(go test *)\"}", shown(path))
		return
	}
	d.keep(v, path, b, e)
}

// keep validates a rule and adds it to the settings.
func (d *decoder) keep(v hujson.Value, path string, b agenttool.Behavior, e ruleEntry) {
	r := Rule{Text: strings.TrimSpace(e.text.V), Behavior: b, Origin: e.text.Origin, Note: e.note.V}
	if r.Text == "" {
		d.wrong(v, "%s is blank", shown(path))
		return
	}
	if e.added.Set {
		at, err := time.Parse(time.RFC3339, e.added.V)
		if err != nil {
			d.wrong(v, "%s: there is no time %s", shown(within(path, "added")), quoted(e.added.V))
			return
		}
		r.Added = at.UTC()
	}
	if d.checkRule(v, r.Text, b, r.Origin) {
		d.checkExamples(r, e.match, true)
		d.checkExamples(r, e.miss, false)
	}
	d.out.Rules = append(d.out.Rules, r)
}

// anyText returns a reader of a string.
func (d *decoder) anyText(to *Value[string]) func(hujson.Value, string) {
	return func(v hujson.Value, path string) {
		if s, ok := d.string(v, path); ok {
			*to = Value[string]{true, s, d.origin(v)}
		}
	}
}

// examples returns a reader of a list of examples.
func (d *decoder) examples(to *[]example) func(hujson.Value, string) {
	return func(v hujson.Value, path string) {
		d.list(v, path, func(v hujson.Value, path string) {
			if s, ok := d.string(v, path); ok {
				*to = append(*to, example{v, s})
			}
		})
	}
}

// checkRule compiles a rule. It reports whether the rule is valid.
func (d *decoder) checkRule(v hujson.Value, text string, b agenttool.Behavior, o agenttool.Origin) bool {
	if d.o.CheckRule == nil {
		return true
	}
	err := d.o.CheckRule(text, b, o)
	if err != nil {
		d.wrong(v, "%s", shown(err.Error()))
	}
	return err == nil
}

// checkExamples checks a rule against its examples.
func (d *decoder) checkExamples(r Rule, examples []example, want bool) {
	if d.o.CheckExample == nil {
		return
	}
	for _, e := range examples {
		matches, err := d.o.CheckExample(r.Text, r.Behavior, e.text)
		switch {
		case err != nil:
			d.wrong(e.at, "the example %s cannot be checked: %s", quoted(e.text), shown(err.Error()))
		case matches && !want:
			d.wrong(e.at, "the rule %s matches %s, which not_match says it does not", quoted(r.Text), quoted(e.text))
		case !matches && want:
			d.wrong(e.at, "the rule %s does not match its example %s", quoted(r.Text), quoted(e.text))
		}
	}
}
