package shell

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/tools/seen"
)

// Lines of a file that a command prints count as seen if all that it prints reaches the caller as it is.
func TestCommandsShowLines(t *testing.T) {
	const five = "one\ntwo\nthree\nfour\nfive\n"
	tests := []struct {
		name, content, command string
		change                 func(text string) string // on its way; nil: none
		want                   seen.State
		lacks                  string
	}{
		{"cat", five, "cat f", nil, seen.Whole, ""},
		{"by redirection", five, "cat < f", nil, seen.Whole, ""},
		{"without a last end", "one\ntwo", "cat f", nil, seen.Whole, ""},
		{"CRLF", "one\r\ntwo\r\n", "cat f", nil, seen.Whole, ""},
		{"among others", five, "echo; cat g f; ls", nil, seen.Whole, ""},
		{"head", five, "head -n 2 f", nil, seen.Partly, "[{3 5}]"},
		{"tail", five, "tail -n 2 f", nil, seen.Partly, "[{1 3}]"},
		{"sed -n", five, "sed -n 2,3p f", nil, seen.Partly, "[{1 1} {4 5}]"},
		{"head and tail", five, "head -n 3 f && tail -n 2 f", nil, seen.Whole, ""},
		{"with line numbers", five, "cat -n f", nil, seen.Unseen, ""},
		{"counted", five, "wc f", nil, seen.Unseen, ""},
		{"begun by an error", five, "cat missing f", nil, seen.Whole, ""},
		{"joined", five, "cat f | tr '\\n' ' '", nil, seen.Unseen, ""},
		{"with a line that is redrawn", "one\rtwo\nthree\n", "cat f", nil, seen.Unseen, ""},
		{"with colours", "\x1b[31mone\x1b[0m\n", "cat f", nil, seen.Unseen, ""},
		{"with a line of 5,000 characters", strings.Repeat("x", 5000) + "\n", "cat f", nil, seen.Whole, ""},
		{"too long", strings.Repeat("a line\n", 10_000), "cat f", nil, seen.Unseen, ""},
		{"masked", five, "cat f", func(text string) string { return strings.Replace(text, "two", "***", 1) }, seen.Unseen, ""},
		{"not UTF-8", "caf\xe9\n", "cat f", nil, seen.Unseen, ""},
		{"thrown away", five, "cat f > /dev/null", nil, seen.Unseen, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ledger := &seen.Ledger{}
			b := newBench(t, Options{Seen: ledger})
			for name, content := range map[string]string{"f": tt.content, "g": "something else\n"} {
				if err := os.WriteFile(filepath.Join(b.dir, name), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			call := b.bind(t, cmd(tt.command))
			for i := range call.Facts().Reads {
				if err := b.w.Locate(&call.Facts().Reads[i]); err != nil {
					t.Fatal(err)
				}
			}
			r, _ := call.Run(t.Context(), &fakeReporter{})
			if r.Shown != nil {
				text := r.Content[0].Text
				if tt.change != nil {
					text = tt.change(text)
				}
				r.Shown(append([]agenttool.Content{agenttool.Text(text)}, r.Content[1:]...))
			}
			content := []byte(tt.content)
			lines := int64(bytes.Count(content, []byte("\n")))
			if !bytes.HasSuffix(content, []byte("\n")) {
				lines++
			}
			got := ledger.Recall(b.dir+"/f", seen.Content{Version: "v", Text: content, Terminator: '\n', Lines: lines})
			if got.State != tt.want || got.Missing != nil && fmt.Sprint(got.Missing) != tt.lacks {
				t.Errorf("%+v, want %v without %s; it printed %q", got, tt.want, tt.lacks, r.Content[0].Text)
			}
		})
	}
}
