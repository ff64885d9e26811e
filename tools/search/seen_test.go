package search

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/tools/seen"
)

// A line that grep shows whole counts as seen; one that it clips, or that did not reach the caller as it was, does not.
func TestGrepShowsLines(t *testing.T) {
	long := strings.Repeat("x", 600) + " needle"
	const other = "package d\n"
	tests := []struct {
		name, content string
		input         string
		change        func(text string) string // on its way; nil: none
		want          seen.State
		lacks         string
	}{
		{"all lines", "one\ntwo\n\n", `{"pattern":"^","path":"d/f"}`, nil, seen.Whole, ""},
		{"all lines below a directory", "one\ntwo\n", `{"pattern":"^[ot]"}`, nil, seen.Whole, ""},
		{"with CRLF", "one\r\ntwo\r\n", `{"pattern":"o"}`, nil, seen.Whole, ""},
		{"a match and its context", "one\ntwo\nthree\n", `{"pattern":"two","context":1}`, nil, seen.Whole, ""},
		{"across lines", "one\ntwo\nthree\n", `{"pattern":"one\\ntwo","multiline":true,"after":1}`, nil, seen.Whole, ""},
		{"one line", "one\ntwo\nthree\n", `{"pattern":"two"}`, nil, seen.Partly, "[{1 1} {3 3}]"},
		{"a line that is clipped", "one\n" + long + "\n", `{"pattern":"one|needle"}`, nil, seen.Partly, "[{2 2}]"},
		{"names only", "one\n", `{"pattern":"one","output_mode":"files_with_matches"}`, nil, seen.Unseen, ""},
		{"counts only", "one\n", `{"pattern":"one","output_mode":"count"}`, nil, seen.Unseen, ""},
		{"masked", "one\n", `{"pattern":"one"}`, func(text string) string { return strings.Replace(text, "one", "***", 1) }, seen.Unseen, ""},
		{"cut", "one\n", `{"pattern":"one"}`, func(text string) string { return text[:5] }, seen.Unseen, ""},
		{"of the next page", "one\ntwo\n", `{"pattern":"o","limit":1}`, nil, seen.Partly, "[{2 2}]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := plant(t, map[string]string{"d/f": tt.content, "d/other": other})
			out := tr.must(t, tr.newGrep(), tt.input)
			if out.Shown != nil {
				text := out.Content[0].Text
				if tt.change != nil {
					text = tt.change(text)
				}
				out.Shown([]agenttool.Content{agenttool.Text(text)})
			}
			content := []byte(tt.content)
			got := tr.seen.Recall(tr.dir+"/d/f", seen.Content{Version: "v", Text: content, Terminator: '\n', Lines: int64(bytes.Count(content, []byte("\n")))})
			if got.State != tt.want || got.Missing != nil && fmt.Sprint(got.Missing) != tt.lacks {
				t.Errorf("%+v, want %v without %s", got, tt.want, tt.lacks)
			}
		})
	}
}

// A search in a directory whose name is stored in another Unicode form says how to name it.
func TestSearchRootInAnotherForm(t *testing.T) {
	tr := plant(t, map[string]string{"cafe\u0301/a.txt": "needle\n"})
	for _, tool := range []agenttool.Tool{tr.newGrep(), tr.newGlob()} {
		e := tr.fail(t, tool, map[string]string{"pattern": "a", "path": "caf\u00e9"})
		if e.Code != "not_found" || !strings.Contains(e.Message, `; the same name in another Unicode form does: $'cafe\xcc\x81'`) {
			t.Errorf("%+v", e)
		}
		tr.must(t, tool, map[string]string{"pattern": "a*", "path": `$'cafe\xcc\x81'`})
	}
}

// A line that grep cuts can be read whole, and the result says how.
func TestGrepSaysHowToReadALongLine(t *testing.T) {
	tr := plant(t, map[string]string{"f": "short\n" + strings.Repeat("x", 3000) + " needle\n…needle\n"})
	const note = "long lines are cut: read with offset 2 and column shows all of one"
	if text := tr.must(t, tr.newGrep(), `{"pattern":"needle"}`).Content[0].Text; !strings.Contains(text, note) {
		t.Errorf("no word how: %q", text)
	}
	if text := tr.must(t, tr.newGrep(), `{"pattern":"short|^…needle"}`).Content[0].Text; strings.Contains(text, "long lines") {
		t.Errorf("nothing was cut: %q", text)
	}
}
