package approve

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
)

func TestParsePrompt(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		unread    string
		wantErr   bool
	}{
		{"least", `{"decision":{"decision_id":"p"}}`, "", false},
		{"no id", `{"decision":{}}`, "", true},
		{"no decision", `{}`, "", true},
		{"no object", `[]`, "", true},
		{"facts of another shape", `{"decision":{"decision_id":"p"},"facts":{"destructive":"maybe"},"attempt":"x"}`, "facts attempt", false},
		{"a decision of another shape", `{"decision":{"decision_id":"p","reason":7}}`, "decision", false},
		{"unknown members", `{"decision":{"decision_id":"p","z":1},"z":2}`, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := ParsePrompt(json.RawMessage(c.raw))
			if (err != nil) != c.wantErr {
				t.Fatalf("error %v, want one: %v", err, c.wantErr)
			}
			if err == nil && (strings.Join(p.Unread, " ") != c.unread || p.ID() != "p") {
				t.Errorf("prompt %q, unread %q, want %q", p.ID(), p.Unread, c.unread)
			}
		})
	}
}

// TestUnknownIsUnsafe checks that what a session did not say is never shown as harmless.
func TestUnknownIsUnsafe(t *testing.T) {
	for _, raw := range []string{`{"decision":{"decision_id":"p"},"tool":"shell","input":{"command":"x"}}`, `{"decision":{"decision_id":"p"},"facts":[]}`} {
		p, err := ParsePrompt(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		text := page(Describe(&Item{Prompt: p}, Session{})).text()
		for _, words := range []string{"may destroy", "write", "reach out", "touch more paths"} {
			if !strings.Contains(text, words) {
				t.Errorf("%s: %q is not said:\n%s", raw, words, text)
			}
		}
	}
}

func (p page) text() string {
	var lines []string
	for _, l := range p {
		lines = append(lines, l.Text)
	}
	return strings.Join(lines, "\n")
}

// TestLongInputHidesNothing checks that what matters stands before an input of any length.
func TestLongInputHidesNothing(t *testing.T) {
	p := parsed(t, "p", `{"tool":"shell","input":{"command":`+fmt.Sprintf("%q", strings.Repeat("echo\n", 5000))+`},"facts":{"destructive":"yes"}}`)
	lines := Describe(&Item{Prompt: p}, Session{})
	if text := page(lines[:8]).text(); !strings.Contains(text, "DESTRUCTIVE") || !strings.Contains(text, "why:") {
		t.Errorf("the first lines are\n%s", text)
	}
	if len(lines) < 5000 {
		t.Errorf("%d lines", len(lines))
	}
}

func parsed(t *testing.T, id, raw string) Prompt {
	t.Helper()
	raw = strings.Replace(raw, "{", `{"decision":{"decision_id":"`+id+`"},`, 1)
	p, err := ParsePrompt(json.RawMessage(strings.Replace(raw, ",}", "}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestQueue(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	sent := Answer{Session: "s", ID: "a", Behavior: agenttool.Allow}
	asked := func(id string) Asked { return Asked{"s", parsed(t, id, `{}`)} }
	with := func(id, leader string) Asked { return Asked{"s", parsed(t, id, `{"coalesced_with":"`+leader+`"}`)} }
	dated := func(id, at string) Asked { return Asked{"s", parsed(t, id, `{"asked_at":"`+at+`"}`)} }
	for _, c := range []struct {
		name   string
		events []any
		want   string // waiting | done
	}{
		{"asked", []any{asked("a")}, "#1 a |"},
		{"asked twice", []any{asked("a"), asked("a")}, "#1 a |"},
		{"the newest last", []any{dated("a", "2026-01-01T10:00:00Z"), dated("b", "2026-01-01T09:00:00Z")}, "#2 b #1 a |"},
		{"ended by somebody", []any{asked("a"), Ended{Session: "s", ID: "a", How: "expired"}}, "| #1 expired"},
		{"told of after it ended", []any{asked("a"), Ended{Session: "s", ID: "a", How: "x"}, asked("a")}, "| #1 x"},
		{"ended before it was told", []any{Ended{Session: "s", ID: "a", How: "x"}, asked("a")}, "|"},
		{"of another session", []any{asked("a"), Ended{Session: "t", ID: "a", How: "x"}}, "#1 a |"},
		{"the same asked again", []any{asked("a"), with("b", "a")}, "#1 a+1 |"},
		{"one of the same ends", []any{asked("a"), with("b", "a"), with("c", "a"), Ended{Session: "s", ID: "b", How: "x"}}, "#1 a+1 |"},
		{"the first of the same ends", []any{asked("a"), with("b", "a"), Ended{Session: "s", ID: "a", How: "x"}, asked("b")}, "#2 b | #1 x"},
		{"the same as one that is not known", []any{with("b", "a")}, "#1 b |"},
		{"the session ends", []any{asked("a"), asked("b"), Closed{"s", "gone"}}, "| #1 gone #2 gone"},
		{"the session comes back", []any{asked("a"), Closed{"s", "gone"}, asked("b"), asked("a")}, "#2 b #1 a | #1 gone"},
		{"answered", []any{asked("a"), sent, Answered{Answer: sent}}, "| #1 you allowed it once"},
		{"answered, and told so first", []any{asked("a"), sent, Ended{Session: "s", ID: "a", How: "allowed"}, Answered{Answer: sent}}, "| #1 you allowed it once"},
		{"another was first", []any{asked("a"), sent, Ended{Session: "s", ID: "a", How: "denied"}, Answered{sent, errors.New("late")}}, "| #1 denied"},
		{"not valid", []any{asked("a"), sent, Answered{sent, errors.New("bad")}}, "#1 a(bad) |"},
		{"the session ends with the answer", []any{asked("a"), sent, Closed{"s", "gone"}, Answered{sent, errors.New("broken")}}, "| #1 gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := &Queue{}
			for _, e := range c.events {
				if a, ok := e.(Answer); ok {
					q.Send(q.Waiting[0], a)
					continue
				}
				q.Apply(e, now)
			}
			if got := standing(q); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func standing(q *Queue) string {
	var words []string
	for _, it := range q.Waiting {
		word := fmt.Sprintf("#%d %s", it.Number, it.Prompt.ID())
		if len(it.Together) > 0 {
			word += fmt.Sprintf("+%d", len(it.Together))
		}
		if it.Error != "" {
			word += "(" + it.Error + ")"
		}
		words = append(words, word)
	}
	words = append(words, "|")
	for _, d := range q.Done {
		words = append(words, fmt.Sprintf("#%d %s", d.Number, d.How))
	}
	return strings.Join(words, " ")
}

// A prompt's deadline is monotonic, as the session's own is.
func TestDeadlineIsMonotonic(t *testing.T) {
	p := Prompt{Decision: agenttool.Decision{DecisionID: "perm_1", ExpiresAt: time.Now().Add(time.Minute).Format(time.RFC3339)}}
	var q Queue
	it := q.Apply(Asked{Session: "ses_1", Prompt: p}, time.Now())
	if it == nil || !strings.Contains(it.expires().String(), " m=") {
		t.Errorf("it expires at %v", it.expires())
	}
	if left := time.Until(it.expires()); left < 30*time.Second || left > time.Minute {
		t.Errorf("it waits %v", left)
	}
}

func TestQueueIsBounded(t *testing.T) {
	q := &Queue{}
	p := parsed(t, "x", `{}`)
	for i := range 3 * maxEnded {
		p.Decision.DecisionID = agenttool.DecisionID(fmt.Sprint(i))
		q.Apply(Asked{"s", p}, time.Time{})
		q.Apply(Ended{Session: "s", ID: p.ID()}, time.Time{})
	}
	if len(q.Done) != maxDone || len(q.ended) > maxEnded || len(q.order) > maxEnded {
		t.Errorf("%d done, %d and %d ended are kept", len(q.Done), len(q.ended), len(q.order))
	}
}

func TestEdited(t *testing.T) {
	shell := `{"tool":"shell","input":{"command":"make","timeout_ms":5}}`
	other := `{"tool":"write","input":{"path":"a","n":12345678901234567890}}`
	for _, c := range []struct{ name, prompt, text, want, wantErr string }{
		{"command", shell, "make -j", `{"command":"make -j","timeout_ms":5}`, ""},
		{"lines", shell, "a\nb <&>", `{"command":"a\nb <&>","timeout_ms":5}`, ""},
		{"the same", shell, "make", "", "nothing was changed"},
		{"empty", shell, " \n", "", "empty"},
		{"NUL", shell, "a\x00b", "", "not text"},
		{"JSON", other, `{"path": "b", "n": 12345678901234567890}`, `{"path":"b","n":12345678901234567890}`, ""},
		{"no JSON", other, "{\n\"path\": }", "", "line 2"},
		{"half", other, `{"path":"b"`, "", "unexpected end"},
		{"no object", other, `["path"]`, "", "object"},
		{"twice", other, `{"path":"a","x":[{"y":1,"y":2}]}`, "", `"y" comes twice`},
		{"twice, spelled in two ways", other, `{"path":"a","p\u0061th":"b"}`, "", `"path" comes twice`},
		{"a value like a name", other, `{"a":"b","b":"a","c":["a","a"]}`, `{"a":"b","b":"a","c":["a","a"]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Edited(parsed(t, "p", c.prompt), c.text)
			if string(got) != c.want || (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("Edited(%q) = %s, %v; want %s, %q", c.text, got, err, c.want, c.wantErr)
			}
		})
	}
}

func TestEditDiff(t *testing.T) {
	for _, c := range []struct{ name, prompt, input, want string }{
		{"command", `{"tool":"shell","input":{"command":"make","a":1}}`, `{"command":"make -j","a":1}`, "-make\n+make -j\n"},
		{"more than the command", `{"tool":"shell","input":{"command":"make","a":1}}`, `{"command":"make -j","a":2}`, "-  \"command\": \"make\",\n-  \"a\": 1\n+  \"command\": \"make -j\",\n+  \"a\": 2\n"},
		{"JSON", `{"tool":"write","input":{"a":1}}`, `{"a":2}`, "-  \"a\": 1\n+  \"a\": 2\n"},
		{"nothing", `{"tool":"write","input":{"a":1}}`, `{ "a": 1}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := EditDiff(parsed(t, "p", c.prompt), json.RawMessage(c.input))
			if !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("EditDiff = %q, want %q", got, c.want)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"git push", "git push"},
		{"rm|a b", "rm 'a b'"},
		{"echo||it's", `echo '' 'it'\''s'`},
		{"ls|*", "ls '*'"},
		{"make|A=b|--x=~/y", "make A=b --x=~/y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			argv := strings.Split(c.name, "|")
			if c.name == "git push" {
				argv = strings.Fields(c.name)
			}
			if got := Quote(argv); got != c.want {
				t.Errorf("Quote(%q) = %s, want %s", argv, got, c.want)
			}
		})
	}
}

func FuzzParseInput(f *testing.F) {
	f.Add(`{"a":1,"a":2}`)
	f.Add(`{"a":[{}, "x"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		input, err := ParseInput(text)
		if err != nil {
			return
		}
		var v map[string]any
		if json.Unmarshal(input, &v) != nil {
			t.Errorf("%q became %q", text, input)
		}
		if again, err := ParseInput(string(input)); err != nil || string(again) != string(input) {
			t.Errorf("%q is not stable: %q, %v", input, again, err)
		}
	})
}
