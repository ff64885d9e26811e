package persist

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// eachKind runs a test on disk and in memory.
func eachKind(t *testing.T, limit int64, test func(t *testing.T, s *Store)) {
	for _, name := range []string{"disk", "memory"} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(t.TempDir())
			o.PayloadLimit, o.Ephemeral = limit, name == "memory"
			test(t, New(o))
		})
	}
}

func mustPayload(t testing.TB, s *Store, name, mediaType, content string) agenttool.Ref {
	t.Helper()
	p, err := s.Payload("inv_1", name, mediaType, "full_output")
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitAfterSeq(content, "\n") {
		if n, err := p.Write([]byte(part)); err != nil || n != len(part) {
			t.Fatalf("wrote %d of %d: %v", n, len(part), err)
		}
	}
	ref, err := p.Close()
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// AT-283, AT-298: the reference says everything.
func TestPayloadRef(t *testing.T) {
	conform.Held(t, "AT-283")
	eachKind(t, 0, func(t *testing.T, s *Store) {
		got := mustPayload(t, s, "stdout", "text/plain", "one\ntwo\n")
		sum := sha256.Sum256([]byte("one\ntwo\n"))
		want := agenttool.Ref{ID: "inv_1.stdout", URI: "toolhost://ses_test/results/inv_1.stdout",
			MediaType: "text/plain", Digest: "sha256:" + hex.EncodeToString(sum[:]), SizeBytes: 8, Access: "session",
			Relation: "full_output"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("ref is %+v", got)
		}
		page, err := s.Page(got.URI, 0, 0)
		if err != nil || page.Text != "one\ntwo\n" || page.Digest != want.Digest || page.NextOffset != 0 ||
			page.MediaType != want.MediaType || page.SizeBytes != 8 || page.Ref != want.URI {
			t.Errorf("page is %+v, %v", page, err)
		}
	})
}

func TestPayloadIsOpenedOnce(t *testing.T) {
	eachKind(t, 0, func(t *testing.T, s *Store) {
		mustPayload(t, s, "stdout", "", "first")
		_, err := s.Payload("inv_1", "stdout", "", "")
		wantError(t, err, agenttool.ExecutionFailed, "payload_exists")
		if page, err := s.Page("inv_1.stdout", 0, 0); err != nil || page.Text != "first" {
			t.Errorf("page is %+v, %v", page, err)
		}
	})
}

func TestPayloadNames(t *testing.T) {
	for _, tt := range []struct {
		name, inv, word string
		ok              bool
	}{
		{"usual", "inv_01ABC", "stdout", true},
		{"digits and signs", "inv-1", "a_b-2", true},
		{"empty name", "inv", "", false},
		{"empty invocation", "", "stdout", false},
		{"separator", "inv", "a/b", false},
		{"traversal", "inv", "..", false},
		{"traversal in the invocation", "../inv", "a", false},
		{"dot", "inv", "a.ref", false},
		{"dot in the invocation", "inv.a", "b", false},
		{"upper case", "inv", "A", false},
		{"nul", "inv", "a\x00", false},
		{"long", "inv", strings.Repeat("a", 65), false},
		{"not ASCII", "inv", "é", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachKind(t, 0, func(t *testing.T, s *Store) {
				p, err := s.Payload(agenttool.InvocationID(tt.inv), tt.word, "", "")
				if !tt.ok {
					wantError(t, err, agenttool.InvalidArguments, "invalid_payload_name")
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestPayloadOverTheLimit(t *testing.T) {
	eachKind(t, 10, func(t *testing.T, s *Store) {
		p, err := s.Payload("inv_1", "stdout", "text/plain", "full_output")
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"01234", "56789abc", "def"} {
			if n, err := p.Write([]byte(part)); n != len(part) || err != nil {
				t.Errorf("write %q: %d, %v; a producer is not stopped", part, n, err)
			}
		}
		for range 2 {
			ref, err := p.Close()
			e := wantError(t, err, agenttool.ResultTooLarge, "payload_cut")
			if !strings.Contains(e.Message, "first 10 bytes") || !strings.Contains(e.Message, "other 6 ") {
				t.Errorf("message is %q", e.Message)
			}
			sum := sha256.Sum256([]byte("0123456789"))
			if ref.SizeBytes != 10 || ref.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
				t.Errorf("ref is %+v", ref)
			}
		}
		if page, err := s.Page("inv_1.stdout", 0, 0); err != nil || page.Text != "0123456789" {
			t.Errorf("page is %+v, %v", page, err)
		}
		if _, err := p.Write([]byte("x")); err == nil {
			t.Error("write after Close")
		}
	})
}

// A payload is read at any offset while it is written, after it was closed, and until the session is.
func TestPayloadReadAt(t *testing.T) {
	eachKind(t, 0, func(t *testing.T, s *Store) {
		p, err := s.Payload("inv_1", "output", "text/plain", "")
		if err != nil {
			t.Fatal(err)
		}
		at := func(off int64, size int, want string, wantErr error) {
			t.Helper()
			b := make([]byte, size)
			n, err := p.ReadAt(b, off)
			if string(b[:n]) != want || !errors.Is(err, wantErr) || wantErr == nil && err != nil {
				t.Errorf("%d at %d: %q, %v; want %q, %v", size, off, b[:n], err, want, wantErr)
			}
		}
		at(0, 1, "", io.EOF)
		fmt.Fprint(p, "0123")
		at(1, 2, "12", nil)
		at(1, 9, "123", io.EOF)
		fmt.Fprint(p, "4567")
		if _, err := p.Close(); err != nil {
			t.Fatal(err)
		}
		at(0, 8, "01234567", nil)
		at(3, 9, "34567", io.EOF)
		at(8, 1, "", io.EOF)
		at(-1, 1, "", agenttool.InvalidArguments)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		at(0, 1, "", ErrClosed)
	})
}

// Whoever reads to the end of a payload that was cut is told why that is the end.
func TestPayloadReadAtSaysWhatIsCut(t *testing.T) {
	eachKind(t, 5, func(t *testing.T, s *Store) {
		p, err := s.Payload("inv_1", "output", "text/plain", "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(p, "01234567")
		b := make([]byte, 8)
		n, err := p.ReadAt(b, 3)
		wantError(t, err, agenttool.ResultTooLarge, "payload_cut")
		if string(b[:n]) != "34" {
			t.Errorf("read %q", b[:n])
		}
		_, err = p.ReadAt(b, 7)
		wantError(t, err, agenttool.ResultTooLarge, "payload_cut")
		if n, err := p.ReadAt(b[:5], 0); n != 5 || err != nil {
			t.Errorf("read %q, %v", b[:n], err)
		}
		_, err = p.Close()
		wantError(t, err, agenttool.ResultTooLarge, "payload_cut")
	})
}

// What a reader sees is a beginning of what is written, also around the moment in which the payload is closed.
func TestPayloadReadsBesideWrites(t *testing.T) {
	eachKind(t, 0, func(t *testing.T, s *Store) {
		p, err := s.Payload("inv_1", "output", "text/plain", "")
		if err != nil {
			t.Fatal(err)
		}
		const size = 200_000
		read := make(chan error)
		go func() {
			b := make([]byte, 1000)
			for off := int64(0); off < size; {
				n, err := p.ReadAt(b, off)
				for i, c := range b[:n] {
					if c != byte(off+int64(i)) {
						read <- fmt.Errorf("byte %d is %d", off+int64(i), c)
						return
					}
				}
				if off += int64(n); err != nil && !errors.Is(err, io.EOF) {
					read <- err
					return
				}
			}
			read <- nil
		}()
		for off, b := 0, make([]byte, 250); off < size; off += len(b) {
			for i := range b {
				b[i] = byte(off + i)
			}
			if _, err := p.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-read; err != nil {
			t.Error(err)
		}
	})
}

func TestPageOfAPayloadThatIsWritten(t *testing.T) {
	eachKind(t, 0, func(t *testing.T, s *Store) {
		p, err := s.Payload("inv_1", "stdout", "text/plain", "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(p, "so far")
		if page, err := s.Page("inv_1.stdout", 0, 0); err != nil || page.Text != "so far" || page.Digest != "" {
			t.Errorf("page is %+v, %v", page, err)
		}
		if _, err := p.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// AT-299, AT-300: a page is the same after the session was resumed.
func TestPageAfterResume(t *testing.T) {
	conform.Held(t, "AT-300")
	s := New(testOptions(t.TempDir()))
	ref := mustPayload(t, s, "stdout", "text/x-log", "hello")
	before, err := s.Page(ref.URI, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	again, err := Resume(s.o)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := again.Page(ref.ID, 1, 0); err != nil || after != before {
		t.Errorf("page was %+v, is %+v, %v", before, after, err)
	}
}

// A process that was killed over a reference costs that reference only.
func TestPageAfterATornReference(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	mustPayload(t, s, "first", "text/plain", "one")
	_ = s.Close()
	appendFile(t, filepath.Join(s.Path(), refsName), `{"id":"inv_1.tor`)
	s, err := Resume(s.o)
	if err != nil {
		t.Fatal(err)
	}
	mustPayload(t, s, "second", "text/plain", "two")
	for _, name := range []string{"first", "second"} {
		if page, err := s.Page("inv_1."+name, 0, 0); err != nil || page.Digest == "" || page.MediaType != "text/plain" {
			t.Errorf("%s: %+v, %v", name, page, err)
		}
	}
}

func TestPageRefusesWhatIsNoPayload(t *testing.T) {
	eachKind(t, 0, func(t *testing.T, s *Store) {
		mustPayload(t, s, "stdout", "text/plain", "hello")
		for _, ref := range []string{
			"", ".", "..", "inv_1", "inv_1.", ".stdout", "inv_1.stderr", "inv_1.stdout.ref", "log.jsonl", "../log.jsonl",
			"results/inv_1.stdout", "./inv_1.stdout", "inv_1.stdout/", "inv_1.stdout\x00", "/etc/passwd",
			"toolhost://ses_other/results/inv_1.stdout", "toolhost://ses_test/results/../log.jsonl",
			"toolhost://ses_test/results/toolhost://ses_test/results/inv_1.stdout", "toolhost://ses_test/log.jsonl",
			"file:///etc/passwd", strings.Repeat("x", 1<<20) + ".a",
		} {
			_, err := s.Page(ref, 0, 0)
			if e := wantError(t, err, agenttool.InvalidArguments, "unknown_ref"); len(e.Message) > 1000 {
				t.Errorf("message of %d bytes", len(e.Message))
			}
		}
		for _, offset := range []int64{-1, 6} {
			_, err := s.Page("inv_1.stdout", offset, 0)
			wantError(t, err, agenttool.InvalidArguments, "offset_out_of_range")
		}
		if page, err := s.Page("inv_1.stdout", 5, 0); err != nil || page.Text != "" || page.NextOffset != 0 {
			t.Errorf("the page at the end is %+v, %v", page, err)
		}
	})
}

func TestPageLeavesTheSessionForNothing(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	mustPayload(t, s, "stdout", "text/plain", "hello")
	results := filepath.Join(s.Path(), resultsDir)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(results, "inv_2.link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(results, "inv_2.dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"inv_2.link", "inv_2.dir"} {
		page, err := s.Page(ref, 0, 0)
		wantError(t, err, agenttool.DependencyUnavailable, "payload_unreadable")
		if page != (Page{}) {
			t.Errorf("%s gave %+v", ref, page)
		}
	}
}

func TestPageLimits(t *testing.T) {
	eachKind(t, 0, func(t *testing.T, s *Store) {
		mustPayload(t, s, "big", "text/plain", strings.Repeat("x", 3<<20))
		for _, tt := range []struct{ limit, want int64 }{
			{0, PageDefault}, {-5, PageDefault}, {1, 4}, {100, 100}, {1 << 40, PageMax},
		} {
			page, err := s.Page("inv_1.big", 10, tt.limit)
			if err != nil || int64(len(page.Text)) != tt.want || page.NextOffset != 10+tt.want {
				t.Errorf("limit %d: %d bytes, next %d, %v", tt.limit, len(page.Text), page.NextOffset, err)
			}
		}
	})
}

func TestPageKinds(t *testing.T) {
	for _, tt := range []struct {
		name, mediaType, content string
		want                     Page
	}{
		{"text", "text/plain; charset=utf-8", "é", Page{Part: Part{Text: "é"}}},
		{"json", "application/json", "{}", Page{Part: Part{Text: "{}"}}},
		{"problem json", "application/problem+json", "{}", Page{Part: Part{Text: "{}"}}},
		{"text that is not UTF-8", "text/plain", "a\xffb", Page{Part: Part{Text: "a\uFFFDb", Lossy: true, Data: "Yf9i"}}},
		{"text cut in a character", "text/plain", "a\xc3", Page{Part: Part{Text: "a\uFFFD", Lossy: true, Data: "YcM="}}},
		{"binary", "image/png", "\x89PNG", Page{Part: Part{Data: base64.StdEncoding.EncodeToString([]byte("\x89PNG"))}}},
		{"unnamed text", "", "hello", Page{Part: Part{Text: "hello"}}},
		{"unnamed binary", "", "\xff\xfe", Page{Part: Part{Data: "//4="}}},
		{"empty", "text/plain", "", Page{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New(Options{Ephemeral: true})
			mustPayload(t, s, "out", tt.mediaType, tt.content)
			page, err := s.Page("inv_1.out", 0, 0)
			if err != nil || page.Text != tt.want.Text || page.Data != tt.want.Data || page.Lossy != tt.want.Lossy {
				t.Errorf("page is %+v, %v", page, err)
			}
		})
	}
}

func TestPageBeginsWithTheCharacter(t *testing.T) {
	s := New(Options{Ephemeral: true})
	mustPayload(t, s, "out", "text/plain", "a€b") // € has three bytes
	for offset, want := range []string{"a€b", "€b", "€b", "€b", "b", ""} {
		page, err := s.Page("inv_1.out", int64(offset), 0)
		if err != nil || page.Text != want || page.Offset != int64(5-len(want)) {
			t.Errorf("from %d: %+v, %v", offset, page, err)
		}
	}
}

// Pages put together are the payload, and no page of text is cut within a character.
func FuzzPages(f *testing.F) {
	f.Add([]byte("héllo €uro 𝄞 clef"), int64(4))
	f.Add([]byte("a\xff\xf0\x9d\x84\x9e\xf0\x9d\x84"), int64(5))
	f.Add([]byte("\x80\x80\x80\x80\x80\x80"), int64(1))
	f.Fuzz(func(t *testing.T, content []byte, limit int64) {
		limit = max(limit%64, -limit%64) + 1
		for _, mediaType := range []string{"text/plain", "", "image/png"} {
			s := New(Options{Ephemeral: true})
			mustPayload(t, s, "out", mediaType, string(content))
			var got []byte
			for offset, pages := int64(0), 0; ; pages++ {
				page, err := s.Page("inv_1.out", offset, limit)
				if err != nil || page.Offset != offset || pages > len(content) {
					t.Fatalf("page at %d: %+v, %v", offset, page, err)
				}
				end := page.NextOffset
				if end == 0 {
					end = int64(len(content))
				}
				part := content[offset:end]
				if int64(len(part)) > max(limit, utf8.UTFMax) {
					t.Fatalf("page of %d bytes, limit %d", len(part), limit)
				}
				if utf8.Valid(content) && mediaType == "text/plain" && page.Text != string(part) {
					t.Fatalf("page at %d is %q, want %q", offset, page.Text, part)
				}
				if mediaType == "image/png" {
					part, _ = base64.StdEncoding.DecodeString(page.Data)
				}
				got = append(got, part...)
				if offset = page.NextOffset; offset == 0 {
					break
				}
			}
			if !bytes.Equal(got, content) {
				t.Fatalf("%q read as %q", content, got)
			}
		}
	})
}

// TestLargeDataIsNotLate: looking for secrets in large data may take longer than a disk may take to answer.
func TestLargeDataIsNotLate(t *testing.T) {
	s := New(Options{Ephemeral: true, limits: limits{time.Minute, time.Microsecond}})
	data := bytes.Repeat([]byte("some text\n"), 400_000)
	if ref, err := s.Keep("inv_1", "content", "text/plain", data); err != nil || ref.SizeBytes != int64(len(data)) {
		t.Errorf("%+v, %v", ref, err)
	}
}
