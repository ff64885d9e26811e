package settings

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

// TestRedactionProblems: an invalid pattern, kind or tool is an error with its file, line and column.
func TestRedactionProblems(t *testing.T) {
	unknown := func(name string) error {
		if name != "jwt" && name != "shell" {
			return errors.New("there is no " + name)
		}
		return nil
	}
	for _, c := range []struct{ text, want string }{
		{"{\"redaction\": {\"patterns\": [\n {\"kind\": \"acme\",\n  \"pattern\": \"a(\"}]}}", ":3:14: redaction.patterns[0].pattern: error parsing regexp"},
		{`{"redaction": {"patterns": [{"kind": "Acme", "pattern": "a"}]}}`, ":1:38: redaction.patterns[0].kind: \"Acme\" is not the name of a kind"},
		{`{"redaction": {"patterns": [{"kind": "acme"}]}}`, ":1:29: redaction.patterns[0] needs a kind and a pattern"},
		{`{"redaction": {"patterns": ["acme"]}}`, ":1:29: redaction.patterns[0] must be an object"},
		{"{\"redaction\": {\"off\": [\n\"jtw\"]}}", ":2:1: redaction.off[0]: there is no jtw"},
		{`{"redaction": {"strategy": "reduct"}}`, `did you mean "redact"?`},
		{`{"redaction": {"stategy": "redact"}}`, `did you mean "strategy"?`},
		{`{"tools": {"disable": ["shel"]}}`, ":1:24: tools.disable[0]: there is no shel"},
		{`{"tools": {"disable": "shell"}}`, ":1:23: tools.disable must be a list"},
		{`{"tools": {"disable": ["*"]}}`, `:1:24: tools.disable[0]: "*" is not the name of a tool`},
	} {
		at := newPlace(t)
		at.CheckTool, at.CheckSecret = unknown, unknown
		at.CheckPattern = func(p SecretPattern) error { _, err := regexp.Compile(p.Regexp); return err }
		at.write(at.User, c.text)
		if _, err := Load(at.Options); err == nil || !strings.Contains(err.Error(), at.User) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	at := newPlace(t)
	at.CheckTool, at.CheckSecret = unknown, unknown
	at.write(at.User, `{"redaction": {"patterns": [{"kind": "acme", "pattern": "a"}], "off": ["jwt"]}, "tools": {"disable": ["shell"]}}`)
	if s := at.load(); len(s.RedactionPatterns) != 1 || s.RedactionOff[0].V != "jwt" || s.Disabled[0].V != "shell" {
		t.Errorf("%+v, %+v", s.Redaction, s.Disabled)
	}
}

// TestDisabledStays: a project's file that a command changes while the session runs gives no tool back.
func TestDisabledStays(t *testing.T) {
	at := newPlace(t)
	at.write(at.Project, `{"tools": {"disable": ["shell", "write"]}}`)
	w, err := Open(at.Options)
	if err != nil {
		t.Fatal(err)
	}
	at.write(at.Project, `{"tools": {"disable": ["write"]}}`)
	s := w.Reload()
	if len(s.Disabled) != 2 || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Message, "shell in tools.disable was taken out") {
		t.Errorf("disabled %v, problems %v", s.Disabled, s.Problems)
	}
	if s := w.Accept(); len(s.Disabled) != 1 || len(s.Problems) != 0 {
		t.Errorf("accepted: disabled %v, problems %v", s.Disabled, s.Problems)
	}
}
