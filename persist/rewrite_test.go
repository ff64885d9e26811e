package persist

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/persist/redact"
)

// TestRewrite takes a value out of a session that has stored it, in a record, a payload and a sealed file. The log is chained anew,
// verifies, and says what happened.
func TestRewrite(t *testing.T) {
	t.Parallel()
	const value = "the plain word of the house"
	key := redact.NewKey()
	o := Options{Dir: t.TempDir(), ID: "ses_1"}
	var err error
	if o.Redactor, err = redact.New(redact.Options{Key: key}); err != nil {
		t.Fatal(err)
	}
	s := New(o)
	write := func(inv, text string) agenttool.Ref {
		ref, err := writeParts(t, s, inv, text, 1000)
		if err != nil {
			t.Fatal(err)
		}
		e := agenttool.Event{EventType: agenttool.EventResultPersisted, Data: []byte(`{"text":` + string(agenttool.AppendString(nil, text)) + `,"ref":` + encoded(t, ref) + `}`)}
		b, _ := e.MarshalJSON()
		if _, err := s.Append(b); err != nil {
			t.Fatal(err)
		}
		return ref
	}
	first := write("inv_1", "before "+value+" after\n")
	write("inv_2", "nothing to see\n")
	o.Redactor.Add("variable", value) // from now on it is a secret, and sealed
	write("inv_3", "now "+value+" is sealed, as PASSWORD=other-secret-1 is\n")
	if _, err := Rewrite(o, false); !errors.Is(err, ErrLocked) {
		t.Errorf("of a running session: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := VerifyFile(filepath.Join(s.Path(), LogName))
	if err != nil {
		t.Fatal(err)
	}
	once := o
	if once.Redactor, err = redact.New(redact.Options{Key: key, Rules: redact.Rules{Off: redact.Kinds()}}); err != nil {
		t.Fatal(err)
	}
	once.Redactor.Add("value", value)
	done, err := Rewrite(once, false)
	if err != nil || done.Records != 1 || len(done.Payloads) != 1 || done.Payloads[0] != first.ID || done.Head != before.Head || done.Count != before.Last {
		t.Errorf("%+v, %v", done, err)
	}
	if all := stored(t, o.Dir); bytes.Contains(all, []byte(value)) || !bytes.Contains(all, []byte("[redacted value ")) {
		t.Error("the value is stored")
	}
	after, err := VerifyFile(filepath.Join(s.Path(), LogName))
	if err != nil || !after.OK() || !after.Closed || after.Records != before.Records+2 || after.Head == before.Head {
		t.Errorf("%v, %v", after, err)
	}
	if _, payloads, err := VerifySession(s.Path()); err != nil || len(payloads.Problems) > 0 || payloads.Checked != 3 {
		t.Errorf("%+v, %v", payloads, err)
	}
	wantSealed(t, o, value)
	if again, err := Rewrite(once, false); err != nil || again.Secrets != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	if leftovers, _ := filepath.Glob(filepath.Join(s.Path(), "*", "*"+rewriteEnd)); len(leftovers) > 0 {
		t.Errorf("left: %v", leftovers)
	}
}

// wantSealed checks that the third payload still has its other secret, and no longer the value.
func wantSealed(t *testing.T, o Options, value string) {
	t.Helper()
	s, err := Resume(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	page, err := s.Page("inv_3.output", 0, 0)
	if err != nil || strings.Contains(page.Text, value) || !strings.Contains(page.Text, "PASSWORD=other-secret-1 is") {
		t.Errorf("a page has %q, %v", page.Text, err)
	}
}

// TestRewriteUnsound: a log with a changed line stays as it is.
func TestRewriteUnsound(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), ID: "ses_1"}
	s := New(o)
	if _, err := s.Append(event(1), event(2)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Path(), LogName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(b, []byte("toolhost"), []byte("TOOLHOST"), 1)
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Rewrite(o, false); !errors.Is(err, ErrNotSound) {
		t.Errorf("got %v", err)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, changed) {
		t.Error("the log was written")
	}
}
