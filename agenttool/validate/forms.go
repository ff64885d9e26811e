package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolhost/agenttool/cut"
)

const (
	maxForms = 4   // forms that a message describes
	maxForm  = 500 // bytes of one of them
)

// forms describes a value that matches none of several forms. If one form was plainly meant, it returns the problems of
// that form, else the fields that each form misses.
func (r reader) forms(e *jsonschema.ValidationError) []problem {
	var forms [][]problem
	for _, cause := range e.Causes {
		if f := arrange(r.problems(cause)); len(f) > 0 {
			forms = append(forms, f)
			r.tell(f...)
		}
	}
	if p, ok := r.mergeTypes(forms); ok && !r.exhausted() {
		return []problem{p}
	}
	if meant := closest(forms, len(e.InstanceLocation)); meant != nil && !r.exhausted() {
		return meant
	}
	var told []string
	for _, f := range forms {
		if s := cut.Short(f[0].within(len(e.InstanceLocation)), maxForm); !slices.Contains(told, s) {
			told = append(told, s)
		}
	}
	text := fmt.Sprintf("matches none of the %d allowed forms: %s", len(e.Causes), strings.Join(told[:min(len(told),
		maxForms)], "; or "))
	if len(told) > maxForms {
		text += "; or …"
	}
	return []problem{{path: e.InstanceLocation, code: "no_form_matches", text: text}}
}

// mergeTypes makes one problem of forms that all want another type of the same value.
func (r reader) mergeTypes(forms [][]problem) (problem, bool) {
	var want []string
	for _, f := range forms {
		if len(f) != 1 || f[0].code != "wrong_type" || !slices.Equal(f[0].path, forms[0][0].path) {
			return problem{}, false
		}
		for _, t := range f[0].want {
			if !slices.Contains(want, t) {
				want = append(want, t)
			}
		}
	}
	if len(forms) == 0 {
		return problem{}, false
	}
	p := forms[0][0]
	p.want = want
	p.text = fmt.Sprintf("got %s, want %s", typeName(lookup(r.input, p.path)), strings.Join(want, " or "))
	return p, true
}

// closest returns the problems of the form that fits the shape of the value at the given depth best, or nil when two
// fit equally well.
func closest(forms [][]problem, depth int) []problem {
	var best []problem
	bestMisfit, tie := -1, false
	for _, f := range forms {
		misfit := 0
		for _, p := range f {
			if len(p.path) <= depth {
				misfit += 100 // not even the type
			} else if len(p.path) == depth+1 && p.code != "value_out_of_range" && p.code != "wrong_length" {
				misfit++
			}
		}
		switch {
		case best == nil || misfit < bestMisfit:
			best, bestMisfit, tie = f, misfit, false
		case misfit == bestMisfit:
			tie = true
		}
	}
	if tie {
		return nil
	}
	return best
}

// within is sentence for a place that the reader already knows down to depth.
func (p problem) within(depth int) string {
	if len(p.path) <= depth {
		return p.text
	}
	p.path = p.path[depth:]
	return p.sentence()
}
