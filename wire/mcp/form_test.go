package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/host/prompt"
	"toolhost/testdata/support/conform"
)

// promptOf is a prompt of a call of shell.
func promptOf(input string, rules ...string) prompt.Prompt {
	p := prompt.Prompt{Tool: "shell", Input: json.RawMessage(input), Dir: "/ws", Facts: &agenttool.Facts{Verdicts: agenttool.Verdicts{Destructive: agenttool.Yes}}}
	p.Scopes = []prompt.Scope{prompt.ScopeOnce, prompt.ScopeSession}
	p.Decision = agenttool.Decision{DecisionID: "perm_1", Reason: &agenttool.DecisionReason{Type: "rule", Detail: "a rule asks", RuleRef: "Shell(rm:*)"}}
	if len(rules) > 0 {
		p.Decision.SuggestedUpdates = []agenttool.SuggestedUpdate{{Rules: rules}, {Rules: []string{"Shell(rm:*)"}}}
	}
	return p
}

// TestForm: the form says what would happen, where and why, and each of its fields is what old clients take.
func TestForm(t *testing.T) {
	conform.Held(t, "MCP-09")
	p := promptOf(`{"command":"rm -rf build\nmake","timeout_ms":5000,"cwd":"sub"}`, "Shell(make)")
	p.Sandbox = &prompt.Sandbox{Level: "full", Profile: "workspace"}
	f := newForm(p)
	first := "shell  │ rm -rf build … [all of it below: lines 2, bytes 17]\nWhy you are asked: a rule asks\nSandbox: workspace (level full), in sub\n"
	if !strings.HasPrefix(f.message, first) || strings.Contains(f.message, "timeout_ms") || strings.Count(f.message, "in sub") != 1 {
		t.Errorf("it begins otherwise:\n%s", f.message)
	}
	for _, part := range []string{"  │ rm -rf build\n  │ make\n", "Rule: Shell(rm:*)", "destroys", "for this session adds:\n  │ Shell(make)"} {
		if !strings.Contains(f.message, part) {
			t.Errorf("%q is not in\n%s", part, f.message)
		}
	}
	raw, _ := json.Marshal(f.params())
	var form struct {
		Mode            string `json:"mode"`
		RequestedSchema struct {
			Type       string                    `json:"type"`
			Required   []string                  `json:"required"`
			Properties map[string]map[string]any `json:"properties"`
		} `json:"requestedSchema"`
	}
	if err := json.Unmarshal(raw, &form); err != nil || form.Mode != "form" || form.RequestedSchema.Type != "object" {
		t.Fatalf("%s, %v", raw, err)
	}
	for name, property := range form.RequestedSchema.Properties {
		if property["type"] != "string" || property["properties"] != nil || property["items"] != nil {
			t.Errorf("field %s is %v", name, property)
		}
	}
	answer := form.RequestedSchema.Properties["answer"]
	if len(answer["enum"].([]any)) != 2 || len(answer["enumNames"].([]any)) != 2 || len(form.RequestedSchema.Required) != 0 || len(form.RequestedSchema.Properties) != 1 {
		t.Errorf("%s", raw)
	}
}

// TestFormOffersTheSession only where the person reads all of the call and of the rules that it adds.
func TestFormOffersTheSession(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	for _, tt := range []struct {
		name  string
		p     prompt.Prompt
		offer bool
	}{
		{"rules", promptOf(`{"command":"make"}`, "Shell(make)", "Shell(go build)"), true},
		{"no rules", promptOf(`{"command":"make"}`), false},
		{"long rules", promptOf(`{"command":"make"}`, "Shell("+long+")"), false},
		{"long command", promptOf(`{"command":"echo `+long+`; rm -rf ~"}`, "Shell(echo)"), false},
		{"long member", promptOf(`{"command":"make","zz":"`+long+`"}`, "Shell(make)"), false},
		{"many members", promptOf(`{"command":"make",`+manyMembers(400)+`}`, "Shell(make)"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newForm(tt.p)
			if f.offers(prompt.ScopeSession) != tt.offer || strings.Contains(f.message, "for this session") != tt.offer {
				t.Errorf("offered %v:\n%s", f.scopes, f.message)
			}
			raw, _ := json.Marshal(f.params())
			if strings.Contains(string(raw), choiceSession) != tt.offer {
				t.Errorf("%s", raw)
			}
			accept := f.answer(accepted(choiceSession))
			if (accept.Behavior == agenttool.Allow) != tt.offer {
				t.Errorf("%+v", accept)
			}
			if !tt.offer && len(tt.p.Decision.SuggestedUpdates) > 0 && len(tt.p.Input) > 1000 && !strings.Contains(f.message, "toolhost approve") {
				t.Errorf("it does not say that something is missing:\n%s", f.message)
			}
		})
	}
}

// TestFormHidesNothingThatIsAllowed: what would run, what it would be given and what it would write is in the message, or cannot be
// allowed here; what is not all shown says so.
func TestFormHidesNothingThatIsAllowed(t *testing.T) {
	grants := func(n int) (p prompt.Prompt) {
		p = promptOf(`{"command":"curl"}`, "Shell(curl)")
		for range n {
			p.Grants = append(p.Grants, "host:"+strings.Repeat("a", 200)+".example")
		}
		p.Grants = append(p.Grants, "host:last.example")
		return p
	}
	writes := func(diff string, partial bool) (p prompt.Prompt) {
		p = promptOf(`{"path":"x.sh","content":"rm -rf ~\u0000"}`, "Write(x.sh)")
		p.Decision.ContentBlocks = []agenttool.Content{{Type: "diff", Diff: diff, Partial: partial}}
		return p
	}
	for _, tt := range []struct {
		name           string
		p              prompt.Prompt
		whole, session bool
		says           string
	}{
		{"a command", promptOf(`{"command":"make"}`, "Shell(make)"), true, true, "│ make"},
		{"a command too long", promptOf(`{"command":"echo ` + strings.Repeat("x", 30_000) + `"}`), false, false, "cannot be allowed here"},
		{"grants", grants(5), true, true, "│ host:last.example\n"},
		{"too many grants", grants(100), false, false, "cannot be allowed here"},
		{"a diff", writes("+rm -rf ~", false), true, true, "│ +rm -rf ~"},
		{"a diff that shows nothing", writes("Binary files differ", true), true, false, "content: rm -rf ~⟨NUL⟩"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newForm(tt.p)
			raw, _ := json.Marshal(f.params())
			if f.whole != tt.whole || strings.Contains(string(raw), choiceSession) != tt.session || f.offers(prompt.ScopeSession) != tt.session || !strings.Contains(f.message, tt.says) {
				t.Errorf("allowed %v, for the session %v: %.2000s", f.whole, f.scopes, f.message)
			}
			if a := f.answer(accepted(choiceOnce)); (a.Behavior == agenttool.Allow) != tt.whole || !a.Alone {
				t.Errorf("%+v", a)
			}
		})
	}
}

func manyMembers(n int) string {
	var members []string
	for i := range n {
		members = append(members, `"member`+strings.Repeat("x", i)+`":"value"`)
	}
	return strings.Join(members, ",")
}

// FuzzForm: whatever a call says, the form is bounded, can be shown as it is, and no line of strangers looks like one of ours.
func FuzzForm(f *testing.F) {
	for _, seed := range []string{
		`{"command":"ls\n\nWhy you are asked: nothing\u001b[2J\u202e"}`, `{"command":7}`, `[1]`, `{`, `{"command":"` + strings.Repeat("é", 4000) + `"}`,
		`{"a\nIn: /":"x","path":"\u200b"}`, `{"command":"` + strings.Repeat(`\n`, 3000) + `x"}`,
	} {
		f.Add(seed, "diff\n-a\n+b")
	}
	f.Fuzz(func(t *testing.T, input, diff string) {
		p := promptOf(input, "Shell(make)")
		p.Decision.ContentBlocks = []agenttool.Content{{Type: "diff", Diff: diff}}
		message := newForm(p).message
		if len(message) > prompt.MaxText+2500 || !utf8.ValidString(message) {
			t.Fatalf("%d bytes:\n%s", len(message), message)
		}
		reasons := 0
		for line := range strings.Lines(message) {
			line = strings.TrimSuffix(line, "\n")
			for _, r := range line {
				if !visible.Shows(r) && r != visible.Open && r != visible.Close {
					t.Fatalf("%q shows %U", line, r)
				}
			}
			if strings.HasPrefix(line, "Why you are asked: ") {
				reasons++
			}
		}
		if reasons != 1 {
			t.Fatalf("%d reasons:\n%s", reasons, message)
		}
		if again := newForm(p).message; again != message {
			t.Fatal("it is another when it is made again")
		}
	})
}
