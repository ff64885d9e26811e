package shell

import (
	"strings"
	"testing"

	"toolhost/agenttool"
)

// A line is what a shell reads as it stands: nothing that a terminal, a line editor or the history makes something else of.
func TestTypedLine(t *testing.T) {
	for _, tt := range []struct {
		name  string
		in    feedInput
		line  string
		whole bool
	}{
		{"a line", feedInput{Text: "ls -l\n"}, "ls -l", true},
		{"with the key", feedInput{Text: "ls", Keys: []string{"enter"}}, "ls", true},
		{"no end", feedInput{Text: "ls"}, "ls", false},
		{"two ends", feedInput{Text: "ls\n", Keys: []string{"enter"}}, "ls\n", false},
		{"two lines", feedInput{Text: "ls\nrm x\n"}, "ls\nrm x", false},
		{"another key", feedInput{Text: "ls\n", Keys: []string{"up"}}, "", false},
		{"a tab", feedInput{Text: "l\t\n"}, "l\t", false},
		{"history", feedInput{Text: "echo !$\n"}, "echo !$", false},
		{"goes on", feedInput{Text: "rm \\\n"}, `rm \`, false},
		{"beyond ASCII", feedInput{Text: "echo é\n"}, "echo é", false},
		{"control characters", feedInput{Text: "ls\x1b[A\n"}, "ls\x1b[A", false},
		{"too long", feedInput{Text: strings.Repeat("x", maxTyped+1) + "\n"}, strings.Repeat("x", maxTyped+1), false},
		{"with an end of input", feedInput{Text: "ls\n", EOF: true}, "ls", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if line, whole := (&feed{input: tt.in}).line(); line != tt.line || whole != tt.whole {
				t.Errorf("line %.20q, whole %v; want %.20q, %v", line, whole, tt.line, tt.whole)
			}
		})
	}
}

// What ends or stops a program is no input that anybody could run.
func TestSends(t *testing.T) {
	for _, in := range []feedInput{{}, {EOF: true}, {Keys: []string{"ctrl-c", "ctrl-d", "ctrl-z", `ctrl-\`}}, {Columns: 80}} {
		if (&feed{input: in}).sends() {
			t.Errorf("%+v is taken for input", in)
		}
	}
	for _, in := range []feedInput{{Text: "x"}, {Keys: []string{"enter"}}, {Keys: []string{"ctrl-c", "up"}}} {
		if !(&feed{input: in}).sends() {
			t.Errorf("%+v is taken for nothing", in)
		}
	}
}

// Input to an unknown job asks no one: it is refused.
func TestInputToUnknownJob(t *testing.T) {
	b := newBench(t, Options{})
	c, err := b.all[inputTool].Bind(b.scope, []byte(`{"job":"j7","text":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	c.(agenttool.Refiner).Refine(t.Context())
	if f := c.Facts(); f.OwnJobs != agenttool.Yes || f.ReadOnly == agenttool.Yes {
		t.Errorf("facts %+v", f)
	}
	_, err = c.Run(t.Context(), &fakeReporter{})
	want(t, err, agenttool.InvalidArguments, "unknown_job")
}
