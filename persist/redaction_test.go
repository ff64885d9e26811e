package persist

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/persist/redact"
	"toolhost/testdata/support/redacttest"
)

// stored returns all bytes of the files below dir.
func stored(t *testing.T, dir string) (all []byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all = append(append(all, path...), b...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNoSecretIsStored writes secrets as events, as metadata and as payloads, in one piece and in many. None is in any file;
// readers of the session get them unchanged, also after a resume; the log and the payloads verify.
func TestNoSecretIsStored(t *testing.T) {
	secrets := redacttest.Secrets(11)
	redactor, err := redact.New(redact.Options{Key: redact.NewKey()})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: t.TempDir(), ID: "ses_1", Redactor: redactor, Meta: []byte(fmt.Sprintf(`{"flag":%q}`, "--allow="+secrets[0].Value))}
	s := New(o)
	refs := make([]agenttool.Ref, len(secrets))
	for i, secret := range secrets {
		text := "first line\n" + secret.Value + " in the second\n" + strings.Repeat("more\n", i)
		e := agenttool.Event{EventType: agenttool.EventSelected, Data: []byte(`{"text":` + string(agenttool.AppendString(nil, text)) + `}`)}
		encoded, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(encoded); err != nil {
			t.Fatal(err)
		}
		if refs[i], err = writeParts(t, s, fmt.Sprintf("inv_%d", i), text, 1+i%7); err != nil {
			t.Fatal(err)
		}
		if page, err := s.Page(refs[i].URI, 0, 0); err != nil || page.Text != text {
			t.Errorf("%s: a page has %q, %v", secret.Kind, page.Text, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	found, err := redacttest.NewLeaks(secrets).Below(o.Dir)
	if err != nil || len(found) > 0 {
		t.Errorf("%v, %q", err, found)
	}
	verified, err := VerifyFile(filepath.Join(s.Path(), LogName))
	if err != nil || !verified.OK() {
		t.Errorf("the log: %v, %v", verified, err)
	}
	again, err := Resume(o)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for i, secret := range secrets {
		f, err := again.OpenPayload(refs[i].URI)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(f)
		f.Close()
		if err != nil || !bytes.Contains(text, []byte(secret.Value)) {
			t.Errorf("%s: the file has %q, %v", secret.Kind, text, err)
		}
	}
}

// writeParts writes a payload in parts of n bytes, and reads it while it is written.
func writeParts(t *testing.T, s *Store, inv, text string, n int) (agenttool.Ref, error) {
	t.Helper()
	p, err := s.Payload(agenttool.InvocationID(inv), "output", "text/plain", "output")
	if err != nil {
		return agenttool.Ref{}, err
	}
	b := make([]byte, len(text))
	for from := 0; from < len(text); from += n {
		to := min(len(text), from+n)
		if _, err := io.WriteString(p, text[from:to]); err != nil {
			return agenttool.Ref{}, err
		}
		if got, _ := p.ReadAt(b, 0); string(b[:got]) != text[:to] {
			t.Fatalf("after %d bytes a reader has %q", to, b[:got])
		}
		if to == len(text)/2 {
			if page, err := s.Page(inv+".output", 0, 0); err != nil || page.Text != text[:to] {
				t.Fatalf("after %d bytes a page has %q, %v", to, page.Text, err)
			}
		}
	}
	return p.Close()
}

// TestOtherKey: with the key of another user, or none, a payload has marks in place of its secrets.
func TestOtherKey(t *testing.T) {
	secret := redacttest.Secrets(12)[0].Value
	o := Options{Dir: t.TempDir(), ID: "ses_1"}
	s := New(o)
	ref, err := writeParts(t, s, "inv_1", "a "+secret+" b\n", 100)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if o.Redactor, err = redact.New(redact.Options{Key: redact.NewKey()}); err != nil {
		t.Fatal(err)
	}
	other, err := Resume(o)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	page, err := other.Page(ref.URI, 0, 0)
	if err != nil || strings.Contains(page.Text, secret) || !strings.HasPrefix(page.Text, "a [redacted github_token ") || len(page.Text) != len(secret)+5 {
		t.Errorf("a page has %q, %v", page.Text, err)
	}
}

// TestWithheld: of an event that cannot be searched only the envelope is stored.
func TestWithheld(t *testing.T) {
	s := New(Options{Ephemeral: true})
	secret := redacttest.Secrets(13)[0].Value
	deep := strings.Repeat("[", 300) + `"` + secret + `"` + strings.Repeat("]", 300)
	l := s.Line([]byte(`{"schema_version":"0.2.0","event_id":"evt_1","event_type":"tool.x.test","source":"toolhost","time":"","data":{"a":` + deep + `}}`))
	if got := string(l.Event()); strings.Contains(got, secret) || !strings.Contains(got, `"evt_1"`) || !strings.Contains(got, `{"redaction_state":"withheld"}`) {
		t.Errorf("stored: %s", got)
	}
}

// TestPreviewSplitsNoToken: wherever a preview is cut, no half of a token is left that the log would keep.
func TestPreviewSplitsNoToken(t *testing.T) {
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range redacttest.Secrets(14) {
		n := len(secret.Value)
		for shift := range 2*n + 20 {
			for _, filler := range []string{"some words ", "line\n", `{"a":1},`} {
				text := strings.Repeat(filler, 300)[:1000+shift-n] + " " + secret.Value + " " + strings.Repeat(filler, 1000)
				text += secret.Value + strings.Repeat(" x", 500-shift/4)
				record, found := r.Text([]byte(Preview(text, Extent{Chars: 2100})))
				rest := strings.ReplaceAll(secret.Value, "\n", "")
				for _, part := range []string{rest[n/3 : n/3+12], rest[:12], rest[len(rest)-12:]} {
					if strings.Contains(strings.ReplaceAll(string(record), "\n", ""), part) && !strings.Contains("-----BEGIN RSA PRIVATE KEY-----END RSA PRIVATE KEY-----eyJhbGciOiJIUzI1NiIsInR5", part) {
						t.Fatalf("%s, shift %d: %q is left, found %v, in %q", secret.Kind, shift, part, found, record)
					}
				}
			}
		}
	}
}
