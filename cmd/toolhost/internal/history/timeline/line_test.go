package timeline

import (
	"slices"
	"testing"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/history"
)

// TestQuestionsHaveTheirAnswers: where a call asked twice, before it ran and while it ran, each answer stands below its question.
func TestQuestionsHaveTheirAnswers(t *testing.T) {
	t.Parallel()
	question := func(id, text string) (d history.Decision) {
		d.ID, d.Behavior, d.Reason.Detail = id, agenttool.Ask, text
		return d
	}
	answer := func(to string, b agenttool.Behavior) (d history.Decision) {
		d.RequestRef, d.Behavior, d.AnsweredBy = to, b, []byte(`"jo"`)
		return d
	}
	c := &history.Call{
		Asked:   []history.Decision{question("perm_1", "it runs code"), question("perm_2", "it wants to reach a.example")},
		Decided: []history.Decision{answer("perm_1", agenttool.Allow), answer("perm_2", agenttool.Deny)},
	}
	want := []string{"asked: it runs code", "allowed by jo", "asked: it wants to reach a.example", "refused by jo"}
	if got := permission(c, true); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Decided = c.Decided[:1]
	if got := permission(c, true); !slices.Equal(got, want[:3]) {
		t.Errorf("with one answer: got %q, want %q", got, want[:3])
	}
}
