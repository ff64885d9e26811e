package persist

import (
	"strings"
	"testing"

	"toolhost/agenttool"
)

// The payloads of one session have a limit together: what is beyond it is cut, and said.
func TestSessionLimit(t *testing.T) {
	o := Options{Dir: t.TempDir(), ID: "ses_test", SessionLimit: 1000}
	s := New(o)
	mustPayload(t, s, "first", "text/plain", strings.Repeat("x", 600))
	p, err := s.Payload("inv_1", "second", "text/plain", "full_output")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if n, err := p.Write(make([]byte, 300)); n != 300 || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	ref, err := p.Close()
	wantError(t, err, agenttool.ResultTooLarge, "payload_cut")
	if ref.SizeBytes != 400 || !strings.Contains(err.Error(), "of one session") {
		t.Errorf("kept %d bytes, %v", ref.SizeBytes, err)
	}
	for range 2 {
		_, err = s.Payload("inv_1", "third", "text/plain", "full_output")
		wantError(t, err, agenttool.ResultTooLarge, "session_full")
		if _, err := s.Append(event(1)); err != nil {
			t.Errorf("the log goes on: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Resume(o); err != nil { // which does not begin anew
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
