package host_test

import (
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// hinted is a fake with a search hint.
type hinted struct {
	fake
	namespace, hint string
}

func (h *hinted) Describe() agenttool.Description {
	d := h.fake.Describe()
	d.Declaration.Namespace, d.Declaration.SearchHint = h.namespace, h.hint
	return d
}

// TestSearchByWords: a word is found in the name, the namespace, the hint or the description, the name counts most, and each match says why
// it is one. What the session blocks is unavailable.
func TestSearchByWords(t *testing.T) {
	conform.Held(t, "AT-216", "AT-218", "AT-224")
	f := newFixture(t, []agenttool.Tool{
		&hinted{fake{name: "issues", reads: true}, "tracker", "tickets of a project"}, &hinted{fake{name: "tickets", reads: true}, "desk", "what customers ask"},
		&fake{name: "off", lifecycle: agenttool.Disabled},
	})
	for _, c := range []struct {
		query, best, state, reason, next string
		matches                          int
		score                            float64
	}{
		{"tickets", "tickets", "loaded", `"tickets" in name`, "call", 2, 1},
		{"Tracker", "issues", "loaded", `"tracker" in namespace`, "call", 1, 0.6},
		{"customers", "tickets", "loaded", `"customers" in search hint`, "call", 1, 0.6},
		{"pipeline", "issues", "loaded", `"pipeline" in description`, "call", 3, 0.4},
		{"select:off", "off", "unavailable", "exact name; it cannot be called: off cannot be called: it is disabled", "choose_another", 1, 1},
	} {
		got := f.Search(c.query, 0)
		if len(got.Matches) != c.matches || got.NextAction != c.next {
			t.Fatalf("%s: %+v", c.query, got)
		}
		if m := got.Matches[0]; m.Name != c.best || m.LoadingState != c.state || m.Reason != c.reason || m.Score != c.score {
			t.Errorf("%s: %+v; want %+v", c.query, m, c)
		}
	}
}
