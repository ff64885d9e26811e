package persist

import (
	"fmt"
	"strings"
	"testing"

	"toolhost/agenttool"
)

func TestEphemeralSinceSaysWhatIsGone(t *testing.T) {
	s := New(Options{Ephemeral: true})
	mustAppend(t, s, 2, memoryEvents+5) // with the opened record, 5 too many
	_, _, err := s.Since(4, 1)
	e := wantError(t, err, agenttool.InvalidArguments, "events_gone")
	if !strings.Contains(e.Message, "ask for those after 5") {
		t.Errorf("message is %q", e.Message)
	}
	entries, more, err := s.Since(5, 1)
	if err != nil || !more || len(entries) != 1 || entries[0].Seq != 6 || string(entries[0].Event) != string(event(6)) {
		t.Errorf("after 5: %+v, %v", entries, err)
	}
	if entries, more, err = s.Since(memoryEvents+5, 1); err != nil || more || len(entries) != 0 {
		t.Errorf("after the last: %+v, %v", entries, err)
	}
}

func TestEphemeralKeepsItsEventsWithinBytes(t *testing.T) {
	s := New(Options{Ephemeral: true})
	big := fmt.Appendf(nil, `{"data":"%s"}`, strings.Repeat("x", 20<<20))
	for range 5 {
		if _, err := s.Append(big); err != nil {
			t.Fatal(err)
		}
	}
	m := s.kept.(*memory)
	if m.bytes > memoryEventBytes || len(m.entries) != 3 {
		t.Errorf("%d events of %d bytes", len(m.entries), m.bytes)
	}
}

func TestEphemeralKeepsACopy(t *testing.T) {
	s := New(Options{Ephemeral: true})
	b := event(1)
	if _, err := s.Append(b); err != nil {
		t.Fatal(err)
	}
	clear(b)
	if entries, _, err := s.Since(1, 1); err != nil || string(entries[0].Event) != string(event(1)) {
		t.Errorf("%s, %v", entries[0].Event, err)
	}
}

func TestEphemeralPayloadsAreBounded(t *testing.T) {
	s := New(Options{Ephemeral: true})
	p, err := s.Payload("inv_1", "stdout", "", "")
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 10<<20)
	for range 7 {
		if n, err := p.Write(part); n != len(part) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	ref, err := p.Close()
	wantError(t, err, agenttool.ResultTooLarge, "payload_cut")
	if ref.SizeBytes != memoryPayloadBytes {
		t.Errorf("kept %d bytes", ref.SizeBytes)
	}
	_, err = s.Payload("inv_2", "stdout", "", "")
	wantError(t, err, agenttool.ResultTooLarge, "session_full")
	mustAppend(t, s, 1, 1)
	if s.Path() != "" || s.Reserve(t.Context()) != nil {
		t.Error("an ephemeral session has a directory, or reserves")
	}
}

func TestResumeEphemeral(t *testing.T) {
	s, err := Resume(Options{Ephemeral: true})
	if err != nil {
		t.Fatal(err)
	}
	if first, err := s.Append(event(1)); first != 2 || err != nil || !strings.HasPrefix(string(s.ID()), "ses_") {
		t.Errorf("first = %d, %v, id %s", first, err, s.ID())
	}
}
