package asked_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/host/asked"
	"toolhost/host/prompt"
)

func Example() {
	p := prompt.Prompt{Tool: "shell", Input: json.RawMessage(`{"command":"rm -rf build\nmake","cwd":"sub"}`), Dir: "/ws", Grants: []string{"host:example.com"}}
	p.Facts = &agenttool.Facts{Verdicts: agenttool.Verdicts{Destructive: agenttool.Yes}}
	p.Decision.Reason = &agenttool.DecisionReason{Type: "mode", Detail: "it destroys something"}
	p.Decision.SuggestedUpdates = []agenttool.SuggestedUpdate{{Rules: []string{"Shell(make)"}}}
	fmt.Println(asked.Write(p).Text)
	// Output:
	// shell  │ rm -rf build … [all of it below: lines 2, bytes 17]
	// Why you are asked: it destroys something
	// In: sub
	//
	// command:
	//   │ rm -rf build
	//   │ make
	// Allowing gives it:
	//   │ host:example.com
	// Allowing it for this session adds:
	//   │ Shell(make)
}

// TestWhatIsCutCannotBeAllowed, in whatever order it comes and whatever was cut before it.
func TestWhatIsCutCannotBeAllowed(t *testing.T) {
	long := strings.Repeat("x", 2*asked.MaxText)
	for _, tt := range []struct {
		name, input   string
		once, session bool
	}{
		{"all of it", `{"command":"make"}`, true, true},
		{"command", `{"command":"` + long + `"}`, false, false},
		{"path behind a long command", `{"command":"` + long + `","path":"` + long + `"}`, false, false},
		{"another member", `{"command":"make","stdin":"` + long + `"}`, true, false},
		{"no object", `"` + long + `"`, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := prompt.Prompt{Tool: "shell", Input: json.RawMessage(tt.input)}
			p.Decision.SuggestedUpdates = []agenttool.SuggestedUpdate{{Rules: []string{"Shell(make)"}}}
			q := asked.Write(p)
			if q.Once != tt.once || q.Session != tt.session || len(q.Text) > asked.MaxText+2500 {
				t.Errorf("once %v, session %v, %d bytes", q.Once, q.Session, len(q.Text))
			}
		})
	}
}
