package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/redacttest"
)

func newRedactor(t testing.TB, o Options) *Redactor {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// settings are texts in which secrets stand; %s is the secret.
var settings = []string{
	"%s", "a\n%s\nb", "echo %s;", `curl -H "X-Key: %s" https://example.com`, "diff\n-%s\n+x", "main.go:12:%s", `{"a":"%s"}`, `{\"a\":\"%s\"}`,
	"https://example.com/?t=%s&x=1", "a%%3D%s", `text\n%s\nmore`, "\x1b[01;31m\x1b[K%s\x1b[m\x1b[K", "<%s>", "name-of-file/%s.txt", "KEY='%s'", "(%s)",
}

// TestKinds finds every kind in every setting, as text and as JSON, and keeps what is around it.
func TestKinds(t *testing.T) {
	r := newRedactor(t, Options{})
	kinds := map[string]bool{}
	for seed := range uint64(20) {
		for _, s := range redacttest.Secrets(seed) {
			kinds[s.Kind] = true
			for _, where := range settings {
				text := fmt.Sprintf(where, s.Value)
				if got, _ := r.Text([]byte(text)); bytes.Contains(got, []byte(s.Value)) {
					t.Errorf("%s %q stays in %q", s.Kind, s.Value, text)
				}
				record, _ := json.Marshal(map[string]any{"data": map[string]any{"list": []string{"x", text}}})
				got, found, err := r.JSON(record)
				if err != nil || !json.Valid(got) || len(found.Kinds) == 0 || strings.Contains(decoded(t, got), s.Value) {
					t.Errorf("%s stays in %s: %v", s.Kind, record, err)
				}
			}
		}
	}
	if len(kinds) < 20 {
		t.Errorf("%d kinds were tried", len(kinds))
	}
}

func decoded(t *testing.T, record []byte) string {
	t.Helper()
	var v struct{ Data struct{ List []string } }
	if err := json.Unmarshal(record, &v); err != nil {
		t.Fatal(err)
	}
	return strings.Join(v.Data.List, "\n")
}

// TestPlaces finds secrets by what stands before them.
func TestPlaces(t *testing.T) {
	r := newRedactor(t, Options{})
	for _, c := range []struct{ text, secret string }{
		{"https://bob:s3cr3t-pw@host.net/x", "s3cr3t-pw"},
		{"postgres://app:correcthorse@127.0.0.1:5432/db", "correcthorse"},
		{`https:\/\/bob:s3cr3t-pw@host`, "s3cr3t-pw"},
		{"https%3A%2F%2Fbob:s3cr3t-pw@host", "s3cr3t-pw"},
		{"Authorization: Bearer abc123def456ghi789", "abc123def456ghi789"},
		{"authorization: Basic Ym9iOnMzY3IzdC1wdw==", "Ym9iOnMzY3IzdC1wdw=="},
		{`{"Authorization": "token 0a1b2c3d4e5f60718293"}`, "0a1b2c3d4e5f60718293"},
		{"PRIVATE-TOKEN: abcdefgh12345678wxyz", "abcdefgh12345678wxyz"},
		{"export PASSWORD=hunter2-secret", "hunter2-secret"},
		{"DB_PASSWORD='correct horse battery'", "correct horse battery"},
		{"PGPASSWORD=swordfish psql", "swordfish"},
		{`DEPLOY_TOKEN="x9_yz-77-abc"`, "x9_yz-77-abc"},
		{"API_KEY=0123abcd4567", "0123abcd4567"},
		{"host=x password=q1w2e3r4t5 user=y", "q1w2e3r4t5"},
		{`{"client_secret": "Zm9vYmFyMTIzNDU2Nzg"}`, "Zm9vYmFyMTIzNDU2Nzg"},
		{"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY1234567890", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY1234567890"},
		{"AKIA2E0A8F3B24411111 wJalrXUtnFEMI/K7MDENG/bPxRfiCY1234567890", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY1234567890"},
		{"AccountKey=" + strings.Repeat("aB3/", 21) + "ab==;EndpointSuffix=x", strings.Repeat("aB3/", 21) + "ab=="},
	} {
		if got, _ := r.Text([]byte(c.text)); bytes.Contains(got, []byte(c.secret)) {
			t.Errorf("%q stays in %q", c.secret, got)
		}
	}
	for _, text := range []string{
		"", "https://user:password@example.com", "https://$USER:$TOKEN@host", "PASSWORD=$(cat x)", "TOKEN=${TOKEN}", "password: string", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"mailto:a@b.c", "ssh://git@github.com/a/b", "-----BEGIN PRIVATE KEY-----", "sk-learn-contrib-py-package-names-are-long", "Authorization: Bearer <token>", "npm_config_registry=x",
		"http://[::1]:80/a@b", "const x = AIza", "MAX_TOKEN=parseInt", "hf_hub_download_files_from_repository_x", "the bearer of the news is Bearer of bad",
	} {
		if got, kinds := r.Text([]byte(text)); len(kinds) > 0 {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestEscapes finds secrets behind the escapes that a client may write in its JSON.
func TestEscapes(t *testing.T) {
	r := newRedactor(t, Options{})
	for _, s := range redacttest.Secrets(3) {
		var b strings.Builder
		for _, c := range s.Value {
			fmt.Fprintf(&b, `\u%04x`, c)
		}
		record := `{"data":{"list":["` + b.String() + `"]}}`
		if got, found, err := r.JSON([]byte(record)); err != nil || len(found.Kinds) == 0 || strings.Contains(decoded(t, got), s.Value) {
			t.Errorf("%s stays: %s, %v", s.Kind, got, err)
		}
		if got, kinds := r.Text([]byte(record)); len(kinds) == 0 || strings.Contains(decoded(t, got), s.Value) { // as in a payload
			t.Errorf("%s stays: %s", s.Kind, got)
		}
	}
}

// TestEncodedBytes finds secrets in the bytes of a content block: those of an image are in records in base64. Their length stays, and bytes
// without a secret are left alone.
func TestEncodedBytes(t *testing.T) {
	r := newRedactor(t, Options{})
	if !r.Add("variable", "an-ordinary-word") {
		t.Fatal("the value is not known")
	}
	secrets := append(redacttest.Secrets(9), redacttest.Secret{Kind: "variable", Value: "an-ordinary-word"})
	for _, s := range secrets {
		for shift := range 3 { // base64 has another text for each
			image := []byte("\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", shift) + "tEXtComment\x00" + s.Value + "\x00IEND\xae\x42\x60\x82")
			record := []byte(`{"result":{"content":[{"type":"image","data":"` + base64.StdEncoding.EncodeToString(image) + `"}],"redaction_state":"none"}}`)
			got, found, err := r.JSON(record)
			var v struct {
				Result struct {
					Content []struct{ Data []byte }
					State   string `json:"redaction_state"`
				}
			}
			if err != nil || json.Unmarshal(got, &v) != nil || len(v.Result.Content) != 1 {
				t.Fatalf("%s: %s, %v", s.Kind, got, err)
			}
			if data := v.Result.Content[0].Data; leaks(data, s.Value) || len(data) != len(image) || !bytes.HasSuffix(data, []byte("IEND\xae\x42\x60\x82")) || v.Result.State != "redacted" || !found.Results {
				t.Errorf("%s: %q, state %s", s.Kind, data, v.Result.State)
			}
		}
	}
	for _, plain := range []string{`{"data":"iVBORw0KGgo="}`, `{"data":"no base64"}`, `{"data":""}`, `{"data":{"data":"AAAA"}}`} {
		if got, found, err := r.JSON([]byte(plain)); err != nil || string(got) != plain || len(found.Kinds) > 0 {
			t.Errorf("%s became %s, %v", plain, got, err)
		}
	}
}

// TestFailureWithholds: text in which the search fails is withheld whole, and the parts behind it are searched again.
func TestFailureWithholds(t *testing.T) {
	r := newRedactor(t, Options{})
	sound, secret := r.now.Load(), redacttest.Secrets(1)[0].Value
	broken := *sound
	broken.rules.Patterns = []Pattern{{"broken", nil}} // its search panics
	stream := NewStream(r)
	var out []byte
	next := func(part string, last bool) {
		text, found := stream.Next([]byte(part), last)
		text = bytes.Clone(text)
		r.Cover(text, found)
		out = append(out, text...)
	}
	next("a line\nwaits here ", false)
	r.now.Store(&broken)
	next("with "+secret+"\nand more\n", false)
	r.now.Store(sound)
	next("plain again, "+secret+"\nthe end", true)
	whole := "a line\nwaits here with " + secret + "\nand more\nplain again, " + secret + "\nthe end"
	if text := string(out); len(text) != len(whole) || !strings.HasPrefix(text, "a line\n") || !strings.HasSuffix(text, "\nthe end") ||
		strings.Contains(text, "waits") || strings.Contains(text, "more") || leaks(out, secret) || !strings.Contains(text, "plain again, ") {
		t.Errorf("%q", text)
	}
	r.now.Store(&broken)
	if out, _, err := r.JSON([]byte(`{"data":"` + secret + `"}`)); !errors.Is(err, ErrWithheld) || out != nil {
		t.Errorf("%s, %v", out, err)
	}
}

// TestKnownValues finds values that the host names, in each of their encodings.
func TestKnownValues(t *testing.T) {
	r := newRedactor(t, Options{})
	for _, value := range []string{"hunter2-secret", `a"b\c'd e`, "two\nlines-of-secret", "pä55wörd", "Tr0ub4dor&3"} {
		if !r.Add("variable", value) {
			t.Fatalf("%q is not accepted", value)
		}
		once, _ := agenttool.Encode(map[string]any{"data": map[string]any{"list": []string{"x " + value + " y"}}})
		got, found, err := r.JSON(once)
		if err != nil || len(found.Kinds) != 1 || strings.Contains(decoded(t, got), value) {
			t.Errorf("%q stays: %s, %v", value, got, err)
		}
		nested, _ := agenttool.Encode(map[string]any{"data": map[string]any{"list": []string{string(once)}}})
		if _, found, err := r.JSON(nested); err != nil || len(found.Kinds) != 1 {
			t.Errorf("%q stays in JSON in JSON: %v, %v", value, found, err)
		}
	}
	for _, value := range []string{"", "short", "true", "postgres", "12345678", "$HOME/x", "/usr/share/keys", "password"} {
		if r.Add("variable", value) {
			t.Errorf("%q is taken for a secret", value)
		}
	}
	r.AddFile([]byte("# comment\nexport A_KEY='quoted-value-1'\npassword: plain-value-2\nmachine h login bob password netrc-value3\nwhole-line-value-4\n"))
	for _, value := range []string{"quoted-value-1", "plain-value-2", "netrc-value3", "whole-line-value-4"} {
		if got, _ := r.Text([]byte(value)); string(got) == value {
			t.Errorf("%q of a secret file stays", value)
		}
	}
}

// TestMarks: equal secrets have equal marks under one key, others have others, and a mark is no secret.
func TestMarks(t *testing.T) {
	key := NewKey()
	a, b, other := newRedactor(t, Options{Key: key}), newRedactor(t, Options{Key: key}), newRedactor(t, Options{Key: NewKey()})
	one, two := a.Mark("x", []byte("one")), a.Mark("x", []byte("two"))
	if one != b.Mark("x", []byte("one")) || one == two || one == other.Mark("x", []byte("one")) {
		t.Error("marks do not distinguish secrets")
	}
	secret := redacttest.Secrets(1)[0].Value
	once, _ := a.Text([]byte("PASSWORD=" + secret))
	if twice, kinds := a.Text(once); len(kinds) > 0 {
		t.Errorf("%q became %q", once, twice)
	}
}

// TestState changes redaction_state where something was taken, and nowhere else.
func TestState(t *testing.T) {
	r := newRedactor(t, Options{})
	secret := redacttest.Secrets(1)[0].Value
	record := `{"result":{"redaction_state":"none","content":["` + secret + `"]},"persistence":{"redaction_state": "none"},"n":[1, 2.50,null]}`
	got, found, err := r.JSON([]byte(record))
	if err != nil || !found.Results || !bytes.Contains(got, []byte(`{"redaction_state":"redacted","content"`)) ||
		!bytes.HasSuffix(got, []byte(`"persistence":{"redaction_state": "none"},"n":[1, 2.50,null]}`)) {
		t.Errorf("%s: %v", got, err)
	}
	if _, _, err := r.JSON([]byte(`{"a":"` + secret)); err == nil {
		t.Error("broken JSON is passed on")
	}
}

// TestOwnPatterns uses the user's patterns, and switches kinds off.
func TestOwnPatterns(t *testing.T) {
	r := newRedactor(t, Options{Rules: Rules{Off: []string{"github_token"}, Patterns: []Pattern{{"acme", regexp.MustCompile(`acme-(\d{4})`)}}}})
	token := redacttest.Secrets(1)[0].Value
	got, kinds := r.Text([]byte("acme-1234 " + token))
	if !strings.HasPrefix(string(got), "acme-[redacted acme ") || !strings.HasSuffix(string(got), "] "+token) || len(kinds) != 1 {
		t.Errorf("%s", got)
	}
	if _, err := New(Options{Rules: Rules{Off: []string{"github"}}}); err == nil {
		t.Error("an unknown kind is accepted")
	}
	if _, err := New(Options{Rules: Rules{Patterns: []Pattern{{"all", regexp.MustCompile(`a*`)}}}}); err == nil {
		t.Error("a pattern that matches nothing is accepted")
	}
}

// TestSetRules: rules change while a session runs, and known values stay known. Patterns of the user leave ids alone.
func TestSetRules(t *testing.T) {
	r := newRedactor(t, Options{})
	r.Add("variable", "known-value-77")
	token := redacttest.Secrets(1)[0].Value
	upper, err := Compile("upper", `[A-Z0-9]{20,}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SetRules(Rules{Off: []string{"github_token"}, Patterns: []Pattern{upper}, Results: true}); err != nil || !r.Results() {
		t.Fatalf("%v, %v", err, r.Results())
	}
	got, found, err := r.JSON([]byte(`{"event_id":"evt_01M84Y6Q2HMZRJZ6X4TQF660KD","a":"known-value-77 ` + token + ` ABCDEFGHIJ0123456789"}`))
	want := `{"event_id":"evt_01M84Y6Q2HMZRJZ6X4TQF660KD","a":"` + r.Mark("variable", []byte("known-value-77")) + " " + token + " " + r.Mark("upper", []byte("ABCDEFGHIJ0123456789")) + `"}`
	if err != nil || len(found.Kinds) != 2 || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if err := r.SetRules(Rules{Off: []string{"github_tokens"}}); err == nil || !strings.Contains(err.Error(), `did you mean "github_token"?`) || !r.Results() {
		t.Errorf("an unknown kind: %v", err)
	}
	if _, err := Compile("all", `a*`); err == nil {
		t.Error("a pattern of nothing is accepted")
	}
}

// TestKeyWithoutBeginning: the last lines of a private key are a secret, too.
func TestKeyWithoutBeginning(t *testing.T) {
	r := newRedactor(t, Options{})
	for _, s := range redacttest.Secrets(6) {
		if s.Kind != "private_key" {
			continue
		}
		lines := strings.Split(s.Value, "\n")
		for from := 1; from < len(lines)-1; from++ {
			text := "some words here\n" + strings.Join(lines[from:], "\n") + "\nrest"
			if got, _ := r.Text([]byte(text)); !strings.HasPrefix(string(got), "some words here\n[redacted private_key") || leaks(got, lines[len(lines)-2]) {
				t.Errorf("from line %d: %q", from, got)
			}
		}
	}
}

// TestStream finds secrets at every split of the output, loses no byte, and holds back a bounded part.
func TestStream(t *testing.T) {
	r := newRedactor(t, Options{})
	r.Add("variable", "two\nlines-of-secret")
	random := rand.New(rand.NewPCG(1, 2))
	secrets := append(redacttest.Secrets(5), redacttest.Secret{Kind: "variable", Value: "two\nlines-of-secret"})
	for _, s := range secrets {
		for range 30 {
			text := strings.Repeat("some line\n", random.IntN(9)) + "before " + s.Value + " behind\nthe end"
			if random.IntN(4) == 0 {
				text = strings.Repeat("x ", 20<<10) + text
			}
			stream, out := NewStream(r), []byte(nil)
			for from := 0; from <= len(text); {
				to := min(len(text), from+1+random.IntN(1+random.IntN(200)))
				if len(text) > 1000 {
					to = min(len(text), to+random.IntN(5000))
				}
				part, found := stream.Next([]byte(text[from:to]), to == len(text))
				part = bytes.Clone(part)
				r.Cover(part, found)
				out = append(out, part...)
				if len(stream.Held()) > maxHeld+overlap {
					t.Fatalf("%d bytes are held", len(stream.Held()))
				}
				if from = to; to == len(text) {
					break
				}
			}
			if len(out) != len(text) || !bytes.HasSuffix(out, []byte("the end")) || leaks(out, s.Value) {
				t.Fatalf("%s: %q became %q", s.Kind, s.Value, out[max(0, len(out)-len(s.Value)-100):])
			}
		}
	}
}

// leaks reports whether a part of a secret is left: ten bytes of its second half.
func leaks(out []byte, secret string) bool {
	secret, _, _ = strings.Cut(secret, "\n-----END") // the last line of a key is none
	for i := len(secret) / 2; i+10 <= len(secret); i++ {
		if part := secret[i : i+10]; bytes.Contains(out, []byte(part)) {
			return true
		}
	}
	return false
}

// TestPlain: identifiers of every day are no secrets.
func TestPlain(t *testing.T) {
	r := newRedactor(t, Options{})
	random := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "commit %016x%016x%08x\nurn:uuid:%08x-%04x-%04x-%04x-%012x\n", random.Uint64(), random.Uint64(), random.Uint32(),
			random.Uint32(), random.IntN(1<<16), random.IntN(1<<16), random.IntN(1<<16), random.Uint64()>>16)
		fmt.Fprintf(&b, "  \"integrity\": \"sha512-%s==\",\n  \"resolved\": \"https://registry.example.com/p%d/-/p-%d.tgz\",\n", letterRun(random, 86), i, i)
		fmt.Fprintf(&b, "golang.org/x/sys v0.%d.0 h1:%s=\nchecksum = \"%016x%016x\"\ndata:image/png;base64,%s\n", i, letterRun(random, 43), random.Uint64(), random.Uint64(), letterRun(random, 2000))
	}
	for _, s := range r.Find([]byte(b.String())) {
		t.Errorf("%s: %q", s.Kind, b.String()[s.Start:s.End])
	}
}

func letterRun(r *rand.Rand, n int) string {
	const all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	b := make([]byte, n)
	for i := range b {
		b[i] = all[r.IntN(len(all))]
	}
	return string(b)
}

// credentials are the files of Go's source that contain credentials: keys and headers of its tests.
var credentials = map[string]bool{
	"cmd/go/internal/auth/gitauth_test.go": true, "cmd/go/internal/auth/userauth_test.go": true, "cmd/go/testdata/script/goauth_userauth.txt": true,
	"cmd/go/testdata/script/goauth_git.txt": true, "crypto/rsa/rsa_test.go": true, "crypto/tls/example_test.go": true, "crypto/tls/testdata/example-key.pem": true,
	"crypto/x509/platform_root_key.pem": true, "crypto/x509/pem_decrypt_test.go": true,
	"cmd/go/internal/auth/netrc_test.go": true, "cmd/go/testdata/script/goauth_netrc.txt": true, "cmd/go/testdata/script/mod_auth.txt": true,
	"cmd/go/testdata/script/netrc_issue66832.txt": true,
}

// TestGoSource: in the source of Go there are no secrets but those.
func TestGoSource(t *testing.T) {
	t.Parallel()
	root := filepath.Join(build.Default.GOROOT, "src")
	r, files := newRedactor(t, Options{}), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		files++
		for _, s := range r.Find(text) {
			if !credentials[filepath.ToSlash(name)] {
				t.Errorf("%s: %s: %.100q", name, s.Kind, text[s.Start:s.End])
			}
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("this installation of Go has no source")
	}
	if err != nil || files < 1000 {
		t.Errorf("%d files: %v", files, err)
	}
}

// BenchmarkFind searches Go source, and an event as the log has them.
func BenchmarkFind(b *testing.B) {
	r := newRedactor(b, Options{})
	text, err := os.ReadFile(filepath.Join(build.Default.GOROOT, "src/net/http/server.go"))
	if err != nil {
		b.Skip(err)
	}
	b.Run("source", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			r.Find(text)
		}
	})
	event, err := agenttool.Encode(map[string]any{"event_type": "tool.result.created", "data": map[string]any{
		"result": map[string]any{"redaction_state": "none", "content": string(text[:4000])}, "uri": "toolhost://ses_1/results/inv_1.output",
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("event", func(b *testing.B) {
		b.SetBytes(int64(len(event)))
		for b.Loop() {
			if _, found, err := r.Record(event); err != nil || len(found.Kinds) > 0 {
				b.Fatal(found, err)
			}
		}
	})
}

// TestEscapedSecrets: a secret in a regular expression, with a backslash before its dots, is found in a record.
func TestEscapedSecrets(t *testing.T) {
	r := newRedactor(t, Options{})
	for _, s := range redacttest.Secrets(17) {
		found := redacttest.NewLeaks([]redacttest.Secret{s})
		for _, text := range []string{regexp.QuoteMeta(s.Value), "match:^" + regexp.QuoteMeta(s.Value) + `\.x`, `\.` + s.Value} {
			record, _ := json.Marshal(map[string]string{"pattern": text})
			got, _, err := r.Record(record)
			var v struct{ Pattern string }
			if err != nil || json.Unmarshal(got, &v) != nil || len(found.In("", []byte(strings.ReplaceAll(v.Pattern, `\`, "")))) > 0 {
				t.Errorf("%s: %s, %v", s.Kind, got, err)
			}
		}
	}
	const plain = `{"pattern":"func \\(s \\*store\\)\\.Close","path":"C:\\x"}`
	if got, _, err := r.Record([]byte(plain)); err != nil || string(got) != plain {
		t.Errorf("%s became %s, %v", plain, got, err)
	}
}

// TestCutSecrets: a secret that something cut, so that only its beginning is left at the end of a text or before a mark, is found as the whole
// one is. A short beginning is none, and neither is one that goes on as other text.
func TestCutSecrets(t *testing.T) {
	const least = 20 // letters of a secret that must not stay
	r := newRedactor(t, Options{})
	known := "a-value/known=to the host 4711"
	r.Add("variable", known)
	for _, s := range append(redacttest.Secrets(31), redacttest.Secret{Kind: "variable", Value: known}) {
		switch s.Kind {
		case "jwt", "private_key": // a jwt without a signature is none; a key that is cut has a test of its own
			continue
		}
		found := redacttest.NewLeaks([]redacttest.Secret{s})
		for n := least; n < len(s.Value); n++ {
			for _, where := range []string{"x %s", "x %s…", `unknown field "%s"… (and more)`, "x %s …", `a: "%s…"`, "%s"} {
				text := fmt.Sprintf(where, s.Value[:n])
				if got, _ := r.Text([]byte(text)); len(found.In("", got)) > 0 {
					t.Errorf("%s: %q stays", s.Kind, text)
				}
			}
		}
	}
	for _, text := range []string{"ghp_", "ghp_abc1", "hf_transfer_is_on", "x sk-learn…", "ghp_0123456789abcdef is no token", "sk-abcdefghijklmnop…", "npm_config_cache", `"a-value/known=to" and more`, "a-value/kn"} {
		if got, _ := r.Text([]byte(text)); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestStreamOfOneWord: a word that begins as a token does and goes on for longer than a stream holds back is covered as far as it is decided.
func TestStreamOfOneWord(t *testing.T) {
	r := newRedactor(t, Options{})
	text := []byte("key sk-ant-" + strings.NewReplacer("+", "x", "/", "y").Replace(letterRun(rand.New(rand.NewPCG(8, 9)), 100<<10)))
	for _, size := range []int{1 << 10, 30 << 10, 64 << 10, len(text)} {
		stream, out := NewStream(r), []byte(nil)
		for from := 0; from < len(text); from += size {
			to := min(len(text), from+size)
			part, found := stream.Next(bytes.Clone(text[from:to]), to == len(text))
			part = bytes.Clone(part)
			for _, s := range found {
				if s.End > len(part) || s.Start >= s.End {
					t.Fatalf("parts of %d: a secret from %d to %d in %d bytes", size, s.Start, s.End, len(part))
				}
			}
			r.Cover(part, found)
			out = append(out, part...)
		}
		if len(out) != len(text) || bytes.Contains(out, text[11:31]) {
			t.Errorf("parts of %d: %d of %d bytes, from %q", size, len(out), len(text), out[:50])
		}
	}
}
