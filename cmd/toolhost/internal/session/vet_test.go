package session

import (
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/code"
	"toolhost/persist"
)

// TestLooserModeTakesTheCode: the code is shown where the session was started, and nothing else counts, however often it is tried.
func TestLooserModeTakesTheCode(t *testing.T) {
	var shown []string
	s := &Session{code: code.New(), Store: persist.New(persist.Options{Dir: t.TempDir()})}
	s.o.Log = func(line string) { shown = append(shown, line) }
	loosens := s.loosens()
	if err := loosens("", agenttool.ModeSandboxed); err == nil || strings.Contains(err.Error(), s.code) {
		t.Errorf("without a code: %v", err)
	}
	if len(shown) != 1 || !strings.Contains(shown[0], s.code) || !strings.Contains(shown[0], "sandboxed") {
		t.Errorf("the session showed %q", shown)
	}
	if err := loosens("AAAA-AAAA", agenttool.ModeSandboxed); err == nil {
		t.Error("a wrong code counts")
	}
	if err := loosens(strings.ToLower(s.code), agenttool.ModeSandboxed); err != nil {
		t.Errorf("the code: %v", err)
	}
	for range maxTries {
		_ = loosens("", agenttool.ModeSandboxed)
	}
	if err := loosens(s.code, agenttool.ModeSandboxed); err == nil {
		t.Error("there is no end of tries")
	}
}
